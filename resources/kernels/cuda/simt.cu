// simt: the plain kernel, right on any GPU from sm_80.
//
//   C (M, N) = outputScale (A (M, K) x B + accumulator (M, N)) with B (N, K) or, with B_ORDER 1,
//   (K, N) and one linear scale per SCALE_BLOCK elements along K; any M, N; or that for each group
//   of rows with a matrix of B of its own.
//
// Element x scale in float32 (exact: at most 8 significant bits), float32 sums.
#include "common/tiled.cuh"

// As many blocks on a multiprocessor as the registers of each order's and element's loads allow
// without a spill.
constexpr int kBlocks = B_ORDER == 1 || kBits(A_FORMAT) == 16 ? 2 : 4;
#if GROUPED
extern "C" __global__ void placeTiles(const int* groupRows, int* tileEnds, int groups) {
  cumulateTiles(groupRows, groups, tiled::kTile, tileEnds);
}

extern "C" __global__ void __launch_bounds__(tiled::kThreads, kBlocks)
    multiplyGroups(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales,
                   Output* c, const int* groupStarts, const int* groupRows, const int* tileEnds,
                   int groups, int N, int K, float tensorScale, const float* accumulator,
                   float outputScale) {
  tiled::multiplyGroups<float>(aCodes, bCodes, aScales, bScales, c,
                               {groupStarts, groupRows, tileEnds, groups}, N, K, tensorScale,
                               accumulator, outputScale);
}
#else
extern "C" __global__ void __launch_bounds__(tiled::kThreads, kBlocks)
    multiply(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, Output* c,
             int M, int N, int K, float tensorScale, const float* accumulator, float outputScale) {
  tiled::multiply<float>(aCodes, bCodes, aScales, bScales, c, M, N, K, tensorScale, accumulator,
                         outputScale);
}
#endif
