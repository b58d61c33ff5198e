// Barriers, the bulk tensor copy engine (TMA) and clusters of sm_90 (PTX ISA, "mbarrier", "cp.async.bulk.tensor").
#pragma once

#include "common/formats.cuh"

struct alignas(64) TensorMap {
  u64 opaque[16];
};

__device__ inline u32 sharedAddress(const void* pointer) { return (u32)__cvta_generic_to_shared(pointer); }

__device__ inline void initBarrier(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
__device__ inline void publishBarriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline void expectBytes(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Arrives at the barrier of the same place in CTA `rank` of the cluster.
__device__ inline void arriveAt(u32 barrier, u32 rank) {
  asm volatile("{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; "
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote]; }" ::"r"(barrier), "r"(rank)
               : "memory");
}

__device__ inline void waitFor(u32 barrier, u32 parity) {
  asm volatile("{ .reg .pred done; WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1; "
               "@done bra DONE; bra WAIT; DONE: }" ::"r"(barrier), "r"(parity)
               : "memory");
}

// Loads a box at (x, y) into the same shared address of every CTA in `mask`; each one's barrier counts the bytes.
__device__ inline void loadBoxMulticast(u32 destination, const TensorMap* map, int x, int y, u32 barrier, u16 mask) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
               "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(destination),
               "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(mask)
               : "memory");
}

__device__ inline void loadBox(u32 destination, const TensorMap* map, int x, int y, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
               "[%4];" ::"r"(destination),
               "l"(map), "r"(x), "r"(y), "r"(barrier)
               : "memory");
}

__device__ inline u32 clusterRank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline void syncCluster() {
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

// A warp that has read a stage says so to every CTA of the cluster: any of them may write it next.
template <int Cluster>
__device__ inline void releaseStage(u32 emptyBarrier) {
  if (threadIdx.x % 32 < Cluster) arriveAt(emptyBarrier, threadIdx.x % 32);
}

template <int Registers>
__device__ inline void giveRegistersBack() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ inline void takeRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

// A ring of stages: which stage is next and which phase of its barriers.
template <int Stages>
struct RingPosition {
  int stage = 0;
  u32 phase = 0;
  __device__ void advance() {
    if (++stage == Stages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

// Tiles in an order that reuses L2: bands of kBand tile rows, column by column inside a band.
struct TilePlace {
  int row, col;
};
__device__ inline TilePlace tilePlace(int tile, int tileRows, int tileCols) {
  constexpr int kBand = 8;
  const int perBand = kBand * tileCols, band = tile / perBand, first = band * kBand;
  const int height = min(kBand, tileRows - first), inside = tile - band * perBand;
  return {first + inside % height, inside / height};
}

// Stores a warpgroup's 64 x (8 * Groups) accumulators at (row0, col0) of C. Accumulator 4 j + e of a thread lies at row
// warp * 16 + lane / 4 + 8 * (e / 2), column 8 j + 2 * (lane % 4) + e % 2 (PTX ISA, wgmma D fragment). `factor(row)` and
// `columnFactor(col)` scale the result, one after the other.
template <int Groups, typename RowFactor, typename ColumnFactor>
__device__ inline void storeAccumulators(const float (&d)[4 * Groups], Output* c, int M, int N, int row0, int col0,
                                         RowFactor rowFactor, ColumnFactor columnFactor) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, quad = lane % 4;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int row = row0 + warp * 16 + lane / 4 + half * 8;
    const float byRow = row < M ? rowFactor(row) : 0.0f;
#if OUTPUT_TYPE == 2
#pragma unroll
    for (int j = 0; j < Groups; j++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const int col = col0 + j * 8 + quad * 2 + e;
        if (row < M && col < N) c[(long long)row * N + col] = d[4 * j + 2 * half + e] * byRow * columnFactor(col);
      }
#else
    // Four groups at once, transposed over the four lanes of a row: each lane then holds 8 neighbours, 16 bytes.
#pragma unroll
    for (int j = 0; j < Groups; j += 4) {
      u32 words[4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int col = col0 + (j + i) * 8 + quad * 2;
        words[i] = toOutputPair(d[4 * (j + i) + 2 * half] * byRow * columnFactor(col),
                                d[4 * (j + i) + 2 * half + 1] * byRow * columnFactor(col + 1));
      }
#pragma unroll
      for (int step = 1; step < 4; step *= 2)
#pragma unroll
        for (int i = 0; i < 4; i++)
          if ((i & step) == 0) {
            const bool upper = quad & step;
            const u32 received = __shfl_xor_sync(0xffffffff, upper ? words[i] : words[i | step], step);
            if (upper) words[i] = received;
            else words[i | step] = received;
          }
      const int col = col0 + (j + quad) * 8;
      if (row < M && col + 8 <= N && N % 8 == 0) {
        *reinterpret_cast<uint4*>(c + (long long)row * N + col) = make_uint4(words[0], words[1], words[2], words[3]);
      } else if (row < M) {
#pragma unroll
        for (int i = 0; i < 8; i++)
          if (col + i < N) c[(long long)row * N + col + i] = (u16)(words[i / 2] >> (i % 2 * 16));
      }
    }
#endif
  }
}
