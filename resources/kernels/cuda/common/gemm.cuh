// C (M, N) = A (M, K) x B (N, K)^T on sm_90a, A and B K-major, 128 bytes of K a step: the pipeline
// of every large product.
//
//                     B^T, kTileN columns x 128 bytes
//                   +---------------------------------+
//    A, kTileM rows |  warpgroup 1: 64 x kTileN sums  |   Clusters of two such CTAs, one above
//       x 128 bytes |  warpgroup 2: 64 x kTileN sums  |   the other, share B: each loads half of
//                   +---------------------------------+   its tile and multicasts that half.
//
// Persistent: every cluster takes tile after tile. Warpgroup 0 loads A and B through a ring of
// kStages; the others multiply and store. Sums go through shared memory, 16 rows x 32 columns of a
// warp at a time, to the copy engine (storeByEngine), or straight from registers (storeByThreads)
// where C's rows are no multiples of 16 bytes or its elements are float32. On the way they become
// C: factors, accumulator, output scale, rounding.
#pragma once

#include "common/groups.cuh"
#include "common/pipeline.cuh"
#include "common/wgmma.cuh"

namespace gemm {

__device__ inline void storePair(float* c, float left, float right) {
  *reinterpret_cast<float2*>(c) = make_float2(left, right);
}
__device__ inline void storePair(u16* c, float left, float right) {
  *reinterpret_cast<u32*>(c) = toOutputPair(left, right);
}
__device__ inline void storePair(u8* c, float left, float right) {
  *reinterpret_cast<u16*>(c) = toOutputPair(left, right);
}

// What is done with a sum before it is rounded to C, beside its factors. `accumulator`: as C lies;
// read where ACCUMULATE is 1.
struct Finish {
  const float* accumulator;
  float outputScale;
};

// The numbers of a kernel, as its manifest row has them, too: boxes, grid and shared memory there
// follow from these.
template <int TileM, int TileN, int Stages, int StoreBuffers, bool Factors>
struct Tile {
  static constexpr int kTileM = TileM, kTileN = TileN, kStages = Stages, kCluster = CLUSTER;
  static constexpr int kGroups = TileM / 64, kThreads = 128 * (1 + kGroups),
                       kConsumerWarps = 4 * kGroups;
  static constexpr int kSums = TileN / 2;  // of one thread
  static constexpr int kStepBytes = 128;   // of a row
  static constexpr int kBytesA = TileM * kStepBytes, kBytesB = TileN * kStepBytes,
                       kBytesStage = kBytesA + kBytesB;
  // Registers of a loading and of a multiplying thread.
  static constexpr int kLoadRegisters = 40, kMultiplyRegisters = 232;

  // Rows of a piece are 64 bytes, swizzled for the copy engine: elements of 16 bits or 8. Buffers
  // are taken in turn, the same in every tile.
  static constexpr int kPieceColumns = sizeof(Output) == 1 ? 64 : 32,
                       kPieces = TileN / kPieceColumns;
  static constexpr int kStoreBuffers = kPieces % StoreBuffers == 0 ? StoreBuffers : 1;
  static constexpr int kBytesPiece = 16 * 64,
                       kBytesStore = kConsumerWarps * StoreBuffers * kBytesPiece;
  // Row and column factors of a warpgroup's part of the tile, for products that have them.
  static constexpr int kBytesFactors = Factors ? (64 + TileN) * 4 : 0;
  // 4 for products that are told a word beside each stage.
  static constexpr int kBytesOfStageWord = 0;
  // Beside each stage of products whose B comes as codes, and whether their sums are C's columns
  // (gemm_codes.cuh).
  static constexpr int kBytesBeside = 0;
  static constexpr bool kIsTurned = false;

  static_assert(kGroups == 2, "the register file is divided for two multiplying warpgroups");
  static_assert(128 * (kLoadRegisters + kGroups * kMultiplyRegisters) <= 65536,
                "fits the register file");
  static_assert(TileN % kPieceColumns == 0, "whole pieces");
};

// A CTA's part of a cluster's tile: its first row of A and C, and the row of C at which it ends at
// the latest; its first column of C, and the row of all B that is its column.
struct Place {
  int row, endRow, col, rowB;
};

__device__ constexpr int ceilDiv(int a, int b) { return (a + b - 1) / b; }

template <class T>
struct Shape {
  // Rows beyond M are outside of C's tensor map too.
  static constexpr bool kEndsInside = false;
  int M, N, steps;
  __device__ int tileRows() const { return ceilDiv(M, T::kTileM * T::kCluster); }
  __device__ int tileCols() const { return ceilDiv(N, T::kTileN); }
  __device__ int tiles() const { return tileRows() * tileCols(); }
  __device__ Place place(int tile, u32 rank) const {
    const TilePlace in = tilePlace(tile, tileRows(), tileCols());
    const int col = in.col * T::kTileN;
    return {(int)(in.row * T::kCluster + rank) * T::kTileM, M, col, col};
  }
};

// Groups of rows, each with a matrix of B of its own, behind one another in one tensor map; tile
// rows are those of clusters.
template <class T>
struct GroupedShape {
  static constexpr bool kEndsInside = true;
  static constexpr int kClusterRows = T::kTileM * T::kCluster;
  GroupTables of;
  int N, steps;
  __device__ int tileCols() const { return ceilDiv(N, T::kTileN); }
  __device__ int tiles() const { return of.tileRows() * tileCols(); }
  __device__ Place place(int tile, u32 rank) const {
    // In the order of the dense product within each group.
    const int group = groupOfTileRow(of, tile / tileCols()),
              first = group > 0 ? of.tileEnds[group - 1] : 0;
    const TilePlace in =
        tilePlace(tile - first * tileCols(), of.tileEnds[group] - first, tileCols());
    const int start = of.starts[group], col = in.col * T::kTileN;
    return {start + (int)(in.row * T::kCluster + rank) * T::kTileM, start + of.rows[group], col,
            group * N + col};
  }
};

// Where things lie in dynamic shared memory.
template <class T>
struct Shared {
  static constexpr u32 kStore = T::kStages * T::kBytesStage, kFactors = kStore + T::kBytesStore;
  static constexpr u32 kBeside = kFactors + T::kGroups * T::kBytesFactors;
  static constexpr u32 kBarriers = T::kStages * (16 + T::kBytesOfStageWord);
  // With what aligns the tiles to their swizzle's 1024 bytes.
  static constexpr u32 kBytes = kBeside + T::kStages * T::kBytesBeside + kBarriers + 1024;
  static_assert(kBytes <= 227 * 1024, "fits shared memory");
  u32 barriers, tiles;
  __device__ explicit Shared(u32 start)
      : barriers(start), tiles((start + kBarriers + 1023) & ~1023u) {}
  __device__ u32 full(int i) const { return barriers + i * 8; }
  __device__ u32 empty(int i) const { return barriers + (T::kStages + i) * 8; }
  __device__ u32 word(int i) const { return barriers + T::kStages * 16 + i * T::kBytesOfStageWord; }
  __device__ u32 stage(int i) const { return tiles + i * T::kBytesStage; }
  __device__ u32 store(int warp) const {
    return tiles + kStore + warp * (T::kBytesStore / T::kConsumerWarps);
  }
  __device__ u32 factors(int group) const { return tiles + kFactors + group * T::kBytesFactors; }
  __device__ u32 beside(int i) const { return tiles + kBeside + i * T::kBytesBeside; }
};

// What the multiplying threads are told beside each stage of a tile, where they are told anything
// (kBytesOfStageWord).
struct NoGuide {
  __device__ void startTile(const Place&) {}
  __device__ u32 wordOf(int) { return 0; }
  __device__ void endTile(const Place&) {}
};

template <class T, class TilesOf, class Guide>
__device__ inline void load(const TensorMap* aMap, const TensorMap* bMap, TilesOf shape,
                            Shared<T> shared, Guide guide) {
  RingPosition<T::kStages> ring;
  const u32 rank = clusterRank();
  constexpr int kElements = T::kElements;  // of K in a step
  for (int tile = blockIdx.x / T::kCluster; tile < shape.tiles(); tile += gridDim.x / T::kCluster) {
    const Place place = shape.place(tile, rank);
    guide.startTile(place);
    // Unrolled, the guide's registers would be more than there are.
#pragma unroll 1
    for (int step = 0; step < shape.steps; step++, ring.advance()) {
      const u32 full = shared.full(ring.stage), a = shared.stage(ring.stage), b = a + T::kBytesA;
      const u32 word = guide.wordOf(step);
      waitFor(shared.empty(ring.stage), ring.phase ^ 1);
      // Before the barrier is told of the bytes, which releases it.
      if (T::kBytesOfStageWord > 0) storeWord(shared.word(ring.stage), word);
      expectBytes(full, T::kBytesStage);
      loadBox(a, aMap, step * kElements, place.row, full);
      loadBoxMulticast(b + rank * (T::kBytesB / 2), bMap, step * kElements,
                       place.rowB + rank * (T::kTileN / 2), full, (1 << T::kCluster) - 1);
    }
    guide.endTile(place);
  }
}

// How a stage is filled, by the threads of warpgroup 0: here both operands lie in memory as they
// are multiplied.
template <class T, class Guide>
struct AsTheyLie {
  static constexpr int kArrivals = 1;  // at a full barrier
  const TensorMap *aMap, *bMap;
  Guide guide;
  template <class TilesOf>
  __device__ void load(TilesOf shape, Shared<T> shared) const {
    if (threadIdx.x < 32 && electOne()) gemm::load<T>(aMap, bMap, shape, shared, guide);
  }
};

// The accumulator's numbers of a thread's sums: two rows, a pair in each of `Groups` groups of
// eight columns. They are on their way while the sums of kAhead groups before them become C: as
// many as registers allow without a spill.
template <int Groups, int Ahead>
struct Accumulated {
  static constexpr int kAhead = Ahead;
  const float* rows[2];
  int columns;  // from the pair of group 0 on
  bool isInside[2];
  float2 held[kAhead][2];
  __device__ Accumulated(const float* accumulator, int row, int col, int M, int N)
      : columns(N - col) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      rows[half] = accumulator + (long long)(row + 8 * half) * N + col;
      isInside[half] = row + 8 * half < M;
    }
#pragma unroll
    for (int group = 0; group < kAhead; group++) load(group);
  }
  // Pairs are whole: N is even.
  __device__ void load(int group) {
#if ACCUMULATE
    if (group >= Groups) return;
#pragma unroll
    for (int half = 0; half < 2; half++)
      if (isInside[half] && group * 8 < columns)
        held[group % kAhead][half] = loadStreaming(rows[half] + group * 8);
#endif
  }
  // Group after group, each once.
  __device__ void take(int group, float2& upper, float2& lower) {
    upper = held[group % kAhead][0], lower = held[group % kAhead][1];
    load(group + kAhead);
  }
};

// Sums d of a warpgroup, rows row0.. and columns col0.. of C, times factors. Sum 4 j + e of a
// thread lies at row warp * 16 + lane / 4 + 8 * (e / 2), column 8 j + 2 * (lane % 4) + e % 2 (PTX
// ISA, wgmma D fragment). Two multiplications: the product of the factors alone could leave
// float32's range.
template <class T, class Factors>
__device__ inline void storeByEngine(const float (&d)[T::kSums], const TensorMap* cMap, int M,
                                     int N, int row0, int col0, u32 buffers, Factors factors,
                                     Finish finish) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, quad = lane % 4;
  const float upper = factors.row(warp * 16 + lane / 4),
              lower = factors.row(warp * 16 + lane / 4 + 8);
  // As a source of stmatrix: lane 8 i + r addresses row r of matrix i; 0 and 1 are the rows 0-7 and
  // 8-15 of one group of eight columns, 2 and 3 those of the next.
  const int sourceRow = lane % 16, next = lane / 16;
  const bool isCopying = electOne();
  Accumulated<T::kSums / 4, T::kAhead> accumulated(finish.accumulator, row0 + warp * 16 + lane / 4,
                                                   col0 + quad * 2, M, N);
  auto words = [&](int group, u32(&pair)[2]) {
    const float2 column = factors.columns(group * 8 + quad * 2);
    float2 above, below;
    accumulated.take(group, above, below);
    auto finished = [&](float sum, float added) {
      return finishedSum(sum, added, finish.outputScale);
    };
    pair[0] = toOutputPair(finished(d[4 * group] * upper * column.x, above.x),
                           finished(d[4 * group + 1] * upper * column.y, above.y));
    pair[1] = toOutputPair(finished(d[4 * group + 2] * lower * column.x, below.x),
                           finished(d[4 * group + 3] * lower * column.y, below.y));
  };
#pragma unroll
  for (int piece = 0; piece < T::kPieces; piece++) {
    const u32 buffer = buffers + piece % T::kStoreBuffers * T::kBytesPiece;
    if (isCopying) waitForStoreReads<T::kStoreBuffers - 1>();
    __syncwarp();
    // 64-byte swizzle: 16-byte chunk c of row r lies at chunk c ^ (r / 2 % 4).
#pragma unroll
    for (int group = 0; group < T::kPieceColumns / 8; group += 2) {
      u32 left[2], right[2];
      words(piece * T::kPieceColumns / 8 + group, left);
      words(piece * T::kPieceColumns / 8 + group + 1, right);
      if constexpr (sizeof(Output) == 1) {
        // Both groups are of one chunk; the two rows are swizzled alike.
        const u32 at = buffer + lane / 4 * 64 + (group / 2 ^ lane / 8) * 16 + quad * 2;
        storeHalf(at, left[0]), storeHalf(at + 8, right[0]);
        storeHalf(at + 8 * 64, left[1]), storeHalf(at + 8 * 64 + 8, right[1]);
      } else {
        const int chunk = (group + next) ^ (sourceRow / 2 % 4);
        storeMatrices(buffer + sourceRow * 64 + chunk * 16, left[0], left[1], right[0], right[1]);
      }
    }
    publishToCopyEngine();
    __syncwarp();
    if (isCopying) {
      // The map's elements are 16 bits.
      storeBox(cMap, (col0 + piece * T::kPieceColumns) * (int)sizeof(Output) / 2, row0 + warp * 16,
               buffer);
      commitStores();
    }
  }
}

template <class T, class Factors>
__device__ inline void storeByThreads(const float (&d)[T::kSums], Output* c, int M, int N, int row0,
                                      int col0, Factors factors, Finish finish) {
  constexpr int kTogether =
      T::kAhead < 4 ? 4 : 8;  // groups of columns whose accumulated numbers are loaded at once
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, quad = lane % 4;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int inside = warp * 16 + lane / 4 + half * 8;
    const float byRow = factors.row(inside);
    const long long first = (long long)(row0 + inside) * N + col0;
    Output* row = c + first;
    if (row0 + inside >= M) continue;
#pragma unroll
    for (int from = 0; from < T::kSums / 4; from += kTogether) {
      float2 added[kTogether];
#if ACCUMULATE
#pragma unroll
      for (int i = 0; i < kTogether; i++)
        if (N % 2 == 0 && col0 + (from + i) * 8 + quad * 2 < N)
          added[i] = loadStreaming(finish.accumulator + first + (from + i) * 8 + quad * 2);
#endif
#pragma unroll
      for (int i = 0; i < kTogether; i++) {
        const int group = from + i, col = group * 8 + quad * 2;
        const float2 byColumn = factors.columns(col);
        const float left = d[4 * group + 2 * half] * byRow * byColumn.x,
                    right = d[4 * group + 2 * half + 1] * byRow * byColumn.y;
        if (col0 + col + 1 < N && N % 2 == 0) {
          storePair(row + col, finishedSum(left, added[i].x, finish.outputScale),
                    finishedSum(right, added[i].y, finish.outputScale));
        } else {
          const float* accumulator = finish.accumulator + first + col;
          if (col0 + col < N) row[col] = finished(left, accumulator, 0, finish.outputScale);
          if (col0 + col + 1 < N)
            row[col + 1] = finished(right, accumulator, 1, finish.outputScale);
        }
      }
    }
  }
}

// Steps of K whose sums are added as they are.
struct NoPowers {
  __device__ void advance() {}
  __device__ float ofRow(int) const { return 1.0f; }
};

// Powers of two of rows of A and of B, brought to shared memory while the tile is multiplied. Both
// arrays reach beyond the last row to the end of its tile. Groups begin at any row. Not `OfRows`:
// those of B alone.
template <class T, bool OfRows = true>
struct FactorsOfRowsAndColumns {
  const float *ofRows, *ofColumns;
  u32 place;
  int barrier;
  __device__ NoPowers powers(int) const { return {}; }
  __device__ void fetch(int rowA, int rowB) const {
    const int thread = threadIdx.x % 128;
    constexpr int kAtOnce = GROUPED ? 1 : 4, kRowCopies = 64 / kAtOnce,
                  kCopies = kRowCopies + T::kTileN / kAtOnce;
    constexpr int kFirst = OfRows ? 0 : kRowCopies;
    syncSome<128>(barrier);  // the last tile's have been read
    auto from = [this, rowA, rowB](int i) {
      return i < kRowCopies ? ofRows + rowA + i * kAtOnce
                            : ofColumns + rowB + (i - kRowCopies) * kAtOnce;
    };
#if GROUPED
#pragma unroll
    for (int i = kFirst + thread; i < kCopies; i += 128) copyFour(place + i * 4, from(i));
#else
    static_assert(kCopies <= 128, "one copy a thread");
    if (thread >= kFirst && thread < kCopies) copySixteen(place + thread * 16, from(thread));
#endif
  }
  __device__ void arrive() const {
    waitForCopies();
    syncSome<128>(barrier);
  }
  __device__ float row(int i) const {
    if constexpr (!OfRows) return 1.0f;
    return loadNumber(place + i * 4);
  }
  __device__ float2 columns(int i) const { return loadTwoNumbers(place + (64 + i) * 4); }
};

// One number for all of C.
struct OneFactor {
  float factor;
  __device__ NoPowers powers(int) const { return {}; }
  __device__ void fetch(int, int) const {}
  __device__ void arrive() const {}
  __device__ float row(int) const { return factor; }
  __device__ float2 columns(int) const { return make_float2(1.0f, 1.0f); }
};

template <class T>
__device__ inline int stepsOf(int K) {
  return ceilDiv(K, T::kElements * T::kSpan) * T::kSpan;
}

// The kernel's body. T::sum multiplies `shape.steps` stages into the sums; `ByEngine` says how they
// are stored. Where a part ends before its tile does, threads store what is its own: the copy
// engine would write over what follows.
template <class T, bool ByEngine, class TilesOf, class Operands, class MakeFactors>
__device__ inline void runOf(const TilesOf shape, const Operands operands, const TensorMap* cMap,
                             Output* c, MakeFactors makeFactors, Finish finish) {
  const Shared<T> shared(dynamicSharedStart());
  if (threadIdx.x == 0) {
    // The manifest row has numbers of its own.
    if (dynamicSharedBytes() < Shared<T>::kBytes || blockDim.x != T::kThreads) trap();
    for (int i = 0; i < T::kStages; i++) {
      initBarrier(shared.full(i), Operands::kArrivals);
      initBarrier(shared.empty(i), T::kConsumerWarps * T::kCluster);
    }
    publishBarriers();
  }
  meetCluster();
  if (threadIdx.x < 128) {
    giveRegistersBack<T::kLoadRegisters>();
    operands.load(shape, shared);
  } else {
    takeRegisters<T::kMultiplyRegisters>();
    const int group = threadIdx.x / 128 - 1;
    const auto factors = makeFactors(shared, group);
    RingPosition<T::kStages> ring;
    for (int tile = blockIdx.x / T::kCluster; tile < shape.tiles();
         tile += gridDim.x / T::kCluster) {
      const Place place = shape.place(tile, clusterRank());
      const int row0 = place.row + group * 64;
      factors.fetch(row0, place.rowB);
      float sums[T::kSums];
      T::sum(sums, ring, shape.steps, shared, group * 64 * T::kStepBytes, factors.powers(row0));
      factors.arrive();
      if constexpr (T::kIsTurned) {
        T::template store<ByEngine>(sums, cMap, c, shape.N, place, shared, factors.factor, finish);
      } else {
        const bool isWhole =
            !TilesOf::kEndsInside || row0 + (int)(threadIdx.x / 32 % 4 + 1) * 16 <= place.endRow;
        if constexpr (ByEngine)
          if (isWhole)
            storeByEngine<T>(sums, cMap, place.endRow, shape.N, row0, place.col,
                             shared.store(threadIdx.x / 32 - 4), factors, finish);
        if (!ByEngine || !isWhole)
          storeByThreads<T>(sums, c, place.endRow, shape.N, row0, place.col, factors, finish);
      }
    }
    if (ByEngine && electOne()) waitForStoreReads<0>();
  }
  // The other CTA may still arrive at this one's barriers.
  syncCluster();
}

template <class T, bool ByEngine, class TilesOf, class MakeFactors, class Guide = NoGuide>
__device__ inline void runOver(const TilesOf shape, const TensorMap* aMap, const TensorMap* bMap,
                               const TensorMap* cMap, Output* c, MakeFactors makeFactors,
                               Finish finish, Guide guide = {}) {
  runOf<T, ByEngine>(shape, AsTheyLie<T, Guide>{aMap, bMap, guide}, cMap, c, makeFactors, finish);
}

template <class T, bool ByEngine, class MakeFactors, class Guide = NoGuide>
__device__ inline void run(const TensorMap* aMap, const TensorMap* bMap, const TensorMap* cMap,
                           Output* c, int M, int N, int K, MakeFactors makeFactors, Finish finish,
                           Guide guide = {}) {
  runOver<T, ByEngine>(Shape<T>{M, N, stepsOf<T>(K)}, aMap, bMap, cMap, c, makeFactors, finish,
                       guide);
}

}  // namespace gemm
