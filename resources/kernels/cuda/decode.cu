// decode: fp4 and fp8 formats, and fp4 weights under bf16 activations, for few rows of A on sm_90a,
// bound by reading B.
//
//   C (M, N) = A (M, K) x B (N, K) with one linear scale per SCALE_BLOCK elements along K; any N.
//   GROUPED: groups of rows of A, each with a matrix of B of its own, in one launch.
//
// 1. prepare: A to bf16; B's scales at a pitch that the copy engine takes, if theirs is none.
// 2. multiply<tokens>: starts while prepare runs (common/decode.cuh, common/decode_bf16.cuh).
// Or, where A is small and B's scales need no copy, multiplyAlone: each CTA makes A ready for
// itself.
//
// Products are exact, sums float32. Elements of C whose operands or sums leave that range are
// computed again in float64.
#include "common/decode_bf16.cuh"

extern "C" __global__ void __launch_bounds__(PREPARE_THREADS)
    prepare(const u8* aCodes, const u8* aScales, const u8* bScales, u16* aWide, u8* pitched, int M,
            int N, int K, int pitch, int blocksOfTokens, const int* groupStarts,
            const int* groupRows, int groups) {
  letDependentsStart();
  const long long first = ((long long)blockIdx.x * PREPARE_THREADS + threadIdx.x) * 8;
  const bool isInside = first < (long long)M * K;
  if (isInside && (!GROUPED || groupOfRow(groupStarts, groupRows, groups, (int)(first / K)) >= 0)) {
    decode::GivenTokens given;
    given.read(aCodes, aScales, first);
    u32 words[4];
    decode::prepareTokens(given, words);
    u32* block = reinterpret_cast<u32*>(aWide + first / decode::kOrderedK * decode::kOrderedK);
#pragma unroll
    for (int i = 0; i < 4; i++)
      block[decode::placeOfWord((int)(first % decode::kOrderedK), i)] = words[i];
  }
  decode::prepareScales(bScales, pitched, (int)blockIdx.x - blocksOfTokens,
                        (int)gridDim.x - blocksOfTokens, N, K / SCALE_BLOCK, pitch, groupRows,
                        groups);
}

#define BS_DECODE(NAME, OPERAND, TOKENS, TILES)                                                   \
  extern "C" __global__ void __launch_bounds__(decode::kThreads, 1) NAME(                         \
      const __grid_constant__ TensorMap codesMap, const __grid_constant__ TensorMap scalesMap,    \
      const __grid_constant__ TensorMap tokensMap, const u8* aCodes, const u8* bCodes,            \
      const u8* aScales, const u8* bScales, float* parts, u32* arrived, Output* c, int M, int N,  \
      int K, int splits, int share, int scalesAreMade, float tensorScale, const int* groupStarts, \
      const int* groupRows, int groups) {                                                         \
    decode::runTiles<decode::OPERAND<TOKENS, TILES>>(                                             \
        &codesMap, &scalesMap, &tokensMap,                                                        \
        {M, N, K, splits, share, groupStarts, groupRows, groups},                                 \
        {aCodes, bCodes, aScales, bScales, nullptr, parts, arrived, c, tensorScale},              \
        scalesAreMade);                                                                           \
  }
BS_DECODE(multiply8, Bf16, 8, 1)
BS_DECODE(multiply16, Bf16, 16, 1)
BS_DECODE(multiply32, Bf16, 32, 1)
BS_DECODE(multiply64, Bf16, 64, 1)
#if GROUPED
BS_DECODE(multiply8OfEight, Bf16OfEight, 8, 1)
BS_DECODE(multiply16OfEight, Bf16OfEight, 16, 1)
BS_DECODE(multiply32OfEight, Bf16OfEight, 32, 1)
BS_DECODE(multiply64OfEight, Bf16OfEight, 64, 1)
#else
#if B_FORMAT == 0
BS_DECODE(multiply16Pairs, Bf16, 16, 2)
#endif
BS_DECODE(multiply32Pairs, Bf16, 32, 2)
BS_DECODE(multiply64Pairs, Bf16, 64, 2)
#define BS_DECODE_ALONE(NAME, TOKENS, OF_EIGHT)                                                 \
  extern "C" __global__ void __launch_bounds__(decode::kThreads, 1) NAME(                       \
      const __grid_constant__ TensorMap codesMap, const __grid_constant__ TensorMap scalesMap,  \
      const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, float* parts,   \
      u32* arrived, Output* c, int M, int N, int K, int splits, int share, float tensorScale) { \
    decode::runTiles<decode::Bf16Alone<TOKENS, OF_EIGHT>>(                                      \
        &codesMap, &scalesMap, nullptr, {M, N, K, splits, share, nullptr, nullptr, 0},          \
        {aCodes, bCodes, aScales, bScales, nullptr, parts, arrived, c, tensorScale}, false);    \
  }
BS_DECODE_ALONE(multiplyAlone8, 8, false)
BS_DECODE_ALONE(multiplyAlone8OfEight, 8, true)
#if B_FORMAT != 0 || SCALE_BLOCK == 16
// With sums of blocks of fp4 as well, a thread has too few registers.
BS_DECODE_ALONE(multiplyAlone16, 16, false)
#endif
#endif
