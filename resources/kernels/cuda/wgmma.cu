// wgmma: every format exactly, on sm_90a.
//
//   C (M, N) = outputScale (A (M, K) x B (N, K) + accumulator (M, N)) with one linear scale per
//   SCALE_BLOCK elements along K; any M, N.
//
// 1. widen: both packed operands to bf16, element x scale: exact while scales lie within
//    2^-117..2^117. Of a large product only what its first tiles need.
// 2. multiply: bf16 product with wgmma and TMA, float32 sums (common/gemm_bf16.cuh); beside it the
//    operands' other rows are widened (common/widenBeside.cuh).
// 3. fallback: only if a scale lies outside; float64, slow and right (one product that widens B
//    itself does it in 2.)
//
// The same for groups of rows with a matrix of B of their own each (GROUPED): tiles are of one
// group; those that end before their last row are stored row by row.
#include "common/gemm_bf16.cuh"
// Whether B may be widened inside the product. An accumulator's numbers on their way would cost its
// multiplying threads a spill.
#define OF_CODES \
  (!ACCUMULATE && (B_FORMAT == 0 || ((B_FORMAT == 3 || B_FORMAT == 4) && SCALE_BLOCK == 32)))
#if OF_CODES
#include "common/gemm_codes.cuh"
#endif
#include "common/tiled.cuh"
#include "common/widen.cuh"

#if GROUPED
constexpr int kClusterRows = gemm::GroupedShape<bf16gemm::Product>::kClusterRows;

extern "C" __global__ void widenAllGroups(const u8* aCodes, const u8* bCodes, const u8* aScales,
                                          const u8* bScales, u16* aWide, u16* bWide, u32* beyond,
                                          const int* groupStarts, const int* groupRows,
                                          int* tileEnds, int* slowTileEnds, int groups, int M,
                                          int N, int K) {
  if (blockIdx.x == 0 && threadIdx.x < 32) cumulateTiles(groupRows, groups, kClusterRows, tileEnds);
  if (blockIdx.x == 0 && threadIdx.x / 32 == 1)
    cumulateTiles(groupRows, groups, tiled::kTile, slowTileEnds);
  widenOfGroups(blockIdx.x * blockDim.x + threadIdx.x, aCodes, bCodes, aScales, bScales, aWide,
                bWide, groupStarts, groupRows, groups, M, N, K, beyond);
}

extern "C" __global__ void __launch_bounds__(bf16gemm::Product::kThreads, 1)
    multiplyGroups(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
                   const __grid_constant__ TensorMap cMap, Output* c, const u32* beyond,
                   const int* groupStarts, const int* groupRows, const int* tileEnds, int groups,
                   int N, int K, float tensorScale, const float* accumulator, float outputScale) {
  if (*beyond == 0)
    bf16gemm::runGroups<true>(&aMap, &bMap, &cMap, c, {groupStarts, groupRows, tileEnds, groups}, N,
                              K, tensorScale, {accumulator, outputScale});
}

extern "C" __global__ void __launch_bounds__(bf16gemm::Product::kThreads, 1)
    multiplyGroupsAnyRows(const __grid_constant__ TensorMap aMap,
                          const __grid_constant__ TensorMap bMap, Output* c, const u32* beyond,
                          const int* groupStarts, const int* groupRows, const int* tileEnds,
                          int groups, int N, int K, float tensorScale, const float* accumulator,
                          float outputScale) {
  if (*beyond == 0)
    bf16gemm::runGroups<false>(&aMap, &bMap, nullptr, c, {groupStarts, groupRows, tileEnds, groups},
                               N, K, tensorScale, {accumulator, outputScale});
}

#if OF_CODES
extern "C" __global__ void widenRowsOfAllGroups(const u8* aCodes, const u8* aScales,
                                                const u8* bScales, u16* aWide, u32* beyond,
                                                const int* groupStarts, const int* groupRows,
                                                int rowsOfTile, int* tileEnds, int* slowTileEnds,
                                                int groups, int M, int N, int K) {
  if (blockIdx.x == 0 && threadIdx.x < 32) cumulateTiles(groupRows, groups, rowsOfTile, tileEnds);
  if (blockIdx.x == 0 && threadIdx.x / 32 == 1)
    cumulateTiles(groupRows, groups, tiled::kTile, slowTileEnds);
  widenRowsOfGroups(blockIdx.x * blockDim.x + threadIdx.x, aCodes, aScales, bScales, aWide,
                    groupStarts, groupRows, groups, M, N, K, beyond);
}

#define BS_MULTIPLY_GROUPS_OF_CODES(ROWS, STAGES)                                                  \
  extern "C" __global__ void __launch_bounds__(                                                    \
      bf16gemm::ProductOfCodesOver<ROWS, STAGES>::kThreads, 1)                                     \
      multiplyGroupsOfCodes##ROWS(                                                                 \
          const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap codesMap,      \
          const u8* bScales, const __grid_constant__ TensorMap cMap, int byEngine, Output* c,      \
          const u32* beyond, const int* groupStarts, const int* groupRows, const int* tileEnds,    \
          int groups, int N, int K, float tensorScale, float outputScale) {                        \
    if (*beyond == 0)                                                                              \
      bf16gemm::runGroupsOfCodes<ROWS, STAGES>(&aMap, &codesMap, bScales, &cMap, byEngine != 0, c, \
                                               {groupStarts, groupRows, tileEnds, groups}, N, K,   \
                                               tensorScale, {nullptr, outputScale});               \
  }
BS_MULTIPLY_GROUPS_OF_CODES(128, CODE_STAGES_128)
BS_MULTIPLY_GROUPS_OF_CODES(192, CODE_STAGES_192)
BS_MULTIPLY_GROUPS_OF_CODES(256, CODE_STAGES)
#endif

extern "C" __global__ void __launch_bounds__(tiled::kThreads)
    fallbackGroups(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales,
                   const u32* beyond, Output* c, const int* groupStarts, const int* groupRows,
                   const int* slowTileEnds, int groups, int N, int K, float tensorScale,
                   const float* accumulator, float outputScale) {
  if (*beyond != 0)
    tiled::multiplyGroups<double>(aCodes, bCodes, aScales, bScales, c,
                                  {groupStarts, groupRows, slowTileEnds, groups}, N, K, tensorScale,
                                  accumulator, outputScale);
}
#else
extern "C" __global__ void widen(const u8* aCodes, const u8* bCodes, const u8* aScales,
                                 const u8* bScales, u16* aWide, u16* bWide, u32* beyond,
                                 long long aCount, long long bCount) {
  letDependentsStart();
  widenBoth(aCodes, bCodes, aScales, bScales, aWide, bWide, aCount, bCount, beyond);
}

extern "C" __global__ void __launch_bounds__(bf16gemm::Product::kThreads, 1)
    multiply(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
             const __grid_constant__ TensorMap cMap, const u8* aCodes, const u8* bCodes,
             const u8* aScales, const u8* bScales, u16* aWide, u16* bWide, u32* progress,
             int aBefore, int bBefore, int M, int N, int K, float tensorScale,
             const float* accumulator, float outputScale) {
  waitForPredecessor();
  const gemm::WidenProgress of{progress};
  if (*of.beyond() == 0)
    bf16gemm::runAndWiden<true>(
        &aMap, &bMap, &cMap, nullptr,
        {aCodes, bCodes, aScales, bScales, aWide, bWide, of, aBefore, bBefore}, M, N, K,
        tensorScale, {accumulator, outputScale});
}

extern "C" __global__ void __launch_bounds__(bf16gemm::Product::kThreads, 1)
    multiplyAnyRows(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
                    Output* c, const u8* aCodes, const u8* bCodes, const u8* aScales,
                    const u8* bScales, u16* aWide, u16* bWide, u32* progress, int aBefore,
                    int bBefore, int M, int N, int K, float tensorScale, const float* accumulator,
                    float outputScale) {
  waitForPredecessor();
  const gemm::WidenProgress of{progress};
  if (*of.beyond() == 0)
    bf16gemm::runAndWiden<false>(
        &aMap, &bMap, nullptr, c,
        {aCodes, bCodes, aScales, bScales, aWide, bWide, of, aBefore, bBefore}, M, N, K,
        tensorScale, {accumulator, outputScale});
}

#if OF_CODES
extern "C" __global__ void widenRows(const u8* aCodes, const u8* aScales, const u8* bScales,
                                     u16* aWide, u32* beyond, int M, int N, int K) {
  letDependentsStart();
  const u32 pieces = piecesOfOne(M, N, K);
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < pieces; i += gridDim.x * blockDim.x)
    widenRowsOfOne(i, aCodes, aScales, bScales, aWide, M, N, K, beyond);
}

#define BS_MULTIPLY_OF_CODES(ROWS, STAGES)                                                      \
  extern "C" __global__ void __launch_bounds__(                                                 \
      bf16gemm::ProductOfCodesOver<ROWS, STAGES>::kThreads, 1)                                  \
      multiplyOfCodes##ROWS(                                                                    \
          const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap codesMap,   \
          const __grid_constant__ TensorMap cMap, int byEngine, const u8* aCodes,               \
          const u8* bCodes, const u8* aScales, const u8* bScales, Output* c, float* parts,      \
          u32* arrived, int mostParts, u32* beyond, int M, int N, int K, int share, int across, \
          float tensorScale, float outputScale) {                                               \
    using T = bf16gemm::ProductOfCodesOver<ROWS, STAGES>;                                       \
    bf16gemm::runRowsOfCodes<ROWS, STAGES>(&aMap, &codesMap, &cMap, c,                          \
                                           {aCodes, bCodes, aScales, bScales},                  \
                                           {M, N, gemm::stepsOf<T>(K), share, byEngine != 0,    \
                                            across, parts, arrived, mostParts, beyond},         \
                                           K, tensorScale, {nullptr, outputScale});             \
  }
BS_MULTIPLY_OF_CODES(128, CODE_STAGES_128)
BS_MULTIPLY_OF_CODES(192, CODE_STAGES_192)
BS_MULTIPLY_OF_CODES(256, CODE_STAGES)
#endif

extern "C" __global__ void __launch_bounds__(tiled::kThreads)
    fallback(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales,
             u32* progress, Output* c, int M, int N, int K, float tensorScale,
             const float* accumulator, float outputScale) {
  const gemm::WidenProgress of{progress};
  if (*of.beyond() != 0 || *of.beyondBeside() != 0)
    tiled::multiply<double>(aCodes, bCodes, aScales, bScales, c, M, N, K, tensorScale, accumulator,
                            outputScale);
}
#endif
