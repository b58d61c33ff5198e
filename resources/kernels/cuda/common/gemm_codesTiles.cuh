// Which tiles and stages of K the clusters of a product of B's codes have, and what becomes of sums
// over a part of K (see gemm_codes.cuh).
#pragma once

#include "common/betweenCtas.cuh"
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

// Tiles of groups, each over all of K.
template <class T>
struct TurnedGroups : gemm::GroupedShape<T> {
  bool byEngine;
  __device__ bool isThere() const { return true; }
  __device__ bool mayStoreByEngine() const { return byEngine; }
  template <class Places>
  __device__ void expectSums(const Places&) const {}
  __device__ void endLoading() const {}
  template <class Places>
  __device__ bool takeParts(float (&)[T::kSums], const gemm::WholeTiles<T>&, const gemm::Place&,
                            const Places&, Output*, float, gemm::Finish) const {
    return true;
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
  // Sixteen rows of C's tile, of which a thread has eight sums, two times four.
  static constexpr int kSixteens = T::kTileN / 16, kThreads = T::kConsumerWarps * 32,
                       kBytesOfFours = kThreads * 16, kBytesOfSixteen = 2 * kBytesOfFours,
                       kMostAcross = 4;
  static_assert(kBytesOfSixteen == 16 * T::kTileM * 4, "all threads' are a CTA's");
  int M, N, steps, share;
  bool byEngine;
  int across;    // teams of a cluster, which divide a tile's K
  float* parts;  // (tiles, warps of a team, mostParts, kSums / 4, lanes, 4) where clusters do
  u32* arrived;  // (tiles, warps of a team)
  int mostParts;
  u32* beyond;  // whether a scale is, and how many CTAs have seen it
  // Once the kernel before has made A ready: whether all scales are within bf16's range.
  __device__ bool isThere() const {
    waitForPredecessor();
    return *beyond == 0;
  }
  // By a thread of each CTA, once all of its have seen it: the last has it 0 for the next product.
  __device__ void forgetBeyond() const {
    if (countIn(beyond + 1) == gridDim.x - 1) beyond[0] = beyond[1] = 0;
  }
  // Sixteens that a team takes to C; the last may have fewer.
  __device__ int each() const { return gemm::ceilDiv(kSixteens, across); }
  __device__ int own() const { return min(each(), kSixteens - (int)Team<T>().number() * each()); }
  template <class Places>
  __device__ void expectSums(const Places& shared) const {
    if (across == 1) return;
    initBarrier(shared.cameIn(), 1);
    expectBytes(shared.cameIn(), (across - 1) * own() * kBytesOfSixteen);
  }
  // Threads of a cluster whose teams divide K meet once all stages have been read.
  __device__ void endLoading() const {
    if (across > 1) meetCluster();
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
    exchange(sums, place, shared, c, factor, finish);
    return false;
  }
  // A thread's sums, four by four, each with whether its row is team `owner`'s, and where among
  // its.
  template <class Give>
  __device__ void giveRows(const float (&sums)[T::kSums], int owner, float factor,
                           Give give) const {
    // Straight from the accumulators to memory, the assembler would have products wait for one
    // another; multiplied they are not kept for the next team.
    const float times = __uint_as_float((u32)hidden((int)__float_as_uint(factor)));
    const int first = owner * each(), end = first + each();
#pragma unroll
    for (int i = 0; i < kSixteens * 2; i++) {
      float four[4];
#pragma unroll
      for (int j = 0; j < 4; j++) four[j] = sums[i * 4 + j] * times;
      give(i / 2 >= first && i / 2 < end, (i - first * 2) * kBytesOfFours, four);
    }
  }
  // Teams send one another their sums, to where the stages were; each adds those of its rows, in
  // the teams' order, and takes them to C.
  template <class Places>
  __device__ void exchange(const float (&sums)[T::kSums], const gemm::Place& place,
                           const Places& shared, Output* c, float factor,
                           gemm::Finish finish) const {
    static_assert(
        kMostAcross * gemm::ceilDiv(kSixteens, kMostAcross) * kBytesOfSixteen <=
                T::kStages * T::kBytesStage &&
            3 * gemm::ceilDiv(kSixteens, 3) * kBytesOfSixteen <= T::kStages * T::kBytesStage,
        "room for sums");
    const Team<T> team;
    const int thread = (int)threadIdx.x - 128, number = (int)team.number(), ofEach = each();
    // Of team `of` and sixteen `i` of those that their owner has. A thread adds what threads of its
    // number have sent, and its own.
    const auto placeFrom = [&](int of, int i) {
      return shared.stage(0) + (of * ofEach + i) * kBytesOfSixteen + thread * 16;
    };
    meetCluster();
    // The next team's first, so that no two send to the same at a time.
#pragma unroll 1
    for (int turn = 1; turn < across; turn++) {
      const int owner = number + turn < across ? number + turn : number + turn - across;
      const u32 rank = owner * T::kCluster + team.rank, cameIn = atCta(shared.cameIn(), rank),
                there = atCta(placeFrom(number, 0), rank);
      giveRows(sums, owner, factor, [&](bool isIts, u32 place, const float (&four)[4]) {
        sendNumbers(isIts, there + place, cameIn, four);
      });
    }
    giveRows(sums, number, factor, [&](bool isOwn, u32 place, const float (&four)[4]) {
      if (isOwn) storeSixteen(placeFrom(number, 0) + place, gemm::wordsOf(four));
    });
    waitFor(shared.cameIn(), 0);
    const int first = place.row + number * ofEach * 16,
              count = min(own(), gemm::ceilDiv(M - first, 16));
    constexpr int kTogether = T::kSixteensTogether;
#pragma unroll 1
    for (int i = 0; i < count; i += kTogether) {
      float totals[kTogether][8] = {};
#pragma unroll 1
      for (int of = 0; of < across; of++)
#pragma unroll
        for (int j = 0; j < kTogether; j++) {
          const u32 from = placeFrom(of, min(i + j, count - 1));
          float part[4];
#pragma unroll
          for (int half = 0; half < 2; half++) {
            loadNumbers(part, from + half * kBytesOfFours);
#pragma unroll
            for (int e = 0; e < 4; e++) totals[j][half * 4 + e] += part[e];
          }
        }
      T::storeSixteens(byEngine, totals, count - i, c, N, {first + i * 16, M, place.col, 0}, shared,
                       finish);
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
