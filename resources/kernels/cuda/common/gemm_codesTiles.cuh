// Which tiles and stages of K the clusters of a product of B's codes have, and what becomes of sums
// over a part of K (see gemm_codes.cuh).
#pragma once

#include "common/gemm.cuh"

namespace bf16gemm {

// CTAs that share A: all of a cluster, or two where more divide K.
template <class T>
struct Team {
  u32 rank, first;  // of this CTA in it, of its first CTA in the cluster
  __device__ Team() : rank(clusterRank() % T::kCluster), first(clusterRank() - rank) {}
  __device__ u32 number() const { return first / T::kCluster; }
  __device__ u16 mask() const { return (u16)((1 << T::kCluster) - 1 << first); }
};

// Tiles of both CTAs of a cluster have the same rows of C, one the columns behind the other's.
template <class T>
struct TurnedGroups : gemm::GroupedShape<T> {
  static_assert(T::kTileN == T::kCluster * T::kTileM, "the cluster's tile is square");
  __device__ bool isThere() const { return true; }
  __device__ bool mayStoreByEngine() const { return true; }
  __device__ void meetAtEnd() const {}
  template <class Places>
  __device__ bool takeParts(float (&)[T::kSums], const gemm::WholeTiles<T>&, const gemm::Place&,
                            const Places&, Output*, float, gemm::Finish) const {
    return true;
  }
  __device__ gemm::Place place(int tile, u32 rank) const {
    gemm::Place first = gemm::GroupedShape<T>::place(tile, 0);
    first.col += rank * T::kTileM, first.rowB += rank * T::kTileM;
    return first;
  }
};

// As many stages for each cluster, from one tile into the next; or a tile's for each team of one.
template <class T>
struct Shares {
  int tile, begin, end, left;
  template <class TilesOf>
  __device__ explicit Shares(const TilesOf& shape) {
    if (shape.across > 1) {
      tile = clusterIndex(), begin = (int)Team<T>().number() * shape.share;
      end = min(shape.steps, begin + shape.share), left = end - begin;
      return;
    }
    const int first = (int)blockIdx.x / T::kCluster * shape.share;
    tile = first / shape.steps, begin = first - tile * shape.steps;
    left = min(shape.share, shape.tiles() * shape.steps - first);
    end = min(shape.steps, begin + left);
  }
  template <class TilesOf>
  __device__ bool isLeft(const TilesOf&) const {
    return left > 0;
  }
  template <class TilesOf>
  __device__ void next(const TilesOf& shape) {
    left -= end - begin;
    tile++, begin = 0, end = min(shape.steps, left);
  }
};

// Tiles of one product: those of the same rows of B one behind the other.
template <class T>
struct TurnedRows {
  using Turns = Shares<T>;
  static constexpr bool kEndsInside = true;
  static constexpr int kSumsOfWarp = T::kSums * 32;
  int M, N, steps, share;
  bool byEngine;
  int across;    // teams of a cluster, which divide a tile's K
  float* parts;  // (tiles, warps of a team, mostParts, kSums / 4, lanes, 4) where clusters do
  u32* arrived;  // (tiles, warps of a team)
  int mostParts;
  const u32* beyond;
  // Once the kernel before has made A ready: whether all scales are within bf16's range. If not, C
  // is another kernel's.
  __device__ bool isThere() const {
    waitForPredecessor();
    return *beyond == 0;
  }
  __device__ void meetAtEnd() const {
    if (across > 1) syncCluster();
  }
  __device__ bool mayStoreByEngine() const { return byEngine; }
  __device__ int tileRows() const { return gemm::ceilDiv(M, T::kTileN); }
  __device__ int tiles() const { return tileRows() * gemm::ceilDiv(N, T::kTileM * T::kCluster); }
  __device__ gemm::Place place(int tile, u32 rank) const {
    const int column = tile / tileRows(), row = tile - column * tileRows(),
              first = (column * T::kCluster + (int)(rank % T::kCluster)) * T::kTileM;
    return {row * T::kTileN, M, first, first};
  }
  // Of sums over a part of K: whether a warp has those of all K then, to store.
  template <class Places>
  __device__ bool takeParts(float (&sums)[T::kSums], const Turns& turn, const gemm::Place& place,
                            const Places& shared, Output* c, float factor,
                            gemm::Finish finish) const {
    if (across == 1) return addParts(sums, turn);
    storeAcross(sums, place, shared, c, factor, finish);
    return false;
  }
  // Teams' sums lie in their stages, which all have been read; each takes as many rows of C.
  template <class Places>
  __device__ void storeAcross(const float (&sums)[T::kSums], const gemm::Place& place,
                              const Places& shared, Output* c, float factor,
                              gemm::Finish finish) const {
    constexpr int kWarps = T::kConsumerWarps, kPitch = (T::kTileM + 4) * 4, kMostAcross = 4;
    static_assert(T::kTileN * kPitch <= T::kStages * T::kBytesStage, "room for sums");
    struct alignas(4 * sizeof(Output)) Four {
      Output of[4];
    };
    const int lane = threadIdx.x % 32, warp = (int)threadIdx.x / 32 - 4;
    const u32 own = shared.stage(0);
    const Team<T> team;
    syncSome<kWarps * 32>(1);
    // Straight from the accumulators to memory, the assembler would have products wait for one
    // another.
#pragma unroll
    for (int i = 0; i < T::kSums; i++) {
      const int row = i / 4 * 8 + lane % 4 * 2 + i % 2,
                column = warp * 16 + lane / 4 + i % 4 / 2 * 8;
      storeWord(own + row * kPitch + column * 4, __float_as_uint(sums[i] * factor));
    }
    syncCluster();
    const int each = gemm::ceilDiv(T::kTileN, across), first = (int)team.number() * each,
              end = min(min(first + each, T::kTileN), M - place.row), column = place.col + lane * 4;
#pragma unroll 2
    for (int row = first + warp; row < end; row += kWarps) {
      float4 added[kMostAcross];
#pragma unroll
      for (int of = 0; of < kMostAcross; of++)
        if (of < across)
          added[of] =
              loadFourThere(atCta(own + row * kPitch + lane * 16, of * T::kCluster + team.rank));
      float total[4] = {};
#pragma unroll
      for (int of = 0; of < kMostAcross; of++)
        if (of < across)
          total[0] += added[of].x, total[1] += added[of].y, total[2] += added[of].z,
              total[3] += added[of].w;
      Four four;
#pragma unroll
      for (int i = 0; i < 4; i++)
        four.of[i] = toOutput(finishedSum(total[i], 0.0f, finish.outputScale));
      Output* to = c + (long long)(place.row + row) * N + column;
      if (N % 4 == 0) {
        if (column < N) *reinterpret_cast<Four*>(to) = four;
      } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
          if (column + i < N) to[i] = four.of[i];
      }
    }
  }
  // A warp's sums and those of other clusters, if it comes last.
  __device__ bool addParts(float (&sums)[T::kSums], const Turns& turn) const {
    const int before = turn.tile * steps, first = before / share,
              others = (before + steps - 1) / share - first;
    if (others == 0) return true;
    const int lane = threadIdx.x % 32, cluster = (int)blockIdx.x / T::kCluster,
              warp = (turn.tile * T::kCluster + (int)clusterRank()) * T::kConsumerWarps +
                     (int)threadIdx.x / 32 - 4;
    float4* own = reinterpret_cast<float4*>(parts + (long long)warp * mostParts * kSumsOfWarp) +
                  (cluster - first) * (kSumsOfWarp / 4) + lane;
#pragma unroll
    for (int i = 0; i < T::kSums; i += 4)
      own[i * 8] = make_float4(sums[i], sums[i + 1], sums[i + 2], sums[i + 3]);
    __syncwarp();
    u32 order = lane == 0 ? countIn(arrived + warp) : 0;
    order = __shfl_sync(0xffffffff, order, 0);
    if ((int)order != others) return false;
    // For the next product; the manifest's row has them zero before the first.
    if (lane == 0) arrived[warp] = 0;
    __syncwarp();
    const float4* from = own - (cluster - first) * (kSumsOfWarp / 4);
    // Of two it does not matter which is first.
    const int known = others == 1 ? cluster - first : -1;
    if (known < 0)
#pragma unroll
      for (int i = 0; i < T::kSums; i++) sums[i] = 0;
    for (int part = 0; part <= others; part++, from += kSumsOfWarp / 4) {
      if (part == known) continue;
#pragma unroll
      for (int i = 0; i < T::kSums; i += 4) {
        const float4 four = __ldcg(from + i * 8);
        sums[i] += four.x, sums[i + 1] += four.y, sums[i + 2] += four.z, sums[i + 3] += four.w;
      }
    }
    return true;
  }
};

}  // namespace bf16gemm
