// Any fp4 or fp8 format in bf16, or NVFP4 in float16, for decode.cuh.
//
// Elements are scaled as common/scaledElements.cuh says. Up to 8 tokens are multiplied by mma.sync:
// with so few columns it is faster than wgmma, whose warps wait for one another; with more what
// four warps would each read of A is what they wait for. Up to 16, where a scale has 32 elements,
// B's are multiplied as they are, and their sum by the scale. Elsewhere one multiplication of
// a pair scales the elements.
//
// What is outside, infinite or NaN makes its rows' sums infinite or NaN, and decode.cuh computes
// those again; so does a block of A that is outside of what may be multiplied where sums are
// scaled. The order of elements along K is that in which codes fall apart into pairs;
// decodeTokens.cuh puts A into the same.
#pragma once

#include "common/decode.cuh"
#include "common/decodeTokens.cuh"
#include "common/scaledElements.cuh"

namespace decode {

// What sums that are scaled lack: the places of codes and A's shift.
constexpr float kUnitOfSums =
    (float)(1ull << (127 - kBias(B_FORMAT) - MadeBefore::kTokenShift) % 64);
// For some number of tokens.
constexpr bool kSumsMayBeScaled = SCALE_BLOCK == 32;

template <int Tokens, int Tiles, bool OfEight>
struct Bf16Of {
  // Where A is most of a stage, halves of it make more of a ring, and one half of the warpgroups
  // multiplies while the other's codes fall apart.
  static constexpr int kTurns = !GROUPED && Tiles == 1 && Tokens * kBits(B_FORMAT) >= 256 ? 2 : 1;
  static constexpr int kTokens = Tokens, kTiles = Tiles, kStageK = stageFor(Tokens, Tiles, kTurns);
  static constexpr int kShareK = kStageK * Tiles * kTurns / kGroups;
  static constexpr int kChunkK = 128 / kBits(B_FORMAT);  // elements in 16 bytes
  static constexpr int kCodeBoxes = kStageK * kBits(B_FORMAT) / 8 / 128, kTokenBoxK = 64,
                       kTokenBoxes = kStageK / kTokenBoxK;
  // Instructions of a chunk; words of a row's scales that a warpgroup takes.
  static constexpr int kInstructions = kFp4 ? 2 : 1, kWords = kShareK / SCALE_BLOCK / 4;
  // Chunks of a scale that a lane has, and how far the next scale that it has is.
  static constexpr int kChunksOfScale = kChunkK < SCALE_BLOCK ? SCALE_BLOCK / kChunkK : 1,
                       kScalesApart = kChunkK > SCALE_BLOCK ? kChunkK / SCALE_BLOCK : 1;
  // Few columns: mma.sync, in which a warp waits for no other; more: wgmma, which reads A once for
  // four warps. Up to 16 sums of a block are scaled, with more elements are.
  static constexpr bool kByWarp = Tokens <= 8 && Tiles == 1,
                        kScaleSums = Tokens <= 16 && SCALE_BLOCK == 32, kIsHalves = false,
                        kTokensAsTheyAre = false;
  // Whether products are under way while the next codes fall apart: of a block whose sums are
  // scaled, or of a batch. With 32 tokens warps wait for the instructions, and it gains where
  // scales of 16 elements make more of them.
  static constexpr bool kOverlapsBlocks = Tokens == 16 && Tiles == 1 && kFp4 && kScaleSums,
                        kOverlapsBatches =
                            Tokens == 64 || (Tokens == 32 && Tiles == 1 && SCALE_BLOCK == 16);
  // Elements that are scaled fall apart by a permutation where that was timed to gain.
  static constexpr bool kBySigns = Tokens == 32 && kFp4 && SCALE_BLOCK == 32;
  // Chunks that are in registers together: a batch.
  static constexpr int kTogether = kOverlapsBlocks               ? 1
                                   : kByWarp || kOverlapsBatches ? 2
                                   : kScaleSums && !kFp4         ? 64 / kChunkK
                                                                 : 128 / kChunkK,
                       kMatrices = kTogether * kInstructions, kBatchK = kTogether * kChunkK;
  static constexpr float kUnit = kScaleSums ? kUnitOfSums : kUnitOfElements<MadeBefore>;
  static constexpr float kSmallest = kScaleSums ? 0x1p-100f : kSmallestOfElements;
  static constexpr bool kMarksZeros = false, kFactors = false, kOfEight = OfEight;
  // Beside B of 8 bits A is less of a stage, and there is time for more of it, as there is where a
  // rest is in parts.
  __device__ static int aheadOf(int stages, bool hasRest) {
    if (kFp4) return Tokens == 64 && hasRest ? 2 : 1;
    if (Tokens == 16) return stages > 4 ? 2 : 1;
    return Tokens == 32 ? (stages > 16 ? 3 : 2) : 1;
  }
  using Scales = LaneScales<kStageK, OfEight>;
  using Own = NoOwn;
  static constexpr int kOwnBytes = 0;

  float total[Tokens / 2] = {};
  // Whether something in a row of this lane's may not be what was multiplied: an element, or a
  // scale where elements are scaled. Float16 has NaN of both.
  static constexpr bool kMayBeSpoiled = kScaleSums ? !kFp4 : !kScaledAreHalves;
  u32 spoiled[2] = {};

  // Four scales, their highest bits set where they are outside what is exact.
  __device__ static u32 markedOutsideOf(u32 scales) {
    if (kLinearScale) return markedSpecial<3>(scales);  // e4m3 without a sign
    static_assert(MadeBefore::kLeastScale == 64 && kMoreScales == 127,
                  "the two highest bits differ");
    return ~(scales ^ scales << 1);
  }

  // Whether a block with this scale and these codes is not what the multiplication makes of it;
  // zeros may have any scale but NaN.
  __device__ static bool isSpoiled(u32 scale, u32 codes) {
    if (kScaleSums) return holdsSpecial<B_FORMAT>(codes);
    return isSpoiledScaled<MadeBefore>(scale, codes);
  }

  // Words of two pairs each for two matrix instructions (fp4: 8 codes) or one (fp8: 4 codes),
  // scaled where elements are.
  __device__ static void spread(u32 codes, u32 multiplier, u32 (&pairs)[2 * kInstructions]) {
#pragma unroll
    for (int i = 0; i < 2 * kInstructions; i++) {
      if (kScaleSums) pairs[i] = unscaledPairOf(codes, i);
      else
        pairs[i] = timesScale(
            kBySigns ? smallPairBySigns(codes, i) : smallElements<B_FORMAT>(codes, i), multiplier);
    }
  }

  // Scales of block `block` of the group's share, of this lane's two rows.
  struct Factors {
    float ofRow[2];
  };
  __device__ static Factors factorsOf(u32 scales, const Scales& laneScales, int block) {
    return {powerOf(laneScales.at(scales + block, 0)), powerOf(laneScales.at(scales + block, 1))};
  }
  __device__ static void addScaled(float (&total)[Tokens / 2], const float (&part)[Tokens / 2],
                                   const Factors& factors) {
#pragma unroll
    for (int j = 0; j < Tokens / 2; j++) total[j] += part[j] * factors.ofRow[j % 4 / 2];
  }

  // The 16 elements from `at` on of the group's share.
  __device__ static void multiplyMatrix(float (&sums)[Tokens / 2], const u32 (&a)[4], u32 tokens,
                                        int group, int at, bool add) {
    const u64 b = tileDescriptor(tokens + group * (kShareK / 64 * 128 * Tokens));
    // Rows of A's boxes are 64 elements.
    const u64 from = b + (at / 64 * 128 * Tokens >> 4) + at % 64 / 16 * kDescriptorStep;
    if constexpr (kScaledAreHalves) multiplyF16(sums, a, from, add);
    else multiplyBf16(sums, a, from, add);
  }
  // Sums of scale blocks that are in the tensor core together, and what they are multiplied by.
  struct Blocks {
    static constexpr int kCount = kScaleSums ? kMatrices * 16 / 32 : 1;
    float part[kCount][Tokens / 2];
    Factors factors[kCount];
    // Begins with the elements from `k` on of the group's share.
    __device__ void ask(const u32 (&a)[kMatrices][4], u32 scales, const Scales& laneScales,
                        u32 tokens, int group, int k) {
      wgmmaFence();
#pragma unroll
      for (int i = 0; i < kMatrices; i++)
        multiplyMatrix(part[i / 2], a[i], tokens, group, k + i * 16, i % 2 != 0);
      wgmmaCommit();
#pragma unroll
      for (int i = 0; i < kCount; i++) factors[i] = factorsOf(scales, laneScales, k / 32 + i);
    }
    // Once they are there.
    __device__ void addTo(float (&total)[Tokens / 2]) {
#pragma unroll
      for (int i = 0; i < kCount; i++) {
        holdRegisters(part[i]);
        addScaled(total, part[i], factors[i]);
      }
    }
  };

  // The group's share of a stage; `tokens`: A's part of the stage.
  __device__ void multiply(u32 codes, u32 scales, const Scales& laneScales, u32 tokens, int group,
                           int warp, int lane) {
    const u32 ownScales = scales + group * kWords * 4;
    u32 words[2][kWords];  // scales of this lane's two rows, where elements are scaled
    u32 marks = 0;         // kMarksOfSpecial where one of these or of the codes may be spoiled
#pragma unroll
    for (int half = 0; half < 2 && !kScaleSums; half++) {
      laneScales.load(words[half], ownScales, half);
#pragma unroll
      for (int i = 0; i < kWords; i++) {
        if (kMayBeSpoiled) marks |= markedOutsideOf(words[half][i]);
        if (kLinearScale) words[half][i] &= 0x7f7f7f7f;
      }
    }
    // Where it has 16 elements, a scale is of one of two chunks (fp8), or of two of four lanes
    // (fp4).
    const int ofLane = SCALE_BLOCK < kChunkK ? lane % 4 / 2 : 0;
    const auto placeOfScale = [](int chunk) { return chunk * kChunkK / SCALE_BLOCK; };
    u32 multipliers[2];  // of either row's elements by two scales, one to a half
    // Matrices: rows 0-7 and 8-15 of one chunk, then of the next; 128-byte swizzle: chunk c of row
    // r lies at c ^ (r % 8).
    auto loadTwoChunks = [&](u32(&packed)[4], int ofGroup) {
      const int ofStage = group * (kShareK / kChunkK) + ofGroup,
                chunk = (ofStage % 8 + lane / 16) ^ (lane % 8);
      loadMatrices(
          packed, codes + ofStage / 8 * kCodeBoxBytes + (warp * 16 + lane % 16) * 128 + chunk * 16);
    };
    u32 packed[4];  // of two chunks
    [[maybe_unused]] Blocks blocks[2];
#pragma unroll
    for (int k = 0; k < kShareK; k += kBatchK) {
      u32 a[kMatrices][4];
#pragma unroll
      for (int inside = 0; inside < kTogether; inside++) {
        const int chunk = k / kChunkK + inside;
        if (chunk % 2 == 0) loadTwoChunks(packed, chunk);
        if (chunk % (2 * kChunksOfScale) == 0) {
          const int place = placeOfScale(chunk);
#pragma unroll
          for (int half = 0; half < 2 && !kScaleSums; half++)
            multipliers[half] =
                multipliersAt<MadeBefore, kScalesApart>(words[half][place / 4], place % 4 + ofLane);
        }
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const u32 ofRow = packed[chunk % 2 * 2 + half];
          u32 pairs[2 * kInstructions];
          spread(ofRow, kScaleSums ? 0 : bothOfHalf(multipliers[half], chunk / kChunksOfScale % 2),
                 pairs);
          if (kBits(B_FORMAT) == 8) marks |= markedSpecial<B_FORMAT>(ofRow);
#pragma unroll
          for (int t = 0; t < kInstructions; t++) {
            a[inside * kInstructions + t][half] = pairs[2 * t];
            a[inside * kInstructions + t][half + 2] = pairs[2 * t + 1];
          }
        }
      }
      if constexpr (kByWarp) {
        multiplyByWarp(a, ownScales, laneScales, tokens, group, lane, k);
      } else if constexpr (kOverlapsBlocks) {
        const int at = k / kBatchK % 2;
        blocks[at].ask(a, ownScales, laneScales, tokens, group, k);
        if (k > 0) wgmmaWait<1>(), blocks[1 - at].addTo(total);
      } else if constexpr (kScaleSums) {
        Blocks alone;
        alone.ask(a, ownScales, laneScales, tokens, group, k);
        wgmmaWait<0>();
        alone.addTo(total);
      } else {
        multiplyByGroup(a, tokens, group, k);
        if (!kOverlapsBatches) finishProducts();
        else if (k > 0 && k + kBatchK < kShareK) wgmmaWait<1>();  // two have registers
      }
    }
    if constexpr (kOverlapsBlocks) wgmmaWait<0>(), blocks[(kShareK / kBatchK - 1) % 2].addTo(total);
    if (kOverlapsBatches) finishProducts();
    if constexpr (kMayBeSpoiled) {
      if (!__any_sync(0xffffffff, (marks & kMarksOfSpecial) != 0)) return;
      for (int chunk = 0; chunk < kShareK / kChunkK; chunk += 2) {
        u32 packed[4];
        loadTwoChunks(packed, chunk);
#pragma unroll
        for (int i = 0; i < 4; i++) {
          // Beside codes of 8 bits there is no register that would keep scales until here.
          const int place = placeOfScale(chunk + i / 2);
          const u32 scale = kScaleSums ? 0
                            : kFp4     ? bothOf(words[i % 2][place / 4], place % 4 + ofLane) & 255
                                       : laneScales.at(ownScales + place + ofLane, i % 2);
          spoiled[i % 2] |= isSpoiled(scale, packed[i]);
        }
      }
    }
  }

  // Where this lane's 16 bytes of its token lie, of the 32 elements from k on of the warpgroup's
  // share.
  __device__ static u32 placeOf(u32 tokens, int group, int lane, int k) {
    const int from = group * kShareK + k, piece = (from % 64 / 8 + lane / 8) ^ (lane % 8);
    return tokens + from / 64 * (128 * Tokens) + lane % 8 * 128 + piece * 16;
  }

  __device__ static void addElements(float* sums, const u32 (&a)[4], u32 b0, u32 b1) {
    if constexpr (kScaledAreHalves) addHalves(sums, a, b0, b1);
    else addPairs(sums, a, b0, b1);
  }
  // 32 elements of K at a time, which are two instructions'.
  __device__ void multiplyByWarp(const u32 (&a)[kMatrices][4], u32 scales, const Scales& laneScales,
                                 u32 tokens, int group, int lane, int k) {
#pragma unroll
    for (int i = 0; i < kMatrices / 2; i++) {
      u32 b[4];
      loadMatrices(b, placeOf(tokens, group, lane, k + i * 32));
      if constexpr (kScaleSums) {
        float part[4];
        multiplyPairs(part, a[2 * i], b[0], b[1]);
        addPairs(part, a[2 * i + 1], b[2], b[3]);
        addScaled(total, part, factorsOf(scales, laneScales, k / 32 + i));
      } else {
        addElements(total, a[2 * i], b[0], b[1]);
        addElements(total, a[2 * i + 1], b[2], b[3]);
      }
    }
  }

  __device__ void multiplyByGroup(const u32 (&a)[kMatrices][4], u32 tokens, int group, int k) {
    wgmmaFence();
#pragma unroll
    for (int i = 0; i < kMatrices; i++)
      multiplyMatrix(total, a[i], tokens, group, k + i * 16, true);
    wgmmaCommit();
  }
  __device__ void finishProducts() {
    wgmmaWait<0>();
    holdRegisters(total);
  }

  // Four lanes hold the sums of a row, each for other tokens.
  __device__ void end(int, int) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      spoiled[half] |= __shfl_xor_sync(0xffffffff, spoiled[half], 1);
      spoiled[half] |= __shfl_xor_sync(0xffffffff, spoiled[half], 2);
    }
#pragma unroll
    for (int i = 0; i < Tokens / 2; i++)
      if (spoiled[i % 4 / 2]) total[i] = nanValue();
  }
};

template <int Tokens, int Tiles>
using Bf16 = Bf16Of<Tokens, Tiles, false>;
template <int Tokens, int Tiles>
using Bf16OfEight = Bf16Of<Tokens, Tiles, true>;

}  // namespace decode
