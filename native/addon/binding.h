// What the files of the binding share.
#pragma once

#include <napi.h>

#include <memory>

#include "../core/backend.h"

namespace blockscope {

// Throws Napi::TypeError unless the value came from createCancelFlag().
std::shared_ptr<CancelFlag> readCancelFlag(const Napi::Value&);

// Adds the functions of src-main/engine/nativeQuantizing.ts.
void exportQuantizing(Napi::Env, Napi::Object exports);

}  // namespace blockscope
