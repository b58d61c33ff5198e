// decode: fp4 and fp8 formats, and fp4 weights under bf16 activations, for few rows of A on sm_90a,
// bound by reading B.
//
//   C (M, N) = A (M, K) x B (N, K) with one linear scale per SCALE_BLOCK elements along K; any N.
//   GROUPED: groups of rows of A, each with a matrix of B of its own, in one launch.
//
// 1. prepare: A to bf16, of NVFP4 to float16; B's scales at a pitch that the copy engine takes, if
//    theirs is none.
// 2. multiply<tokens>: starts while prepare runs (common/decode.cuh, common/decode_bf16.cuh).
//    ..Pairs has two tiles at a time, ..Rest those beyond whole turns first, in parts.
//    ..AsTheyAre has no launch before: up to 16 rows of fp8 by fp8 (common/decode_f16.cuh).
//
// Products are exact, sums float32. Elements of C whose operands or sums leave that range are
// computed again in float64.
#include "common/decode_bf16.cuh"

#define BOTH_ARE_FP8 (A_FORMAT >= 3 && A_FORMAT <= 4 && B_FORMAT >= 3 && B_FORMAT <= 4)
#if BOTH_ARE_FP8
#include "common/decode_f16.cuh"
#endif

extern "C" __global__ void __launch_bounds__(PREPARE_THREADS)
    prepare(const u8* aCodes, const u8* aScales, const u8* bScales, u16* aWide, u8* pitched, int M,
            int N, int K, int pitch, int blocksOfTokens, const int* groupStarts,
            const int* groupRows, int groups) {
  letDependentsStart();
  using decode::TokenBlock;
  const long long first =
      ((long long)blockIdx.x * PREPARE_THREADS + threadIdx.x) * TokenBlock::kElements;
  const bool isInside = first < (long long)M * K;
  if (isInside && (!GROUPED || groupOfRow(groupStarts, groupRows, groups, (int)(first / K)) >= 0)) {
    TokenBlock block;
    block.read(aCodes, aScales, first);
    uint4* numbers = reinterpret_cast<uint4*>(aWide + first);
    block.make<decode::kSumsMayBeScaled>([&](int piece, uint4 words) { numbers[piece] = words; });
  }
  decode::prepareScales(bScales, pitched, (int)blockIdx.x - blocksOfTokens,
                        (int)gridDim.x - blocksOfTokens, N, K / SCALE_BLOCK, pitch, groupRows,
                        groups);
}

#define BS_DECODE(NAME, OPERAND, TOKENS, TILES)                                                \
  extern "C" __global__ void __launch_bounds__(decode::kThreads, 1) NAME(                      \
      const __grid_constant__ TensorMap codesMap, const __grid_constant__ TensorMap scalesMap, \
      const __grid_constant__ TensorMap tokensMap, const u8* aCodes, const u8* bCodes,         \
      const u8* aScales, const u8* bScales, float* parts, Output* c, int M, int N, int K,      \
      int splits, int share, int depth, int scalesAreMade, float tensorScale,                  \
      const int* groupStarts, const int* groupRows, int groups) {                              \
    decode::runTiles<decode::OPERAND<TOKENS, TILES>>(                                          \
        {&codesMap, &scalesMap, &tokensMap},                                                   \
        {M, N, K, splits, share, depth, groupStarts, groupRows, groups},                       \
        {aCodes, bCodes, aScales, bScales, nullptr, parts, c, tensorScale}, scalesAreMade);    \
  }
BS_DECODE(multiply8, Bf16, 8, 1)
BS_DECODE(multiply16, Bf16, 16, 1)
BS_DECODE(multiply32, Bf16, 32, 1)
BS_DECODE(multiply64, Bf16, 64, 1)
BS_DECODE(multiply8OfEight, Bf16OfEight, 8, 1)
BS_DECODE(multiply16OfEight, Bf16OfEight, 16, 1)
BS_DECODE(multiply32OfEight, Bf16OfEight, 32, 1)
BS_DECODE(multiply64OfEight, Bf16OfEight, 64, 1)
#if !GROUPED
#if B_FORMAT == 0
BS_DECODE(multiply16Pairs, Bf16, 16, 2)
#endif
BS_DECODE(multiply32Pairs, Bf16, 32, 2)
BS_DECODE(multiply64Pairs, Bf16, 64, 2)

#define BS_DECODE_REST(NAME, TOKENS)                                                           \
  extern "C" __global__ void __launch_bounds__(decode::kThreads, 1) NAME(                      \
      const __grid_constant__ TensorMap codesMap, const __grid_constant__ TensorMap scalesMap, \
      const __grid_constant__ TensorMap tokensMap, const u8* aCodes, const u8* bCodes,         \
      const u8* aScales, const u8* bScales, float* parts, Output* c, int M, int N, int K,      \
      int share, int rest, int restParts, float tensorScale) {                                 \
    decode::runTiles<decode::Bf16<TOKENS, 1>, true>(                                           \
        {&codesMap, &scalesMap, &tokensMap},                                                   \
        {M, N, K, 1, share, 0, nullptr, nullptr, 0, rest, restParts},                          \
        {aCodes, bCodes, aScales, bScales, nullptr, parts, c, tensorScale}, false);            \
  }
BS_DECODE_REST(multiply32Rest, 32)
BS_DECODE_REST(multiply64Rest, 64)

#if BOTH_ARE_FP8
#define BS_DECODE_AS_THEY_ARE(NAME, TOKENS)                                                    \
  extern "C" __global__ void __launch_bounds__(decode::kThreads, 1) NAME(                      \
      const __grid_constant__ TensorMap codesMap, const __grid_constant__ TensorMap scalesMap, \
      const __grid_constant__ TensorMap tokensMap,                                             \
      const __grid_constant__ TensorMap tokenScalesMap, const u8* aCodes, const u8* bCodes,    \
      const u8* aScales, const u8* bScales, float* parts, Output* c, int M, int N, int K,      \
      int splits, int share) {                                                                 \
    decode::runTiles<decode::F16<TOKENS>>(                                                     \
        {&codesMap, &scalesMap, &tokensMap, &tokenScalesMap},                                  \
        {M, N, K, splits, share, 0, nullptr, nullptr, 0},                                      \
        {aCodes, bCodes, aScales, bScales, nullptr, parts, c, 1.0f}, false);                   \
  }
BS_DECODE_AS_THEY_ARE(multiply8AsTheyAre, 8)
BS_DECODE_AS_THEY_ARE(multiply16AsTheyAre, 16)
#endif
#endif
