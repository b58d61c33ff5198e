// Kernels of hipBLASLt: the block-scaled matmul on gfx950, and two baselines
// (cuda/libraryMatmul.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../cuda/libraryMatmul.h"
#include "operation.h"

namespace blockscope::hip {

const cuda::MatmulLibrary& hipblasLt();
// Its kernels with what each can do on this architecture, by a library that was found or not.
std::vector<KernelInfo> hipblasLtKernels(const std::string& architecture, const LibraryInfo&);

std::unique_ptr<Operation> makeHipblasLtOperation(const Device&, const Problem&,
                                                  const std::string& kernel);

}  // namespace blockscope::hip
