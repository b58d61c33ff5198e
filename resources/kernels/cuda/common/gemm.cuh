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

#include "common/gemmStore.cuh"
#include "common/gemmTile.cuh"
#include "common/groups.cuh"
#include "common/pipeline.cuh"
#include "common/wgmma.cuh"

namespace gemm {

// What the multiplying threads are told beside each stage of a tile, where they are told anything
// (kBytesOfStageWord).
struct NoGuide {
  static constexpr bool kLooksAhead = false;
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
    const auto loadSteps = [&](int step, int end) {
#pragma unroll 1
      for (; step < end; step++, ring.advance()) {
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
    };
    if constexpr (Guide::kLooksAhead) {
      loadSteps(0, shape.steps / 2);
      guide.lookAhead(shape, tile + gridDim.x / T::kCluster, rank);
      loadSteps(shape.steps / 2, shape.steps);
    } else {
      loadSteps(0, shape.steps);
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

struct Nothing {
  __device__ void operator()() const {}
};

// The kernel's body. T::sum multiplies `shape.steps` stages into the sums; `ByEngine` says how they
// are stored. Where a part ends before its tile does, threads store what is its own: the copy
// engine would write over what follows. `otherwise`: what is done instead where a turned product
// cannot be made so; ahead of registers being divided, for it has all of them.
template <class T, bool ByEngine, class TilesOf, class Operands, class MakeFactors,
          class Otherwise = Nothing>
__device__ inline void runOf(const TilesOf shape, const Operands operands, const TensorMap* cMap,
                             Output* c, MakeFactors makeFactors, Finish finish,
                             Otherwise otherwise = {}) {
  const Shared<T> shared(dynamicSharedStart());
  if (threadIdx.x == 0) {
    // The manifest row has numbers of its own.
    if (dynamicSharedBytes() < Shared<T>::kBytes || blockDim.x != T::kThreads) trap();
    for (int i = 0; i < T::kStages; i++) {
      initBarrier(shared.full(i), Operands::kArrivals);
      initBarrier(shared.empty(i), T::kConsumerWarps * T::kCluster);
    }
    if constexpr (T::kIsTurned) shape.expectSums(shared);
    publishBarriers();
  }
  meetCluster();
  if constexpr (T::kIsTurned)
    if (!shape.isThere()) return otherwise();
  if (threadIdx.x < 128) {
    giveRegistersBack<T::kLoadRegisters>();
    operands.load(shape, shared);
  } else {
    takeRegisters<T::kMultiplyRegisters>();
    const int group = threadIdx.x / 128 - 1;
    const auto factors = makeFactors(shared, group);
    RingPosition<T::kStages> ring;
    for (typename TilesOf::Turns turn(shape); turn.isLeft(shape); turn.next(shape)) {
      const Place place = shape.place(turn.tile, clusterRank());
      const int row0 = place.row + group * 64;
      factors.fetch(row0, place.rowB);
      float sums[T::kSums];
      T::sum(sums, ring, turn.end - turn.begin, shared, group * 64 * T::kStepBytes,
             factors.powers(row0));
      factors.arrive();
      if constexpr (T::kIsTurned) {
        if (!shape.takeParts(sums, turn, place, shared, c, factors.factor, finish)) continue;
        T::store(ByEngine && shape.mayStoreByEngine(), sums, cMap, c, shape.N, place, shared,
                 factors.factor, finish);
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
  // The other CTA may still arrive at this one's barriers; the loading threads of a turned product
  // have waited for that.
  if constexpr (!T::kIsTurned) syncCluster();
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
