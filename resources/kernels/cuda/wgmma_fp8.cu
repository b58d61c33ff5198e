// wgmma-fp8: MXFP4 on the fp8 tensor cores of sm_90a.
//
//   C (M, N) = outputScale (A (M, K) x B (N, K) + accumulator (M, N)), e2m1 with one linear e8m0
//   scale per 32 elements along K; any M, N.
//
// 1. encode: both operands to e5m2 with a power of two per row taken out (common/reencode.cuh):
//    exact in a window of 29 binades a row.
// 2. multiply: e5m2 product, promoted to float32 every PROMOTION elements (common/gemm_fp8.cuh),
//    times the two powers. PROMOTION 32 sums exactly inside the window; longer intervals trade bits
//    for speed. PROMOTION 0 takes, for each tile and 256 elements of K, the longest one that encode
//    proves exact there (common/promotionProof.cuh).
// 3. Only if a row needs more than the window: common/beyondFp8.cuh.
//
// status[0]: a row is outside the window. From status[4] on: the proofs.
//
// The same for groups of rows with a matrix of B of their own each (GROUPED), as in wgmma.cu.
#include "common/beyondFp8.cuh"
#include "common/gemm_fp8.cuh"
#include "common/reencode.cuh"

static_assert(A_FORMAT == 0 && B_FORMAT == 0 && SCALE_FORMAT == 5,
              "MXFP4 only: other elements need more bits than e5m2 has");

#if GROUPED
extern "C" __global__ void __launch_bounds__(kEncodeThreads)
    encodeAllGroups(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales,
                    u8* aEncoded, u8* bEncoded, float* aFactors, float* bFactors, u32* status,
                    const int* groupStarts, const int* groupRows, int* tileEnds, int* slowTileEnds,
                    int groups, int M, int N, int K) {
  letDependentsStart();
  if (!takesRow(groupStarts, groupRows, groups, M, N, kClusterRows, tileEnds, tiled::kTile,
                slowTileEnds))
    return;
  const bool isA = blockIdx.x < M;
  const long long row = isA ? blockIdx.x : blockIdx.x - M;
  const bool outside = reencodeRow<Order::kAsPacked>(
      (isA ? aCodes : bCodes) + row * (K / 2), (isA ? aScales : bScales) + row * (K / 32),
      (isA ? aEncoded : bEncoded) + row * K, (isA ? aFactors : bFactors) + row, K);
  if (outside) *status = 1;
}

extern "C" __global__ void __launch_bounds__(fp8gemm::Product<4, 4>::kThreads, 1)
    multiplyGroups(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
                   const __grid_constant__ TensorMap cMap, Output* c, const float* aFactors,
                   const float* bFactors, const u32* status, const int* groupStarts,
                   const int* groupRows, const int* tileEnds, int groups, int, int N, int K,
                   const float* accumulator, float outputScale) {
  waitForPredecessor();
  letDependentsStart();
  if (status[0] == 0)
    fp8gemm::runGroups<true>(&aMap, &bMap, &cMap, c, {groupStarts, groupRows, tileEnds, groups},
                             aFactors, bFactors, N, K, {accumulator, outputScale});
}

extern "C" __global__ void __launch_bounds__(fp8gemm::Product<4, 4>::kThreads, 1)
    multiplyGroupsAnyRows(const __grid_constant__ TensorMap aMap,
                          const __grid_constant__ TensorMap bMap, Output* c, const float* aFactors,
                          const float* bFactors, const u32* status, const int* groupStarts,
                          const int* groupRows, const int* tileEnds, int groups, int, int N, int K,
                          const float* accumulator, float outputScale) {
  waitForPredecessor();
  letDependentsStart();
  if (status[0] == 0)
    fp8gemm::runGroups<false>(&aMap, &bMap, nullptr, c, {groupStarts, groupRows, tileEnds, groups},
                              aFactors, bFactors, N, K, {accumulator, outputScale});
}
#else
__device__ inline Proofs proofsIn(u32* status, int M, int K) {
  return {reinterpret_cast<Proof*>(status + 4), M, K};
}

extern "C" __global__ void __launch_bounds__(kEncodeThreads)
    encode(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, u8* aEncoded,
           u8* bEncoded, float* aFactors, float* bFactors, u32* status, int M, int K) {
  letDependentsStart();
  const bool isA = blockIdx.x < M;
  const int index = isA ? blockIdx.x : blockIdx.x - M;
  const long long row = index;
#if PROMOTION == 0
  const Proofs proofs = proofsIn(status, M, K);
  const RowProof seen{proofs.of + (isA ? proofs.ofRow(index) : proofs.ofColumn(index)),
                      proofs.count};
#else
  const SeesNothing seen;
#endif
  const bool outside = reencodeRow<Order::kAsPacked>(
      (isA ? aCodes : bCodes) + row * (K / 2), (isA ? aScales : bScales) + row * (K / 32),
      (isA ? aEncoded : bEncoded) + row * K, (isA ? aFactors : bFactors) + row, K, seen);
  if (outside) *status = 1;
}

template <bool ByEngine>
__device__ inline void multiplied(const TensorMap* aMap, const TensorMap* bMap,
                                  const TensorMap* cMap, Output* c, const float* aFactors,
                                  const float* bFactors, u32* status, u32* counters, int M, int N,
                                  int K, gemm::Finish finish) {
  waitForPredecessor();
  letDependentsStart();
  if (status[0] != 0) return;
#if PROMOTION == 0
  const ProvedIntervals guide(proofsIn(status, M, K), counters);
#else
  const gemm::NoGuide guide;
#endif
  fp8gemm::run<ByEngine>(aMap, bMap, cMap, c, aFactors, bFactors, M, N, K, finish, guide);
}

extern "C" __global__ void __launch_bounds__(fp8gemm::Tile::kThreads, 1)
    multiply(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
             const __grid_constant__ TensorMap cMap, const float* aFactors, const float* bFactors,
             u32* status, u32* counters, int M, int N, int K, const float* accumulator,
             float outputScale) {
  multiplied<true>(&aMap, &bMap, &cMap, nullptr, aFactors, bFactors, status, counters, M, N, K,
                   {accumulator, outputScale});
}

extern "C" __global__ void __launch_bounds__(fp8gemm::Tile::kThreads, 1)
    multiplyAnyRows(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
                    Output* c, const float* aFactors, const float* bFactors, u32* status,
                    u32* counters, int M, int N, int K, const float* accumulator,
                    float outputScale) {
  multiplied<false>(&aMap, &bMap, nullptr, c, aFactors, bFactors, status, counters, M, N, K,
                    {accumulator, outputScale});
}
#endif
