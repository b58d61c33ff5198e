// In place of resources/kernels/cuda/common/bf16Pairs.cuh for the CPU.
#pragma once

#include "../../hopperMachine.h"
#include "common/types.cuh"

inline float ofBf16(u32 bits) { return __uint_as_float(bits << 16); }
inline u32 toBf16Pair(float low, float high) {
  return blockscope::floatToBf16(low) | u32{blockscope::floatToBf16(high)} << 16;
}
inline u32 multiplyBf16Pair(u32 a, u32 b) {
  return toBf16Pair(ofBf16(a & 0xffff) * ofBf16(b & 0xffff), ofBf16(a >> 16) * ofBf16(b >> 16));
}
// PTX ISA, "min.bf16x2": a number beside NaN.
inline u32 lesserBf16Pair(u32 a, u32 b) {
  const auto lesser = [](u32 left, u32 right) {
    return std::isnan(ofBf16(left))       ? right
           : std::isnan(ofBf16(right))    ? left
           : ofBf16(left) < ofBf16(right) ? left
                                          : right;
  };
  return lesser(a & 0xffff, b & 0xffff) | lesser(a >> 16, b >> 16) << 16;
}
template <u32 Mask>
inline u32 onlyBits(u32 a) {
  return a & Mask;
}
template <u32 Mask>
inline u32 selectBits(u32 a, u32 b) {
  return (a & Mask) | (b & ~Mask);
}
inline u32 besideSigns(u32 low, u32 high, int first, int second) {
  const auto extended = [&](int i) {
    const u32 byte = __byte_perm(low, high, i) & 255;
    return byte >= 128 ? byte | 0xff00 : byte;
  };
  return extended(first) | extended(second) << 16;
}
inline u32 bothHalves(float value) { return toBf16Pair(value, value); }
inline u32 bothOfHalf(u32 pair, int half) { return (pair >> 16 * half & 0xffff) * 0x00010001; }

// PTX ISA, "Matrix Fragments for mma.m16n8k16", of numbers of 16 bits each.
template <typename Decode>
void addProducts(float* d, const u32 (&a)[4], u32 b0, u32 b1, Decode decode) {
  const int lane = hopper::machine().lane();
  // A reference to what is shown lasts until the warp shows something for the second time.
  const auto ofA = hopper::machine().block.exchange(20, {a[0], a[1], a[2], a[3]});
  const auto& ofB = hopper::machine().block.exchange(21, {b0, b1});
  for (int i = 0; i < 4; i++) {
    const int row = lane / 4 * 4, column = (lane % 4 * 2 + i % 2) * 4;
    double sum = d[i];
    for (int k = 0; k < 16; k++) {
      const u32 left = ofA[row + k % 8 / 2][i / 2 + k / 8 * 2],
                right = ofB[column + k % 8 / 2][k / 8];
      sum += double{decode(left >> k % 2 * 16 & 0xffff)} * decode(right >> k % 2 * 16 & 0xffff);
    }
    d[i] = static_cast<float>(sum);
  }
}
inline void addPairs(float* d, const u32 (&a)[4], u32 b0, u32 b1) {
  addProducts(d, a, b0, b1, ofBf16);
}
inline void multiplyPairs(float* d, const u32 (&a)[4], u32 b0, u32 b1) {
  for (int i = 0; i < 4; i++) d[i] = 0;
  addPairs(d, a, b0, b1);
}
