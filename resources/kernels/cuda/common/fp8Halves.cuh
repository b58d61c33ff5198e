// fp8 by fp8 in float16, by matrix instructions of a warp, for kernels for few rows of A: a GPU
// makes two codes numbers by one instruction, NaN and infinities among them. Sums of a scale block
// are multiplied by both scales in float32.
#pragma once

#include "common/halves.cuh"

namespace decode {

// Pairs of four 8-bit codes.
template <int Format>
__device__ inline void halvesOf(u32 codes, u32 (&halves)[2]) {
  if constexpr (Format == 3) halvesOfE4m3(codes, halves);
  else halvesOfE5m2(codes, halves);
}

// A scale of e8m0; 2^-127 has no exponent of its own. NaN is infinity, which makes NaN or infinity
// of any sum.
__device__ inline float scaleOfE8m0(u32 scale) {
  return __int_as_float(max((int)(scale << 23), 0x00400000));
}

// Below this a sum may have lost something: sums of a block under scales whose product is below
// 2^-149, and numbers below that, of 2^15 blocks 2^-98 at most (e5m2; a block's sum is below 2^37).
constexpr float kSmallestOfHalves = 0x1p-70f;

}  // namespace decode
