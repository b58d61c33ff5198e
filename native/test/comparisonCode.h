// The device's comparison, compiled for the CPU: a block's threads are fibers.
#pragma once
#include <functional>
#include <string_view>

#include "../core/outputs.h"
#include "cudaThreads.h"

namespace comparison {

// The dynamic part of shared memory.
thread_local unsigned tileRatios[4096];

// What an instruction of a conversion does to the two variables of the functions that have one.
inline void convert(std::string_view instruction, uint16_t& bits, float& value) {
  if (instruction.find("cvt.rn.f16") != std::string_view::npos)
    bits = blockscope::floatToHalf(value);
  else if (instruction.find("cvt.rn.bf16") != std::string_view::npos)
    bits = blockscope::floatToBf16(value);
  else value = blockscope::halfToFloat(bits);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#define asm(...) convert(#__VA_ARGS__, bits, value)
#include "../../resources/kernels/cuda/common/compare.cu"
#undef asm
#pragma GCC diagnostic pop

// `kernel`, in every thread of one block.
inline void runBlock(unsigned index, const std::function<void()>& kernel) {
  gpu::Block threads(kThreads);
  gpu::running = {&threads, static_cast<int>(index)};
  threads.run(kernel);
}

}  // namespace comparison
