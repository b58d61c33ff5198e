// Sums of bf16 products of widened operands (common/widen.cuh) in float32, the whole of K in the
// accumulators (pipeline: common/gemm.cuh).
#pragma once

#include "common/gemm.cuh"
#include "common/widenBeside.cuh"

namespace bf16gemm {

template <int StoreBuffers>
struct ProductOver : gemm::Tile<WIDE_TILE_M, WIDE_TILE_N, WIDE_STAGES, StoreBuffers, false> {
  using Base = gemm::Tile<WIDE_TILE_M, WIDE_TILE_N, WIDE_STAGES, StoreBuffers, false>;
  using Base::kBytesA, Base::kCluster, Base::kSums;
  static constexpr int kElements = 64, kInstructionElements = 16,
                       kPerStage = kElements / kInstructionElements, kSpan = 1;
  static constexpr int kAhead = GROUPED ? 4 : 8;
  // Loading threads widen as well (widenBeside.cuh).
  static constexpr int kLoadRegisters = 56, kMultiplyRegisters = 224;
  static_assert(mayDivideRegisters(kLoadRegisters, kMultiplyRegisters, Base::kGroups), "registers");

  template <class Ring, class SharedPlaces>
  __device__ static void sum(float (&total)[kSums], Ring& ring, int steps, SharedPlaces shared,
                             int rowBytes, gemm::NoPowers) {
    u32 previous = 0;
    for (int step = 0; step < steps; step++, ring.advance()) {
      waitFor(shared.full(ring.stage), ring.phase);
      const u64 a = tileDescriptor(shared.stage(ring.stage) + rowBytes);
      const u64 b = tileDescriptor(shared.stage(ring.stage) + kBytesA);
      wgmmaFence();
#pragma unroll
      for (int k = 0; k < kPerStage; k++)
        multiplyBf16(total, a + k * kDescriptorStep, b + k * kDescriptorStep, step > 0 || k > 0);
      wgmmaCommit();
      // One step stays in the queue, so that the tensor cores never wait for this warpgroup's
      // barriers.
      wgmmaWait<1>();
      if (step > 0) releaseStage<kCluster>(previous);
      previous = shared.empty(ring.stage);
    }
    wgmmaWait<0>();
    holdRegisters(total);
    releaseStage<kCluster>(previous);
  }
};
using Product = ProductOver<WIDE_STORE_BUFFERS>;

// The widened numbers' shift is taken back with the scale.
template <class Of>
__device__ inline auto factorOf(float tensorScale) {
  return
      [=](gemm::Shared<Of>, int) { return gemm::OneFactor{tensorScale * (1 << 2 * kWideShift)}; };
}

template <bool ByEngine>
__device__ inline void run(const TensorMap* aMap, const TensorMap* bMap, const TensorMap* cMap,
                           Output* c, int M, int N, int K, float tensorScale, gemm::Finish finish) {
  gemm::run<Product, ByEngine>(aMap, bMap, cMap, c, M, N, K, factorOf<Product>(tensorScale),
                               finish);
}

// The same while later rows of `operands` are still to be widened.
template <bool ByEngine>
__device__ inline void runAndWiden(const TensorMap* aMap, const TensorMap* bMap,
                                   const TensorMap* cMap, Output* c,
                                   const gemm::WidenOperands& operands, int M, int N, int K,
                                   float tensorScale, gemm::Finish finish) {
  gemm::runOf<Product, ByEngine>(gemm::Shape<Product>{M, N, gemm::stepsOf<Product>(K)},
                                 gemm::AsWidened<Product>{aMap, bMap, {operands, M, N, K}}, cMap, c,
                                 factorOf<Product>(tensorScale), finish);
}

// The same for groups; `of` counts tile rows of clusters.
template <bool ByEngine>
__device__ inline void runGroups(const TensorMap* aMap, const TensorMap* bMap,
                                 const TensorMap* cMap, Output* c, GroupTables of, int N, int K,
                                 float tensorScale, gemm::Finish finish) {
  const gemm::GroupedShape<Product> shape{of, N, gemm::stepsOf<Product>(K)};
  gemm::runOver<Product, ByEngine>(shape, aMap, bMap, cMap, c, factorOf<Product>(tensorScale),
                                   finish);
}

}  // namespace bf16gemm
