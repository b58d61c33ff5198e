// fp8 by fp8 in float16 for decode.cuh, up to 16 rows of A: both sides come as they are, codes and
// scales, so no kernel stands before the product (common/fp8Halves.cuh).
//
// A lane's word of a row's 16 codes is four elements of K, two pairs, of either side: that is the
// order of elements along K.
#pragma once

#include "common/decode.cuh"
#include "common/fp8Halves.cuh"

namespace decode {

template <int Tokens>
struct F16 {
  static constexpr int kTokens = Tokens, kTiles = 1, kTurns = 1, kStageK = decode::kStageK;
  static constexpr int kShareK = kStageK / kGroups, kBlocks = kShareK / 32;
  static constexpr int kCodeBoxes = kStageK / 128, kTokenBoxK = 128,
                       kTokenBoxes = kStageK / kTokenBoxK, kBoxBytes = 128 * Tokens;
  static_assert(kBits(A_FORMAT) == 8 && kBits(B_FORMAT) == 8 && SCALE_BLOCK == 32 &&
                    kShareK == kTokenBoxK,
                "a warpgroup's share is a box of either side");
  static constexpr bool kByWarp = true, kIsHalves = false, kOfEight = false, kMarksZeros = false,
                        kFactors = false, kTokensAsTheyAre = true;
  static constexpr float kUnit = 1.0f, kSmallest = kSmallestOfHalves;
  using Scales = LaneScales<kStageK, false>;
  using Own = NoOwn;
  static constexpr int kOwnBytes = 0;
  // Not asked for: all places of the ring are filled at once.
  __device__ static int aheadOf(int stages, bool) { return stages; }

  float total[Tokens / 2] = {};

  // Two chunks of 16 bytes of 16 rows, those from `row` on of a box: rows 0-7 and 8-15 of the
  // first, then of the next; 128-byte swizzle: chunk c of row r lies at c ^ (r % 8).
  __device__ static void loadTwoChunks(u32 (&codes)[4], u32 box, int row, int chunk, int lane) {
    loadMatrices(codes, box + (row + lane % 16) * 128 + ((chunk + lane / 16) ^ (lane % 8)) * 16);
  }

  // A block's two chunks of all tokens; of eight those of two blocks come at once.
  struct TokenCodes {
    u32 codes[4];
    __device__ void load(u32 box, int block, int lane) {
      if (Tokens == 16) loadTwoChunks(codes, box, 0, block * 2, lane);
      else if (block % 2 == 0)
        loadMatrices(codes, box + lane % 8 * 128 + ((block * 2 + lane / 8) ^ (lane % 8)) * 16);
    }
    // Chunk `i` of the block, of the eight tokens `eight`.
    __device__ u32 chunk(int eight, int block, int i) const {
      return codes[Tokens == 16 ? eight + 2 * i : block % 2 * 2 + i];
    }
  };

  // The group's share of a stage; `tokens`: A's codes, their scales behind them, 16 bytes a token.
  __device__ void multiply(u32 codes, u32 scales, const Scales& laneScales, u32 tokens, int group,
                           int warp, int lane) {
    const u32 ownScales = scales + group * kBlocks,
              tokenScales = tokens + kTokenBoxes * kBoxBytes + lane % 4 * 32 + group * kBlocks,
              box = tokens + group * kBoxBytes;
    TokenCodes ofTokens;
#pragma unroll
    for (int block = 0; block < kBlocks; block++) {
      u32 packed[4], rows[2][4];  // of two chunks
      loadTwoChunks(packed, codes + group * kCodeBoxBytes, warp * 16, block * 2, lane);
#pragma unroll
      for (int i = 0; i < 4; i++) {
        u32 pairs[2];
        halvesOf<B_FORMAT>(packed[i], pairs);
        rows[i / 2][i % 2] = pairs[0], rows[i / 2][i % 2 + 2] = pairs[1];
      }
      ofTokens.load(box, block, lane);
      const float ofRow[2] = {scaleOfE8m0(laneScales.at(ownScales + block, 0)),
                              scaleOfE8m0(laneScales.at(ownScales + block, 1))};
#pragma unroll
      for (int eight = 0; eight < Tokens / 8; eight++) {
        float part[4], ofToken[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
          u32 pairs[2];
          halvesOf<A_FORMAT>(ofTokens.chunk(eight, block, i), pairs);
          if (i == 0) productOfHalves(part, rows[i], pairs[0], pairs[1]);
          else addHalves(part, rows[i], pairs[0], pairs[1]);
          ofToken[i] = scaleOfE8m0(loadByte(tokenScales + (eight * 8 + i) * 16 + block));
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
          total[eight * 4 + i] += part[i] * (ofToken[i % 2] * ofRow[i / 2]);
      }
    }
  }
  __device__ void end(int, int) {}
};

}  // namespace decode
