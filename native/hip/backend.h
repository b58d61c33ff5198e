// The HIP backend: what AMD GPUs there are, what each can compute, and sessions on them.
#pragma once

#include <memory>

#include "../core/backend.h"

namespace blockscope {

std::unique_ptr<Backend> makeHipBackend(const BackendOptions&);

}  // namespace blockscope
