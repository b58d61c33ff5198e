// The bf16 product whose B comes as codes and becomes bf16 in registers: nothing of it is written
// to memory before.
//
//                     A^T, kTileN rows x 128 bytes of bf16
//                   +---------------------------------+
//    B, kTileM rows |  warpgroup 1: 64 x kTileN sums  |   Clusters of two such CTAs, one beside
//       of codes    |  warpgroup 2: 64 x kTileN sums  |   the other in C, share A: each loads half
//                   +---------------------------------+   of its tile and multicasts that half.
//
// Of one product K is divided where tiles are no whole turns of all CTAs. Where they are few, a
// cluster is several such pairs, each with a part of its tile's K; they send one another their
// sums, and take a part of the rows each to C. Else every cluster has as many stages, from one tile
// into the next, and of a tile's parts a warp that comes last adds them, in their order.
//
// C comes turned, for it is the left operand that wgmma takes from registers. The copy engine
// brings A and codes; warpgroup 0 puts the codes' scales beside them, as bf16. A multiplying warp
// widens its rows of the next stage while its product of this one is under way. A comes in the
// order along K in which codes fall apart (placeInOrder in widenRows.cuh).
#pragma once

#include "common/gemm_bf16.cuh"
#include "common/gemm_codesLoad.cuh"
#include "common/gemm_codesTiles.cuh"
#include "common/tiled.cuh"
#include "common/widenRows.cuh"

namespace bf16gemm {

static_assert(kBits(B_FORMAT) == 4 || (kBits(B_FORMAT) == 8 && SCALE_BLOCK == 32),
              "codes that fall apart into pairs; five stages fit");

// C's columns are the product's rows: kTileM is of a CTA's columns, kTileN of rows of A and C.
template <int TileN, int Stages>
struct ProductOfCodesOver : gemm::Tile<WIDE_TILE_M, TileN, Stages, CODE_STORE_BUFFERS, false> {
  using Base = gemm::Tile<WIDE_TILE_M, TileN, Stages, CODE_STORE_BUFFERS, false>;
  using Base::kCluster, Base::kSums, Base::kTileM, Base::kTileN, Base::kStepBytes,
      Base::kBytesPiece, Base::kStoreBuffers;
  static constexpr bool kIsTurned = true;
  static constexpr int kElements = 64, kInstructionElements = 16,
                       kPerStage = kElements / kInstructionElements, kSpan = 1;
  static constexpr int kRowBytes = kElements * kBits(B_FORMAT) / 8,
                       kScales = kElements / SCALE_BLOCK, kRowFactors = kScales * 4;
  static constexpr int kBytesStage = kTileN * kStepBytes, kBytesOfCodes = kTileM * kRowBytes;
  static constexpr int kBytesBeside = kBytesOfCodes + kTileM * kRowFactors;
  // Chunks are 16 bytes of a row's codes, of which a lane has a word: for kOfChunk instructions. A
  // box has two of each row.
  static constexpr int kChunks = kRowBytes / 16, kOfChunk = kPerStage / kChunks,
                       kBoxes = kChunks / 2, kBytesBox = kTileM * 32;
  static constexpr int kPieceRows = 32, kPieces = kTileN / kPieceRows;  // 16 columns of C
  static_assert(kPieceRows * 32 == kBytesPiece, "as Tile has room for");

  // Rows lane / 4 and + 8 of a warp's, as instructions take them.
  typedef u32 Fragments[kPerStage][4];
  // The same as codes; of each row the scales of the first and of the second half of its chunks.
  struct Packed {
    u32 words[kBoxes][4];
    float2 scales[2];
  };

  // Where a lane's codes and scales lie in a stage.
  struct Places {
    u32 codes, scales;
    __device__ Places() {
      const int lane = threadIdx.x % 32, quad = lane % 4, first = (threadIdx.x / 32 - 4) * 16;
      // As a source of ldmatrix: rows 0-7 and 8-15 of one chunk, then of the next. 32-byte swizzle:
      // chunk c of row r lies at c ^ (r / 4 % 2).
      codes = (first + lane % 16) * 32 + (lane / 16 ^ lane / 4 % 2) * 16;
      scales =
          kBytesOfCodes + (first + lane / 4) * kRowFactors + (SCALE_BLOCK == 16 ? quad / 2 * 8 : 0);
    }
  };
  // Scale `i` of a stage of a row: those of a lane are side by side. A scale of 16 codes of four
  // bits is two lanes' of four.
  __device__ static int placeOfScale(int i) { return SCALE_BLOCK == 16 ? i % 2 * 2 + i / 2 : i; }

  __device__ static void fetch(Packed& packed, const Places& from, u32 beside) {
#pragma unroll
    for (int box = 0; box < kBoxes; box++)
      loadMatrices(packed.words[box], beside + box * kBytesBox + from.codes);
#pragma unroll
    for (int half = 0; half < 2; half++)
      packed.scales[half] = loadTwoNumbers(beside + from.scales + half * 8 * kRowFactors);
  }
  // What instruction `k` takes.
  __device__ static void widen(u32 (&wide)[4], const Packed& packed, int k) {
    const int chunk = k / kOfChunk;
    bool isSpecial = false;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const float2 scales = packed.scales[half];
      const u32 codes = wordOf(packed, chunk, half),
                scale = __float_as_uint(chunk < kBoxes ? scales.x : scales.y);
#pragma unroll
      for (int pair = 0; pair < 2; pair++)
        wide[pair * 2 + half] =
            multiplyBf16Pair(multiplyBf16Pair(smallPairOf<B_FORMAT>(codes, k % kOfChunk * 2 + pair),
                                              unbiasOf<B_FORMAT>()),
                             scale);
      isSpecial |= holdsSpecial<B_FORMAT>(codes);
    }
    if constexpr (kBits(B_FORMAT) == 8) {
      // NaN and infinities, which are bits like others to the products above.
      if (!__any_sync(0xffffffff, isSpecial)) return;
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const u32 codes = wordOf(packed, chunk, i % 2) >> i / 2 * 8;
        wide[i] = specialOr(codes & 255, wide[i] & 0xffff) |
                  specialOr(codes >> 16 & 255, wide[i] >> 16) << 16;
      }
    }
  }
  __device__ static u32 wordOf(const Packed& packed, int chunk, int half) {
    return packed.words[chunk / 2][chunk % 2 * 2 + half];
  }
  __device__ static u32 specialOr(u32 code, u32 wide) {
    if (!holdsSpecial<B_FORMAT>(code)) return wide;
    return B_FORMAT == 4 && (code & 127) == 0x7c ? 0x7f80 | (code & 128) << 8 : 0x7fff;
  }

  template <class Ring, class SharedPlaces>
  __device__ static void sum(float (&total)[kSums], Ring& ring, int steps, SharedPlaces shared, int,
                             gemm::NoPowers) {
    const Places places;
    Fragments held[2];
    Packed packed;
    waitFor(shared.full(ring.stage), ring.phase);
    fetch(packed, places, shared.beside(ring.stage));
#pragma unroll
    for (int k = 0; k < kPerStage; k++) widen(held[0][k], packed, k);
    const Team<ProductOfCodesOver> team;
    u32 previous = 0;
    // What the next stage's instructions take is made between this one's, as long as the tensor
    // cores have those to do: a warp waits at each until it is taken.
    auto multiplyStage = [&](const Fragments& now, Fragments& next, int step) {
      const u64 a = tileDescriptor(shared.stage(ring.stage));
      const u32 empty = shared.empty(ring.stage);
      ring.advance();
#pragma unroll
      for (int k = 0; k < kPerStage; k++) {
        wgmmaFence();
        multiplyBf16(total, now[k], a + k * kDescriptorStep, step > 0 || k > 0);
        wgmmaCommit();
        if (k == 0) {
          // Behind a tile's last stage what is there is made once more, for nobody.
          if (step + 1 == steps) continue;
          waitFor(shared.full(ring.stage), ring.phase);
          fetch(packed, places, shared.beside(ring.stage));
          continue;
        }
        // The product of the stage before that read it is over.
        wgmmaWait<kPerStage + 1>();
        widen(next[k - 1], packed, k - 1);
        holdOperand(next[k - 1]);
      }
      wgmmaWait<kPerStage>();
      widen(next[kPerStage - 1], packed, kPerStage - 1);
      if (step > 0) releaseStage<kCluster>(previous, team.first);
      previous = empty;
    };
#pragma unroll 1
    for (int step = 0; step < steps; step += 2) {
      multiplyStage(held[0], held[1], step);
      if (step + 1 < steps) multiplyStage(held[1], held[0], step + 1);
    }
    wgmmaWait<0>();
    holdRegisters(total);
    releaseStage<kCluster>(previous, team.first);
  }

  // Sums of a warpgroup: sum 4 j + e of a thread lies at row 8 j + 2 * (lane % 4) + e % 2 of C's
  // tile, column warp * 16 + lane / 4 + 8 * (e / 2). By the copy engine, but for a piece whose rows
  // are not all the group's.
  template <class SharedPlaces>
  __device__ static void store(bool byEngine, const float (&d)[kSums], const TensorMap* cMap,
                               Output* c, int N, const gemm::Place& place, SharedPlaces shared,
                               float factor, gemm::Finish finish) {
    if (!byEngine) return storeEach(d, c, N, place, 0, factor, finish);
    const int warp = threadIdx.x / 32 - 4, col0 = place.col + warp * 16;
    const bool isCopying = electOne();
#pragma unroll
    for (int piece = 0; piece < kPieces; piece++) {
      const int row0 = place.row + piece * kPieceRows;
      if (row0 >= place.endRow) break;
      const u32 buffer = shared.store(warp) + piece % kStoreBuffers * kBytesPiece;
      if (isCopying) waitForStoreReads<kStoreBuffers - 1>();
      __syncwarp();
#pragma unroll
      for (int sixteen = 0; sixteen < kPieceRows / 16; sixteen++)
        turnSixteen(buffer + sixteen * kBytesTurned, d, piece * (kPieceRows / 16) + sixteen, factor,
                    finish);
      if (row0 + kPieceRows > place.endRow) {
        __syncwarp();
        return storeTurned<kPieceRows / 16>(buffer, c, N, row0, place.endRow, col0);
      }
      publishToCopyEngine();
      __syncwarp();
      if (isCopying) {
        storeBox(cMap, col0, row0, buffer);
        commitStores();
      }
    }
  }
  // Eight sums of a thread each, of sixteen rows and the next, `count` of them, by the threads: 32
  // bytes of a row of C at a time, where `inSixteens` those are aligned.
  static constexpr int kSixteensTogether = kTileN == 128 ? 2 : 4;
  template <class SharedPlaces>
  __device__ static void storeSixteens(bool inSixteens, const float (&d)[kSixteensTogether][8],
                                       int count, Output* c, int N, const gemm::Place& place,
                                       SharedPlaces shared, gemm::Finish finish) {
    const int warp = threadIdx.x / 32 - 4;
    if (sizeof(Output) != 2 || !inSixteens) {
#pragma unroll
      for (int i = 0; i < kSixteensTogether; i++)
        if (i < count) storeEach(d[i], c, N, place, i * 16, 1.0f, finish);
      return;
    }
    const u32 buffer = shared.store(warp);
    // The last ones have been read.
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kSixteensTogether; i++)
      turnSixteen(buffer + i * kBytesTurned, d[i], 0, 1.0f, finish);
    __syncwarp();
    storeTurned<kSixteensTogether>(
        buffer, c, N, place.row, min(place.endRow, place.row + count * 16), place.col + warp * 16);
  }

 private:
  static constexpr int kBytesTurned = 16 * 32;
  static_assert(sizeof(Output) != 2 ||
                    kSixteensTogether * kBytesTurned <= kStoreBuffers * kBytesPiece,
                "room for them");

  __device__ static Output outputOf(float sum, float factor, gemm::Finish finish) {
    return toOutput(finishedSum(sum * factor, 0.0f, finish.outputScale));
  }
  // Sums 8 i to 8 i + 7, to rows of 32 bytes. As a source of stmatrix: lane 8 i + r addresses row r
  // of matrix i; 0 and 1 are columns 0-7 and 8-15 of eight rows, 2 and 3 those of the next eight.
  // 32-byte swizzle: 16-byte chunk c of row r lies at chunk c ^ (r / 4 % 2).
  template <int Count>
  __device__ static void turnSixteen(u32 to, const float (&d)[Count], int i, float factor,
                                     gemm::Finish finish) {
    const int lane = threadIdx.x % 32;
    auto finished = [&](int j) {
      return finishedSum(d[i * 8 + j] * factor, 0.0f, finish.outputScale);
    };
    u32 pairs[4];
#pragma unroll
    for (int j = 0; j < 4; j++) pairs[j] = toOutputPair(finished(2 * j), finished(2 * j + 1));
    storeTurnedMatrices(to + (lane / 16 * 8 + lane % 8) * 32 + (lane / 8 % 2 ^ lane / 4 % 2) * 16,
                        pairs[0], pairs[1], pairs[2], pairs[3]);
  }
  // Sixteens of rows that were turned to `from`, from row `row` and column `col` of C on: 16 bytes
  // of each by a lane.
  template <int Count>
  __device__ static void storeTurned(u32 from, Output* c, int N, int row, int endRow, int col) {
    const int lane = threadIdx.x % 32, ofLane = lane / 2;
    from += ofLane * 32 + (lane % 2 ^ ofLane / 4 % 2) * 16, row += ofLane, col += lane % 2 * 8;
    float words[Count][4];
#pragma unroll
    for (int i = 0; i < Count; i++) loadNumbers(words[i], from + i * kBytesTurned);
#pragma unroll
    for (int i = 0; i < Count; i++)
      if (row + i * 16 < endRow && col < N)
        *reinterpret_cast<uint4*>(c + (long long)(row + i * 16) * N + col) =
            gemm::wordsOf(words[i]);
  }
  // Sums from row `first` of the tile on, number by number.
  template <int Count>
  __device__ static void storeEach(const float (&d)[Count], Output* c, int N,
                                   const gemm::Place& place, int first, float factor,
                                   gemm::Finish finish) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 - 4,
              row0 = place.row + first + lane % 4 * 2, col = place.col + warp * 16 + lane / 4;
    Output* from = c + (long long)row0 * N + col;
#pragma unroll
    for (int i = 0; i < Count; i++) {
      const int row = i / 4 * 8 + i % 2, ofHalf = i % 4 / 2 * 8;
      if (row0 + row < place.endRow && col + ofHalf < N)
        from[(long long)row * N + ofHalf] = outputOf(d[i], factor, finish);
    }
  }
};

// C of groups, whose tile rows `of` are of TileN rows of A; B's codes are rows of K of all groups'
// matrices.
template <int TileN, int Stages>
__device__ inline void runGroupsOfCodes(const TensorMap* aMap, const TensorMap* codesMap,
                                        const u8* bScales, const TensorMap* cMap, bool byEngine,
                                        Output* c, GroupTables of, int N, int K, float tensorScale,
                                        gemm::Finish finish) {
  using T = ProductOfCodesOver<TileN, Stages>;
  const TurnedGroups<T> shape{{of, N, gemm::stepsOf<T>(K)}, byEngine};
  gemm::runOf<T, sizeof(Output) == 2>(shape, CodesOfB<T>{aMap, codesMap, bScales, of.groups * N, K},
                                      cMap, c, factorOf<T>(tensorScale), finish);
}

// Operands as they come, where a product is made of them in float64.
struct PackedOperands {
  const u8 *aCodes, *bCodes, *aScales, *bScales;
};

// Where stages would be, for the first threads of a CTA.
struct TilesOfSome : tiled::Tiles<double, 2> {
  __device__ static void meet() { syncSome<tiled::kThreads>(1); }
};

// C of one product, of rows of A that widenRowsOfOne has put in order; of scales beyond bf16's
// range in float64, slow and right.
template <int TileN, int Stages>
__device__ inline void runRowsOfCodes(const TensorMap* aMap, const TensorMap* codesMap,
                                      const TensorMap* cMap, Output* c, PackedOperands packed,
                                      TurnedRows<ProductOfCodesOver<TileN, Stages>> shape, int K,
                                      float tensorScale, gemm::Finish finish) {
  using T = ProductOfCodesOver<TileN, Stages>;
  const auto inFloat64 = [&] {
    if (threadIdx.x >= tiled::kThreads) return;
    static_assert(sizeof(TilesOfSome) <= T::kStages * T::kBytesStage, "room for them");
    const u32 place = gemm::Shared<T>(dynamicSharedStart()).stage(0);
    tiled::multiplyIn(*reinterpret_cast<TilesOfSome*>(__cvta_shared_to_generic(place)),
                      packed.aCodes, packed.bCodes, packed.aScales, packed.bScales, c, shape.M,
                      shape.N, K, tensorScale, nullptr, finish.outputScale);
    TilesOfSome::meet();
    if (threadIdx.x == 0) shape.forgetBeyond();
  };
  const CodesOfB<T> operands{aMap, codesMap, packed.bScales, shape.N, K};
  gemm::runOf<T, sizeof(Output) == 2>(shape, operands, cMap, c, factorOf<T>(tensorScale), finish,
                                      inFloat64);
}

}  // namespace bf16gemm
