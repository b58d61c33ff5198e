// C (M, N) = A (M, K) x B (N, K)^T for few rows of A by matrix instructions of a warp, which sm_80
// and later have: B goes from memory to registers, where its elements become bf16, once for at most
// 16 rows of A.
//
//                8 or 16 rows of A
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
#include "common/scaledBf16.cuh"

namespace decode {

constexpr int kRowsOfTile = 16;  // of B
// A lane's elements of K, those of a warp, and the lane's scales; its pieces of 16 bytes of A.
constexpr int kOfLane = 128 / kBits(B_FORMAT), kOfWarp = 4 * kOfLane,
              kScalesOfLane = kOfLane > SCALE_BLOCK ? kOfLane / SCALE_BLOCK : 1,
              kPiecesOfA = kOfLane * kBits(A_FORMAT) / 128;
// Pairs of elements in a word of B's codes.
constexpr int kPairsOfWord = kFp4 ? 4 : 2;
static_assert(kPiecesOfA > 0, "a lane has at least 16 bytes of A");

// 16 bytes from a multiple of 16 bytes, which no thread of the kernel writes: those that are read
// once, and those that are read again soon.
#ifdef __CUDACC__
#define BS_LOAD_SIXTEEN(NAME, HINTS)                                          \
  __device__ inline uint4 NAME(const u8* from) {                              \
    uint4 words;                                                              \
    asm volatile("ld.global.nc" HINTS ".v4.u32 {%0, %1, %2, %3}, [%4];"       \
                 : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w) \
                 : "l"(from));                                                \
    return words;                                                             \
  }
#else
#define BS_LOAD_SIXTEEN(NAME, HINTS) \
  inline uint4 NAME(const u8* from) { return *reinterpret_cast<const uint4*>(from); }
#endif
BS_LOAD_SIXTEEN(loadOnce, ".L1::no_allocate.L2::128B")
BS_LOAD_SIXTEEN(loadOften, "")
#undef BS_LOAD_SIXTEEN

// A lane's one or two scales, in the low bytes.
__device__ inline u32 loadScales(const u8* from) {
#ifdef __CUDACC__
  u32 scales;
  if (kScalesOfLane == 2) {
    u16 both;
    asm volatile("ld.global.nc.u16 %0, [%1];" : "=h"(both) : "l"(from));
    scales = both;
  } else {
    asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(scales) : "l"(from));
  }
  return scales;
#else
  return kScalesOfLane == 2 ? *reinterpret_cast<const u16*>(from) : *from;
#endif
}

__device__ inline u32 wordOf(const uint4& words, int i) {
  return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
}

// Whether a scale of B may be outside what is exact.
__device__ inline bool isOutside(u32 scale) {
  return kLinearScale ? (scale & 127) == 127 : scale - kLeastScale > kMostScale - kLeastScale;
}

// The pair of A's elements that pair `i` of word `word` of B's codes meets: as they are of bf16, of
// fewer bits as smallPairOf has them.
__device__ inline u32 tokenPairOf(const uint4 (&pieces)[kPiecesOfA], int word, int i) {
  if constexpr (kBits(A_FORMAT) == 16) {
    const uint4 eight = pieces[word];
    return __byte_perm(i < 2 ? eight.x : eight.y, i < 2 ? eight.z : eight.w,
                       i % 2 == 0 ? 0x5410 : 0x7632);
  } else if constexpr (kBits(A_FORMAT) == kBits(B_FORMAT)) {
    return smallPairOf<A_FORMAT>(wordOf(pieces[0], word), i);
  } else {
    // Codes i and i + 4 of eight, in the high bytes of halves.
    const u32 high =
        __byte_perm(wordOf(pieces[word / 2], word % 2 * 2),
                    wordOf(pieces[word / 2], word % 2 * 2 + 1), (4 + i) << 12 | i << 4);
    constexpr int kDown = kMantissaBits(A_FORMAT) + 1;
    return (high & 0x80008000) | (high >> kDown & 0x7f007f00u >> kDown);
  }
}

// The part of K that a warp has, of a CTA's tiles of B by 8 * Eights rows of A.
template <int Eights, int Tiles, int Warps>
struct OfWarp {
  static constexpr int kStep = Warps * kOfWarp;  // elements from a warp's turn to its next
  static constexpr int kRows = 2 * Tiles;        // of B, of a lane: lane / 4 and every eighth on
  struct Weights {
    uint4 codes[kRows];
    u32 scales[kRows];
  };
  struct Tokens {
    uint4 pieces[Eights][kPiecesOfA];
    u32 scales[Eights];
  };
  // Of this lane's next turn.
  const u8 *codes[kRows], *scales[kRows], *tokens[Eights], *tokenScales[Eights];
  int k;  // where its elements begin
  float total[Tiles][Eights][4] = {};
  bool special = false;  // something is outside of what is multiplied, in a row of B

  __device__ void askFor(Weights& weights) const {
#pragma unroll
    for (int row = 0; row < kRows; row++) {
      weights.codes[row] = loadOnce(codes[row]);
      weights.scales[row] = loadScales(scales[row]);
    }
  }
  __device__ void askFor(Tokens& given) const {
#pragma unroll
    for (int eight = 0; eight < Eights; eight++) {
#pragma unroll
      for (int i = 0; i < kPiecesOfA; i++)
        given.pieces[eight][i] = loadOften(tokens[eight] + i * 16);
      if (kIsScaled(A_FORMAT)) given.scales[eight] = loadScales(tokenScales[eight]);
    }
  }
  __device__ void advance() {
    k += kStep;
#pragma unroll
    for (int row = 0; row < kRows; row++)
      codes[row] += kStep * kBits(B_FORMAT) / 8, scales[row] += kStep / SCALE_BLOCK;
#pragma unroll
    for (int eight = 0; eight < Eights; eight++)
      tokens[eight] += kStep * kBits(A_FORMAT) / 8, tokenScales[eight] += kStep / SCALE_BLOCK;
  }

  // A's elements as pairs of bf16, zeros behind K, where a lane has what it had before.
  __device__ void makeReady(const Tokens& given, bool isInside,
                            u32 (&pairs)[Eights][4 * kPairsOfWord]) const {
#pragma unroll
    for (int eight = 0; eight < Eights; eight++) {
      bool isSpecial = false;
#pragma unroll
      for (int i = 0; i < 4 * kPiecesOfA && kBits(A_FORMAT) == 8; i++)
        isSpecial |= holdsSpecial<A_FORMAT>(wordOf(given.pieces[eight][i / 4], i % 4));
      u32 multipliers[kScalesOfLane];
#pragma unroll
      for (int i = 0; i < kScalesOfLane; i++) {
        multipliers[i] =
            isSpecial ? kNanPair : multiplierOfTokens(given.scales[eight] >> 8 * i & 255);
        if (!isInside) multipliers[i] = 0;
      }
#pragma unroll
      for (int i = 0; i < 4 * kPairsOfWord; i++) {
        const int word = i / kPairsOfWord;
        u32 pair = tokenPairOf(given.pieces[eight], word, i % kPairsOfWord);
        if (kIsScaled(A_FORMAT))
          pair = multiplyBf16Pair(pair, bothHalves(powerOfTwo(127 - kBias(A_FORMAT))));
        pairs[eight][i] = multiplyBf16Pair(pair, multipliers[word * kScalesOfLane / 4]);
      }
    }
  }

  __device__ void multiply(const Weights& weights, const u32 (&tokens)[Eights][4 * kPairsOfWord]) {
    u32 multipliers[kRows][kScalesOfLane];
#pragma unroll
    for (int row = 0; row < kRows; row++)
#pragma unroll
      for (int i = 0; i < kScalesOfLane; i++) {
        special |= isOutside(weights.scales[row] >> 8 * i & 255);
        multipliers[row][i] =
            multiplierOf(bothOf(weights.scales[row], i) & (kLinearScale ? 0x007f007f : ~0u));
      }
#pragma unroll
    for (int word = 0; word < 4; word++) {
      u32 pairs[kRows][kPairsOfWord];
#pragma unroll
      for (int row = 0; row < kRows; row++) {
        const u32 codes = wordOf(weights.codes[row], word);
        special |= holdsSpecial<B_FORMAT>(codes);
#pragma unroll
        for (int i = 0; i < kPairsOfWord; i++)
          pairs[row][i] = multiplyBf16Pair(smallPairOf<B_FORMAT>(codes, i),
                                           multipliers[row][word * kScalesOfLane / 4]);
      }
#pragma unroll
      for (int eight = 0; eight < Eights; eight++)
#pragma unroll
        for (int i = 0; i < kPairsOfWord; i += 2) {
          const u32* own = tokens[eight] + word * kPairsOfWord + i;
#pragma unroll
          for (int tile = 0; tile < Tiles; tile++) {
            const auto &low = pairs[2 * tile], &high = pairs[2 * tile + 1];
            const u32 rows[4] = {low[i], high[i], low[i + 1], high[i + 1]};
            addPairs(total[tile][eight], rows, own[0], own[1]);
          }
        }
    }
  }

  // All turns. Four lanes have a row, and some of them may be behind K when others are not.
  __device__ void run(int K) {
    Weights next = {};
    Tokens given = {};
    if (k < K) askFor(given), askFor(next);
#pragma unroll 1
    while (k - (int)(threadIdx.x % 4) * kOfLane < K) {
      const Weights weights = next;
      const bool isInside = k < K;
      advance();
      if (k < K) askFor(next);
      u32 pairs[Eights][4 * kPairsOfWord];
      makeReady(given, isInside, pairs);
      if (k < K) askFor(given);
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
      for (int eight = 0; eight < Eights; eight++)
        if (spoiled[row])
#pragma unroll
          for (int e = 0; e < 2; e++) total[row / 2][eight][row % 2 * 2 + e] = nanValue();
    }
  }
};

// C's part of Tiles tiles of B, from `row` on, and the tokens from `token` to before `endToken`, at
// most 8 * Eights.
template <int Eights, int Tiles, int Warps>
__device__ inline void multiplyRows(const Codes& of, Output* c, int row, int token, int endToken,
                                    int N, int K, float tensorScale, const float* accumulator,
                                    float outputScale) {
  using Own = OfWarp<Eights, Tiles, Warps>;
  constexpr int kRowsOfCta = Tiles * kRowsOfTile;
  __shared__ float sums[Warps][8 * Eights][kRowsOfCta + 4];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32,
            first = warp * kOfWarp + lane % 4 * kOfLane;
  const int blocks = K / SCALE_BLOCK;
  Own own;
  own.k = first;
#pragma unroll
  for (int eight = 0; eight < Eights; eight++) {
    // What stands behind the last token, or the last row of B, is multiplied as that one.
    const long long ofLane = min(token + eight * 8 + lane / 4, endToken - 1);
    own.tokens[eight] = of.aCodes + (ofLane * K + first) / 8 * kBits(A_FORMAT);
    own.tokenScales[eight] = of.aScales + (ofLane * blocks + first / SCALE_BLOCK);
  }
  const u8 *codes[Own::kRows], *scales[Own::kRows];
#pragma unroll
  for (int i = 0; i < Own::kRows; i++) {
    const long long ofLane = min(row + i * 8 + lane / 4, N - 1);
    own.codes[i] = codes[i] = of.bCodes + (ofLane * K + first) / 8 * kBits(B_FORMAT);
    own.scales[i] = scales[i] = of.bScales + (ofLane * blocks + first / SCALE_BLOCK);
  }
  own.run(K);
  if (__any_sync(0xffffffff, own.special)) own.spoil(codes, scales, first, K);
  // Sum e is of a tile's row lane / 4 + 8 * (e / 2) and token 2 * (lane % 4) + e % 2.
#pragma unroll
  for (int tile = 0; tile < Tiles; tile++)
#pragma unroll
    for (int eight = 0; eight < Eights; eight++)
#pragma unroll
      for (int e = 0; e < 4; e++)
        sums[warp][eight * 8 + lane % 4 * 2 + e % 2][tile * kRowsOfTile + lane / 4 + e / 2 * 8] =
            own.total[tile][eight][e];
  __syncthreads();
  for (int i = warp; i < min(endToken - token, 8 * Eights); i += Warps) {
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
