// A's side of decode-mma (see decode_mma.cuh): a lane's elements of A, from memory to the pairs of
// bf16 that its matrix instructions take.
#pragma once

#include "common/pipeline.cuh"
#include "common/scaledBf16.cuh"

namespace decode {

// A lane's elements of K, those of a warp, and the lane's scales; its pieces of 16 bytes of A.
constexpr int kOfLane = 128 / kBits(B_FORMAT), kOfWarp = 4 * kOfLane,
              kScalesOfLane = kOfLane > SCALE_BLOCK ? kOfLane / SCALE_BLOCK : 1,
              kPiecesOfA = kOfLane * kBits(A_FORMAT) / 128;
// Pairs of elements in a word of B's codes, and in a lane's four words.
constexpr int kPairsOfWord = kFp4 ? 4 : 2, kPairsOfLane = 4 * kPairsOfWord;
static_assert(kPiecesOfA > 0, "a lane has at least 16 bytes of A");

// What no thread of the kernel writes, from a multiple of as many bytes: 16 that are read once, and
// 16 or 4 that are read again soon.
#ifdef __CUDACC__
#define BS_LOAD_SIXTEEN(NAME, HINTS)                                          \
  __device__ inline uint4 NAME(const u8* from) {                              \
    uint4 words;                                                              \
    asm volatile("ld.global.nc" HINTS ".v4.u32 {%0, %1, %2, %3}, [%4];"       \
                 : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w) \
                 : "l"(from));                                                \
    return words;                                                             \
  }
__device__ inline u32 loadOftenWord(const u8* from) {
  u32 word;
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(word) : "l"(from));
  return word;
}
#else
#define BS_LOAD_SIXTEEN(NAME, HINTS) \
  inline uint4 NAME(const u8* from) { return *reinterpret_cast<const uint4*>(from); }
inline u32 loadOftenWord(const u8* from) { return *reinterpret_cast<const u32*>(from); }
#endif
BS_LOAD_SIXTEEN(loadOnce, ".L1::no_allocate.L2::128B")
BS_LOAD_SIXTEEN(loadOften, "")
#undef BS_LOAD_SIXTEEN

// One or two scales, in the low bytes.
template <int Count>
__device__ inline u32 loadScales(const u8* from) {
  static_assert(Count == 1 || Count == 2, "of a lane");
#ifdef __CUDACC__
  u32 scales;
  if (Count == 2) {
    u16 both;
    asm volatile("ld.global.nc.u16 %0, [%1];" : "=h"(both) : "l"(from));
    scales = both;
  } else {
    asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(scales) : "l"(from));
  }
  return scales;
#else
  return Count == 2 ? *reinterpret_cast<const u16*>(from) : *from;
#endif
}

__device__ inline u32 wordOf(const uint4& words, int i) {
  return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
}

// Codes i and i + 4 of eight e4m3 in two words, as smallPairOf has pairs.
__device__ inline u32 tokenPairOfEight(u32 low, u32 high, int i) {
  const u32 both = __byte_perm(low, high, (4 + i) << 12 | i << 4);  // in their high bytes
  constexpr int kDown = kMantissaBits(A_FORMAT) + 1;
  return (both & 0x80008000) | (both >> kDown & 0x7f007f00u >> kDown);
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
    return tokenPairOfEight(wordOf(pieces[word / 2], word % 2 * 2),
                            wordOf(pieces[word / 2], word % 2 * 2 + 1), i);
  }
}

// The multiplier of pairs of A: zero behind K, where a lane has what it had before.
__device__ inline u32 multiplierOfPairs(u32 scale, bool isSpecial, bool isInside) {
  const u32 multiplier = isSpecial ? kNanPair : multiplierOfTokens(scale & 255);
  return isInside ? multiplier : 0;
}

// 8 * Eights rows of A: a lane makes ready all that it multiplies, of row lane / 4 and every eighth
// on.
template <int Eights>
struct EightsOfTokens {
  static constexpr int kExchanged = 0;
  const u8 *codes[Eights], *scales[Eights];  // of this lane's next turn
  uint4 pieces[Eights][kPiecesOfA] = {};
  u32 asked[Eights] = {};  // scales

  // Rows `token` to before `end`; what stands behind the last is multiplied as that one. A lane's
  // elements begin at `first`.
  __device__ EightsOfTokens(const Codes& of, int token, int end, int K, int first, u32*) {
#pragma unroll
    for (int eight = 0; eight < Eights; eight++) {
      const long long row = min(token + eight * 8 + (int)(threadIdx.x % 32) / 4, end - 1);
      codes[eight] = of.aCodes + (row * K + first) / 8 * kBits(A_FORMAT);
      scales[eight] = of.aScales + (row * (K / SCALE_BLOCK) + first / SCALE_BLOCK);
    }
  }
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
#pragma unroll
      for (int i = 0; i < kScalesOfLane; i++)
        multipliers[i] = multiplierOfPairs(asked[eight] >> 8 * i, isSpecial, isInside);
#pragma unroll
      for (int i = 0; i < kPairsOfLane; i++) {
        const int word = i / kPairsOfWord;
        pairs[eight][i] = readyPair(tokenPairOf(pieces[eight], word, i % kPairsOfWord),
                                    multipliers[word * kScalesOfLane / 4]);
      }
    }
  }
};

// One row of A: the eight lanes that would each make the same pairs ready make an eighth of them,
// and take the others' from shared memory, which is theirs alone (a warp's). All columns of an
// instruction have the row, the first one's sums count.
struct OneToken {
  static constexpr int kShare = kPairsOfLane / 8,  // pairs
      kWords = kBits(A_FORMAT) > kBits(B_FORMAT) ? 2 : 1,
                       // Between two words of a share: bf16 has eight elements in 16 bytes.
      kApart = kBits(A_FORMAT) == 16 ? 8 : 4;
  // Words of shared memory of a warp: two places, so that a turn's pairs do not overwrite what the
  // turn before may still be read from. Rows are far enough apart for 16 bytes of each at once.
  static constexpr int kPitch = kPairsOfLane + 4, kPlace = 4 * kPitch, kExchanged = 2 * kPlace;
  const u8 *codes, *scales;  // of this lane's next turn
  u32* place;                // of this turn, in shared memory
  int toOther = kPlace;      // to the place of the next turn
  u32 words[kWords] = {};
  u32 asked = 0;  // a scale

  __device__ OneToken(const Codes& of, int token, int, int K, int first, u32* exchanged)
      : place(exchanged) {
    const int share = threadIdx.x % 32 / 4, word = share / 2;
    codes = of.aCodes + ((long long)token * K + first) / 8 * kBits(A_FORMAT) +
            word * (4 * kBits(A_FORMAT) / kBits(B_FORMAT)) +
            (kBits(A_FORMAT) == 16 ? share % 2 * 4 : 0);
    scales = of.aScales + ((long long)token * (K / SCALE_BLOCK) + first / SCALE_BLOCK +
                           word * kScalesOfLane / 4);
  }
  __device__ void ask() {
#pragma unroll
    for (int i = 0; i < kWords; i++) words[i] = loadOftenWord(codes + i * kApart);
    if (kIsScaled(A_FORMAT)) asked = loadScales<1>(scales);
  }
  __device__ void advance(int elements) {
    codes += elements * kBits(A_FORMAT) / 8, scales += elements / SCALE_BLOCK;
  }
  // Pair `i` of the share.
  __device__ u32 pairOf(int i) const {
    const int odd = threadIdx.x / 4 % 2;
    if constexpr (kBits(A_FORMAT) == 16)
      return __byte_perm(words[0], words[1], i == 0 ? 0x5410 : 0x7632);
    else if constexpr (kBits(A_FORMAT) == kBits(B_FORMAT))
      return smallPairOf<A_FORMAT>(words[0] >> 8 * odd, i);
    else return tokenPairOfEight(words[0] >> 16 * odd, words[1] >> 16 * odd, i);
  }
  __device__ void makeReady(bool isInside, u32 (&pairs)[1][kPairsOfLane]) {
    bool isSpecial = false;
#pragma unroll
    for (int i = 0; i < kWords && kBits(A_FORMAT) == 8; i++)
      isSpecial |= holdsSpecial<A_FORMAT>(words[i]);
    const u32 multiplier = multiplierOfPairs(asked, isSpecial, isInside);
    u32* const row = place + threadIdx.x % 4 * kPitch;
    u32 own[kShare];
#pragma unroll
    for (int i = 0; i < kShare; i++) own[i] = readyPair(pairOf(i), multiplier);
    u32* const to = row + threadIdx.x % 32 / 4 * kShare;
    if constexpr (kShare == 2) *reinterpret_cast<uint2*>(to) = make_uint2(own[0], own[1]);
    else to[0] = own[0];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kPairsOfLane; i += 4) {
      const uint4 four = *reinterpret_cast<const uint4*>(row + i);
      pairs[0][i] = four.x, pairs[0][i + 1] = four.y;
      pairs[0][i + 2] = four.z, pairs[0][i + 3] = four.w;
    }
    place += toOther, toOther = -toOther;
  }
};

template <int Columns>
struct TokensOf {
  using Type = EightsOfTokens<Columns / 8>;
};
template <>
struct TokensOf<1> {
  using Type = OneToken;
};

}  // namespace decode
