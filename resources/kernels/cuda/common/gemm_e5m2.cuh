// Sums of e5m2 products, promoted to float32 registers every PROMOTION elements of K.
//
// Hopper's fp8 wgmma aligns 32 products and its accumulator to the largest and truncates to 13 fractional bits
// (arXiv 2511.10909): a short accumulation loses nothing, a long one does. Partial sums over PROMOTION elements are added
// to float32 totals.
//
// Persistent, clusters of two CTAs along N that share A: each loads half of the 256 x 128 A tile and multicasts it. One
// warpgroup loads through a ring of four stages; two multiply 128 x 128 each of the CTA's 256 x 128 tile, as two waves of
// 64 rows that use the same 64 partial sums one after the other.
#pragma once

#include "common/pipeline.cuh"
#include "common/wgmma.cuh"

namespace e5m2gemm {

constexpr int kTileM = 256, kTileN = 128, kTileK = 128, kStages = 4, kCluster = 2, kThreads = 384, kConsumerWarps = 8;
constexpr int kBytesA = kTileM * kTileK, kBytesB = kTileN * kTileK, kBytesStage = kBytesA + kBytesB;
constexpr int kWaveRows = 64, kWaves = 2;
// Stages that one partial sum spans, and wgmma instructions (32 elements of K each) per promotion inside a stage.
constexpr int kSpan = PROMOTION > kTileK ? PROMOTION / kTileK : 1;
constexpr int kInstructions = PROMOTION < kTileK ? PROMOTION / 32 : kTileK / 32;
static_assert(PROMOTION == 32 || PROMOTION == 64 || PROMOTION == 128 || PROMOTION == 256, "promotion intervals built for");
static_assert(kStages % kSpan == 0 && kStages > kSpan, "a span never waits for a stage it holds");
static_assert(kStages * kBytesStage + 1024 + 2 * kStages * 8 <= 227 * 1024, "fits shared memory");

struct Shape {
  int M, N, K;
  __device__ int tileRows() const { return (M + kTileM - 1) / kTileM; }
  __device__ int tileCols() const { return (N + kCluster * kTileN - 1) / (kCluster * kTileN); }
  __device__ int steps() const { return (K + kTileK - 1) / kTileK; }
};

__device__ inline void produce(const TensorMap* aMap, const TensorMap* bMap, Shape shape, u32 tiles, u32 full, u32 empty) {
  RingPosition<kStages> ring;
  const u32 rank = clusterRank();
  constexpr int kShare = kTileM / kCluster;
  for (int tile = blockIdx.x / kCluster; tile < shape.tileRows() * shape.tileCols(); tile += gridDim.x / kCluster) {
    const TilePlace place = tilePlace(tile, shape.tileRows(), shape.tileCols());
    const int row = place.row * kTileM, col = (place.col * kCluster + rank) * kTileN;
    for (int step = 0; step < shape.steps(); step++, ring.advance()) {
      const u32 barrier = full + ring.stage * 8, stage = tiles + ring.stage * kBytesStage;
      waitFor(empty + ring.stage * 8, ring.phase ^ 1);
      expectBytes(barrier, kBytesStage);
      loadBoxMulticast(stage + rank * (kBytesA / kCluster), aMap, step * kTileK, row + rank * kShare, barrier,
                       (1 << kCluster) - 1);
      loadBox(stage + kBytesA, bMap, step * kTileK, col, barrier);
    }
  }
}

// One wave's products of `stages` stages from `ring` on, promoted into `total`.
__device__ inline void multiplyWave(float (&total)[64], RingPosition<kStages> ring, int stages, u32 tiles, int rowBytes) {
  float part[64];
#pragma unroll
  for (int first = 0; first < kTileK / 32; first += kInstructions) {
    wgmmaFence();
#pragma unroll
    for (int s = 0; s < kSpan; s++) {
      if (s < stages) {
        const u32 stage = tiles + (ring.stage + s) % kStages * kBytesStage;
        const u64 a = tileDescriptor(stage + rowBytes), b = tileDescriptor(stage + kBytesA);
#pragma unroll
        for (int k = first; k < first + kInstructions; k++)
          multiplyE5m2(part, a + k * kDescriptorStep, b + k * kDescriptorStep, s > 0 || k > first);
      }
    }
    wgmmaCommit();
    wgmmaWait<0>();
    holdRegisters(part);
#pragma unroll
    for (int i = 0; i < 64; i++) total[i] += part[i];
  }
}

__device__ inline void consume(Shape shape, const float* rowFactors, const float* columnFactors, Output* c, u32 tiles,
                               u32 full, u32 empty) {
  const int group = threadIdx.x / 128 - 1;
  const u32 rank = clusterRank();
  RingPosition<kStages> ring;
  for (int tile = blockIdx.x / kCluster; tile < shape.tileRows() * shape.tileCols(); tile += gridDim.x / kCluster) {
    const TilePlace place = tilePlace(tile, shape.tileRows(), shape.tileCols());
    float total[kWaves][64] = {};
    for (int step = 0; step < shape.steps(); step += kSpan) {
      const int stages = min(kSpan, shape.steps() - step);
      RingPosition<kStages> next = ring;
      for (int s = 0; s < stages; s++, next.advance()) waitFor(full + next.stage * 8, next.phase);
#pragma unroll
      for (int wave = 0; wave < kWaves; wave++)
        multiplyWave(total[wave], ring, stages, tiles, (group * kWaves + wave) * kWaveRows * kTileK);
      for (int s = 0; s < stages; s++, ring.advance()) releaseStage<kCluster>(empty + ring.stage * 8);
    }
    const int col = (place.col * kCluster + rank) * kTileN;
    const int M = shape.M, N = shape.N;
#pragma unroll
    for (int wave = 0; wave < kWaves; wave++)
      // Two multiplications: the product of the factors alone could leave float32's range.
      storeAccumulators<16>(
          total[wave], c, M, N, place.row * kTileM + (group * kWaves + wave) * kWaveRows, col,
          [=](int row) { return rowFactors[row]; }, [=](int at) { return at < N ? columnFactors[at] : 0.0f; });
  }
}

// The kernel's body. Dynamic shared memory: kStages * kBytesStage + 1024 + 2 * kStages * 8 bytes.
__device__ inline void run(const TensorMap* aMap, const TensorMap* bMap, const float* rowFactors,
                           const float* columnFactors, Output* c, int M, int N, int K) {
  extern __shared__ u8 shared[];
  const u32 tiles = (sharedAddress(shared) + 1023) / 1024 * 1024;
  const u32 full = tiles + kStages * kBytesStage, empty = full + kStages * 8;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; i++) {
      initBarrier(full + i * 8, 1);
      initBarrier(empty + i * 8, kConsumerWarps * kCluster);
    }
    publishBarriers();
  }
  syncCluster();
  const Shape shape{M, N, K};
  if (threadIdx.x / 128 == 0) {
    giveRegistersBack<40>();
    if (threadIdx.x == 0) produce(aMap, bMap, shape, tiles, full, empty);
  } else {
    takeRegisters<232>();
    consume(shape, rowFactors, columnFactors, c, tiles, full, empty);
  }
  // The other CTA may still arrive at this one's barriers.
  syncCluster();
}

}  // namespace e5m2gemm
