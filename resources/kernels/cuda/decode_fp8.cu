// decode-fp8: MXFP4 for few rows of A on sm_90a, and NVFP4 for at most four, bound by reading B.
//
//   C (M, N) = A (M, K) x B (N, K), e2m1 with one linear scale per 32 (e8m0) or 16 (ue4m3) elements
//   along K; any N.
//   GROUPED (MXFP4): groups of rows of A, each with a matrix of B of its own, in one launch.
//
// 1. prepare: A's rows to e5m2 with a power of two each taken out; B's scales at a pitch that the
//    copy engine takes, if theirs is none.
// 2. multiply<tokens>: starts while prepare runs (common/decode.cuh, common/decode_e5m2.cuh).
//    ..Pairs has two tiles at a time, ..Rest those beyond whole turns first, in parts.
// Or, where A is small and B's scales need no copy, as NVFP4 must be, multiplyAlone: each CTA makes
// A ready for itself (common/decode_nvfp4.cuh).
//
// Sums of a block are exact, sums of blocks float32. Elements of C whose rows need more than e5m2's
// window, or whose sums leave float32's range, are computed again in float64.
#if SCALE_BLOCK == 16
#include "common/decode_nvfp4.cuh"

static_assert(A_FORMAT == 0 && B_FORMAT == 0 && !GROUPED, "NVFP4 only, and one product");

#define BS_DECODE_ALONE(NAME, OF_EIGHT)                                                        \
  extern "C" __global__ void __launch_bounds__(decode::kThreads, 1) NAME(                      \
      const __grid_constant__ TensorMap codesMap, const __grid_constant__ TensorMap scalesMap, \
      const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, float* parts,  \
      Output* c, int M, int N, int K, int splits, int share, int depth, float tensorScale) {   \
    decode::runTiles<decode::Nvfp4Of<OF_EIGHT>>(                                               \
        {&codesMap, &scalesMap}, {M, N, K, splits, share, depth, nullptr, nullptr, 0},         \
        {aCodes, bCodes, aScales, bScales, nullptr, parts, c, tensorScale}, false);            \
  }
BS_DECODE_ALONE(multiplyAlone4, false)
BS_DECODE_ALONE(multiplyAlone4OfEight, true)
#else
#include "common/decode_e5m2.cuh"

static_assert(A_FORMAT == 0 && B_FORMAT == 0 && SCALE_FORMAT == 5 && SCALE_BLOCK == 32,
              "MXFP4 only");

extern "C" __global__ void __launch_bounds__(kEncodeThreads)
    prepare(const u8* aCodes, const u8* aScales, const u8* bScales, u8* aEncoded, float* aFactors,
            u8* pitched, int M, int N, int K, int pitch, const int* groupStarts,
            const int* groupRows, int groups) {
  letDependentsStart();
  if (blockIdx.x < M &&
      (!GROUPED || groupOfRow(groupStarts, groupRows, groups, (int)blockIdx.x) >= 0)) {
    const long long row = blockIdx.x;
    const bool isOutside = reencodeRow<Order::kEvenThenOdd>(
        aCodes + row * (K / 2), aScales + row * (K / 32), aEncoded + row * K, aFactors + row, K);
    // NaN makes every sum of the row NaN, and NaN is computed again.
    if (__syncthreads_or(isOutside) && threadIdx.x == 0) aEncoded[row * K] = 0x7f;
  }
  decode::prepareScales(bScales, pitched, (int)blockIdx.x - M, (int)gridDim.x - M, N,
                        K / SCALE_BLOCK, pitch, groupRows, groups);
}

#define BS_DECODE(NAME, OPERAND, TOKENS, TILES)                                                    \
  extern "C" __global__ void __launch_bounds__(decode::kThreads, 1) NAME(                          \
      const __grid_constant__ TensorMap codesMap, const __grid_constant__ TensorMap scalesMap,     \
      const __grid_constant__ TensorMap tokensMap, const u8* aCodes, const u8* bCodes,             \
      const u8* aScales, const u8* bScales, const float* aFactors, float* parts, Output* c, int M, \
      int N, int K, int splits, int share, int depth, int scalesAreMade, const int* groupStarts,   \
      const int* groupRows, int groups) {                                                          \
    decode::runTiles<decode::OPERAND<TOKENS, TILES>>(                                              \
        {&codesMap, &scalesMap, &tokensMap},                                                       \
        {M, N, K, splits, share, depth, groupStarts, groupRows, groups},                           \
        {aCodes, bCodes, aScales, bScales, aFactors, parts, c, 1.0f}, scalesAreMade);              \
  }
BS_DECODE(multiply8, Mxfp4, 8, 1)
BS_DECODE(multiply16, Mxfp4, 16, 1)
BS_DECODE(multiply32, Mxfp4, 32, 1)
BS_DECODE(multiply64, Mxfp4, 64, 1)
BS_DECODE(multiply8OfEight, Mxfp4OfEight, 8, 1)
BS_DECODE(multiply16OfEight, Mxfp4OfEight, 16, 1)
BS_DECODE(multiply32OfEight, Mxfp4OfEight, 32, 1)
BS_DECODE(multiply64OfEight, Mxfp4OfEight, 64, 1)
#if !GROUPED
BS_DECODE(multiply32Pairs, Mxfp4, 32, 2)
BS_DECODE(multiply64Pairs, Mxfp4, 64, 2)

#define BS_DECODE_REST(NAME, TOKENS)                                                               \
  extern "C" __global__ void __launch_bounds__(decode::kThreads, 1) NAME(                          \
      const __grid_constant__ TensorMap codesMap, const __grid_constant__ TensorMap scalesMap,     \
      const __grid_constant__ TensorMap tokensMap, const u8* aCodes, const u8* bCodes,             \
      const u8* aScales, const u8* bScales, const float* aFactors, float* parts, Output* c, int M, \
      int N, int K, int share, int rest, int restParts) {                                          \
    decode::runTiles<decode::Mxfp4<TOKENS, 1>, true>(                                              \
        {&codesMap, &scalesMap, &tokensMap},                                                       \
        {M, N, K, 1, share, 0, nullptr, nullptr, 0, rest, restParts},                              \
        {aCodes, bCodes, aScales, bScales, aFactors, parts, c, 1.0f}, false);                      \
  }
BS_DECODE_REST(multiply32Rest, 32)
BS_DECODE_REST(multiply64Rest, 64)

#define BS_DECODE_ALONE(NAME, TOKENS, OF_EIGHT)                                                \
  extern "C" __global__ void __launch_bounds__(decode::kThreads, 1) NAME(                      \
      const __grid_constant__ TensorMap codesMap, const __grid_constant__ TensorMap scalesMap, \
      const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, float* parts,  \
      Output* c, int M, int N, int K, int splits, int share, int depth) {                      \
    decode::runTiles<decode::Mxfp4Alone<TOKENS, OF_EIGHT>>(                                    \
        {&codesMap, &scalesMap}, {M, N, K, splits, share, depth, nullptr, nullptr, 0},         \
        {aCodes, bCodes, aScales, bScales, nullptr, parts, c, 1.0f}, false);                   \
  }
BS_DECODE_ALONE(multiplyAlone8, 8, false)
BS_DECODE_ALONE(multiplyAlone8OfEight, 8, true)
BS_DECODE_ALONE(multiplyAlone16, 16, false)
BS_DECODE_ALONE(multiplyAlone16OfEight, 16, true)
#endif
#endif
