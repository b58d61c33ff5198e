// The plain product: 64 x 64 tiles of C through shared memory, 256 threads with 4 x 4 outputs each.
// Number is float (exact products while no scale or sum leaves its range) or double (any scales).
#pragma once

#include "common/formats.cuh"
#include "common/groups.cuh"

namespace tiled {

// TILED_TILE and TILED_THREADS are constants of the manifest's row, whose grid and block rely on
// them.
constexpr int kTile = TILED_TILE, kDepth = 32, kThreads = TILED_THREADS;
static_assert(kThreads * 16 == kTile * kTile, "a thread has 4 x 4 outputs");
static_assert(kDepth % SCALE_BLOCK == 0, "a depth step holds whole scale blocks");
static_assert(kTile * kDepth % kThreads == 0, "every thread loads as many elements");

// What a block has of both operands at a time, in shared memory. `AtOnce`: steps of a loop that are
// one behind the other, as many as registers allow.
template <typename NumberOf, int AtOnce = 8>
struct Tiles {
  using Number = NumberOf;
  static constexpr int kAtOnce = AtOnce;
  using Tile = Number[kDepth][kTile + 4];
  Tile a, b;
  // The kThreads that have them: all of the block's.
  __device__ static void meet() { __syncthreads(); }
};

// Rows [row0, row0 + kTile) x depth [k0, k0 + kDepth), transposed so that a depth step is
// contiguous; zero outside.
template <int Format, bool Turned, class Own>
__device__ inline void loadTile(const u8* codes, const u8* scales, int rows, int K, int row0,
                                int k0, typename Own::Tile& tile) {
  using Number = typename Own::Number;
#pragma unroll(Own::kAtOnce)
  for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
    const int r = i / kDepth, d = i % kDepth, row = row0 + r, k = k0 + d;
    Number value = 0;
    if (row < rows && k < K) {
      const float scale = scaleOf<Format>(scales, scaleAt<Turned>(row, k, rows, K));
      value = (Number)decodeElement<Format>(
                  packedCode<Format>(codes, elementAt<Turned>(row, k, rows, K))) *
              (Number)scale;
    }
    tile[d][r] = value;
  }
}

// The tile of C from (row0, col0) on; rows from `endRow` on are not its own.
template <class Own>
__device__ inline void multiplyTile(Own& tiles, const u8* aCodes, const u8* bCodes,
                                    const u8* aScales, const u8* bScales, Output* c, int row0,
                                    int col0, int endRow, int N, int K, float tensorScale,
                                    const float* accumulator, float outputScale) {
  using Number = typename Own::Number;
  auto &a = tiles.a, &b = tiles.b;
  const int ty = threadIdx.x / 16 * 4, tx = threadIdx.x % 16 * 4;
  Number sum[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    loadTile<A_FORMAT, false, Own>(aCodes, aScales, endRow, K, row0, k0, a);
    loadTile<B_FORMAT, B_ORDER == 1, Own>(bCodes, bScales, N, K, col0, k0, b);
    Own::meet();
#pragma unroll(Own::kAtOnce)
    for (int d = 0; d < kDepth; d++)
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sum[i][j] += a[d][ty + i] * b[d][tx + j];
    Own::meet();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (row0 + ty + i < endRow && col0 + tx + j < N) {
        const long long at = (long long)(row0 + ty + i) * N + col0 + tx + j;
        c[at] = finished((float)(sum[i][j] * (Number)tensorScale), accumulator, at, outputScale);
      }
}

// Any number of blocks: each takes tile after tile. `tiles`: a block's own, where it has shared
// memory for them.
template <class Own>
__device__ inline void multiplyIn(Own& tiles, const u8* aCodes, const u8* bCodes, const u8* aScales,
                                  const u8* bScales, Output* c, int M, int N, int K,
                                  float tensorScale, const float* accumulator, float outputScale) {
  const int tileCols = (N + kTile - 1) / kTile, count = (M + kTile - 1) / kTile * tileCols;
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x)
    multiplyTile(tiles, aCodes, bCodes, aScales, bScales, c, tile / tileCols * kTile,
                 tile % tileCols * kTile, M, N, K, tensorScale, accumulator, outputScale);
}
template <typename Number>
__device__ inline void multiply(const u8* aCodes, const u8* bCodes, const u8* aScales,
                                const u8* bScales, Output* c, int M, int N, int K,
                                float tensorScale, const float* accumulator, float outputScale) {
  __shared__ Tiles<Number> tiles;
  multiplyIn(tiles, aCodes, bCodes, aScales, bScales, c, M, N, K, tensorScale, accumulator,
             outputScale);
}

// The same for groups, in tile rows of kTile.
template <typename Number>
__device__ inline void multiplyGroups(const u8* aCodes, const u8* bCodes, const u8* aScales,
                                      const u8* bScales, Output* c, GroupTables of, int N, int K,
                                      float tensorScale, const float* accumulator,
                                      float outputScale) {
  __shared__ Tiles<Number> tiles;
  const int tileCols = (N + kTile - 1) / kTile, count = of.tileRows() * tileCols;
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const GroupTileRow place = groupTileRow(of, tile / tileCols, kTile);
    multiplyTile(tiles, aCodes, bCodes + packedRowBytes<B_FORMAT>((long long)place.group * N * K),
                 aScales, bScales + (long long)place.group * N * (K / SCALE_BLOCK), c, place.row,
                 tile % tileCols * kTile, place.end, N, K, tensorScale, accumulator, outputScale);
  }
}

}  // namespace tiled
