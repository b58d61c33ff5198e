// MXFP4 rows as e5m2: each row's scales are taken out against one power of two, the rest goes into the elements' exponents.
//
// With r = (largest scale of a non-zero block) - 13, an element x 2^(scale - r) is exact in e5m2 for scale - r in -15..13: a
// window of 29 binades a row. Rows that need more set *outside.
#pragma once

#include "common/formats.cuh"

constexpr int kEncodeThreads = 128, kHeadroom = 13, kSmallestNormal = -13, kSmallestExact = -15;

// e5m2 codes of 0, .5, 1, 1.5 | 2, 3, 4, 6 times 2^s, one a byte.
__device__ inline uint2 codeTable(int s) {
  if (s == -15) return make_uint2(0x03020100, 0x0a080604);
  if (s == -14) return make_uint2(0x06040200, 0x0e0c0a08);
  // One step of s is one step of the exponent field, 4 in the code; zero stays zero.
  return make_uint2(0x3e3c3800 + s * 0x04040400, 0x46444240 + s * 0x04040404);
}

// Four fp4 codes (16 bits, low nibble first) to four e5m2 bytes.
__device__ inline u32 encodeFour(u32 nibbles, uint2 table) {
  const u32 magnitudes = __byte_perm(table.x, table.y, nibbles & 0x7777);
  const u32 signs = (nibbles & 0x8) << 4 | (nibbles & 0x80) << 8 | (nibbles & 0x800) << 12 | (nibbles & 0x8000) << 16;
  return magnitudes | signs;
}

__device__ inline u32 blockMaximum(u32 value) {
  __shared__ u32 ofWarp[kEncodeThreads / 32];
  value = __reduce_max_sync(0xffffffff, value);
  if (threadIdx.x % 32 == 0) ofWarp[threadIdx.x / 32] = value;
  __syncthreads();
  u32 largest = 0;
  for (int i = 0; i < kEncodeThreads / 32; i++) largest = max(largest, ofWarp[i]);
  return largest;
}

// One row: K / 2 bytes of codes, K / 32 scales. A block of kEncodeThreads threads.
__device__ inline void reencodeRow(const u8* codes, const u8* scales, u8* encoded, float* factor, u32* outside, int K) {
  static_assert(SCALE_BLOCK == 32, "a scale block is 16 bytes of fp4");
  const uint4* packed = reinterpret_cast<const uint4*>(codes);
  u32 largest = 0;
  for (int block = threadIdx.x; block < K / 32; block += kEncodeThreads) {
    const uint4 words = packed[block];
    if ((words.x | words.y | words.z | words.w) & 0x77777777) largest = max(largest, (u32)scales[block]);
  }
  largest = blockMaximum(largest);
  const int reference = (int)largest - kHeadroom;
  if (threadIdx.x == 0) *factor = ldexpf(1.0f, reference - 127);
  for (int block = threadIdx.x; block < K / 32; block += kEncodeThreads) {
    const uint4 words = packed[block];
    const int s = (int)scales[block] - reference;
    const bool zero = ((words.x | words.y | words.z | words.w) & 0x77777777) == 0;
    // A NaN scale makes NaN of zeros too.
    if ((!zero && s < kSmallestExact) || scales[block] == 255) *outside = 1;
    const uint2 table = zero ? make_uint2(0, 0) : codeTable(max(s, kSmallestExact));
    uint4* out = reinterpret_cast<uint4*>(encoded + block * 32);
    out[0] = make_uint4(encodeFour(words.x, table), encodeFour(words.x >> 16, table), encodeFour(words.y, table),
                        encodeFour(words.y >> 16, table));
    out[1] = make_uint4(encodeFour(words.z, table), encodeFour(words.z >> 16, table), encodeFour(words.w, table),
                        encodeFour(words.w >> 16, table));
  }
}
