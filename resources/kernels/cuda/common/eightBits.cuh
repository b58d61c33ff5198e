// float32 to e4m3 and e5m2: nearest, ties to even, beyond the range the largest finite code, NaN
// stays. In integers, because cvt has both from sm_89 on alone.
#pragma once

template <int FractionBits, int Bias, unsigned LargestCode, unsigned NanCode>
__device__ inline unsigned toEightBits(float value) {
  const unsigned bits = __float_as_uint(value), sign = bits >> 24 & 0x80,
                 magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | NanCode;
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

__device__ inline unsigned toE4m3(float value) { return toEightBits<3, 7, 0x7e, 0x7f>(value); }
__device__ inline unsigned toE5m2(float value) { return toEightBits<2, 15, 0x7b, 0x7e>(value); }
