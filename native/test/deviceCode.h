// The device code of operands and passes, compiled for the CPU: what it needs of CUDA, then the
// sources themselves, in a namespace of their own. Threads run one after another, one per block.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "../core/formats.h"
#include "../core/outputs.h"

namespace device {

struct Index {
  unsigned x = 0;
};
inline Index blockIdx, blockDim, threadIdx, gridDim;
using std::fabs;
using std::fmax;
using std::rint;
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float fmaxf(float a, float b) { return std::fmax(a, b); }
inline float fabsf(float a) { return std::fabs(a); }
inline float rintf(float a) { return std::nearbyint(a); }
inline float ldexpf(float a, int exponent) { return std::ldexp(a, exponent); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(uint64_t{a} * b >> 32);
}
inline int __clz(unsigned a) { return std::countl_zero(a); }
inline unsigned __reduce_max_sync(unsigned, unsigned value) { return value; }
inline void atomicMax(unsigned* at, unsigned value) { *at = std::max(*at, value); }
template <typename T>
T max(T a, T b) {
  return std::max(a, b);
}
template <typename T>
T min(T a, T b) {
  return std::min(a, b);
}

// What stands in for an instruction does not name every operand.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#define __device__
#define __global__
#define __constant__ const
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
#undef __device__
#undef __global__
#undef __constant__
#pragma GCC diagnostic pop

}  // namespace device
