// C (M, N) = A (M, K) x B (N, K)^T for few rows of A by matrix instructions of a warp, which sm_80
// and later have: B goes from memory to registers, where its elements become bf16, once for at most
// 16 rows of A.
//
//               1, 8 or 16 rows of A
//             +-----------------------+   A CTA has a tile of 16 rows of B, or a pair of tiles,
//   16 or 32  | warp 0 | warp 1 | ... |   and its warps take 64 bytes of each row by turns: 128
//   rows of B +-----------------------+   elements of K of fp4, 64 of fp8. What a lane loads it
//                                         multiplies itself; what it makes of A is for both tiles.
//
// In a matrix instruction four lanes have a row of either side. Each loads 16 bytes of B's codes
// and A's elements of the same K as they lie, so an instruction's elements come from four places
// along K, whose order is free. The next codes are under way while those before are multiplied. At
// the end the warps' sums meet in shared memory, and are added in their order.
#pragma once

#include "common/decodeAgain.cuh"
#include "common/decodeMmaTokens.cuh"

namespace decode {

constexpr int kRowsOfTile = 16;  // of B

// The part of K that a warp has, of a CTA's tiles of B by Columns rows of A: 1, 8 or 16.
template <int Columns, int Tiles, int Warps>
struct OfWarp {
  using Tokens = typename TokensOf<Columns>::Type;
  static constexpr int kStep = Warps * kOfWarp;  // elements from a warp's turn to its next
  static constexpr int kRows = 2 * Tiles,        // of B, of a lane: lane / 4 and every eighth on
      kEights = (Columns + 7) / 8;
  struct Weights {
    uint4 codes[kRows];
    u32 scales[kRows];
  };
  // Of this lane's next turn.
  const u8 *codes[kRows], *scales[kRows];
  Tokens tokens;
  int k;  // where its elements begin
  float total[Tiles][kEights][4] = {};
  u32 scalesSeen = 0, codesSeen = 0;  // kMarksOfOutside and kMarksOfSpecial among their bits

  __device__ OfWarp(const Tokens& tokens, int k) : tokens(tokens), k(k) {}

  __device__ void askFor(Weights& weights) const {
#pragma unroll
    for (int row = 0; row < kRows; row++) {
      weights.codes[row] = loadOnce(codes[row]);
      weights.scales[row] = loadScales<kScalesOfLane>(scales[row]);
    }
  }
  __device__ void advance() {
    k += kStep;
#pragma unroll
    for (int row = 0; row < kRows; row++)
      codes[row] += kStep * kBits(B_FORMAT) / 8, scales[row] += kStep / SCALE_BLOCK;
    tokens.advance(kStep);
  }

  __device__ void multiply(const Weights& weights, const u32 (&ready)[kEights][kPairsOfLane]) {
    u32 multipliers[kRows][kScalesOfLane];
#pragma unroll
    for (int row = 0; row < kRows; row++)
#pragma unroll
      for (int i = 0; i < kScalesOfLane; i++) {
        const u32 scales = weights.scales[row],
                  scale = kScalesOfLane == 1 ? scales : scales >> 8 * i & 255;
        if (!kLinearScale || i == 0) scalesSeen |= markedOutside(kLinearScale ? scales : scale);
        multipliers[row][i] =
            multiplierOf(kLinearScale ? bothOf(scales, i) & 0x007f007f : scale * 0x00010001);
      }
#pragma unroll
    for (int word = 0; word < 4; word++) {
      u32 pairs[kRows][kPairsOfWord];
#pragma unroll
      for (int row = 0; row < kRows; row++) {
        const u32 codes = wordOf(weights.codes[row], word);
        if (kBits(B_FORMAT) == 8) codesSeen |= markedSpecial<B_FORMAT>(codes);
#pragma unroll
        for (int i = 0; i < kPairsOfWord; i++)
          pairs[row][i] = multiplyBf16Pair(smallPairOf<B_FORMAT>(codes, i),
                                           multipliers[row][word * kScalesOfLane / 4]);
      }
#pragma unroll
      for (int eight = 0; eight < kEights; eight++)
#pragma unroll
        for (int i = 0; i < kPairsOfWord; i += 2) {
          const u32* own = ready[eight] + word * kPairsOfWord + i;
#pragma unroll
          for (int tile = 0; tile < Tiles; tile++) {
            const auto &low = pairs[2 * tile], &high = pairs[2 * tile + 1];
            const u32 rows[4] = {low[i], high[i], low[i + 1], high[i + 1]};
            addPairs(total[tile][eight], rows, own[0], own[1]);
          }
        }
    }
  }

  // Whether something in a row of B may be outside of what is multiplied.
  __device__ bool sawOutside() const {
    return (scalesSeen & kMarksOfOutside) != 0 || (codesSeen & kMarksOfSpecial) != 0;
  }

  // All turns. Four lanes have a row, and some of them may be behind K when others are not.
  __device__ void run(int K) {
    Weights next = {};
    if (k < K) tokens.ask(), askFor(next);
#pragma unroll 1
    while (k - (int)(threadIdx.x % 4) * kOfLane < K) {
      const Weights weights = next;
      const bool isInside = k < K;
      advance();
      if (k < K) askFor(next);
      u32 pairs[kEights][kPairsOfLane];
      tokens.makeReady(isInside, pairs);
      if (k < K) tokens.ask();
      multiply(weights, pairs);
    }
  }

  // NaN for rows of B that hold what is outside; `codes` and `scales` are those of the first turn.
  __device__ void spoil(const u8* const (&codes)[kRows], const u8* const (&scales)[kRows],
                        int first, int K) {
    u32 spoiled[kRows] = {};
#pragma unroll 1
    for (int at = 0; first + at < K; at += kStep)
#pragma unroll
      for (int row = 0; row < kRows; row++)
#pragma unroll 1
        for (int word = 0; word < 4; word++)
          spoiled[row] |= isSpoiledScaled(
              scales[row][at / SCALE_BLOCK + word * kScalesOfLane / 4],
              *reinterpret_cast<const u32*>(codes[row] + at * kBits(B_FORMAT) / 8 + word * 4));
#pragma unroll
    for (int row = 0; row < kRows; row++) {
      spoiled[row] |= __shfl_xor_sync(0xffffffff, spoiled[row], 1);
      spoiled[row] |= __shfl_xor_sync(0xffffffff, spoiled[row], 2);
#pragma unroll
      for (int eight = 0; eight < kEights; eight++)
        if (spoiled[row])
#pragma unroll
          for (int e = 0; e < 2; e++) total[row / 2][eight][row % 2 * 2 + e] = nanValue();
    }
  }
};

// C's part of Tiles tiles of B, from `row` on, and the tokens from `token` to before `endToken`, at
// most Columns.
template <int Columns, int Tiles, int Warps>
__device__ inline void multiplyRows(const Codes& of, Output* c, int row, int token, int endToken,
                                    int N, int K, float tensorScale, const float* accumulator,
                                    float outputScale) {
  using Own = OfWarp<Columns, Tiles, Warps>;
  using Tokens = typename Own::Tokens;
  constexpr int kRowsOfCta = Tiles * kRowsOfTile;
  __shared__ float sums[Warps][Columns][kRowsOfCta + 4];
  __shared__ uint4 exchanged[Tokens::kExchanged == 0 ? 1 : Warps * Tokens::kExchanged / 4];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32,
            first = warp * kOfWarp + lane % 4 * kOfLane;
  const int blocks = K / SCALE_BLOCK;
  Own own(Tokens(of, token, endToken, K, first,
                 reinterpret_cast<u32*>(exchanged) + warp * Tokens::kExchanged),
          first);
  const u8 *codes[Own::kRows], *scales[Own::kRows];
#pragma unroll
  for (int i = 0; i < Own::kRows; i++) {
    // What stands behind the last row of B is multiplied as that one.
    const long long ofLane = min(row + i * 8 + lane / 4, N - 1);
    own.codes[i] = codes[i] = of.bCodes + (ofLane * K + first) / 8 * kBits(B_FORMAT);
    own.scales[i] = scales[i] = of.bScales + (ofLane * blocks + first / SCALE_BLOCK);
  }
  own.run(K);
  if (__any_sync(0xffffffff, own.sawOutside())) own.spoil(codes, scales, first, K);
  // Sum e is of a tile's row lane / 4 + 8 * (e / 2) and token 2 * (lane % 4) + e % 2.
#pragma unroll
  for (int tile = 0; tile < Tiles; tile++)
#pragma unroll
    for (int eight = 0; eight < Own::kEights; eight++)
#pragma unroll
      for (int e = 0; e < 4; e++) {
        const int column = eight * 8 + lane % 4 * 2 + e % 2;
        if (Columns >= 8 || column < Columns)
          sums[warp][column][tile * kRowsOfTile + lane / 4 + e / 2 * 8] = own.total[tile][eight][e];
      }
  __syncthreads();
  for (int i = warp; i < min(endToken - token, Columns); i += Warps) {
    const bool isInside = lane < kRowsOfCta && row + lane < N;
    const long long at = (long long)(token + i) * N + row + lane;
    float sum = 0;
#pragma unroll
    for (int part = 0; part < Warps; part++) sum += sums[part][i][lane % kRowsOfCta];
    if (isInside)
      c[at] = finished(sum * (kUnitOfElements * tensorScale), accumulator, at, outputScale);
    const bool unknown = isInside && isUnknown(sum),
               isSmall = isInside && kMayUnderflow && fabsf(sum) < kSmallestOfElements;
    if (!__any_sync(0xffffffff, unknown | isSmall)) continue;
    sumsAgain(of, token + i, row + lane, K, unknown, isSmall, [&](double exact) {
      c[at] = finished((float)(exact * tensorScale), accumulator, at, outputScale);
    });
  }
}

}  // namespace decode
