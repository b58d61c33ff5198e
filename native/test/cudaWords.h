// Words of CUDA that have nothing to do with other threads, for kernels' sources on a CPU.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

struct int2 {
  int x, y;
};
struct float2 {
  float x, y;
};
struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};
inline int2 make_int2(int x, int y) { return {x, y}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

using std::max;
using std::min;
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline int __ffs(unsigned word) { return word == 0 ? 0 : std::countr_zero(word) + 1; }
// PTX ISA, prmt: a selector's third bit chooses b, its fourth would repeat a sign.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selectors) {
  const uint64_t both = uint64_t{b} << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; i++)
    result |= static_cast<unsigned>(both >> 8 * (selectors >> 4 * i & 7) & 255) << 8 * i;
  return result;
}
