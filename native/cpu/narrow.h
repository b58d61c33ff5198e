// Rows of sums as the output type. Same rounding as writeOutput (nearest, ties to even; e4m3
// and e5m2 saturate), in loops that a compiler can vectorise.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "../core/outputs.h"

namespace blockscope {

// float32 to float16: the one conversion instruction sets differ in.
using NarrowToHalf = void (*)(const float* sums, int64_t count, uint16_t* out);

inline void narrowToHalfPortable(const float* sums, int64_t count, uint16_t* out) {
  for (int64_t i = 0; i < count; i++) out[i] = floatToHalf(sums[i]);
}

inline void narrowToBf16(const float* sums, int64_t count, uint16_t* out) {
  for (int64_t i = 0; i < count; i++) {
    const uint32_t bits = std::bit_cast<uint32_t>(sums[i]);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const bool nan = (bits & 0x7fffffff) > 0x7f800000;
    out[i] = static_cast<uint16_t>(nan ? (bits >> 16) | 0x40 : rounded);
  }
}

inline void narrowToE4m3(const float* sums, int64_t count, uint8_t* out) {
  for (int64_t i = 0; i < count; i++) {
    const uint32_t bits = std::bit_cast<uint32_t>(sums[i]);
    const uint32_t sign = bits >> 24 & 0x80, magnitude = bits & 0x7fffffff;
    // Rounded to 3 fractional bits; the exponent's bias goes from 127 to 7.
    const uint32_t normal = ((magnitude + 0x7ffff + (magnitude >> 20 & 1)) >> 20) - (120 << 3);
    // Below 2^-6 codes are multiples of 2^-9, which is a unit in the last place of 2^14.
    const float shifted = std::bit_cast<float>(magnitude) + 0x1p14f;
    const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0x1p14f);
    uint32_t code = magnitude < std::bit_cast<uint32_t>(0x1p-6f) ? subnormal : normal;
    code = magnitude > std::bit_cast<uint32_t>(448.0f) ? 0x7e : code;
    out[i] = static_cast<uint8_t>(magnitude > 0x7f800000 ? 0x7f : sign | code);
  }
}

inline void narrowToE5m2(const float* sums, int64_t count, uint8_t* out) {
  for (int64_t i = 0; i < count; i++) {
    const uint32_t bits = std::bit_cast<uint32_t>(sums[i]);
    const uint32_t sign = bits >> 24 & 0x80, magnitude = bits & 0x7fffffff;
    // Rounded to 2 fractional bits; the exponent's bias goes from 127 to 15.
    const uint32_t normal = ((magnitude + 0xfffff + (magnitude >> 21 & 1)) >> 21) - (112 << 2);
    // Below 2^-14 codes are multiples of 2^-16, which is a unit in the last place of 2^7.
    const float shifted = std::bit_cast<float>(magnitude) + 0x1p7f;
    const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0x1p7f);
    uint32_t code = magnitude < std::bit_cast<uint32_t>(0x1p-14f) ? subnormal : normal;
    code = magnitude > std::bit_cast<uint32_t>(57344.0f) ? 0x7b : code;
    out[i] = static_cast<uint8_t>(magnitude > 0x7f800000 ? 0x7e : sign | code);
  }
}

// Stores `count` sums at element `at` of C.
inline void narrowRow(OutputType type, const float* sums, int64_t count, void* c, int64_t at,
                      NarrowToHalf toHalf) {
  switch (type) {
    case OutputType::kF32:
      std::memcpy(static_cast<float*>(c) + at, sums, count * sizeof(float));
      break;
    case OutputType::kF16:
      toHalf(sums, count, static_cast<uint16_t*>(c) + at);
      break;
    case OutputType::kBf16:
      narrowToBf16(sums, count, static_cast<uint16_t*>(c) + at);
      break;
    case OutputType::kE4m3:
      narrowToE4m3(sums, count, static_cast<uint8_t*>(c) + at);
      break;
    case OutputType::kE5m2:
      narrowToE5m2(sums, count, static_cast<uint8_t*>(c) + at);
      break;
  }
}

inline void narrowRow(OutputType type, const double* sums, int64_t count, void* c, int64_t at,
                      NarrowToHalf) {
  for (int64_t i = 0; i < count; i++) writeOutput(type, sums[i], c, at + i);
}

}  // namespace blockscope
