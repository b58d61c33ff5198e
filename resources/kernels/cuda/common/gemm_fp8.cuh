// Sums of fp8 products, promoted to float32 registers every PROMOTION elements of K (pipeline:
// common/gemm.cuh). PROMOTION 0: every 256, 128, 64 or 32, as is told beside the first stage of
// each 256 (0, 1, 2, 3; common/promotionProof.cuh).
//
// Hopper's fp8 wgmma aligns 32 products and its accumulator to the largest and truncates to 13
// fractional bits (arXiv 2511.10909): a short accumulation loses nothing, a long one does. Partial
// sums over PROMOTION elements are added to float32 totals, times a power of two of A's row where
// it has one for every step of K; while one warpgroup adds, the other multiplies.
#pragma once

#include "common/gemm.cuh"
#include "common/promotionProof.cuh"

namespace fp8gemm {

using Tile = gemm::Tile<TILE_M, TILE_N, STAGES, STORE_BUFFERS, true>;

// Elements of A and B by number (common/formats.cuh): e4m3, or e5m2.
template <int FormatA, int FormatB>
struct Product : Tile {
  static constexpr bool kIsTold = PROMOTION == 0;
  static constexpr int kElements = 128, kInstructionElements = 32,
                       kPerStage = kElements / kInstructionElements;
  static constexpr int kBytesOfStageWord = kIsTold ? 4 : 0;
  // Stages that are taken together.
  template <int Interval>
  static constexpr int kSpanOf = Interval > kElements ? Interval / kElements : 1;
  static constexpr int kSpan = kSpanOf < kIsTold ? kLongestInterval : PROMOTION > ;
  static constexpr int kAhead = GROUPED ? 2 : kIsTold ? 5 : kSpan > 1 || A_CHUNK > 0 ? 6 : 8;
  static_assert(kSpan < kStages, "whole partial sums in the stages taken together");

  __device__ static void multiply(float (&d)[kSums], u64 a, u64 b, bool accumulate) {
    if constexpr (FormatA == 3 && FormatB == 3) multiplyE4m3(d, a, b, accumulate);
    else if constexpr (FormatA == 3) multiplyE4m3E5m2(d, a, b, accumulate);
    else if constexpr (FormatB == 3) multiplyE5m2E4m3(d, a, b, accumulate);
    else multiplyE5m2(d, a, b, accumulate);
  }

  // The next stage.
  template <class Ring, class SharedPlaces, class Powers>
  __device__ static void await(const Ring& ring, SharedPlaces shared, Powers& powers) {
    powers.advance();
    waitFor(shared.full(ring.stage), ring.phase);
  }

  // Adds the partial sums of kSpanOf<Interval> stages, the first of which has arrived. `powers`: of
  // A's rows, by which the sums of a stage are multiplied on their way to the total.
  template <int Interval, class Ring, class SharedPlaces, class Powers>
  __device__ static void addSums(float (&total)[kSums], Ring& ring, SharedPlaces shared,
                                 int rowBytes, Powers& powers) {
    // Instructions that one partial sum spans.
    constexpr int kPerSum = Interval / kInstructionElements, kStagesOfIt = kSpanOf<Interval>;
    static_assert(kStagesOfIt * kPerStage % kPerSum == 0, "whole partial sums");
    float part[kSums];
    u32 taken[kStagesOfIt];
#pragma unroll
    for (int s = 0; s < kStagesOfIt; s++, ring.advance()) {
      if (s > 0) await(ring, shared, powers);
      taken[s] = shared.empty(ring.stage);
      const u64 a = tileDescriptor(shared.stage(ring.stage) + rowBytes);
      const u64 b = tileDescriptor(shared.stage(ring.stage) + kBytesA);
#pragma unroll
      for (int k = 0; k < kPerStage; k++) {
        const int instruction = s * kPerStage + k;
        if (instruction % kPerSum == 0) wgmmaFence();
        multiply(part, a + k * kDescriptorStep, b + k * kDescriptorStep,
                 instruction % kPerSum != 0);
        if ((instruction + 1) % kPerSum != 0) continue;
        wgmmaCommit();
        wgmmaWait<0>();
        holdRegisters(part);
        if (k == kPerStage - 1)
          for (int i = 0; i <= s; i++) releaseStage<kCluster>(taken[i]);
#pragma unroll
        for (int i = 0; i < kSums; i++) total[i] += part[i] * powers.ofRow(i % 4 / 2);
        holdRegisters(total);
      }
    }
  }

  // kSpan stages as intervals of `Interval`, where their spans are shorter.
  template <int Interval, class Ring, class SharedPlaces, class Powers>
  __device__ static void addSpan(float (&total)[kSums], Ring& ring, SharedPlaces shared,
                                 int rowBytes, Powers& powers) {
#pragma unroll 1
    for (int s = 0; s < kSpan; s += kSpanOf<Interval>) {
      if (s > 0) await(ring, shared, powers);
      addSums<Interval>(total, ring, shared, rowBytes, powers);
    }
  }

  template <class Ring, class SharedPlaces, class Powers>
  __device__ static void sum(float (&total)[kSums], Ring& ring, int steps, SharedPlaces shared,
                             int rowBytes, Powers powers) {
#pragma unroll
    for (int i = 0; i < kSums; i++) total[i] = 0;
    for (int step = 0; step < steps; step += kSpan) {
      await(ring, shared, powers);
      if constexpr (!kIsTold) {
        addSums<PROMOTION>(total, ring, shared, rowBytes, powers);
      } else {
        // Read by the lane that gives the stage back to this CTA alone, behind whose arrival it is
        // written again.
        const u32 reader = clusterRank();
        u32 longest = 0;
        if (threadIdx.x % 32 == reader) longest = loadWord(shared.word(ring.stage));
        longest = __shfl_sync(0xffffffff, longest, reader);
        if (longest == 0) addSpan<256>(total, ring, shared, rowBytes, powers);
        else if (longest == 1) addSpan<128>(total, ring, shared, rowBytes, powers);
        else if (longest == 2) addSpan<64>(total, ring, shared, rowBytes, powers);
        else addSpan<32>(total, ring, shared, rowBytes, powers);
      }
    }
  }
};

template <class Of>
__device__ inline auto factorsOf(const float* rowFactors, const float* columnFactors) {
  return [=](gemm::Shared<Of> shared, int group) {
    return gemm::FactorsOfRowsAndColumns<Of>{rowFactors, columnFactors, shared.factors(group),
                                             1 + group};
  };
}

// Promoted as they are; a power of two for each row of A and of B is left to the end.
template <bool ByEngine, class Of = Product<4, 4>, class Guide = gemm::NoGuide>
__device__ inline void run(const TensorMap* aMap, const TensorMap* bMap, const TensorMap* cMap,
                           Output* c, const float* rowFactors, const float* columnFactors, int M,
                           int N, int K, gemm::Finish finish, Guide guide = {}) {
  gemm::run<Of, ByEngine>(aMap, bMap, cMap, c, M, N, K, factorsOf<Of>(rowFactors, columnFactors),
                          finish, guide);
}

// The same for groups; `of` counts tile rows of clusters.
template <bool ByEngine, class Of = Product<4, 4>>
__device__ inline void runGroups(const TensorMap* aMap, const TensorMap* bMap,
                                 const TensorMap* cMap, Output* c, GroupTables of,
                                 const float* rowFactors, const float* columnFactors, int N, int K,
                                 gemm::Finish finish) {
  const gemm::GroupedShape<Of> shape{of, N, gemm::stepsOf<Of>(K)};
  gemm::runOver<Of, ByEngine>(shape, aMap, bMap, cMap, c, factorsOf<Of>(rowFactors, columnFactors),
                              finish);
}

}  // namespace fp8gemm
