// What this CPU can reach: arithmetic of each instruction set that kernels use, and reading of each
// level of memory, measured on all cores the process may use.
#pragma once

#include <vector>

#include "../core/backend.h"

namespace blockscope {

// Takes about 2 s. Each rate is the best of many bursts: other programs slow single bursts, not the
// best one. Throws Error(kCancelled).
std::vector<Roof> measureCpuRoofs(const CancelFlag&, const Progress&);

}  // namespace blockscope
