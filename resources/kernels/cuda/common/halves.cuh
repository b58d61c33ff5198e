// Two float16 numbers in a word, fp8 numbers made of them and from them (sm_89 and later), and
// matrix instructions of a warp. native/test has its own of these.
#pragma once

#include "common/bf16Pairs.cuh"

// Four e4m3 codes as two words of them.
__device__ inline void halvesOfE4m3(u32 codes, u32 (&halves)[2]) {
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.rn.f16x2.e4m3x2 %0, low; "
      "cvt.rn.f16x2.e4m3x2 %1, high; }"
      : "=r"(halves[0]), "=r"(halves[1])
      : "r"(codes));
}
__device__ inline void halvesOfE5m2(u32 codes, u32 (&halves)[2]) {
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.rn.f16x2.e5m2x2 %0, low; "
      "cvt.rn.f16x2.e5m2x2 %1, high; }"
      : "=r"(halves[0]), "=r"(halves[1])
      : "r"(codes));
}
// Back, rounded to nearest, ties to even.
__device__ inline u32 halvesToE4m3(const u32 (&halves)[2]) {
  u32 codes;
  asm("{ .reg .b16 low, high; cvt.rn.satfinite.e4m3x2.f16x2 low, %1; "
      "cvt.rn.satfinite.e4m3x2.f16x2 high, %2; mov.b32 %0, {low, high}; }"
      : "=r"(codes)
      : "r"(halves[0]), "r"(halves[1]));
  return codes;
}
__device__ inline u32 halvesToE5m2(const u32 (&halves)[2]) {
  u32 codes;
  asm("{ .reg .b16 low, high; cvt.rn.satfinite.e5m2x2.f16x2 low, %1; "
      "cvt.rn.satfinite.e5m2x2.f16x2 high, %2; mov.b32 %0, {low, high}; }"
      : "=r"(codes)
      : "r"(halves[0]), "r"(halves[1]));
  return codes;
}

__device__ inline u32 multiplyHalves(u32 a, u32 b) {
  u32 product;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}
// Each half as a whole number without a sign: the order of magnitudes.
__device__ inline u32 largerHalves(u32 a, u32 b) {
  u32 larger;
  asm("max.u16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}

BS_MULTIPLY(productOfHalves, "f16")
BS_ADD_PRODUCTS(addHalves, "f16")
