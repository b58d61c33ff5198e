// Kernels of cuBLASLt: the block-scaled matmul where the device has it, and two baselines on every
// device (libraryMatmul.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "context.h"
#include "libraryMatmul.h"
#include "operation.h"

namespace blockscope::cuda {

const MatmulLibrary& cublasLt();
// Its kernels with what each can do on a device of this compute capability, by a library that was
// found or not.
std::vector<KernelInfo> cublasLtKernels(int major, const LibraryInfo&);

std::unique_ptr<Operation> makeCublasLtOperation(const DeviceContext&, const Problem&,
                                                 const std::string& kernel);

}  // namespace blockscope::cuda
