// e4m3 and e5m2 as the comparison reads and rounds them: written apart from the kernels'
// conversions (eightBits.cuh), which it judges.
#pragma once

// Fraction bits, the exponent of the smallest normal number, the largest finite code; codes beyond
// are NaN, but for e5m2's infinity right behind it.
struct EightBits {
  int fractionBits, smallest;
  unsigned largest;
  bool hasInfinity;
};
__device__ inline EightBits eightBits(bool isE4m3) {
  if (isE4m3) return {3, -6, 126, false};
  return {2, -14, 123, true};
}

// Nearest code, ties to even, at most the largest finite one; NaN stays.
__device__ inline unsigned toEightBits(EightBits type, float value) {
  const unsigned sign = __float_as_uint(value) >> 31 << 7;
  const float magnitude = fabsf(value);
  if (magnitude != magnitude) return sign | 127;
  // Far beyond both ranges the code itself would overflow.
  const int exponent = min(max(type.smallest, (int)(__float_as_uint(magnitude) >> 23) - 127), 20);
  const float units = rintf(ldexpf(magnitude, type.fractionBits - exponent));
  const float code = (float)((exponent - type.smallest) << type.fractionBits) + units;
  return sign | (code < (float)type.largest ? (unsigned)code : type.largest);
}

__device__ inline float fromEightBits(EightBits type, unsigned code) {
  const unsigned magnitude = code & 127, field = magnitude >> type.fractionBits;
  const float sign = code & 128 ? -1.0f : 1.0f;
  if (type.hasInfinity && magnitude == type.largest + 1) return sign * __uint_as_float(0x7f800000);
  if (magnitude > type.largest) return __uint_as_float(0x7fffffff);
  const unsigned fraction = magnitude & ((1u << type.fractionBits) - 1);
  if (field == 0) return sign * ldexpf((float)fraction, type.smallest - type.fractionBits);
  return sign * ldexpf((float)((1u << type.fractionBits) + fraction),
                       type.smallest + (int)field - 1 - type.fractionBits);
}
