// What codes of elements and scales are, for instructions computed in software. Formats by number:
// 0 e2m1, 1 e2m3, 2 e3m2, 3 e4m3, 4 e5m2, 5 ue8m0, 6 ue4m3.
#pragma once

// HIP sources, of another folder, have it already.
#ifndef LANE_CODE
#include "common/types.cuh"
#endif

namespace blockscale {

enum class Kind { kFinite, kInfinite, kNan };

// mantissa x 2^(exponent - fraction bits of the format).
struct Number {
  int mantissa, exponent;
  Kind kind;
};

LANE_CODE constexpr int fractionBits(int format) {
  return format == 0 ? 1 : format == 1 || format == 3 || format == 6 ? 3 : format == 5 ? 0 : 2;
}

// A code of formats 0 to 6. OCP Microscaling Formats v1.0, section 5.3; ue4m3 is e4m3 whose sign
// does not count.
LANE_CODE inline Number numberByFields(int format, u32 code) {
  if (format == 5) return {1, (int)code - 127, code == 255 ? Kind::kNan : Kind::kFinite};
  const int fraction = fractionBits(format), exponentBits = format <= 1   ? 2
                                                            : format == 2 ? 3
                                                            : format == 4 ? 5
                                                                          : 4;
  const int bias = (1 << (exponentBits - 1)) - 1;
  const int magnitude = (int)(code & ((1u << (exponentBits + fraction)) - 1)),
            field = magnitude >> fraction;
  const bool negative = format != 6 && (code >> (exponentBits + fraction) & 1);
  Number number = {magnitude & ((1 << fraction) - 1), 1 - bias, Kind::kFinite};
  if (field > 0) number = {number.mantissa | 1 << fraction, field - bias, Kind::kFinite};
  if ((format == 3 || format == 6) && magnitude == 127) number.kind = Kind::kNan;
  if (format == 4 && field == 31) number.kind = magnitude == 124 ? Kind::kInfinite : Kind::kNan;
  if (negative) number.mantissa = -number.mantissa;
  return number;
}

#if defined(__CUDACC__) || defined(__HIP__)
LANE_CODE inline Number numberOf(int format, u32 code) { return numberByFields(format, code); }
#else
// A CPU looks codes up: taking them apart was two fifths of an instruction's time there.
struct Numbers {
  Number of[7][256];
  Numbers() {
    for (int format = 0; format < 7; format++)
      for (u32 code = 0; code < 256; code++) of[format][code] = numberByFields(format, code);
  }
};
inline Number numberOf(int format, u32 code) {
  static const Numbers numbers;
  return numbers.of[format][code];
}
#endif

}  // namespace blockscale
