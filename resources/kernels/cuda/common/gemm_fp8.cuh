// Sums of fp8 products, promoted to float32 registers every PROMOTION elements of K (pipeline: common/gemm.cuh).
//
// Hopper's fp8 wgmma aligns 32 products and its accumulator to the largest and truncates to 13 fractional bits
// (arXiv 2511.10909): a short accumulation loses nothing, a long one does. Partial sums over PROMOTION elements are added
// to float32 totals, times a power of two of A's row where it has one for every step of K; while one warpgroup adds, the other
// multiplies.
#pragma once

#include "common/gemm.cuh"

namespace fp8gemm {

using Tile = gemm::Tile<TILE_M, TILE_N, STAGES, STORE_BUFFERS, true>;

// Elements of A and B by number (common/formats.cuh): e4m3, or e5m2.
template <int FormatA, int FormatB>
struct Product : Tile {
  static constexpr int kElements = 128, kInstructionElements = 32, kPerStage = kElements / kInstructionElements;
  // Instructions that one partial sum spans, and stages that are taken together.
  static constexpr int kPerSum = PROMOTION / kInstructionElements;
  static constexpr int kSpan = PROMOTION > kElements ? PROMOTION / kElements : 1;
  static constexpr int kAhead = GROUPED ? 2 : PROMOTION > kElements || A_CHUNK > 0 ? 6 : 8;
  static_assert(kSpan * kPerStage % kPerSum == 0 && kSpan < kStages, "whole partial sums in the stages taken together");

  __device__ static void multiply(float (&d)[kSums], u64 a, u64 b, bool accumulate) {
    if constexpr (FormatA == 3 && FormatB == 3) multiplyE4m3(d, a, b, accumulate);
    else if constexpr (FormatA == 3) multiplyE4m3E5m2(d, a, b, accumulate);
    else if constexpr (FormatB == 3) multiplyE5m2E4m3(d, a, b, accumulate);
    else multiplyE5m2(d, a, b, accumulate);
  }

  // `powers`: of A's rows, by which the sums of a step are multiplied on their way to the total.
  template <class Ring, class SharedPlaces, class Powers>
  __device__ static void sum(float (&total)[kSums], Ring& ring, int steps, SharedPlaces shared, int rowBytes, Powers powers) {
    float part[kSums];
#pragma unroll
    for (int i = 0; i < kSums; i++) total[i] = 0;
    for (int step = 0; step < steps; step += kSpan) {
      u32 taken[kSpan];
#pragma unroll
      for (int s = 0; s < kSpan; s++, ring.advance()) {
        powers.advance();
        waitFor(shared.full(ring.stage), ring.phase);
        taken[s] = shared.empty(ring.stage);
        const u64 a = tileDescriptor(shared.stage(ring.stage) + rowBytes);
        const u64 b = tileDescriptor(shared.stage(ring.stage) + kBytesA);
#pragma unroll
        for (int k = 0; k < kPerStage; k++) {
          const int instruction = s * kPerStage + k;
          if (instruction % kPerSum == 0) wgmmaFence();
          multiply(part, a + k * kDescriptorStep, b + k * kDescriptorStep, instruction % kPerSum != 0);
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
  }
};

template <class Of>
__device__ inline auto factorsOf(const float* rowFactors, const float* columnFactors) {
  return [=](gemm::Shared<Of> shared, int group) {
    return gemm::FactorsOfRowsAndColumns<Of>{rowFactors, columnFactors, shared.factors(group), 1 + group};
  };
}

// Promoted as they are; a power of two for each row of A and of B is left to the end.
template <bool ByEngine>
__device__ inline void run(const TensorMap* aMap, const TensorMap* bMap, const TensorMap* cMap, Output* c,
                           const float* rowFactors, const float* columnFactors, int M, int N, int K, gemm::Finish finish) {
  gemm::run<Product<4, 4>, ByEngine>(aMap, bMap, cMap, c, M, N, K, factorsOf<Product<4, 4>>(rowFactors, columnFactors), finish);
}

// The same for groups; `of` counts tile rows of clusters.
template <bool ByEngine>
__device__ inline void runGroups(const TensorMap* aMap, const TensorMap* bMap, const TensorMap* cMap, Output* c, GroupTables of,
                                 const float* rowFactors, const float* columnFactors, int N, int K, gemm::Finish finish) {
  using Of = Product<4, 4>;
  const gemm::GroupedShape<Of> shape{of, N, gemm::stepsOf<Of>(K)};
  gemm::runOver<Of, ByEngine>(shape, aMap, bMap, cMap, c, factorsOf<Of>(rowFactors, columnFactors), finish);
}

}  // namespace fp8gemm
