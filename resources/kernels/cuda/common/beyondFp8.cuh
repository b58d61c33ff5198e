// What a product on the fp8 tensor cores does with operands that its elements cannot hold
// (status[0] is set): the exact one in bf16, and where a scale is beyond that too (status[1]), the
// one in float64.
#pragma once

#include "common/gemm_bf16.cuh"
#include "common/tiled.cuh"
#include "common/widen.cuh"

#if GROUPED
constexpr int kClusterRows = gemm::GroupedShape<bf16gemm::Product>::kClusterRows;
static_assert(WIDE_TILE_M == TILE_M, "tileEnds are those of both products");

extern "C" __global__ void widenAllGroups(const u8* aCodes, const u8* bCodes, const u8* aScales,
                                          const u8* bScales, u16* aWide, u16* bWide, u32* status,
                                          const int* groupStarts, const int* groupRows, int groups,
                                          int M, int N, int K) {
  letDependentsStart();
  waitForPredecessor();
  if (status[0] == 0) return;
  u64 piece = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  while (piece >> 32 == 0 &&
         widenOfGroups((u32)piece, aCodes, bCodes, aScales, bScales, aWide, bWide, groupStarts,
                       groupRows, groups, M, N, K, status + 1))
    piece += (u64)gridDim.x * blockDim.x;
}

extern "C" __global__ void __launch_bounds__(bf16gemm::Product::kThreads, 1)
    multiplyWideGroups(const __grid_constant__ TensorMap aMap,
                       const __grid_constant__ TensorMap bMap, const u32* status, Output* c,
                       const int* groupStarts, const int* groupRows, const int* tileEnds,
                       int groups, int N, int K, const float* accumulator, float outputScale) {
  letDependentsStart();
  waitForPredecessor();
  if (status[0] != 0 && status[1] == 0)
    bf16gemm::runGroups<false>(&aMap, &bMap, nullptr, c, {groupStarts, groupRows, tileEnds, groups},
                               N, K, 1.0f, {accumulator, outputScale});
}

extern "C" __global__ void __launch_bounds__(tiled::kThreads)
    fallbackGroups(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales,
                   const u32* status, Output* c, const int* groupStarts, const int* groupRows,
                   const int* slowTileEnds, int groups, int N, int K, const float* accumulator,
                   float outputScale) {
  waitForPredecessor();
  if (status[0] != 0 && status[1] != 0)
    tiled::multiplyGroups<double>(aCodes, bCodes, aScales, bScales, c,
                                  {groupStarts, groupRows, slowTileEnds, groups}, N, K, 1.0f,
                                  accumulator, outputScale);
}
#else
extern "C" __global__ void widen(const u8* aCodes, const u8* bCodes, const u8* aScales,
                                 const u8* bScales, u16* aWide, u16* bWide, u32* status,
                                 long long aCount, long long bCount) {
  letDependentsStart();
  waitForPredecessor();
  if (status[0] != 0)
    widenBoth(aCodes, bCodes, aScales, bScales, aWide, bWide, aCount, bCount, status + 1);
}

extern "C" __global__ void __launch_bounds__(bf16gemm::Product::kThreads, 1)
    multiplyWide(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
                 const u32* status, Output* c, int M, int N, int K, const float* accumulator,
                 float outputScale) {
  letDependentsStart();
  waitForPredecessor();
  if (status[0] != 0 && status[1] == 0)
    bf16gemm::run<false>(&aMap, &bMap, nullptr, c, M, N, K, 1.0f, {accumulator, outputScale});
}

extern "C" __global__ void __launch_bounds__(tiled::kThreads)
    fallback(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales,
             const u32* status, Output* c, int M, int N, int K, const float* accumulator,
             float outputScale) {
  waitForPredecessor();
  if (status[0] != 0 && status[1] != 0)
    tiled::multiply<double>(aCodes, bCodes, aScales, bScales, c, M, N, K, 1.0f, accumulator,
                            outputScale);
}
#endif
