// The device's comparison, compiled for the CPU: a block's threads are fibers.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "../core/outputs.h"
#include "fiberBlock.h"

namespace device::comparison {

inline fibers::Block<32, 1>* block = nullptr;
// Shared memory is what is static to the thread that runs the fibers; this is the dynamic part.
thread_local unsigned tileRatios[4096];
struct Index {
  unsigned x = 0;
};
struct ThreadIndex {
  struct {
    operator int() const { return block->current(); }
  } x;
};
inline Index blockIdx;
inline ThreadIndex threadIdx;
inline void __syncthreads() { block->sync(); }
using std::fabs;
using std::ilogb;
using std::ldexp;
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline float fabsf(float a) { return std::fabs(a); }
inline float rintf(float a) { return std::nearbyint(a); }
inline float ldexpf(float a, int exponent) { return std::ldexp(a, exponent); }
inline int __ffs(unsigned bits) { return bits == 0 ? 0 : std::countr_zero(bits) + 1; }
inline void atomicMax(unsigned* at, unsigned value) { *at = std::max(*at, value); }
inline void atomicAdd(unsigned* at, unsigned value) { *at += value; }
inline void atomicOr(unsigned* at, unsigned value) { *at |= value; }
inline int max(int a, int b) { return std::max(a, b); }
inline int min(int a, int b) { return std::min(a, b); }

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
#define __device__
#define __global__
#define __shared__ thread_local
#define __launch_bounds__(threads)
#define asm(...) convert(#__VA_ARGS__, bits, value)
#include "../../resources/kernels/cuda/common/compare.cu"
#undef asm
#undef __device__
#undef __global__
#undef __shared__
#undef __launch_bounds__
#pragma GCC diagnostic pop

// `kernel`, in every thread of one block.
inline void runBlock(unsigned index, const std::function<void()>& kernel) {
  fibers::Block<32, 1> threads(kThreads);
  block = &threads;
  blockIdx.x = index;
  threads.run(kernel);
}

}  // namespace device::comparison
