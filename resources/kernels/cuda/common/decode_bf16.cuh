// Any fp4 or fp8 format in bf16 for decode.cuh: element x scale of B in registers, exact, and the whole of K in the tensor core's
// float32 sums.
//
// The bits of a code at the places of bf16's sign, lowest exponent and highest mantissa bits are its number times
// 2^(bias - 127); one bf16x2 multiplication by the scale puts that right but for 2^-kShift, which A has the other way round, so
// that neither side leaves bf16's range:
//
//   B's element    kShift   exact for scales
//   e2m1, e8m0       63     2^-63..2^64
//   e4m3, e8m0       60     2^-63..2^64
//   e5m2, e8m0       52     2^-63..2^64
//   e2m1, ue4m3     119     all; A has 2^116 and the result 2^3, or, where it is bf16, 2^100 and 2^19
//
// A in bf16 is exact below 2^65 (e8m0) or 2^28 (ue4m3) in magnitude; beyond, it becomes infinite here.
// What is outside, infinite or NaN makes its rows' sums NaN, and decode.cuh computes those again. The order of elements along K
// is that in which codes fall apart into pairs; prepareTokens() puts A into the same.
#pragma once

#include "common/decode.cuh"
#include "common/widen.cuh"

namespace decode {

constexpr bool kFp4 = kBits(B_FORMAT) == 4, kLinearScale = SCALE_FORMAT == 6;
constexpr int kShift = kLinearScale ? 119 : B_FORMAT == 0 ? 63 : B_FORMAT == 3 ? 60 : 52, kTokenShift = !kLinearScale ? kShift : kIsScaled(A_FORMAT) ? 116 : 100;
static_assert(kBits(B_FORMAT) != 6 && (!kLinearScale || B_FORMAT == 0), "formats whose codes fall apart into pairs");

// 2^exponent, whole numbers -126..127.
__device__ inline float powerOfTwo(int exponent) { return __int_as_float((127 + exponent) << 23); }

// Eight elements of A from k on, times scale and 2^kTokenShift, into their places. fp4 codes of B: in a block of 32, element
// 8 q + 4 e + 2 t + h goes to 16 t + 8 h + 2 q + e; fp8: in a block of 16, element 4 q + 2 e + h to 8 h + 2 q + e.
__device__ inline void prepareTokens(const u8* aCodes, const u8* aScales, u16* tokens, long long first) {
  float scale = powerOfTwo(kTokenShift);
  if constexpr (kIsScaled(A_FORMAT)) {
    const u32 code = aScales[first / SCALE_BLOCK];
    // The largest magnitude of an element is below 2^kLargest.
    constexpr int kLargest = A_FORMAT == 0 ? 3 : A_FORMAT == 3 ? 9 : 16;
    const bool represented = kLinearScale || code <= 254 - kLargest - kTokenShift;
    scale *= represented ? decodeScale<SCALE_FORMAT>(code) : nanValue();
  }
  float values[8];
#pragma unroll
  for (int i = 0; i < 8; i++) values[i] = decodeElement<A_FORMAT>(packedCode<A_FORMAT>(aCodes, first + i)) * scale;
  u32* out = reinterpret_cast<u32*>(tokens + first / (kFp4 ? 32 : 16) * (kFp4 ? 32 : 16));
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (kFp4) out[i / 2 * 8 + i % 2 * 4 + first % 32 / 8] = toBf16Pair(values[i], values[i + 4]);
    else out[i % 2 * 4 + first % 16 / 4 + i / 2] = toBf16Pair(values[i / 2 * 4 + i % 2], values[i / 2 * 4 + i % 2 + 2]);
  }
}

template <int Tokens>
struct Bf16 {
  static constexpr int kTokens = Tokens, kChunkK = 128 / kBits(B_FORMAT);  // elements in 16 bytes
  static constexpr int kBoxBytes = kRows * 128, kBoxK = 8 * kChunkK, kBoxes = kStageK / kBoxK;
  static constexpr int kChunks = kGroupK / kChunkK, kScales = kGroupK / SCALE_BLOCK;  // of a warpgroup's share of a row
  static constexpr int kScaleBytes = kStageK / SCALE_BLOCK;
  static constexpr int kBytesCodes = kBoxes * kBoxBytes, kBytesScales = kRows * kScaleBytes, kBytesTokens = kStageK * Tokens * 2;
  static constexpr float kUnit = kShift == kTokenShift ? 1.0f : (float)(1 << (kShift - kTokenShift));
  static constexpr bool kFactors = false;

  __device__ static void loadCodes(u32 to, const TensorMap* map, int k, int row, u32 barrier) {
#pragma unroll
    for (int i = 0; i < kBoxes; i++) loadBox(to + i * kBoxBytes, map, (k + i * kBoxK) * kBits(B_FORMAT) / 8, row, barrier);
  }
  __device__ static void loadScales(u32 to, const TensorMap* map, int k, int row, u32 barrier) {
    loadBox(to, map, k / SCALE_BLOCK, row, barrier);
  }
  __device__ static void loadTokens(u32 to, const TensorMap* map, int k, u32 barrier) {
#pragma unroll
    for (int i = 0; i < kStageK / 64; i++) loadBox(to + i * 128 * Tokens, map, k + i * 64, 0, barrier);
  }

  // The multiplier of a scale in both halves of a word: 2^(127 - bias) x scale x 2^-kShift.
  __device__ static u32 multiplier(u32 code) {
    if (kLinearScale) return multiplyBf16Pair((code & 127) * 0x00100010, bothHalves(powerOfTwo(127)));
    return code * 0x00800080 + (127 - kBias(B_FORMAT) - kShift) * 0x00800080u;
  }
  // Whether one of four scales is outside what is exact.
  __device__ static bool isOutside(u32 codes) {
    if (kLinearScale) return ((codes & 0x7f7f7f7f) + 0x01010101 & 0x80808080) != 0;
    return ((codes ^ codes << 1) & 0x80808080) != 0x80808080;  // 64..191: the two highest bits differ
  }

  // Whether a block with this scale and these codes is not what the multiplication makes of it; zeros may have any scale but NaN.
  __device__ static bool isSpoiled(u32 scale, u32 codes) {
    if (kLinearScale) return (scale & 127) == 127;
    const bool nonZero = (codes & (kFp4 ? 0x77777777 : 0x7f7f7f7f)) != 0;
    return scale == 255 || (nonZero && (scale < 64 || scale > 191)) || holdsSpecial<B_FORMAT>(codes);
  }

  // Words of two pairs each for two matrix instructions (fp4: 8 codes) or one (fp8: 4 codes).
  __device__ static void spread(u32 codes, u32 scale, u32 (&pairs)[kFp4 ? 4 : 2]) {
#pragma unroll
    for (int i = 0; i < (kFp4 ? 4 : 2); i++) {
      const u32 small = kFp4 ? (codes >> 4 * i & 0x000f000f) * 4160 & 0x81c081c0 : asSmallBf16<B_FORMAT>(codes >> 8 * i & 0x00ff00ff);
      pairs[i] = multiplyBf16Pair(small, scale);
    }
  }

  __device__ static void multiply(float (&total)[Tokens / 2], u32 codes, u32 scales, u32 tokens, int group, int warp, int lane) {
    constexpr int kWords = kScales / 4;  // of scales of a row
    u32 scaleWords[2][kWords];
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
      for (int i = 0; i < kWords; i++)
        scaleWords[half][i] =
            loadWord(scales + (warp * 16 + lane / 4 + half * 8) * kScaleBytes + group * kScales + i * 4);
    bool special = false;
#pragma unroll
    for (int i = 0; i < kWords; i++) special |= isOutside(scaleWords[0][i]) | isOutside(scaleWords[1][i]);
    auto scaleOf = [&](int half, int chunk) {
      // A scale of 16 elements belongs to half of an fp4 chunk.
      if (SCALE_BLOCK < kChunkK) {
        const u32 two = scaleWords[half][chunk / 2] >> (chunk % 2 * 16);
        return lane % 4 < 2 ? two & 255 : two >> 8 & 255;
      }
      const int index = chunk * kChunkK / SCALE_BLOCK;
      return scaleWords[half][index / 4] >> (index % 4 * 8) & 255;
    };
    // Matrices: rows 0-7 and 8-15 of one chunk, then of the next; 128-byte swizzle: chunk c of row r lies at c ^ (r % 8).
    auto loadTwoChunks = [&](u32 (&packed)[4], int at) {
      const int chunk = (at % 8 + lane / 16) ^ (lane % 8);
      loadMatrices(packed, codes + at / 8 * kBoxBytes + (warp * 16 + lane % 16) * 128 + chunk * 16);
    };
    constexpr int kInstructions = kFp4 ? 2 : 1;  // of a chunk
    // Chunks whose words are in registers together.
    constexpr int kTogether = Tokens == 64 ? kChunks / 2 : kChunks;
    const u64 b = tileDescriptor(tokens + group * (kGroupK / 64 * 128 * Tokens));
#pragma unroll
    for (int first = 0; first < kChunks; first += kTogether) {
      u32 a[kTogether * kInstructions][4];
#pragma unroll
      for (int inside = 0; inside < kTogether; inside += 2) {
        u32 packed[4];
        loadTwoChunks(packed, group * kChunks + first + inside);
#pragma unroll
        for (int i = 0; i < 4; i++) {
          u32 pairs[2 * kInstructions];
          spread(packed[i], multiplier(scaleOf(i % 2, first + inside + i / 2)), pairs);
          special |= holdsSpecial<B_FORMAT>(packed[i]);
#pragma unroll
          for (int t = 0; t < kInstructions; t++) {
            a[(inside + i / 2) * kInstructions + t][i % 2] = pairs[2 * t];
            a[(inside + i / 2) * kInstructions + t][i % 2 + 2] = pairs[2 * t + 1];
          }
        }
      }
      wgmmaFence();
#pragma unroll
      for (int i = 0; i < kTogether * kInstructions; i++) {
        const int k = first * kChunkK + i * 16;  // rows of A's boxes are 64 elements
        multiplyBf16(total, a[i], b + (k / 64 * 128 * Tokens >> 4) + k % 64 / 16 * kDescriptorStep, true);
      }
      wgmmaCommit();
      wgmmaWait<0>();
      holdRegisters(total);
    }
    if (!__any_sync(0xffffffff, special)) return;
    u32 spoiled[2] = {};
    for (int first = 0; first < kChunks; first += 2) {
      u32 packed[4];
      loadTwoChunks(packed, group * kChunks + first);
#pragma unroll
      for (int i = 0; i < 4; i++) spoiled[i % 2] |= isSpoiled(scaleOf(i % 2, first + i / 2), packed[i]);
    }
    // Four lanes hold the sums of a row, each for other tokens.
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

}  // namespace decode
