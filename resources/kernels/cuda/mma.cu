// mma: mma.sync m16n8k16 bf16 on fragments dequantised on the way into shared memory. sm_80 and
// later.
//
//   C (M, N) = outputScale (A (M, K) x B + accumulator (M, N)) with B (N, K) or, with B_ORDER 1,
//   (K, N) and one linear scale per SCALE_BLOCK elements along K; any M, N; or that for each group
//   of rows with a matrix of B of its own.
//
// Element x scale is exact in bf16 (at most 8 significant bits; scales 2^-125 to 2^125), products
// and sums in float32. 128 x 128 tiles of C, depth 32, 8 warps of 64 x 32; fragments as PTX ISA
// "Matrix Fragments for mma.m16n8k16" has them.
#include "common/formats.cuh"
#include "common/groups.cuh"

// TILE_M, TILE_N and THREADS are constants of the manifest's row.
constexpr int kTileM = TILE_M, kTileN = TILE_N, kDepth = 32, kThreads = THREADS;
static_assert(kTileM == 128 && kTileN == 128, "8 warps of 64 x 32");
// 40 halves a row: eight rows of 16 bytes fall into different banks for ldmatrix.
constexpr int kPitch = kDepth + 8;
static_assert(kThreads == 2 * 128, "two threads fill one row of a tile");

// Thread t fills half a row: 16 elements, which share one scale (SCALE_BLOCK is 16 or 32).
static_assert(SCALE_BLOCK % 16 == 0, "16 neighbours share a scale");
template <int Format, bool Turned>
__device__ void loadTile(const u8* codes, const u8* scales, int rows, int K, int row0, int k0,
                         u16* tile) {
  const int r = threadIdx.x / 2, half = threadIdx.x % 2 * 16, row = row0 + r, k = k0 + half;
  u32 words[8] = {};
  if (row < rows && k < K) {
    const float scale = scaleOf<Format>(scales, scaleAt<Turned>(row, k, rows, K));
    const long long first = elementAt<Turned>(row, k, rows, K), step = Turned ? rows : 1;
#pragma unroll
    for (int i = 0; i < 8; i++)
      words[i] = toBf16Pair(
          decodeElement<Format>(packedCode<Format>(codes, first + 2 * i * step)) * scale,
          decodeElement<Format>(packedCode<Format>(codes, first + (2 * i + 1) * step)) * scale);
  }
  uint4* out = reinterpret_cast<uint4*>(tile + r * kPitch + half);
  out[0] = make_uint4(words[0], words[1], words[2], words[3]);
  out[1] = make_uint4(words[4], words[5], words[6], words[7]);
}

__device__ inline void loadMatrices(u32 (&fragment)[4], const u16* from) {
  const u32 address = (u32)__cvta_generic_to_shared(from);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(address));
}

// The tile of C from (row0, col0) on; rows from `endRow` on are not its own.
__device__ inline void multiplyTile(const u8* aCodes, const u8* bCodes, const u8* aScales,
                                    const u8* bScales, Output* c, int row0, int col0, int endRow,
                                    int N, int K, float tensorScale, const float* accumulator,
                                    float outputScale) {
  __shared__ __align__(16) u16 a[kTileM * kPitch];
  __shared__ __align__(16) u16 b[kTileN * kPitch];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warpRow = warp / 4 * 64, warpCol = warp % 4 * 32;
  float sum[4][4][4] = {};
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    loadTile<A_FORMAT, false>(aCodes, aScales, endRow, K, row0, k0, a);
    loadTile<B_FORMAT, B_ORDER == 1>(bCodes, bScales, N, K, col0, k0, b);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      u32 fragmentA[4][4], fragmentB[2][4];
#pragma unroll
      for (int i = 0; i < 4; i++)
        loadMatrices(fragmentA[i], &a[(warpRow + i * 16 + lane % 16) * kPitch + k + lane / 16 * 8]);
      // Two 8-column groups at once: matrices (n 0-7, k 0-7), (n 0-7, k 8-15), (n 8-15, k 0-7),
      // (n 8-15, k 8-15).
#pragma unroll
      for (int j = 0; j < 2; j++)
        loadMatrices(
            fragmentB[j],
            &b[(warpCol + j * 16 + lane / 16 * 8 + lane % 8) * kPitch + k + lane / 8 % 2 * 8]);
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          addPairs(sum[i][j], fragmentA[i], fragmentB[j / 2][j % 2 * 2],
                   fragmentB[j / 2][j % 2 * 2 + 1]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int e = 0; e < 4; e++) {
        const int row = row0 + warpRow + i * 16 + lane / 4 + e / 2 * 8;
        const int col = col0 + warpCol + j * 8 + lane % 4 * 2 + e % 2;
        const long long at = (long long)row * N + col;
        if (row < endRow && col < N)
          c[at] = finished(sum[i][j][e] * tensorScale, accumulator, at, outputScale);
      }
}

#if GROUPED
extern "C" __global__ void placeTiles(const int* groupRows, int* tileEnds, int groups) {
  cumulateTiles(groupRows, groups, kTileM, tileEnds);
}

// As many blocks along y as there may be tile rows; those beyond have nothing to do.
extern "C" __global__ void __launch_bounds__(kThreads)
    multiplyGroups(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales,
                   Output* c, const int* groupStarts, const int* groupRows, const int* tileEnds,
                   int groups, int N, int K, float tensorScale, const float* accumulator,
                   float outputScale) {
  const GroupTables of = {groupStarts, groupRows, tileEnds, groups};
  if ((int)blockIdx.y >= of.tileRows()) return;
  const GroupTileRow place = groupTileRow(of, blockIdx.y, kTileM);
  multiplyTile(aCodes, bCodes + packedRowBytes<B_FORMAT>((long long)place.group * N * K), aScales,
               bScales + (long long)place.group * N * (K / SCALE_BLOCK), c, place.row,
               blockIdx.x * kTileN, place.end, N, K, tensorScale, accumulator, outputScale);
}
#else
extern "C" __global__ void __launch_bounds__(kThreads)
    multiply(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, Output* c,
             int M, int N, int K, float tensorScale, const float* accumulator, float outputScale) {
  multiplyTile(aCodes, bCodes, aScales, bScales, c, blockIdx.y * kTileM, blockIdx.x * kTileN, M, N,
               K, tensorScale, accumulator, outputScale);
}
#endif
