// The pass ahead of a product that widens B itself (gemm_codes.cuh): A to bf16, and a look at B's scales.
#pragma once

#include "common/widen.cuh"

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
    for (int at = 0; at < kScalesOfPiece; at++) any |= beyondBf16(words[at / 4] >> at % 4 * 8 & 255);
  } else {
    for (u32 at = 0; at < left; at++) any |= beyondBf16(from[at]);
  }
  if (any) *beyond = 1;
}

// As widenOfGroups, for a product that widens B itself: A in B's order, and a look at B's scales.
__device__ inline void widenRowsOfGroups(u32 i, const u8* aCodes, const u8* aScales, const u8* bScales, u16* aWide,
                                         const int* groupStarts, const int* groupRows, int groups, int M, int N, int K, u32* beyond) {
  const u32 aOfRow = K / kWidened(A_FORMAT), aPieces = M * aOfRow;
  const u32 ofMatrix = (u32)N * (K / SCALE_BLOCK), piecesOfMatrix = (ofMatrix + kScalesOfPiece - 1) / kScalesOfPiece;
  if (i < aPieces) {
    if (groupOfRow(groupStarts, groupRows, groups, (int)(i / aOfRow)) >= 0)
      widenAt<A_FORMAT, true>(aCodes, aScales, aWide, i, beyond);
  } else if (i < aPieces + groups * piecesOfMatrix) {
    const u32 matrix = (i - aPieces) / piecesOfMatrix;
    if (groupRows[matrix] > 0)
      checkScales(bScales + (long long)matrix * ofMatrix, ofMatrix, (i - aPieces) % piecesOfMatrix, beyond);
  }
}
