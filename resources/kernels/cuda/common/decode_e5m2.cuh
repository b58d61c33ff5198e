// MXFP4 in e5m2 for decode.cuh: the sum of a scale block is exact in the tensor core, then times
// B's scale in float32.
//
// A code (sign, two bits of exponent, one of mantissa) is, at the places of e5m2's sign, lowest
// exponent bits and highest mantissa bit, its number times 2^-14: a shift and two masks make four
// of them. A's rows come ready in e5m2 (common/reencode.cuh), each block's even elements before its
// odd ones, which is how B's nibbles fall apart.
#pragma once

#include "common/decodeE5m2.cuh"
#include "common/reencode.cuh"

namespace decode {

// OwnTokens: a CTA makes A ready for itself (Own), for all of K as boxes of the copy engine would
// lie.
template <int Tokens, int Tiles, bool OfEight, bool OwnTokens>
struct Mxfp4Of {
  static constexpr int kTokens = Tokens, kTiles = Tiles, kTurns = 1,
                       kStageK = stageFor(Tokens, Tiles, kTurns);
  static constexpr int kShareK = kStageK * Tiles * kTurns / kGroups;
  static constexpr int kBlocks = kShareK / 32;
  static constexpr bool kByWarp = false, kOfEight = OfEight, kIsHalves = false,
                        kTokensAsTheyAre = false;
  __device__ static int aheadOf(int stages, bool) {
    return (Tokens == 16 || Tokens == 32) && stages > 4 ? 2 : 1;
  }
  using Scales = LaneScales<kStageK, OfEight>;
  static constexpr int kCodeBoxes = kStageK / 256, kTokenBoxK = 128,
                       kTokenBoxes = OwnTokens ? 0 : kStageK / kTokenBoxK;
  // Blocks whose sums are in the tensor core together.
  static constexpr int kTogether = Tokens <= 16 ? 4 : Tokens == 32 ? 2 : 1;

  // OWN_BYTES is a constant of the manifest's row, which has this kernel only where A is no larger.
  static constexpr int kOwnBytes = OwnTokens ? OWN_BYTES : 0;
  static_assert(!OwnTokens || (Tokens <= 16 && kOwnBytes % (Tokens * 128) == 0), "boxes of A");

  float total[Tokens / 2] = {};
  // Whether B's scales are 2^-63 or more, by the highest bit of each byte: of the stages before the
  // last, and of that.
  u32 sure = ~0u, last[kBlocks / 4];
  __device__ Mxfp4Of() {
#pragma unroll
    for (u32& four : last) four = ~0u;
  }

  struct Own {
    // Of a thread, half blocks.
    static constexpr int kMost = kOwnBytes / 16 / (kGroups * 128);
    uint2 codes[kMost == 0 ? 1 : kMost];
    int scales[kMost == 0 ? 1 : kMost];
    OwnRows rows;
    __device__ explicit Own(int M) : rows(M) {}

    // All of a thread's are under way together.
    __device__ void askFor(const Problem& problem, const Given& from, int thread) {
      const int row = rows.rowOf(thread), ofRow = problem.K / 16,
                at = row * ofRow + rows.pieceOf(thread, 0);
      const uint2* packed = reinterpret_cast<const uint2*>(from.aCodes) + at;
      const u8* scale = from.aScales + at / 2;
#pragma unroll
      for (int i = 0; i < kMost; i++) codes[i] = make_uint2(0, 0), scales[i] = 127;
#pragma unroll
      for (int i = 0; i < kMost; i++) {
        if (row >= problem.M || rows.pieceOf(thread, i) >= ofRow) break;
        codes[i] = packed[i << rows.log];
        scales[i] = scale[i << rows.log - 1];
      }
    }
    __device__ void make(const Ring<Mxfp4Of>& ring, const Problem& problem, int thread) const {
      const int row = rows.rowOf(thread), pieces = problem.stages() * (kStageK / 16);
      // Rows that there are no threads for.
      for (u32 i = thread; i < pieces * Tokens; i += kGroups * 128)
        if (i / 8 % Tokens >= rows.count())
          storeSixteen(ring.own() + i * 16, make_uint4(0, 0, 0, 0));
      const int count = rows.countOf(thread, pieces);
      ScaleRange range;
#pragma unroll
      for (int i = 0; i < kMost; i++) {
        if (i >= count) break;
        range.see(codes[i], scales[i]);
      }
      range = range.ofWarp();
      // Warps tell one another where sums will be.
      if (thread % 32 == 0)
        storeTwoWords(ring.sums() + thread / 32 * 8, make_uint2(range.smallest, range.largest));
      syncMultiplying();
      const u32 ofOther =
          ring.sums() + ((row << rows.log - 5) + (thread & (1 << rows.log - 5) - 1)) * 8;
      range = Range{(int)loadWord(ofOther), (int)loadWord(ofOther + 4)}.ofWarp();
      if (rows.pieceOf(thread, 0) == 0)
        storeWord(ring.factors() + row * 4, __float_as_uint(range.factor()));
      const int reference = range.reference();
      // A thread's pieces are whole boxes apart, each of eight in a row: chunk c of row r lies at c
      // ^ (r % 8).
      const int first = rows.pieceOf(thread, 0), chunk = first % 8 / 2 * 2 ^ row % 8;
      const u32 even = ring.own() + first / 8 * (Tokens * 128) + row * 128 + first % 2 * 8 +
                       chunk * 16,
                odd = even + ((chunk ^ 1) - chunk) * 16, apart = Tokens * 128 << rows.log - 3;
#pragma unroll
      for (int i = 0; i < kMost; i++) {
        if (i >= count) break;
        EvenAndOdd out(codes[i], scales[i] - reference);
        // NaN makes every sum of the row NaN, and NaN is computed again.
        if (i == 0 && first == 0 && range.isOutside()) out.even[0] = 0x7f;
        storeTwoWords(even + i * apart, make_uint2(out.even[0], out.even[1]));
        storeTwoWords(odd + i * apart, make_uint2(out.odd[0], out.odd[1]));
      }
      publishToCopyEngine();
    }
  };
  __device__ static u32 ownTokensOf(const Ring<Mxfp4Of>& ring, int step) {
    return ring.own() + step * kStageK * Tokens;
  }

  // Blocks kBlocks * group and on of a stage.
  __device__ void multiply(u32 codes, u32 scales, const Scales& laneScales, u32 tokens, int group,
                           int warp, int lane) {
    u32 words[2][kBlocks / 4];  // scales of this lane's two rows
#pragma unroll
    for (int half = 0; half < 2; half++)
      laneScales.load(words[half], scales + group * kBlocks, half);
    if (kMayUnderflow) {
#pragma unroll
      for (int i = 0; i < kBlocks / 4; i++) {
        sure &= last[i];
        last[i] = (words[0][i] | words[0][i] << 1) & (words[1][i] | words[1][i] << 1);
      }
    }
    u32 packed[4];  // of two blocks
    const u64 b = tileDescriptor(tokens + group * kShareK * Tokens);
#pragma unroll
    for (int first = 0; first < kBlocks; first += kTogether) {
      float part[kTogether][Tokens / 2];
      u32 a[kTogether][4];
#pragma unroll
      for (int i = 0; i < kTogether; i++) {
        const int block = first + i;
        loadAndSpread(a[i], packed, codes, group * kBlocks + block, block % 2 == 0, warp, lane);
      }
      wgmmaFence();
#pragma unroll
      for (int i = 0; i < kTogether; i++) {
        const int block = first + i;  // rows of A's boxes are four
        multiplyE5m2(part[i], a[i],
                     b + (block / 4 * 128 * Tokens >> 4) + block % 4 * kDescriptorStep, false);
      }
      wgmmaCommit();
      wgmmaWait<0>();
#pragma unroll
      for (int i = 0; i < kTogether; i++) {
        holdRegisters(part[i]);
        const float upperScale = powerAt(words[0], first + i),
                    lowerScale = powerAt(words[1], first + i);
#pragma unroll
        for (int j = 0; j < Tokens / 2; j++)
          total[j] += part[i][j] * (j % 4 < 2 ? upperScale : lowerScale);
      }
    }
  }

  // Sums of blocks are multiples of 2^-31: multiplied by 2^-63 or more they lose nothing. Else a
  // sum that is small is marked, one of zero by what is nothing beside a sum of other parts of K
  // that is not. Behind K there are zeros, which are no scales.
  __device__ void end(int elementsOfLast, int group) {
    if (!kMayUnderflow) return;
#pragma unroll
    for (int i = 0; i < kBlocks / 4; i++) {
      const int inside = elementsOfLast / 32 - group * kBlocks - i * 4;
      sure &= last[i] | (inside < 4 ? ~0u << 8 * max(inside, 0) : 0);
    }
    if ((sure & 0x80808080) == 0x80808080) return;
#pragma unroll
    for (int i = 0; i < Tokens / 2; i++)
      if (fabsf(total[i]) < kSmallest) total[i] = total[i] == 0 ? kMark : nanValue();
  }

  // What a sum lacks: codes are numbers times 2^-14, A's rows have factors.
  static constexpr float kUnit = 16384, kSmallest = 0x1p-80f;
  static constexpr bool kMarksZeros = true;
  static constexpr bool kFactors = true;
};

template <int Tokens, int Tiles>
using Mxfp4 = Mxfp4Of<Tokens, Tiles, false, false>;
template <int Tokens, int Tiles>
using Mxfp4OfEight = Mxfp4Of<Tokens, Tiles, true, false>;
template <int Tokens, bool OfEight>
using Mxfp4Alone = Mxfp4Of<Tokens, 1, OfEight, true>;

}  // namespace decode
