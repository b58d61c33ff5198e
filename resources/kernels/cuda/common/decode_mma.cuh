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
// along K, whose order is free. With one row of A each of these is a sum of its own, and is scaled
// (decodeMmaOne.cuh); with more, elements are. The next codes are under way while those before are
// multiplied. At the end the warps' sums meet in shared memory, and are added in their order.
#pragma once

#include "common/decodeMmaOne.cuh"
#include "common/decodeMmaTokens.cuh"

namespace decode {

// The part of K that a warp has, of a CTA's tiles of B by Columns rows of A, 8 or 16: elements are
// scaled.
template <int Columns, int Tiles, int Warps>
struct RowsOfWarp : CodesOfWarp<Tiles, Warps> {
  using Of = CodesOfWarp<Tiles, Warps>;
  using Weights = typename Of::Weights;
  static constexpr int kRows = Of::kRows, kEights = Columns / 8, kExchanged = 0;
  static constexpr float kUnit = kUnitOfElements<MadeInTurns>, kSmallest = kSmallestOfElements;
  const Codes& of;
  const int row, N, K;
  EightsOfTokens<kEights> tokens;
  float total[Tiles][kEights][4] = {};
  u32 scalesSeen = 0, codesSeen = 0;  // kMarksOfOutside and kMarksOfSpecial among their bits

  // Rows `row` and on of B, and from `token` to before `endToken` of A.
  __device__ RowsOfWarp(const Codes& of, int row, int token, int endToken, int N, int K, u32*)
      : Of(of.bCodes, of.bScales, row, N, K),
        of(of),
        row(row),
        N(N),
        K(K),
        tokens(of, token, endToken, K, this->k) {}

  // A turn; A's next elements are asked for as soon as there is room.
  __device__ void multiply(const Weights& weights, bool isInside, bool isMore) {
    u32 pairs[kEights][kPairsOfLane];
    tokens.makeReady(isInside, pairs);
    if (isMore) tokens.ask();
    multiply(weights, isInside, pairs);
  }
  __device__ void multiply(const Weights& weights, bool isInside,
                           const u32 (&ready)[kEights][kPairsOfLane]) {
    u32 multipliers[kRows];  // of two scales, one to a half, or of the only one
#pragma unroll
    for (int row = 0; row < kRows; row++) {
      if constexpr (kLinearScale) {
        const u32 scales = weights.scales[row];
        if (!kScaledAreHalves) scalesSeen |= markedOutside<MadeInTurns>(scales);
        multipliers[row] = multipliersOfTwo<MadeInTurns>(scales & 0x7f7f);
      } else {
        u32 halves = 0;
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const u32 scale = weights.scale(row, half * (kScalesOfLane - 1));
          scalesSeen |= markedOutside<MadeInTurns>(scale);
          halves += scale << 16 * half;
        }
        multipliers[row] = multiplierOf<MadeInTurns>(halves);
      }
      if (kTokensAreAsTheyCome && !isInside) multipliers[row] = 0;
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
          pairs[row][i] = timesScale(
              smallElements<B_FORMAT>(codes, i),
              kScalesOfLane == 1 ? multipliers[row] : bothOfHalf(multipliers[row], word / 2));
      }
#pragma unroll
      for (int eight = 0; eight < kEights; eight++)
#pragma unroll
        for (int i = 0; i < kPairsOfWord; i += 2)
          Of::template addTiles<kScaledAreHalves>(pairs, i, ready[eight] + word * kPairsOfWord + i,
                                                  [&](int tile) { return total[tile][eight]; });
    }
  }

  // Whether something in a row of B may be outside of what is multiplied.
  __device__ bool sawOutside() const {
    return (scalesSeen & kMarksOfOutside) != 0 || (codesSeen & kMarksOfSpecial) != 0;
  }

  // NaN for rows of B that hold what is outside.
  __device__ void spoil() {
    // By numbers that the compiler does not know, or it computes these addresses before all turns
    // and keeps them, for which sm_86 and sm_89 have no registers. An sm_90 has, and was timed so.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const CodesOfWarp<Tiles, Warps> first(of.bCodes, of.bScales, row, N, K);
#else
    const CodesOfWarp<Tiles, Warps> first(of.bCodes, of.bScales, hidden(row), N, hidden(K));
#endif
    u32 spoiled[kRows] = {};
#pragma unroll 1
    for (int at = 0; first.k + at < K; at += Of::kStep)
#pragma unroll
      for (int row = 0; row < kRows; row++)
#pragma unroll 1
        for (int word = 0; word < 4; word++)
          spoiled[row] |= isSpoiledScaled<MadeInTurns>(
              first.scales[row][at / SCALE_BLOCK + word * kScalesOfLane / 4],
              *reinterpret_cast<const u32*>(first.codes[row] + at * kBits(B_FORMAT) / 8 +
                                            word * 4));
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

  // The warp's sums to where the CTA adds them. Sum e is of a tile's row lane / 4 + 8 * (e / 2) and
  // token 2 * (lane % 4) + e % 2.
  __device__ void store(float (&sums)[Columns][Of::kRowsOfCta + 4]) {
    const int lane = threadIdx.x % 32;
    if (__any_sync(0xffffffff, sawOutside())) spoil();
#pragma unroll
    for (int tile = 0; tile < Tiles; tile++)
#pragma unroll
      for (int eight = 0; eight < kEights; eight++)
#pragma unroll
        for (int e = 0; e < 4; e++)
          sums[eight * 8 + lane % 4 * 2 + e % 2][tile * kRowsOfTile + lane / 4 + e / 2 * 8] =
              total[tile][eight][e];
  }
};

template <int Columns, int Tiles, int Warps>
struct OfWarp {
  using Type = RowsOfWarp<Columns, Tiles, Warps>;
};
template <int Tiles, int Warps>
struct OfWarp<1, Tiles, Warps> {
  using Type = OneRowOfWarp<Tiles, Warps>;
};

// All turns of a warp. Four lanes have a row, and some of them may be behind K when others are not.
// One turn is under way while the one before is multiplied; with more it is slower
// (docs/decode-measured.md, "Turns under way").
template <class Own>
__device__ inline void takeTurns(Own& own, int K) {
  typename Own::Weights next = {};
  if (own.k < K) own.tokens.ask(), own.askFor(next);
  own.tokens.begin();
#pragma unroll 1
  while (own.k - (int)(threadIdx.x % 4) * kOfLane < K) {
    const typename Own::Weights weights = next;
    const bool isInside = own.k < K;
    own.advance(), own.tokens.advance(Own::kStep);
    if (own.k < K) own.askFor(next);
    own.multiply(weights, isInside, own.k < K);
  }
}

// C's part of Tiles tiles of B, from `row` on, and the tokens from `token` to before `endToken`, at
// most Columns.
template <int Columns, int Tiles, int Warps>
__device__ inline void multiplyRows(const Codes& of, Output* c, int row, int token, int endToken,
                                    int N, int K, float tensorScale, const float* accumulator,
                                    float outputScale) {
  using Own = typename OfWarp<Columns, Tiles, Warps>::Type;
  constexpr int kRowsOfCta = Own::kRowsOfCta;
  __shared__ float sums[Warps][Columns][kRowsOfCta + 4];
  // A warp's begins at a multiple of its length (Exchange).
  constexpr int kExchanged = Own::kExchanged == 0 ? 4 : Own::kExchanged;
  alignas(4 * kExchanged) __shared__ u32 exchanged[Own::kExchanged == 0 ? 4 : Warps * kExchanged];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  Own own(of, row, token, endToken, N, K, exchanged + warp * Own::kExchanged);
  takeTurns(own, K);
  own.store(sums[warp]);
  __syncthreads();
  for (int i = warp; i < min(endToken - token, Columns); i += Warps) {
    const bool isInside = lane < kRowsOfCta && row + lane < N;
    const long long at = (long long)(token + i) * N + row + lane;
    float sum = 0;
#pragma unroll
    for (int part = 0; part < Warps; part++) sum += sums[part][i][lane % kRowsOfCta];
    if (isInside) c[at] = finished(sum * (Own::kUnit * tensorScale), accumulator, at, outputScale);
    const bool unknown = isInside && isUnknown(sum),
               isSmall = isInside && kMayUnderflow && fabsf(sum) < Own::kSmallest;
    if (!__any_sync(0xffffffff, unknown | isSmall)) continue;
    sumsAgain(of, token + i, row + lane, K, unknown, isSmall, [&](double exact) {
      c[at] = finished((float)(exact * tensorScale), accumulator, at, outputScale);
    });
  }
}

}  // namespace decode
