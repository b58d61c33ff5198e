// decode: fp4 and fp8 formats, and fp4 weights under bf16 activations, for few rows of A on sm_90a, bound by reading B.
//
//   C (M, N) = A (M, K) x B (N, K) with one linear scale per SCALE_BLOCK elements along K; any N.
//   GROUPED: groups of rows of A, each with a matrix of B of its own, in one launch.
//
// 1. prepare: A to bf16; B's scales at a pitch that the copy engine takes, if theirs is none.
// 2. multiply<tokens>: starts while prepare runs (common/decode.cuh, common/decode_bf16.cuh).
//
// Products are exact, sums float32. Elements of C whose operands or sums leave that range are computed again in float64.
#include "common/decode_bf16.cuh"

extern "C" __global__ void __launch_bounds__(PREPARE_THREADS)
    prepare(const u8* aCodes, const u8* aScales, const u8* bScales, u16* aWide, u8* pitched, u32* arrived, int M, int N, int K,
            int pitch, int tiles, int blocksOfTokens, const int* groupStarts, const int* groupRows, int groups) {
  letDependentsStart();
  const long long first = ((long long)blockIdx.x * PREPARE_THREADS + threadIdx.x) * 8;
  const bool isInside = first < (long long)M * K;
  if (isInside && (!GROUPED || groupOfRow(groupStarts, groupRows, groups, (int)(first / K)) >= 0))
    decode::prepareTokens(aCodes, aScales, aWide, first);
  decode::prepareRest(bScales, pitched, arrived, (int)blockIdx.x - blocksOfTokens, (int)gridDim.x - blocksOfTokens, N,
                      K / SCALE_BLOCK, pitch, tiles, groupRows, groups);
}

#define BS_DECODE(TOKENS)                                                                                                   \
  extern "C" __global__ void __launch_bounds__(decode::kThreads, 1) multiply##TOKENS(                                        \
      const __grid_constant__ TensorMap codesMap, const __grid_constant__ TensorMap scalesMap,                               \
      const __grid_constant__ TensorMap tokensMap, const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, \
      float* parts, u32* arrived, Output* c, int M, int N, int K, int splits, int scaleRows, int scalesAreMade, int tilesAtOnce, float tensorScale,           \
      const int* groupStarts, const int* groupRows, int groups) {                                                           \
    decode::run<decode::Bf16, TOKENS>(&codesMap, &scalesMap, &tokensMap, {M, N, K, splits, groupStarts, groupRows, groups},                                  \
                                      {aCodes, bCodes, aScales, bScales, nullptr, parts, arrived, c, tensorScale},            \
                                      {scaleRows, scalesAreMade != 0}, tilesAtOnce);                                                                       \
  }
BS_DECODE(8)
BS_DECODE(16)
BS_DECODE(32)
BS_DECODE(64)
