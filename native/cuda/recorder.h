// Per-launch records of one operation from CUPTI's activity API, in a pass of their own.
#pragma once

#include <functional>
#include <vector>

#include "../core/backend.h"

namespace blockscope::cuda {

// Runs `work`, which must wait for its own end, with kernel activity recorded; the records in order
// of start. Empty when CUPTI is not there or refuses.
std::vector<LaunchRecord> recordLaunches(const std::function<void()>& work);

}  // namespace blockscope::cuda
