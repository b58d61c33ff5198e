// Sums of e5m2 products, promoted to float32 registers every PROMOTION elements of K (pipeline: common/gemm.cuh).
//
// Hopper's fp8 wgmma aligns 32 products and its accumulator to the largest and truncates to 13 fractional bits
// (arXiv 2511.10909): a short accumulation loses nothing, a long one does. Partial sums over PROMOTION elements are added
// to float32 totals; while one warpgroup adds, the other multiplies.
#pragma once

#include "common/gemm.cuh"

namespace e5m2gemm {

struct Product : gemm::Tile<TILE_M, TILE_N, STAGES, STORE_BUFFERS, true> {
  static constexpr int kElements = 128, kInstructionElements = 32, kPerStage = kElements / kInstructionElements;
  // Instructions that one partial sum spans, and stages that are taken together.
  static constexpr int kPerSum = PROMOTION / kInstructionElements;
  static constexpr int kSpan = PROMOTION > kElements ? PROMOTION / kElements : 1;
  static constexpr int kAhead = PROMOTION > kElements ? 6 : 8;
  static_assert(kSpan * kPerStage % kPerSum == 0 && kSpan < kStages, "whole partial sums in the stages taken together");

  template <class Ring, class SharedPlaces>
  __device__ static void sum(float (&total)[kSums], Ring& ring, int steps, SharedPlaces shared, int rowBytes) {
    float part[kSums];
#pragma unroll
    for (int i = 0; i < kSums; i++) total[i] = 0;
    for (int step = 0; step < steps; step += kSpan) {
      u32 taken[kSpan];
#pragma unroll
      for (int s = 0; s < kSpan; s++, ring.advance()) {
        waitFor(shared.full(ring.stage), ring.phase);
        taken[s] = shared.empty(ring.stage);
        const u64 a = tileDescriptor(shared.stage(ring.stage) + rowBytes);
        const u64 b = tileDescriptor(shared.stage(ring.stage) + kBytesA);
#pragma unroll
        for (int k = 0; k < kPerStage; k++) {
          const int instruction = s * kPerStage + k;
          if (instruction % kPerSum == 0) wgmmaFence();
          multiplyE5m2(part, a + k * kDescriptorStep, b + k * kDescriptorStep, instruction % kPerSum != 0);
          if ((instruction + 1) % kPerSum != 0) continue;
          wgmmaCommit();
          wgmmaWait<0>();
          holdRegisters(part);
          if (k == kPerStage - 1)
            for (int i = 0; i <= s; i++) releaseStage<kCluster>(taken[i]);
#pragma unroll
          for (int i = 0; i < kSums; i++) total[i] += part[i];
          holdRegisters(total);
        }
      }
    }
  }
};

template <bool ByEngine>
__device__ inline void run(const TensorMap* aMap, const TensorMap* bMap, const TensorMap* cMap, Output* c,
                           const float* rowFactors, const float* columnFactors, int M, int N, int K, gemm::Finish finish) {
  auto factors = [=](gemm::Shared<Product> shared, int group) {
    return gemm::FactorsOfRowsAndColumns<Product>{rowFactors, columnFactors, shared.factors(group), 1 + group};
  };
  gemm::run<Product, ByEngine>(aMap, bMap, cMap, c, M, N, K, factors, finish);
}

}  // namespace e5m2gemm
