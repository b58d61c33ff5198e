// How fast an AMD GPU reads and copies its memory, measured on it.
#pragma once

#include <vector>

#include "launch.h"

namespace blockscope::hip {

// `support`: the row of the device code.
std::vector<Roof> measureRoofs(const Device&, const KernelRow& support, const CompileCache& cache,
                               const CancelFlag&, const Progress&);

}  // namespace blockscope::hip
