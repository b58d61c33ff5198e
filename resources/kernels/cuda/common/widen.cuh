// Packed codes and scales to bf16 numbers: element x scale, exact (at most 8 significant bits) while the scale lies within
// 2^-117..2^117.
#pragma once

#include "common/formats.cuh"

// True for a scale with which some element x scale is not exact in bf16, or overflows it.
__device__ inline bool beyondBf16(u32 scale) { return SCALE_FORMAT == 5 && (scale < 127 - 117 || scale > 127 + 117); }

constexpr int kWidenPerThread = 16;
static_assert(SCALE_BLOCK % kWidenPerThread == 0, "a thread's elements share one scale");

// 16 packed codes as 8 pairs of numbers times the scale.
template <int Format>
__device__ inline void widenSixteen(const u8* packed, float scale, u32 (&pairs)[8]) {
  u32 words[4] = {};
  constexpr int kWords = kBits(Format) / 2;
  if (kBits(Format) == 4) {
    const uint2 loaded = *reinterpret_cast<const uint2*>(packed);
    words[0] = loaded.x, words[1] = loaded.y;
  } else if (kBits(Format) == 8) {
    const uint4 loaded = *reinterpret_cast<const uint4*>(packed);
    words[0] = loaded.x, words[1] = loaded.y, words[2] = loaded.z, words[3] = loaded.w;
  } else {
#pragma unroll
    for (int i = 0; i < kWords; i++) words[i] = reinterpret_cast<const u32*>(packed)[i];
  }
#pragma unroll
  for (int i = 0; i < 8; i++) {
    float low, high;
    if (Format == 3 || Format == 4) {
      const u16 both = (u16)(words[i / 2] >> (i % 2 * 16));
      u32 halves;
      if (Format == 3) asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(both));
      else asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(both));
      asm("{ .reg .f16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }"
          : "=f"(low), "=f"(high)
          : "r"(halves));
    } else if (Format == 0) {
      const u32 both = words[i / 4] >> (i % 4 * 8);
      low = decodeElement<0>(both & 15);
      high = decodeElement<0>(both >> 4 & 15);
    } else {
      const int bit = i * 12;
      const u64 joined = words[bit / 32] | (bit / 32 < kWords - 1 ? (u64)words[bit / 32 + 1] << 32 : 0);
      const u32 both = (u32)(joined >> (bit % 32)) & 0xfff;
      low = decodeElement<Format>(both & 63);
      high = decodeElement<Format>(both >> 6);
    }
    pairs[i] = toBf16Pair(low * scale, high * scale);
  }
}

// Elements [16 i, 16 i + 16) of a matrix whose rows are whole scale blocks.
template <int Format>
__device__ inline void widenAt(const u8* codes, const u8* scales, u16* wide, long long i, u32* beyond) {
  const u32 code = scales[i * kWidenPerThread / SCALE_BLOCK];
  if (beyondBf16(code)) *beyond = 1;
  const float scale = decodeScale<SCALE_FORMAT>(code);
  u32 pairs[8];
  widenSixteen<Format>(codes + i * (2 * kBits(Format)), scale, pairs);
  uint4* out = reinterpret_cast<uint4*>(wide + i * kWidenPerThread);
  out[0] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
  out[1] = make_uint4(pairs[4], pairs[5], pairs[6], pairs[7]);
}

// Both operands in one launch: threads beyond A's take B's. Sets *beyond when a scale lies outside the range.
__device__ inline void widenBoth(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, u16* aWide,
                                 u16* bWide, long long aCount, long long bCount, u32* beyond) {
  const long long aGroups = aCount / kWidenPerThread, groups = aGroups + bCount / kWidenPerThread;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < groups; i += (long long)gridDim.x * blockDim.x) {
    if (i < aGroups) widenAt<A_FORMAT>(aCodes, aScales, aWide, i, beyond);
    else widenAt<B_FORMAT>(bCodes, bScales, bWide, i - aGroups, beyond);
  }
}
