// How fast a GPU reads and copies its memory, measured on it.
#pragma once

#include <vector>

#include "../core/backend.h"
#include "kernels.h"

namespace blockscope::cuda {

// "dram" and "l2" for reading, "dram-copy" for bytes read and written together. About a second.
std::vector<Roof> measureRoofs(const DeviceContext&, const Kernels&, const CancelFlag&,
                               const Progress&);

}  // namespace blockscope::cuda
