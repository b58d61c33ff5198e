// In place of resources/kernels/cuda/common/halves.cuh for the CPU.
#pragma once

#include "../../../core/formats.h"
#include "../../../core/outputs.h"
#include "bf16Pairs.cuh"
#include "common/types.cuh"

inline void halvesOf(blockscope::NumberFormatId format, u32 codes, u32 (&halves)[2]) {
  const auto& values = blockscope::decodeTable(format);
  halves[0] = halves[1] = 0;
  for (int i = 0; i < 4; i++)
    halves[i / 2] |= u32{blockscope::floatToHalf(values[codes >> 8 * i & 255])} << 16 * (i % 2);
}
inline void halvesOfE4m3(u32 codes, u32 (&halves)[2]) {
  halvesOf(blockscope::NumberFormatId::kE4m3, codes, halves);
}
inline void halvesOfE5m2(u32 codes, u32 (&halves)[2]) {
  halvesOf(blockscope::NumberFormatId::kE5m2, codes, halves);
}
inline u32 halvesTo(blockscope::NumberFormatId format, const u32 (&halves)[2]) {
  u32 codes = 0;
  for (int i = 0; i < 4; i++) {
    const float value = blockscope::halfToFloat(static_cast<u16>(halves[i / 2] >> 16 * (i % 2)));
    codes |= u32{blockscope::encode(blockscope::numberFormat(format), value)} << 8 * i;
  }
  return codes;
}
inline u32 halvesToE4m3(const u32 (&halves)[2]) {
  return halvesTo(blockscope::NumberFormatId::kE4m3, halves);
}
inline u32 halvesToE5m2(const u32 (&halves)[2]) {
  return halvesTo(blockscope::NumberFormatId::kE5m2, halves);
}
template <typename Change>
u32 ofBothHalves(u32 a, u32 b, Change change) {
  return u32{change(static_cast<u16>(a), static_cast<u16>(b))} |
         u32{change(static_cast<u16>(a >> 16), static_cast<u16>(b >> 16))} << 16;
}
inline u32 multiplyHalves(u32 a, u32 b) {
  return ofBothHalves(a, b, [](u16 x, u16 y) {
    return blockscope::floatToHalf(blockscope::halfToFloat(x) * blockscope::halfToFloat(y));
  });
}
inline u32 largerHalves(u32 a, u32 b) {
  return ofBothHalves(a, b, [](u16 x, u16 y) { return std::max(x, y); });
}
inline void addHalves(float* d, const u32 (&a)[4], u32 b0, u32 b1) {
  addProducts(d, a, b0, b1,
              [](u32 bits) { return blockscope::halfToFloat(static_cast<u16>(bits)); });
}
inline void productOfHalves(float* d, const u32 (&a)[4], u32 b0, u32 b1) {
  for (int i = 0; i < 4; i++) d[i] = 0;
  addHalves(d, a, b0, b1);
}
