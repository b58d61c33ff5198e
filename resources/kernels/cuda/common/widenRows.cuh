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
  return decodedPair<Format>(codes & 255, codes >> 16, scale);
}

// Places of A: eight from 8 `piece` on and eight from 8 (piece + 2) on, of the same 32.
template <int Format>
__device__ inline void placeInOrder(const u8* codes, const u8* scales, u16* wide, u32 piece,
                                    u32* beyond) {
  constexpr int kBitsOf = kBits(Format), kHalf = kOfLane / 2;
  const long long block = piece / 4;
  bool isBeyond = false;
  u32 pairs[2][4];
  if constexpr (kIsScaled(Format)) {
    u32 words[kBitsOf];
    loadWords(words, codes + block * (kBitsOf * 4));
    float scaleOfBlock[32 / SCALE_BLOCK];
#pragma unroll
    for (int i = 0; i < 32 / SCALE_BLOCK; i++) {
      const u32 scaleCode = scales[block * (32 / SCALE_BLOCK) + i];
      isBeyond |= beyondBf16(scaleCode);
      scaleOfBlock[i] = decodeScale<SCALE_FORMAT>(scaleCode);
    }
    constexpr u32 kMask = (1u << kBitsOf) - 1;
#pragma unroll
    for (int at = 0; at < 8; at++) {
      const int quad = at % 4, first = (kOfBlock == 16 ? at / 4 * 16 : 0) + quad * kOfLane;
      const u32 shift = kBitsOf * (kOfBlock == 16 ? piece % 2 : piece % 2 + at / 4 * 2);
      const u32 low = bitsOf(words, kBitsOf * first) >> shift,
                high = bitsOf(words, kBitsOf * (first + kHalf)) >> shift;
      // Where a lane's codes are a word, it has both.
      const u32 both =
          kBitsOf * kHalf == 16 ? low & kMask * 0x10001 : low & kMask | (high & kMask) << 16;
      pairs[at / 4][quad] = widenedPair<Format>(both, scaleOfBlock[first / SCALE_BLOCK]);
    }
  } else {
#pragma unroll
    for (int at = 0; at < 8; at++) {
      const int first = (kOfBlock == 16 ? at / 4 * 16 : at / 4 * 2) + at % 4 * kOfLane;
      const u16* from = reinterpret_cast<const u16*>(codes) + block * 32 + piece % 2 + first;
      pairs[at / 4][at % 4] = shiftedPair(from[0] | from[kHalf] << 16, isBeyond);
    }
  }
  if (isBeyond) *beyond = 1;
#pragma unroll
  for (int half = 0; half < 2; half++)
    storeStreaming(reinterpret_cast<uint4*>(wide) + piece + half * 2,
                   make_uint4(pairs[half][0], pairs[half][1], pairs[half][2], pairs[half][3]));
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

// Of one product that widens B itself: A in B's order, and a look at B's scales, piece by piece.
__device__ inline u32 piecesOfOne(int M, int N, int K) {
  const u32 scales = (u32)N * (K / SCALE_BLOCK);
  return (u32)M * (K / 16) + (scales + kScalesOfPiece - 1) / kScalesOfPiece;
}
__device__ inline void widenRowsOfOne(u32 i, const u8* aCodes, const u8* aScales, const u8* bScales,
                                      u16* aWide, int M, int N, int K, u32* beyond) {
  const u32 aPieces = (u32)M * (K / 16), scales = (u32)N * (K / SCALE_BLOCK);
  if (i < aPieces) placeInOrder<A_FORMAT>(aCodes, aScales, aWide, i / 2 * 4 + i % 2, beyond);
  else checkScales(bScales, scales, i - aPieces, beyond);
}

// As widenOfGroups, for a product that widens B itself: A in B's order, and a look at B's scales.
__device__ inline void widenRowsOfGroups(u32 i, const u8* aCodes, const u8* aScales,
                                         const u8* bScales, u16* aWide, const int* groupStarts,
                                         const int* groupRows, int groups, int M, int N, int K,
                                         u32* beyond) {
  const u32 aOfRow = K / 16, aPieces = M * aOfRow;
  const u32 ofMatrix = (u32)N * (K / SCALE_BLOCK),
            piecesOfMatrix = (ofMatrix + kScalesOfPiece - 1) / kScalesOfPiece;
  if (i < aPieces) {
    if (groupOfRow(groupStarts, groupRows, groups, (int)(i / aOfRow)) >= 0)
      placeInOrder<A_FORMAT>(aCodes, aScales, aWide, i / 2 * 4 + i % 2, beyond);
  } else if (i < aPieces + groups * piecesOfMatrix) {
    const u32 matrix = (i - aPieces) / piecesOfMatrix;
    if (groupRows[matrix] > 0)
      checkScales(bScales + (long long)matrix * ofMatrix, ofMatrix, (i - aPieces) % piecesOfMatrix,
                  beyond);
  }
}
