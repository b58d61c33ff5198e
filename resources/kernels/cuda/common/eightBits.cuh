// float32 to e4m3 and e5m2: nearest, ties to even, beyond the range the largest finite code, NaN
// is 0x7f. By cvt, which has both from sm_89 on; else in integers.
#pragma once

template <int FractionBits, int Bias, unsigned LargestCode>
__device__ inline unsigned toEightBits(float value) {
  const unsigned bits = __float_as_uint(value), sign = bits >> 24 & 0x80,
                 magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7f;
  constexpr int kShift = 23 - FractionBits;
  // Rounded to the fraction's bits; the exponent's bias goes from 127 to its own.
  const unsigned normal =
      ((magnitude + (1u << (kShift - 1)) - 1 + (magnitude >> kShift & 1)) >> kShift) -
      ((127 - Bias) << FractionBits);
  // Subnormal codes are multiples of 2^(1 - Bias - FractionBits), the unit in the last place of a
  // float this large.
  constexpr unsigned kUnit = (unsigned)(127 + 24 - Bias - FractionBits) << 23;
  const unsigned subnormal =
      __float_as_uint(__fadd_rn(__uint_as_float(magnitude), __uint_as_float(kUnit))) - kUnit;
  const unsigned code = magnitude < (unsigned)(128 - Bias) << 23 ? subnormal : normal;
  return sign | (code < LargestCode ? code : LargestCode);
}

// Two of them: `low` in the low byte.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
__device__ inline unsigned toE4m3Pair(float low, float high) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ inline unsigned toE5m2Pair(float low, float high) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}
#else
__device__ inline unsigned toE4m3Pair(float low, float high) {
  return toEightBits<3, 7, 0x7e>(low) | toEightBits<3, 7, 0x7e>(high) << 8;
}
__device__ inline unsigned toE5m2Pair(float low, float high) {
  return toEightBits<2, 15, 0x7b>(low) | toEightBits<2, 15, 0x7b>(high) << 8;
}
#endif

__device__ inline unsigned toE4m3(float value) { return toE4m3Pair(value, 0.0f); }
__device__ inline unsigned toE5m2(float value) { return toE5m2Pair(value, 0.0f); }
