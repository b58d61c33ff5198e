// C (M, N) = A (M, K) x B (N, K)^T, both bf16 and K-major, float32 sums: the plain product behind wgmma's prepass.
//
// Persistent, clusters of two CTAs along M that share B: each loads half of the 256 x 64 B tile and multicasts it. One
// warpgroup loads through a ring of four stages, two multiply 64 x 256 of the CTA's 128 x 256 tile each.
#pragma once

#include "common/pipeline.cuh"
#include "common/wgmma.cuh"

namespace bf16gemm {

constexpr int kTileM = 128, kTileN = 256, kTileK = 64, kStages = 4, kCluster = 2, kThreads = 384, kConsumerWarps = 8;
constexpr int kBytesA = kTileM * kTileK * 2, kBytesB = kTileN * kTileK * 2, kBytesStage = kBytesA + kBytesB;
static_assert(kTileK * 2 == 128, "a row of a tile is one 128-byte swizzle span");
static_assert(kStages * kBytesStage + 1024 + 2 * kStages * 8 <= 227 * 1024, "fits shared memory");

struct Shape {
  int M, N, K;
  __device__ int tileRows() const { return (M + kCluster * kTileM - 1) / (kCluster * kTileM); }
  __device__ int tileCols() const { return (N + kTileN - 1) / kTileN; }
  __device__ int steps() const { return (K + kTileK - 1) / kTileK; }
};

__device__ inline void produce(const TensorMap* aMap, const TensorMap* bMap, Shape shape, u32 tiles, u32 full, u32 empty) {
  RingPosition<kStages> ring;
  const u32 rank = clusterRank();
  for (int tile = blockIdx.x / kCluster; tile < shape.tileRows() * shape.tileCols(); tile += gridDim.x / kCluster) {
    const TilePlace place = tilePlace(tile, shape.tileRows(), shape.tileCols());
    const int row = (place.row * kCluster + rank) * kTileM, col = place.col * kTileN;
    for (int step = 0; step < shape.steps(); step++, ring.advance()) {
      const u32 barrier = full + ring.stage * 8, stage = tiles + ring.stage * kBytesStage;
      waitFor(empty + ring.stage * 8, ring.phase ^ 1);
      expectBytes(barrier, kBytesStage);
      loadBox(stage, aMap, step * kTileK, row, barrier);
      loadBoxMulticast(stage + kBytesA + rank * (kBytesB / kCluster), bMap, step * kTileK,
                       col + rank * (kTileN / kCluster), barrier, (1 << kCluster) - 1);
    }
  }
}

__device__ inline void consume(Shape shape, float tensorScale, Output* c, u32 tiles, u32 full, u32 empty) {
  const int group = threadIdx.x / 128 - 1;
  const u32 rank = clusterRank();
  RingPosition<kStages> ring;
  for (int tile = blockIdx.x / kCluster; tile < shape.tileRows() * shape.tileCols(); tile += gridDim.x / kCluster) {
    const TilePlace place = tilePlace(tile, shape.tileRows(), shape.tileCols());
    float sum[128];
    int previous = -1;
    for (int step = 0; step < shape.steps(); step++, ring.advance()) {
      waitFor(full + ring.stage * 8, ring.phase);
      const u32 stage = tiles + ring.stage * kBytesStage;
      const u64 a = tileDescriptor(stage + group * (kBytesA / 2)), b = tileDescriptor(stage + kBytesA);
      wgmmaFence();
#pragma unroll
      for (int k = 0; k < kTileK / 16; k++)
        multiplyBf16(sum, a + k * kDescriptorStep, b + k * kDescriptorStep, step > 0 || k > 0);
      wgmmaCommit();
      wgmmaWait<1>();
      if (previous >= 0) releaseStage<kCluster>(empty + previous * 8);
      previous = ring.stage;
    }
    wgmmaWait<0>();
    holdRegisters(sum);
    releaseStage<kCluster>(empty + previous * 8);
    const int row = (place.row * kCluster + rank) * kTileM + group * 64;
    storeAccumulators<32>(
        sum, c, shape.M, shape.N, row, place.col * kTileN, [=](int) { return tensorScale; }, [](int) { return 1.0f; });
  }
}

// The kernel's body. Dynamic shared memory: kStages * kBytesStage + 1024 + 2 * kStages * 8 bytes.
__device__ inline void run(const TensorMap* aMap, const TensorMap* bMap, Output* c, int M, int N, int K, float tensorScale) {
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
    consume(shape, tensorScale, c, tiles, full, empty);
  }
  // The other CTA may still arrive at this one's barriers.
  syncCluster();
}

}  // namespace bf16gemm
