// Words of CUDA that have nothing to do with other threads, for kernels' sources on a CPU. A
// kernel's `asm` is its test's to define.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#define __device__
#define __global__
#define __host__
#define __constant__ const
#define __grid_constant__
#define __launch_bounds__(...)
// Of one block at a time.
#define __shared__ thread_local

struct int2 {
  int x, y;
};
struct float2 {
  float x, y;
};
struct float4 {
  float x, y, z, w;
};
struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};
inline int2 make_int2(int x, int y) { return {x, y}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

using std::fabs;
using std::fmax;
using std::ilogb;
using std::ldexp;
using std::max;
using std::min;
using std::rint;
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
// Exact in a double, then rounded up.
inline float __fmul_ru(float a, float b) {
  const double exact = double{a} * b;
  const float near = static_cast<float>(exact);
  return near < exact ? std::nextafter(near, INFINITY) : near;
}
inline int __ffs(unsigned word) { return word == 0 ? 0 : std::countr_zero(word) + 1; }
inline int __clz(unsigned word) { return std::countl_zero(word); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(uint64_t{a} * b >> 32);
}
// CUDA Math API, "__byte_perm": a selector's third bit chooses b, and its fourth, which PTX has for
// signs, has no effect.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selectors) {
  const uint64_t both = uint64_t{b} << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; i++)
    result |= static_cast<unsigned>(both >> 8 * (selectors >> 4 * i & 7) & 255) << 8 * i;
  return result;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (int i = 0; i < 32; i += 8) sum += (a >> i & 255) * (b >> i & 255);
  return sum;
}

// One thread at a time is at work, and sees what the others wrote.
inline void __threadfence() {}
template <typename T>
T __ldcg(const T* from) {
  return *from;
}
inline unsigned atomicAdd(unsigned* at, unsigned value) { return std::exchange(*at, *at + value); }
inline unsigned atomicMax(unsigned* at, unsigned value) {
  return std::exchange(*at, std::max(*at, value));
}
inline unsigned atomicOr(unsigned* at, unsigned value) { return std::exchange(*at, *at | value); }
inline unsigned atomicCAS(unsigned* at, unsigned before, unsigned after) {
  return std::exchange(*at, *at == before ? after : *at);
}
