// The reference product on the GPU (resources/kernels/cuda/common/oracle.cu).
#pragma once

#include <vector>

#include "context.h"
#include "deviceOperands.h"
#include "kernels.h"

namespace blockscope::cuda {

// batch * M * N in float64. A sample of 256 elements is computed on the CPU too; throws
// Error(kDevice) when they differ.
std::vector<double> deviceReference(const DeviceContext&, const Kernels&, const Problem&,
                                    const DeviceOperands&, const Operands& sameOnHost);

}  // namespace blockscope::cuda
