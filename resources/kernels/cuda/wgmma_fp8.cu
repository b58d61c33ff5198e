// wgmma-fp8: MXFP4 on the fp8 tensor cores of sm_90a.
//
//   C (M, N) = outputScale (A (M, K) x B (N, K) + accumulator (M, N)), e2m1 with one linear e8m0 scale per 32 elements along K;
//   any M, N.
//
// 1. encode: both operands to e5m2 with a power of two per row taken out (common/reencode.cuh): exact in a window of 29
//    binades a row.
// 2. multiply: e5m2 product, promoted to float32 every PROMOTION elements (common/gemm_e5m2.cuh), times the two powers.
//    PROMOTION 32 sums exactly inside the window; longer intervals trade bits for speed.
// 3. Only if a row needs more than the window: widen and multiplyWide, the exact bf16 path, and beyond that float64.
//
// status[0]: a row is outside the window. status[1]: a scale is outside bf16's range.
#include "common/gemm_bf16.cuh"
#include "common/gemm_e5m2.cuh"
#include "common/reencode.cuh"
#include "common/tiled.cuh"
#include "common/widen.cuh"

static_assert(A_FORMAT == 0 && B_FORMAT == 0 && SCALE_FORMAT == 5, "MXFP4 only: other elements need more bits than e5m2 has");

extern "C" __global__ void __launch_bounds__(kEncodeThreads)
    encode(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, u8* aEncoded, u8* bEncoded,
           float* aFactors, float* bFactors, u32* status, int M, int K) {
  const bool isA = blockIdx.x < M;
  const long long row = isA ? blockIdx.x : blockIdx.x - M;
  const bool outside = reencodeRow<Order::kAsPacked>(
      (isA ? aCodes : bCodes) + row * (K / 2), (isA ? aScales : bScales) + row * (K / 32),
      (isA ? aEncoded : bEncoded) + row * K, (isA ? aFactors : bFactors) + row, K);
  if (outside) *status = 1;
}

extern "C" __global__ void __launch_bounds__(e5m2gemm::Product::kThreads, 1)
    multiply(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
             const __grid_constant__ TensorMap cMap, const float* aFactors, const float* bFactors, const u32* status, int M,
             int N, int K, const float* accumulator, float outputScale) {
  if (status[0] == 0)
    e5m2gemm::run<true>(&aMap, &bMap, &cMap, nullptr, aFactors, bFactors, M, N, K, {accumulator, outputScale});
}

extern "C" __global__ void __launch_bounds__(e5m2gemm::Product::kThreads, 1)
    multiplyAnyRows(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap, Output* c,
                    const float* aFactors, const float* bFactors, const u32* status, int M, int N, int K,
                    const float* accumulator, float outputScale) {
  if (status[0] == 0)
    e5m2gemm::run<false>(&aMap, &bMap, nullptr, c, aFactors, bFactors, M, N, K, {accumulator, outputScale});
}

extern "C" __global__ void widen(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, u16* aWide,
                                 u16* bWide, u32* status, long long aCount, long long bCount) {
  if (status[0] != 0) widenBoth(aCodes, bCodes, aScales, bScales, aWide, bWide, aCount, bCount, status + 1);
}

extern "C" __global__ void __launch_bounds__(bf16gemm::Product::kThreads, 1)
    multiplyWide(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap, const u32* status,
                 Output* c, int M, int N, int K, const float* accumulator, float outputScale) {
  if (status[0] != 0 && status[1] == 0)
    bf16gemm::run<false>(&aMap, &bMap, nullptr, c, M, N, K, 1.0f, {accumulator, outputScale});
}

extern "C" __global__ void __launch_bounds__(tiled::kThreads)
    fallback(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, const u32* status, Output* c, int M,
             int N, int K, const float* accumulator, float outputScale) {
  if (status[0] != 0 && status[1] != 0)
    tiled::multiply<double>(aCodes, bCodes, aScales, bScales, c, M, N, K, 1.0f, accumulator, outputScale);
}
