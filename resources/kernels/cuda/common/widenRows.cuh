// The pass ahead of a product that widens B itself (gemm_codes.cuh): A to bf16 in B's order, and a
// look at B's scales.
#pragma once

#include "common/widen.cuh"

// The order along K in which codes of B fall apart where they are widened in registers: a lane of
// four takes kOfLane codes, which are a word, and of each pair of smallPairOf one number is the
// other's neighbour. Of kOfBlock elements, number kOfLane q + i + kOfLane / 2 e goes to place 8 i +
// 2 q + e.
constexpr int kOfLane = 32 / kBits(B_FORMAT), kOfBlock = 4 * kOfLane;

// Two codes, one in the low bits of each half of a word, times a scale.
template <int Format>
__device__ inline u32 widenedPair(u32 codes, float scale) {
  if (!holdsSpecial<Format>(codes))
    return multiplyBf16Pair(multiplyBf16Pair(asSmallBf16<Format>(codes), unbiasOf<Format>()),
                            bothHalves(scale));
  const float shifted = scale * (1.0f / (1 << kWideShift));
  return toBf16Pair(decodeElement<Format>(codes & 255) * shifted,
                    decodeElement<Format>(codes >> 16) * shifted);
}

// Words of codes that four threads read together.
template <int Count>
__device__ inline void loadBlock(u32 (&words)[Count], const u8* codes, u32 block) {
  const u8* from = codes + (long long)block * (Count * 4);
#pragma unroll
  for (int i = 0; i < Count;) {
    if (Count % 4 == 0) {
      const uint4 four = *reinterpret_cast<const uint4*>(from + i * 4);
      words[i++] = four.x, words[i++] = four.y, words[i++] = four.z, words[i++] = four.w;
    } else {
      words[i] = *reinterpret_cast<const u32*>(from + i * 4), i++;
    }
  }
}

// Eight places of A, from 8 `piece` on.
template <int Format>
__device__ inline void placeInOrder(const u8* codes, const u8* scales, u16* wide, u32 piece,
                                    u32* beyond) {
  constexpr int kBitsOf = kBits(Format);
  const u32 block = piece / (kOfBlock / 8), i = piece % (kOfBlock / 8);
  u32 pairs[4];
  if constexpr (kIsScaled(Format)) {
    u32 words[kBitsOf * kOfBlock / 32];
    loadBlock(words, codes, block);
#pragma unroll
    for (int quad = 0; quad < 4; quad++) {
      const u32 scaleCode = scales[((long long)block * kOfBlock + quad * kOfLane) / SCALE_BLOCK];
      if (beyondBf16(scaleCode)) *beyond = 1;
      const int bit = kBitsOf * kOfLane * quad, word = bit / 32;
      const u64 joined =
          (words[word] | (u64)(word + 1 < (int)(sizeof(words) / 4) ? words[word + 1] : 0) << 32) >>
          bit % 32;
      const u32 low = (u32)(joined >> kBitsOf * i),
                high = (u32)(joined >> kBitsOf * (i + kOfLane / 2));
      constexpr u32 kMask = (1u << kBitsOf) - 1;
      pairs[quad] = widenedPair<Format>((low & kMask) | (high & kMask) << 16,
                                        decodeScale<SCALE_FORMAT>(scaleCode));
    }
  } else {
    const u16* from = reinterpret_cast<const u16*>(codes) + (long long)block * kOfBlock + i;
#pragma unroll
    for (int quad = 0; quad < 4; quad++)
      pairs[quad] =
          shiftedPair(from[quad * kOfLane] | from[quad * kOfLane + kOfLane / 2] << 16, beyond);
  }
  storeStreaming(reinterpret_cast<uint4*>(wide) + piece,
                 make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]));
}

// Scales that one thread looks at, where B's codes are widened elsewhere.
constexpr int kScalesOfPiece = SCALES_OF_THREAD;
static_assert(kScalesOfPiece == 16, "one load");

// Piece `i` of `count` scales: is one of them beyond bf16's range?
__device__ inline void checkScales(const u8* scales, u32 count, u32 i, u32* beyond) {
  const u8* from = scales + (long long)i * kScalesOfPiece;
  const u32 left = min(count - i * kScalesOfPiece, (u32)kScalesOfPiece);
  bool any = false;
  if (left == kScalesOfPiece && (u64)from % 16 == 0) {
    const uint4 four = *reinterpret_cast<const uint4*>(from);
    const u32 words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int at = 0; at < kScalesOfPiece; at++)
      any |= beyondBf16(words[at / 4] >> at % 4 * 8 & 255);
  } else {
    for (u32 at = 0; at < left; at++) any |= beyondBf16(from[at]);
  }
  if (any) *beyond = 1;
}

// As widenOfGroups, for a product that widens B itself: A in B's order, and a look at B's scales.
__device__ inline void widenRowsOfGroups(u32 i, const u8* aCodes, const u8* aScales,
                                         const u8* bScales, u16* aWide, const int* groupStarts,
                                         const int* groupRows, int groups, int M, int N, int K,
                                         u32* beyond) {
  const u32 aOfRow = K / 8, aPieces = M * aOfRow;
  const u32 ofMatrix = (u32)N * (K / SCALE_BLOCK),
            piecesOfMatrix = (ofMatrix + kScalesOfPiece - 1) / kScalesOfPiece;
  if (i < aPieces) {
    if (groupOfRow(groupStarts, groupRows, groups, (int)(i / aOfRow)) >= 0)
      placeInOrder<A_FORMAT>(aCodes, aScales, aWide, i, beyond);
  } else if (i < aPieces + groups * piecesOfMatrix) {
    const u32 matrix = (i - aPieces) / piecesOfMatrix;
    if (groupRows[matrix] > 0)
      checkScales(bScales + (long long)matrix * ofMatrix, ofMatrix, (i - aPieces) % piecesOfMatrix,
                  beyond);
  }
}
