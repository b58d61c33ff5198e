// The device code of operands and passes, compiled for the CPU: what it needs of CUDA, then the
// sources themselves, in a namespace of their own. Threads run one after another, one per block.
#pragma once
#include <string_view>

#include "../core/formats.h"
#include "../core/outputs.h"
#include "cudaWords.h"

namespace device {

struct Index {
  unsigned x = 0;
};
inline Index blockIdx, blockDim, threadIdx, gridDim;
// A warp has one thread.
inline unsigned __reduce_max_sync(unsigned, unsigned value) { return value; }

// What stands in for an instruction does not name every operand.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#define asm(...) \
  bits = blockscope::floatToBf16(scaledValue(codes, scales, index, elementFormat, scaleFormat, V))
#include "../../resources/kernels/cuda/common/operands.cu"
#undef asm
#define asm(...)                                                          \
  bits = std::string_view(#__VA_ARGS__).find("bf16") != std::string::npos \
             ? blockscope::floatToBf16(value)                             \
             : blockscope::floatToHalf(value)
#include "../../resources/kernels/cuda/common/judgedBits.cuh"
#include "../../resources/kernels/cuda/common/passes.cu"
#undef asm
#pragma GCC diagnostic pop

}  // namespace device
