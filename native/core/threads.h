// Splits work over all cores the process may use.
#pragma once

#include <cstdint>
#include <functional>

#include "backend.h"

namespace blockscope {

// Cores this process may run on (its affinity mask where the system has one), at least 1.
int coreCount();

// Calls body(i) for i in [0, count), in any order, on all cores. The first exception that body
// throws is rethrown here. Stops between items when `cancel` is requested, and throws then.
void parallelFor(int64_t count, const CancelFlag& cancel, const std::function<void(int64_t)>& body);

}  // namespace blockscope
