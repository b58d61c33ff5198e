// wgmma: every format exactly, on sm_90a.
//
//   C (M, N) = A (M, K) x B (N, K) with one linear scale per SCALE_BLOCK elements along K; any M, N.
//
// 1. widen: both packed operands to bf16, element x scale: exact while scales lie within 2^-117..2^117.
// 2. multiply: bf16 product with wgmma and TMA, float32 sums (common/gemm_bf16.cuh).
// 3. fallback: only if a scale lies outside; float64, slow and right.
#include "common/gemm_bf16.cuh"
#include "common/tiled.cuh"
#include "common/widen.cuh"

extern "C" __global__ void widen(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, u16* aWide,
                                 u16* bWide, u32* beyond, long long aCount, long long bCount) {
  widenBoth(aCodes, bCodes, aScales, bScales, aWide, bWide, aCount, bCount, beyond);
}

extern "C" __global__ void __launch_bounds__(bf16gemm::Product::kThreads, 1)
    multiply(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
             const __grid_constant__ TensorMap cMap, const u32* beyond, int M, int N, int K, float tensorScale) {
  if (*beyond == 0) bf16gemm::run<true>(&aMap, &bMap, &cMap, nullptr, M, N, K, tensorScale);
}

extern "C" __global__ void __launch_bounds__(bf16gemm::Product::kThreads, 1)
    multiplyAnyRows(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap, Output* c,
                    const u32* beyond, int M, int N, int K, float tensorScale) {
  if (*beyond == 0) bf16gemm::run<false>(&aMap, &bMap, nullptr, c, M, N, K, tensorScale);
}

extern "C" __global__ void __launch_bounds__(tiled::kThreads)
    fallback(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, const u32* beyond, Output* c, int M,
             int N, int K, float tensorScale) {
  if (*beyond != 0) tiled::multiply<double>(aCodes, bCodes, aScales, bScales, c, M, N, K, tensorScale);
}
