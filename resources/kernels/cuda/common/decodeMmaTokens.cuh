// A's side of decode-mma (see decode_mma.cuh): a lane's elements of A, from memory to the pairs of
// bf16 that its matrix instructions take. What one row of A has in its stead is in
// decodeMmaOne.cuh.
#pragma once

#include "common/decodeMmaLoad.cuh"

namespace decode {

// The pair of A's elements that pair `i` of word `word` of B's codes meets: as they are of bf16, of
// fewer bits as smallPairOf has them.
__device__ inline u32 tokenPairOf(const uint4 (&pieces)[kPiecesOfA], int word, int i) {
  if constexpr (kBits(A_FORMAT) == 16) {
    const uint4 eight = pieces[word];
    return __byte_perm(i < 2 ? eight.x : eight.y, i < 2 ? eight.z : eight.w,
                       i % 2 == 0 ? 0x5410 : 0x7632);
  } else if constexpr (kBits(A_FORMAT) == kBits(B_FORMAT)) {
    return smallElements<A_FORMAT>(wordOf(pieces[0], word), i);
  } else {
    return smallPairOfBytes<A_FORMAT>(wordOf(pieces[word / 2], word % 2 * 2),
                                      wordOf(pieces[word / 2], word % 2 * 2 + 1), i, 4 + i);
  }
}

// Whether pairs of A are multiplied by B's as they are in memory.
constexpr bool kTokensAreAsTheyCome = MadeInTurns::kTokenShift == 0;

// The multiplier of pairs of A: zero behind K, where a lane has what it had before. As they come,
// B's are.
__device__ inline u32 multiplierOfPairs(u32 scale, bool isSpecial, bool isInside) {
  const u32 multiplier = isSpecial ? kNanPair : multiplierOfTokens<MadeInTurns>(scale & 255);
  return isInside ? multiplier : 0;
}

// 8 * Eights rows of A: a lane makes ready all that it multiplies, of row lane / 4 and every eighth
// on.
template <int Eights>
struct EightsOfTokens {
  const u8 *codes[Eights], *scales[Eights];  // of this lane's next turn
  uint4 pieces[Eights][kPiecesOfA] = {};
  u32 asked[Eights] = {};  // scales

  // Rows `token` to before `end`; what stands behind the last is multiplied as that one. A lane's
  // elements begin at `first`.
  __device__ EightsOfTokens(const Codes& of, int token, int end, int K, int first) {
    const PlacesInRows<A_FORMAT> rows(of.aCodes, of.aScales, K, first);
#pragma unroll
    for (int eight = 0; eight < Eights; eight++) {
      const u32 row = min(token + eight * 8 + (int)(threadIdx.x % 32) / 4, end - 1);
      codes[eight] = rows.codesOf(row), scales[eight] = rows.scalesOf(row);
    }
  }
  __device__ void begin() {}  // as one row does
  __device__ void ask() {
#pragma unroll
    for (int eight = 0; eight < Eights; eight++) {
#pragma unroll
      for (int i = 0; i < kPiecesOfA; i++) pieces[eight][i] = loadOften(codes[eight] + i * 16);
      if (kIsScaled(A_FORMAT)) asked[eight] = loadScales<kScalesOfLane>(scales[eight]);
    }
  }
  __device__ void advance(int elements) {
#pragma unroll
    for (int eight = 0; eight < Eights; eight++)
      codes[eight] += elements * kBits(A_FORMAT) / 8, scales[eight] += elements / SCALE_BLOCK;
  }
  __device__ void makeReady(bool isInside, u32 (&pairs)[Eights][kPairsOfLane]) {
#pragma unroll
    for (int eight = 0; eight < Eights; eight++) {
      bool isSpecial = false;
#pragma unroll
      for (int i = 0; i < 4 * kPiecesOfA && kBits(A_FORMAT) == 8; i++)
        isSpecial |= holdsSpecial<A_FORMAT>(wordOf(pieces[eight][i / 4], i % 4));
      u32 multipliers[kScalesOfLane];
      if constexpr (kScaledAreHalves) {
        const u32 two = isInside ? multipliersOfTwo<MadeInTurns>(asked[eight] & 0x7f7f) : 0;
#pragma unroll
        for (int i = 0; i < kScalesOfLane; i++) multipliers[i] = bothOfHalf(two, i);
      } else {
#pragma unroll
        for (int i = 0; i < kScalesOfLane; i++)
          multipliers[i] = multiplierOfPairs(asked[eight] >> 8 * i, isSpecial, isInside);
      }
#pragma unroll
      for (int i = 0; i < kPairsOfLane; i++) {
        const int word = i / kPairsOfWord;
        pairs[eight][i] =
            readyElements<MadeInTurns>(tokenPairOf(pieces[eight], word, i % kPairsOfWord),
                                       multipliers[word * kScalesOfLane / 4]);
      }
    }
  }
};

}  // namespace decode
