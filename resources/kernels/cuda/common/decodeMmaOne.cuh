// One row of A in decode-mma (see decode_mma.cuh): sums are scaled, not elements.
//
// A matrix instruction has eight columns, and adds what four lanes have of a row of B, of which
// each has a scale block's codes, or two blocks'. So every block is a column of its own: A's
// elements of lane i of the four are in column 2 i (of its second block in 2 i + 1), with zeros in
// the other columns. A lane's sums are then of the codes and scales that it has itself.
//
//   A, by lanes   | lane 0 | lane 1 | lane 2 | lane 3 |   Of C, by 8 rows of B:
//   column 0      | block  |   0    |   0    |   0    |   lane i of a row's four has columns 2 i
//   column 2      |   0    | block  |   0    |   0    |   and 2 i + 1, the sums of its blocks.
//   column 4      |   0    |   0    | block  |   0    |
//   column 6      |   0    |   0    |   0    | block  |
//
// Scales of both sides multiply sums; bf16 activations have none. Elements are multiplied in bf16:
// B's codes are 2^(bias - 127) of their numbers, A's numbers 2^kOneShift times, and bf16 among them
// must be 0 or from 2^kSmallestOfOne to below 2^38. Then products are multiples of 2^-126 and sums
// of a block in float32's range. Where both have 8 bits they are multiplied in float16, which a GPU
// makes of two codes by one instruction, NaN and infinities among them.
//
// What is outside, infinite or NaN makes a sum NaN or infinite, and it is computed again.
#pragma once

#include "common/decodeAgain.cuh"
#include "common/decodeMmaLoad.cuh"
#include "common/fp8Halves.cuh"

namespace decode {

// Whether elements without their scales, which one row has, are float16.
constexpr bool kUnscaledAreHalves = kMayBeHalves && kBits(A_FORMAT) == 8 && kBits(B_FORMAT) == 8;

constexpr int kOneShift = 90, kSmallestOfOne = -80;
// Below this a sum may have lost something. Of scaled formats as in float16. Beside activations B's
// scale 2^-127 counts as 0, and the sums of 1024 blocks that have it are below 2^-24 of this: a
// block's is of 2^5 numbers of A below 2^128 times as many of B, which are below 2^-123.
constexpr float kSmallestOfOneSum = kUnscaledAreHalves ? kSmallestOfHalves : 0x1p-83f;

// A scale; beside activations 2^-127 may be 0 (kSmallestOfOneSum).
__device__ inline float scaleOf(u32 scale) {
  if (kLinearScale) return __int_as_float((int)(scale & 127) << 20) * 0x1p120f;  // 2^-120, its bits
  if (!kIsScaled(A_FORMAT)) return powerOfTwo((int)scale - 127);
  return scaleOfE8m0(scale);
}

// Pairs of four 8-bit codes as float16, or of B's codes in bf16, 2^(bias - 127) of their numbers.
template <int Format, int Count>
__device__ inline void unscaledPairsOf(u32 codes, u32 (&pairs)[Count]) {
  if constexpr (kUnscaledAreHalves) {
    halvesOf<Format>(codes, pairs);
  } else {
#pragma unroll
    for (int i = 0; i < Count; i++) pairs[i] = unscaledPairOf(codes, i);
  }
}

// Pairs of A that eight lanes of a warp have in common: each makes an eighth of them, and those
// whose column they are take all of them from shared memory, which is theirs alone (a warp's), the
// others zeros.
struct Exchange {
  static constexpr int kShare = kPairsOfLane / 8;
  // Words of shared memory: two places, each with zeros behind it, so that a turn's pairs do not
  // overwrite what the turn before may still be read from; one bit of an address tells which. Rows
  // are far enough apart for 16 bytes of each at once.
  static constexpr int kPitch = kPairsOfLane + 4, kZeros = 4 * kPitch,
                       kPlace = kZeros + kPairsOfLane <= 64 ? 64 : 128, kWords = 2 * kPlace;
  static_assert(kZeros + kPairsOfLane <= kPlace, "zeros stand behind a place");
  const SharedPlace shared;  // a multiple of the bytes of kWords
  // Where this lane's share is put in this turn, and what it takes for each of its scales' codes.
  SharedPlace share, from[kScalesOfLane];

  __device__ explicit Exchange(u32* shared) : shared(placeOf(shared)) {}
  // Behind the first loads.
  __device__ void begin() {
    const int lane = threadIdx.x % 32;
    share = hiddenPlace(shared + 4 * (lane % 4 * kPitch + lane / 4 * kShare));
#pragma unroll
    for (int i = 0; i < kScalesOfLane; i++) {
      const bool isOwn = lane / 4 == lane % 4 * 2 + i;
      from[i] = hiddenPlace(shared + 4 * (isOwn ? lane % 4 * kPitch : kZeros));
    }
    if (lane < kPairsOfLane)
#pragma unroll
      for (int place = 0; place < 2; place++)
        storeWord(shared + 4 * (place * kPlace + kZeros + lane), 0);
  }
  // A turn's: `own`, this lane's share, for `all`.
  __device__ void give(const u32 (&own)[kShare], u32 (&all)[kPairsOfLane]) {
    if constexpr (kShare == 2) storeTwoWords(share, make_uint2(own[0], own[1]));
    else storeWord(share, own[0]);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kPairsOfLane; i += 4) {
      const uint4 four = loadSixteen(from[i * kScalesOfLane / kPairsOfLane] + 4 * i);
      all[i] = four.x, all[i + 1] = four.y, all[i + 2] = four.z, all[i + 3] = four.w;
    }
    share ^= 4 * kPlace;
#pragma unroll
    for (int i = 0; i < kScalesOfLane; i++) from[i] ^= 4 * kPlace;
  }
};

// A's side.
struct OneToken {
  static constexpr int kWords = kBits(A_FORMAT) > kBits(B_FORMAT) ? 2 : 1,
                       // Between two words of a share: bf16 has eight elements in 16 bytes.
      kApart = kBits(A_FORMAT) == 16 ? 8 : 4;
  const u8 *codes, *scales;  // of this lane's next turn: its share, and its scale blocks
  Exchange exchange;
  u32 words[kWords] = {};
  u32 asked = 0;                 // scales
  float factors[kScalesOfLane];  // of the turn that was made ready
  u32 scalesSeen = 0;            // kMarksOfOutside where a linear one was NaN
  // Of bf16, the least of even elements and of odd ones, without a sign and less one in the last
  // place, which makes NaN of zero: the least of NaN and a number is the number.
  u32 least = kNanPair;

  __device__ OneToken(const Codes& of, int token, int K, int first, u32* shared)
      : exchange(shared) {
    const int share = threadIdx.x % 32 / 4, word = share / 2;
    const PlacesInRows<A_FORMAT> rows(of.aCodes, of.aScales, K, first);
    codes = rows.codesOf(token) + word * (4 * kBits(A_FORMAT) / kBits(B_FORMAT)) +
            (kBits(A_FORMAT) == 16 ? share % 2 * 4 : 0);
    scales = rows.scalesOf(token);
  }
  __device__ void begin() { exchange.begin(); }
  __device__ void ask() {
    if constexpr (kWords == 2 && kApart == 4) {
      const uint2 both = loadOftenTwoWords(codes);
      words[0] = both.x, words[1] = both.y;
    } else {
#pragma unroll
      for (int i = 0; i < kWords; i++) words[i] = loadOftenWord(codes + i * kApart);
    }
    if (kIsScaled(A_FORMAT)) asked = loadScales<kScalesOfLane>(scales);
  }
  __device__ void advance(int elements) {
    codes += elements * kBits(A_FORMAT) / 8, scales += elements / SCALE_BLOCK;
  }
  // Pair `i` of the share, in bf16 2^(bias - 127) of its numbers where they are of fewer bits.
  __device__ u32 pairOf(int i) const {
    const int odd = threadIdx.x / 4 % 2;
    if constexpr (kBits(A_FORMAT) == 16)
      return __byte_perm(words[0], words[1], i == 0 ? 0x5410 : 0x7632);
    else if constexpr (kBits(A_FORMAT) == kBits(B_FORMAT))
      return smallPairOf<A_FORMAT>(words[0] >> 8 * odd, i);
    else return smallPairOfBytes<A_FORMAT>(words[0] >> 16 * odd, words[1] >> 16 * odd, i, 4 + i);
  }
  // What takes the share in bf16 to what is multiplied.
  __device__ u32 multiplier(bool isInside) {
    u32 multiplier = powerPair<false>(kOneShift);
    bool isSpecial = false;
#pragma unroll
    for (int i = 0; i < kWords; i++) {
      if constexpr (kIsScaled(A_FORMAT)) isSpecial |= holdsSpecial<A_FORMAT>(words[i]);
      else least = lesserBf16Pair(least, (words[i] & 0x7fff7fff) - 0x00010001);
    }
    if (isSpecial) multiplier = kNanPair;
    return isInside ? multiplier : 0;
  }
  // All that the lane multiplies.
  __device__ void makeReady(bool isInside, u32 (&ready)[kPairsOfLane]) {
    if constexpr (kIsScaled(A_FORMAT)) {
      if (kLinearScale) scalesSeen |= markedOutside<MadeBefore>(asked);
#pragma unroll
      for (int i = 0; i < kScalesOfLane; i++)
        factors[i] = scaleOf(kScalesOfLane == 1 ? asked : asked >> 8 * i & 255);
    }
    u32 own[Exchange::kShare];
    if constexpr (kUnscaledAreHalves) {
      u32 pairs[kPairsOfWord];
      unscaledPairsOf<A_FORMAT>(words[0] >> 16 * (threadIdx.x / 4 % 2), pairs);
      own[0] = isInside ? pairs[0] : 0;
    } else {
      const u32 by = multiplier(isInside);
#pragma unroll
      for (int i = 0; i < Exchange::kShare; i++) own[i] = readyPair<MadeBefore>(pairOf(i), by);
    }
    exchange.give(own, ready);
  }
  // Whether an element was so small that a product may have lost something, or a scale NaN that
  // does not make sums NaN.
  __device__ bool sawOutside() const {
    constexpr u32 kLeast = (127 + kSmallestOfOne << 7) - 1;
    return kIsScaled(A_FORMAT) ? (scalesSeen & kMarksOfOutside) != 0
                               : (least & 0xffff) < kLeast || least >> 16 < kLeast;
  }
};

// The part of K that a warp has, of a CTA's tiles of B by one row of A.
template <int Tiles, int Warps>
struct OneRowOfWarp : CodesOfWarp<Tiles, Warps> {
  using Of = CodesOfWarp<Tiles, Warps>;
  using Weights = typename Of::Weights;
  static constexpr int kRows = Of::kRows, kExchanged = Exchange::kWords;
  // What a sum lacks.
  static constexpr float kUnit = kUnscaledAreHalves
                                     ? 1.0f
                                     : (float)(1ull << (127 - kBias(B_FORMAT) - kOneShift)),
                         kSmallest = kSmallestOfOneSum;
  OneToken tokens;
  float total[kRows] = {};  // of this lane's rows and its part of K
  // Of each row, kMarksOfOutside where a linear scale was NaN, kMarksOfSpecial where a code was.
  u32 scalesSeen[kRows] = {}, codesSeen[kRows] = {};

  __device__ OneRowOfWarp(const Codes& of, int row, int token, int, int N, int K, u32* shared)
      : Of(of.bCodes, of.bScales, row, N, K), tokens(of, token, K, this->k, shared) {}

  // A turn; A's next elements are asked for as soon as there is room.
  __device__ void multiply(const Weights& weights, bool isInside, bool isMore) {
    u32 ready[kPairsOfLane];
    tokens.makeReady(isInside, ready);
    if (isMore) tokens.ask();
    float sums[Tiles][4] = {};
#pragma unroll
    for (int word = 0; word < 4; word++) {
      u32 pairs[kRows][kPairsOfWord];
#pragma unroll
      for (int row = 0; row < kRows; row++) {
        const u32 codes = wordOf(weights.codes[row], word);
        if (kBits(B_FORMAT) == 8 && !kUnscaledAreHalves)
          codesSeen[row] |= markedSpecial<B_FORMAT>(codes);
        unscaledPairsOf<B_FORMAT>(codes, pairs[row]);
      }
#pragma unroll
      for (int i = 0; i < kPairsOfWord; i += 2)
        Of::template addTiles<kUnscaledAreHalves>(pairs, i, ready + word * kPairsOfWord + i,
                                                  [&](int tile) { return sums[tile]; });
    }
#pragma unroll
    for (int row = 0; row < kRows; row++) {
      if (kLinearScale) scalesSeen[row] |= markedOutside<MadeBefore>(weights.scales[row]);
#pragma unroll
      for (int i = 0; i < kScalesOfLane; i++) {
        const float scale = scaleOf(weights.scale(row, i));
        total[row] += sums[row / 2][row % 2 * 2 + i] *
                      (kIsScaled(A_FORMAT) ? tokens.factors[i] * scale : scale);
      }
    }
  }

  // The warp's sums, of four lanes each, to where the CTA adds them.
  __device__ void store(float (&sums)[1][Of::kRowsOfCta + 4]) {
    // A lane has seen a part of what its rows are multiplied by.
    const bool sawOutside =
        (!kIsScaled(A_FORMAT) || kLinearScale) && __any_sync(0xffffffff, tokens.sawOutside());
#pragma unroll
    for (int row = 0; row < kRows; row++) {
      const bool isSpoiled = sawOutside || (scalesSeen[row] & kMarksOfOutside) != 0 ||
                             (codesSeen[row] & kMarksOfSpecial) != 0;
      float sum = isSpoiled ? nanValue() : total[row];
      sum += __shfl_xor_sync(0xffffffff, sum, 1);
      sum += __shfl_xor_sync(0xffffffff, sum, 2);
      if (threadIdx.x % 4 == 0) sums[0][row * 8 + threadIdx.x % 32 / 4] = sum;
    }
  }
};

}  // namespace decode
