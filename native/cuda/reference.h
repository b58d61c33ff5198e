// The reference product on the GPU (resources/kernels/cuda/common/oracle.cu).
#pragma once

#include <vector>

#include "context.h"
#include "deviceOperands.h"
#include "kernels.h"

namespace blockscope::cuda {

// Values of every code of A's elements, of B's, and of the scales, 256 each: how the device's
// judges read operands.
std::vector<double> valueTables(const Problem&);

// batch * M * N in float64. A sample of 256 elements is computed on the CPU too; throws
// Error(kDevice) when they differ.
std::vector<double> deviceReference(const DeviceContext&, const Kernels&, const Problem&,
                                    const DeviceOperands&, const Operands& sameOnHost);

}  // namespace blockscope::cuda
