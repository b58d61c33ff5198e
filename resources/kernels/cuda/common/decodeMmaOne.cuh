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
// In bf16, B's codes are 2^(bias - 127) of their numbers; A's numbers, with their scales, have
// 2^kOneShift and must be 0 or from 2^kSmallestOfOne to below 2^kLargestOfOne. Then products are
// multiples of 2^-126 and sums of a block in float32's range.
//
// What is outside, infinite or NaN makes a sum NaN or infinite, and it is computed again.
#pragma once

#include "common/decodeAgain.cuh"
#include "common/decodeMmaLoad.cuh"

namespace decode {

constexpr int kOneShift = 90, kSmallestOfOne = -80, kLargestOfOne = 37;
// Below this a sum may have lost something: B's scale 2^-127 counts as 0, and the sums of 1024
// blocks that have it are below 2^-24 of this. A block's is of 2^5 numbers of A below 2^128 times
// as many of B, which are below 2^-123, 2^-111 or 2^-96.
constexpr float kSmallestOfOneSum = B_FORMAT == 0 ? 0x1p-83f : B_FORMAT == 3 ? 0x1p-71f : 0x1p-56f;

// Whether a scale of A, a power of two, takes its elements out of their range.
__device__ inline bool isOutsideOfOne(u32 scale) {
  constexpr int kLeast = 127 + kSmallestOfOne - kLeastOfElement<A_FORMAT>,
                kMost = 127 + kLargestOfOne - kLargestOfA;
  static_assert(kMost == kLargestTokenScale<kOneShift>, "what multiplierOfTokens has");
  return !kLinearScale && scale - kLeast > (u32)(kMost - kLeast);
}
// A scale of B, but for NaN and 2^-127; 2^-120 of a linear one are its bits in a float32.
__device__ inline float scaleOfB(u32 scale) {
  return kLinearScale ? __int_as_float((int)(scale & 127) << 20) * 0x1p120f
                      : powerOfTwo((int)scale - 127);
}

// Pairs of A that eight lanes of a warp have in common: each makes an eighth of them, and those
// whose column they are take all of them from shared memory, which is theirs alone (a warp's), the
// others zeros.
struct Exchange {
  static constexpr int kShare = kPairsOfLane / 8;
  // Words of shared memory: two places, so that a turn's pairs do not overwrite what the turn
  // before may still be read from, and zeros. Rows are far enough apart for 16 bytes of each at
  // once.
  static constexpr int kPitch = kPairsOfLane + 4, kPlace = 4 * kPitch, kZeros = 2 * kPlace,
                       kWords = kZeros + kPairsOfLane;
  u32* const shared;
  int place = 0;  // of this turn
  // Where this lane's share lies in a place, and what it takes for each of its scales' codes.
  int share, from[kScalesOfLane], ofPlace[kScalesOfLane];

  __device__ explicit Exchange(u32* shared) : shared(shared) {}
  // Behind the first loads.
  __device__ void begin() {
    const int lane = threadIdx.x % 32;
    share = hidden(lane % 4 * kPitch + lane / 4 * kShare);
#pragma unroll
    for (int i = 0; i < kScalesOfLane; i++) {
      const bool isOwn = lane / 4 == lane % 4 * 2 + i;
      from[i] = hidden(isOwn ? lane % 4 * kPitch : kZeros), ofPlace[i] = isOwn ? ~0 : 0;
    }
    if (lane < kPairsOfLane) shared[kZeros + lane] = 0;
  }
  // A turn's: `own`, this lane's share, for `all`.
  __device__ void give(const u32 (&own)[kShare], u32 (&all)[kPairsOfLane]) {
    u32* const to = shared + share + place;
    if constexpr (kShare == 2) *reinterpret_cast<uint2*>(to) = make_uint2(own[0], own[1]);
    else to[0] = own[0];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kPairsOfLane; i += 4) {
      const int of = i * kScalesOfLane / kPairsOfLane;
      const uint4 four =
          *reinterpret_cast<const uint4*>(shared + from[of] + (place & ofPlace[of]) + i);
      all[i] = four.x, all[i + 1] = four.y, all[i + 2] = four.z, all[i + 3] = four.w;
    }
    place ^= kPlace;
  }
};

// A's side.
struct OneToken {
  static constexpr int kWords = kBits(A_FORMAT) > kBits(B_FORMAT) ? 2 : 1,
                       // Between two words of a share: bf16 has eight elements in 16 bytes.
      kApart = kBits(A_FORMAT) == 16 ? 8 : 4;
  const u8 *codes, *scales;  // of this lane's next turn
  Exchange exchange;
  u32 words[kWords] = {};
  u32 asked = 0;  // a scale
  // Of bf16, the least of even elements and of odd ones, without a sign and less one in the last
  // place, which makes NaN of zero: the least of NaN and a number is the number.
  u32 least = kNanPair;

  __device__ OneToken(const Codes& of, int token, int K, int first, u32* shared)
      : exchange(shared) {
    const int share = threadIdx.x % 32 / 4, word = share / 2;
    const PlacesInRows<A_FORMAT> rows(of.aCodes, of.aScales, K, first);
    codes = rows.codesOf(token) + word * (4 * kBits(A_FORMAT) / kBits(B_FORMAT)) +
            (kBits(A_FORMAT) == 16 ? share % 2 * 4 : 0);
    scales = rows.scalesOf(token) + word * kScalesOfLane / 4;
  }
  __device__ void begin() { exchange.begin(); }
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
  // What takes the share to what is multiplied.
  __device__ u32 multiplier(bool isInside) {
    constexpr u32 kMagnitudes = kBits(A_FORMAT) == 4   ? 0x77777777
                                : kBits(A_FORMAT) == 8 ? 0x7f7f7f7f
                                                       : 0x7fff7fff;
    u32 multiplier = multiplierOfTokens<kOneShift>(asked);
    if constexpr (!kIsScaled(A_FORMAT)) {
#pragma unroll
      for (int i = 0; i < kWords; i++)
        least = lesserBf16Pair(least, (words[i] & kMagnitudes) - 0x00010001);
    } else {
      u32 magnitudes = 0;
      bool isSpecial = false;
#pragma unroll
      for (int i = 0; i < kWords; i++)
        magnitudes |= words[i] & kMagnitudes, isSpecial |= holdsSpecial<A_FORMAT>(words[i]);
      if (isOutsideOfOne(asked)) multiplier = magnitudes == 0 && asked != 255 ? 0 : kNanPair;
      if (isSpecial) multiplier = kNanPair;
    }
    return isInside ? multiplier : 0;
  }
  // All that the lane multiplies.
  __device__ void makeReady(bool isInside, u32 (&ready)[kPairsOfLane]) {
    const u32 by = multiplier(isInside);
    u32 own[Exchange::kShare];
#pragma unroll
    for (int i = 0; i < Exchange::kShare; i++) own[i] = readyPair(pairOf(i), by);
    exchange.give(own, ready);
  }
  // Whether an element was so small that a product may have lost something.
  __device__ bool sawTiny() const {
    constexpr u32 kLeast = (127 + kSmallestOfOne << 7) - 1;
    return (least & 0xffff) < kLeast || least >> 16 < kLeast;
  }
};

// The part of K that a warp has, of a CTA's tiles of B by one row of A.
template <int Tiles, int Warps>
struct OneRowOfWarp : CodesOfWarp<Tiles, Warps> {
  using Of = CodesOfWarp<Tiles, Warps>;
  using Weights = typename Of::Weights;
  static constexpr int kRows = Of::kRows, kExchanged = Exchange::kWords;
  // What a sum lacks.
  static constexpr float kUnit = (float)(1ull << (127 - kBias(B_FORMAT) - kOneShift)),
                         kSmallest = kSmallestOfOneSum;
  OneToken tokens;
  float total[kRows] = {};  // of this lane's rows and its part of K
  // Of each row, kMarksOfOutside where a scale was NaN, kMarksOfSpecial where a code was.
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
        if (kBits(B_FORMAT) == 8) codesSeen[row] |= markedSpecial<B_FORMAT>(codes);
#pragma unroll
        for (int i = 0; i < kPairsOfWord; i++) pairs[row][i] = unscaledPairOf(codes, i);
      }
#pragma unroll
      for (int i = 0; i < kPairsOfWord; i += 2)
        Of::addTiles(pairs, i, ready + word * kPairsOfWord + i,
                     [&](int tile) { return sums[tile]; });
    }
#pragma unroll
    for (int row = 0; row < kRows; row++) {
      if (kLinearScale) scalesSeen[row] |= markedOutside(weights.scales[row]);
#pragma unroll
      for (int i = 0; i < kScalesOfLane; i++)
        total[row] += sums[row / 2][row % 2 * 2 + i] * scaleOfB(weights.scale(row, i));
    }
  }

  // The warp's sums, of four lanes each, to where the CTA adds them.
  __device__ void store(float (&sums)[1][Of::kRowsOfCta + 4]) {
    // A lane has seen an eighth of what its rows are multiplied by.
    const bool sawTiny = !kIsScaled(A_FORMAT) && __any_sync(0xffffffff, tokens.sawTiny());
#pragma unroll
    for (int row = 0; row < kRows; row++) {
      const bool isSpoiled = sawTiny || (scalesSeen[row] & kMarksOfOutside) != 0 ||
                             (codesSeen[row] & kMarksOfSpecial) != 0;
      float sum = isSpoiled ? nanValue() : total[row];
      sum += __shfl_xor_sync(0xffffffff, sum, 1);
      sum += __shfl_xor_sync(0xffffffff, sum, 2);
      if (threadIdx.x % 4 == 0) sums[0][row * 8 + threadIdx.x % 32 / 4] = sum;
    }
  }
};

}  // namespace decode
