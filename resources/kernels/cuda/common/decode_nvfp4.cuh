// NVFP4 in e5m2 for decode.cuh, for at most four rows of A: the sum of a scale block is exact in
// the tensor core, then times both scales in float32.
//
// An instruction takes 32 elements of K, two scale blocks, of which lanes 0 and 1 of four have one
// and lanes 2 and 3 the other, and has columns for eight rows of A. So a row of A is two columns,
// each with one of the two blocks and zeros in place of the other:
//
//                      k 0..15   16..31   of 32 elements, each block's even ones before its odd
//                      ones
//   column 2 t       | block 0 |   0    |
//   column 2 t + 1   |    0    | block 1 |
//
// A scale of A is a number of three bits of mantissa, which e5m2 has no room for; sums are
// multiplied by it, as by B's. Scales lie beside a stage's A, as float32.
#pragma once

#include "common/decodeE5m2.cuh"

namespace decode {

static_assert(SCALE_BLOCK == 16 && SCALE_FORMAT == 6, "NVFP4");

template <bool OfEight>
struct Nvfp4Of {
  // Of A that an item may have, and of columns; sums are kept for eight.
  static constexpr int kRowsOfA = 4, kColumns = 2 * kRowsOfA;
  static constexpr int kTokens = 8, kTiles = 1, kTurns = 1,
                       kStageK = stageFor(kTokens, kTiles, kTurns), kShareK = kStageK / kGroups,
                       kBlocks = kShareK / SCALE_BLOCK, kInstructions = kShareK / 32;
  static constexpr bool kByWarp = false, kOfEight = OfEight, kIsHalves = true,
                        kTokensAsTheyAre = false;
  __device__ static int aheadOf(int, bool) { return 1; }
  using Scales = LaneScales<kStageK, OfEight>;
  static constexpr int kCodeBoxes = kStageK / 256, kTokenBoxK = 128, kTokenBoxes = 0;

  // A stage of A as boxes of the copy engine would lie, and its scales behind them. NVFP4_OWN_K is
  // a constant of the manifest's row, which has this kernel for no longer K.
  static constexpr int kBytesOfStage = kStageK * kColumns,
                       kOwnStage = kBytesOfStage + 1024,  // what swizzles is aligned
      kOwnBytes = NVFP4_OWN_K / kStageK * kOwnStage;
  static_assert(kStageK / SCALE_BLOCK * kRowsOfA * 4 <= 1024, "room for scales");
  // Where four neighbouring scales of a row lie behind a stage's A: lanes of a warp write other
  // fours of a row, or read those of other rows, without a conflict.
  __device__ static u32 placeOfScales(int four, int row) {
    return kBytesOfStage + (four * kRowsOfA + (row ^ four % kRowsOfA)) * 16;
  }

  float total[4] = {};
  // Of a lane's two rows, a byte's highest bit where a scale was NaN.
  u32 seen[2] = {};

  struct Own {
    // Of a thread, blocks.
    static constexpr int kMost = kRowsOfA * NVFP4_OWN_K / SCALE_BLOCK / (kGroups * 128);
    uint2 codes[kMost];
    u32 scales[kMost];
    OwnRows rows;
    __device__ explicit Own(int M) : rows(M) {}

    // All of a thread's are under way together.
    __device__ void askFor(const Problem& problem, const Given& from, int thread) {
      const int row = rows.rowOf(thread), ofRow = problem.K / SCALE_BLOCK,
                at = row * ofRow + rows.pieceOf(thread, 0);
      const uint2* packed = reinterpret_cast<const uint2*>(from.aCodes) + at;
      const u8* scale = from.aScales + at;
#pragma unroll
      for (int i = 0; i < kMost; i++) codes[i] = make_uint2(0, 0), scales[i] = 0;
#pragma unroll
      for (int i = 0; i < kMost; i++) {
        if (row >= problem.M || rows.pieceOf(thread, i) >= ofRow) break;
        codes[i] = packed[i << rows.log];
        scales[i] = scale[i << rows.log];
      }
    }
    __device__ void make(const Ring<Nvfp4Of>& ring, const Problem& problem, int thread) const {
      constexpr int kOfStage = kStageK / SCALE_BLOCK, kSixteens = kBytesOfStage / 16,
                    kAll = kSixteens + kOfStage / 4 * kRowsOfA;
      // Columns and scales of rows that there are no threads for.
      for (u32 i = thread; i < (u32)problem.stages() * kAll; i += kGroups * 128) {
        const u32 at = i % kAll,
                  ofRow = at < kSixteens ? at / 8 % kColumns / 2
                                         : (at - kSixteens) % kRowsOfA ^ at / kRowsOfA % kRowsOfA;
        if (ofRow >= rows.count())
          storeSixteen(ring.own() + i / kAll * kOwnStage + at * 16, make_uint4(0, 0, 0, 0));
      }
      // A thread's blocks are whole stages apart. Each is 16 bytes of its column twice, even and
      // odd elements, with the zeros beside them: chunk c of column r of a box lies at c ^ (r % 8).
      const int row = rows.rowOf(thread), first = rows.pieceOf(thread, 0), half = first % 2,
                column = 2 * row + half, chunk = first % 8 / 2 * 2 ^ column,
                count = rows.countOf(thread, problem.stages() * kOfStage);
      const u32 stage = ring.own() + first / kOfStage * kOwnStage,
                even = stage + first % kOfStage / 8 * (128 * kColumns) + column * 128 + chunk * 16,
                odd = even + ((chunk ^ 1) - chunk) * 16,
                scale = stage + placeOfScales(first % kOfStage / 4, row) + first % 4 * 4,
                apart = (1 << rows.log) / kOfStage * kOwnStage;
#pragma unroll
      for (int i = 0; i < kMost; i++) {
        if (i >= count) break;
        uint2 evens, odds;
        spreadCodes(codes[i].x, evens.x, odds.x);
        spreadCodes(codes[i].y, evens.y, odds.y);
        storeSixteen(even + i * apart, besideZeros(evens, half));
        storeSixteen(odd + i * apart, besideZeros(odds, half));
        storeWord(scale + i * apart, __float_as_uint(scaleOfA(scales[i] & 127)));
      }
      publishToCopyEngine();
    }
    __device__ static uint4 besideZeros(uint2 words, int half) {
      return half == 0 ? make_uint4(words.x, words.y, 0, 0) : make_uint4(0, 0, words.x, words.y);
    }
  };
  __device__ static u32 ownTokensOf(const Ring<Nvfp4Of>& ring, int step) {
    return ring.own() + step * kOwnStage;
  }

  // A scale's code (without its sign, which is none) is, at the places of float32's lowest exponent
  // and highest mantissa bits, 2^-120 of it; A's comes with 2^100, so that their product is normal.
  __device__ static float scaleOfA(u32 code) {
    return code == 127 ? nanValue() : __int_as_float((int)(code << 20)) * 0x1p120f * 0x1p100f;
  }
  __device__ static float scaleOfB(u32 four, int index) {
    return __int_as_float((int)((index == 3 ? four >> 4 : four << 20 - index * 8) & 127 << 20));
  }

  // Blocks kBlocks * group and on of a stage.
  __device__ void multiply(u32 codes, u32 scales, const Scales& laneScales, u32 tokens, int group,
                           int warp, int lane) {
    u32 words[2][kBlocks / 4];  // scales of this lane's two rows of B
    float ofA[kBlocks];         // of its row of A
#pragma unroll
    for (int half = 0; half < 2; half++) {
      laneScales.load(words[half], scales + group * kBlocks, half);
#pragma unroll
      for (const u32 four : words[half]) seen[half] |= (four & 0x7f7f7f7f) + 0x01010101;
    }
#pragma unroll
    for (int i = 0; i < kBlocks; i += 4) {
      float four[4];
      loadNumbers(four, tokens + placeOfScales((group * kBlocks + i) / 4, lane % 4));
#pragma unroll
      for (int j = 0; j < 4; j++) ofA[i + j] = four[j];
    }
    u32 packed[4], a[kInstructions][4];  // codes of two instructions
#pragma unroll
    for (int i = 0; i < kInstructions; i++)
      loadAndSpread(a[i], packed, codes, group * kInstructions + i, i % 2 == 0, warp, lane);
    float part[kInstructions][4];
    const u64 b = tileDescriptor(tokens + group * kShareK * kColumns);
    wgmmaFence();
#pragma unroll
    for (int i = 0; i < kInstructions; i++)
      multiplyE5m2(part[i], a[i], b + i * kDescriptorStep, false);
    wgmmaCommit();
    wgmmaWait<0>();
#pragma unroll
    for (int i = 0; i < kInstructions; i++) {
      holdRegisters(part[i]);
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const int half = j / 2, block = 2 * i + j % 2;
        total[half * 2] += part[i][j] * (scaleOfB(words[half][block / 4], block % 4) * ofA[block]);
      }
    }
  }

  // Sums that are zero or small have lost nothing: scales are 2^-9 or more.
  __device__ void end(int, int) {
#pragma unroll
    for (int i = 0; i < 4; i += 2)
      if ((seen[i / 2] & 0x80808080) != 0) total[i] = nanValue();
  }

  // What a sum lacks: codes of either side are numbers times 2^-14, and the scales 2^-20.
  static constexpr float kUnit = 0x1p48f, kSmallest = 0;
  static constexpr bool kMarksZeros = false, kFactors = false;
};

}  // namespace decode
