// wgmma-fp8-folded: fp8 and fp4 elements with e8m0 scales on the fp8 tensor cores of sm_90a, nearly
// exact.
//
//   C (M, N) = outputScale (A (M, K) x B (N, K) + accumulator (M, N)), one linear e8m0 scale per 32
//   elements along K; any M, N.
//
// 1. encode: scales into the elements' exponents against a power of two for each row, or, in rows
//    of A where that does not do, for each 128 elements of K (common/fold.cuh).
// 2. multiply: fp8 product, promoted to float32 every PROMOTION elements (common/gemm_fp8.cuh),
//    then times the powers of rows; those of A's chunks where sums are promoted, if it has any.
// 3. Only if scales lie further apart than elements can lose: common/beyondFp8.cuh.
//
// status[0]: scales of a chunk of A or a row of B lie too far apart, or something is NaN or
// infinite. status[2]: rows of A have powers of chunks.
//
// The same for groups of rows with a matrix of B of their own each (GROUPED), as in wgmma.cu.
#include "common/beyondFp8.cuh"
#include "common/fold.cuh"
#include "common/gemm_fp8.cuh"

static_assert(SCALE_FORMAT == 5 && SCALE_BLOCK == 32,
              "a scale is a power of two, its block a step of the tensor cores");
static_assert(A_FORMAT != 0 || B_FORMAT != 0, "two operands of e2m1 are wgmma_fp8.cu's");

using Product = fp8gemm::Product<Folded<A_FORMAT>::kFormat, Folded<B_FORMAT>::kFormat>;
static_assert(Product::kElements == kChunk && PROMOTION <= kChunk, "a partial sum is of one chunk");

// Exponents of one chunk, to the end of the last tile; tiles of groups begin at any row.
__device__ inline int exponentRows(int M) {
  constexpr int kTileRows = TILE_M * CLUSTER;
  return (gemm::ceilDiv(M, kTileRows) + GROUPED) * kTileRows;
}

// Powers of A's rows lie behind those of its chunks, of which there is one more than K has.
__device__ inline float* rowFactors(u8* aFactors, int M, int K) {
  return reinterpret_cast<float*>(aFactors + (gemm::ceilDiv(K, kChunk) + 1LL) * exponentRows(M));
}

__device__ inline bool encodeRow(const u8* aCodes, const u8* bCodes, const u8* aScales,
                                 const u8* bScales, u8* aEncoded, u8* bEncoded, u8* aFactors,
                                 float* bFactors, u32* hasChunks, int M, int K) {
  const bool isA = blockIdx.x < M;
  const long long row = isA ? blockIdx.x : blockIdx.x - M;
  if (isA) {
    const u8* codes = aCodes + row * packedRowBytes<A_FORMAT>(K);
    const u8* scales = aScales + row * (K / 32);
    u8 *folded = aEncoded + row * K, *exponents = aFactors + row;
    return foldRow<A_FORMAT, true>(codes, scales, folded, rowFactors(aFactors, M, K) + row,
                                   {exponents, exponentRows(M), hasChunks}, K);
  }
  return foldRow<B_FORMAT, false>(bCodes + row * packedRowBytes<B_FORMAT>(K),
                                  bScales + row * (K / 32), bEncoded + row * K, bFactors + row, {},
                                  K);
}

// A's powers of two for the two rows of a thread, chunk after chunk: each is on its way while the
// chunk before is multiplied.
struct PowersOfChunks {
  const u8* from;
  int rows;
  u32 coming[2];
  float power[2];
  __device__ PowersOfChunks(const u8* exponents, int rows) : from(exponents), rows(rows) { load(); }
  __device__ void load() {
#pragma unroll
    for (int half = 0; half < 2; half++) coming[half] = from[8 * half];
  }
  __device__ void advance() {
#pragma unroll
    for (int half = 0; half < 2; half++) power[half] = __int_as_float(coming[half] << 23);
    from += rows;  // behind the last chunk lies one more
    load();
  }
  __device__ float ofRow(int half) const { return power[half]; }
};

struct Factors : gemm::FactorsOfRowsAndColumns<Product, false> {
  const u8* exponents;
  int rows;
  __device__ PowersOfChunks powers(int row0) const {
    return {exponents + row0 + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4, rows};
  }
};

__device__ inline auto factorsOf(const u8* aFactors, const float* bFactors, int M) {
  return [=](gemm::Shared<Product> shared, int group) {
    return Factors{
        {nullptr, bFactors, shared.factors(group), 1 + group}, aFactors, exponentRows(M)};
  };
}

#if GROUPED
// Eight blocks: left to itself the compiler takes fewer registers for a ninth, and spills.
extern "C" __global__ void __launch_bounds__(kEncodeThreads, 8)
    encodeAllGroups(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales,
                    u8* aEncoded, u8* bEncoded, u8* aFactors, float* bFactors, u32* status,
                    const int* groupStarts, const int* groupRows, int* tileEnds, int* slowTileEnds,
                    int groups, int M, int N, int K) {
  letDependentsStart();
  if (takesRow(groupStarts, groupRows, groups, M, N, kClusterRows, tileEnds, tiled::kTile,
               slowTileEnds) &&
      encodeRow(aCodes, bCodes, aScales, bScales, aEncoded, bEncoded, aFactors, bFactors,
                status + 2, M, K))
    *status = 1;
}

template <bool ByEngine>
__device__ inline void runGroups(const TensorMap* aMap, const TensorMap* bMap,
                                 const TensorMap* cMap, Output* c, GroupTables of, u8* aFactors,
                                 const float* bFactors, const u32* status, int M, int N, int K,
                                 gemm::Finish finish) {
  if (status[2] == 0)
    return fp8gemm::runGroups<ByEngine, Product>(
        aMap, bMap, cMap, c, of, rowFactors(aFactors, M, K), bFactors, N, K, finish);
  const gemm::GroupedShape<Product> shape{of, N, gemm::stepsOf<Product>(K)};
  gemm::runOver<Product, ByEngine>(shape, aMap, bMap, cMap, c, factorsOf(aFactors, bFactors, M),
                                   finish);
}

extern "C" __global__ void __launch_bounds__(Product::kThreads, 1)
    multiplyGroups(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
                   const __grid_constant__ TensorMap cMap, Output* c, u8* aFactors,
                   const float* bFactors, const u32* status, const int* groupStarts,
                   const int* groupRows, const int* tileEnds, int groups, int M, int N, int K,
                   const float* accumulator, float outputScale) {
  waitForPredecessor();
  letDependentsStart();
  if (status[0] == 0)
    runGroups<true>(&aMap, &bMap, &cMap, c, {groupStarts, groupRows, tileEnds, groups}, aFactors,
                    bFactors, status, M, N, K, {accumulator, outputScale});
}

extern "C" __global__ void __launch_bounds__(Product::kThreads, 1)
    multiplyGroupsAnyRows(const __grid_constant__ TensorMap aMap,
                          const __grid_constant__ TensorMap bMap, Output* c, u8* aFactors,
                          const float* bFactors, const u32* status, const int* groupStarts,
                          const int* groupRows, const int* tileEnds, int groups, int M, int N,
                          int K, const float* accumulator, float outputScale) {
  waitForPredecessor();
  letDependentsStart();
  if (status[0] == 0)
    runGroups<false>(&aMap, &bMap, nullptr, c, {groupStarts, groupRows, tileEnds, groups}, aFactors,
                     bFactors, status, M, N, K, {accumulator, outputScale});
}
#else
extern "C" __global__ void __launch_bounds__(kEncodeThreads)
    encode(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, u8* aEncoded,
           u8* bEncoded, u8* aFactors, float* bFactors, u32* status, int M, int K) {
  letDependentsStart();
  if (encodeRow(aCodes, bCodes, aScales, bScales, aEncoded, bEncoded, aFactors, bFactors,
                status + 2, M, K))
    *status = 1;
}

template <bool ByEngine>
__device__ inline void run(const TensorMap* aMap, const TensorMap* bMap, const TensorMap* cMap,
                           Output* c, u8* aFactors, const float* bFactors, const u32* status, int M,
                           int N, int K, gemm::Finish finish) {
  if (status[2] == 0)
    fp8gemm::run<ByEngine, Product>(aMap, bMap, cMap, c, rowFactors(aFactors, M, K), bFactors, M, N,
                                    K, finish);
  else
    gemm::run<Product, ByEngine>(aMap, bMap, cMap, c, M, N, K, factorsOf(aFactors, bFactors, M),
                                 finish);
}

extern "C" __global__ void __launch_bounds__(Product::kThreads, 1)
    multiply(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
             const __grid_constant__ TensorMap cMap, u8* aFactors, const float* bFactors,
             const u32* status, u32*, int M, int N, int K, const float* accumulator,
             float outputScale) {
  waitForPredecessor();
  letDependentsStart();
  if (status[0] == 0)
    run<true>(&aMap, &bMap, &cMap, nullptr, aFactors, bFactors, status, M, N, K,
              {accumulator, outputScale});
}

extern "C" __global__ void __launch_bounds__(Product::kThreads, 1)
    multiplyAnyRows(const __grid_constant__ TensorMap aMap, const __grid_constant__ TensorMap bMap,
                    Output* c, u8* aFactors, const float* bFactors, const u32* status, u32*, int M,
                    int N, int K, const float* accumulator, float outputScale) {
  waitForPredecessor();
  letDependentsStart();
  if (status[0] == 0)
    run<false>(&aMap, &bMap, nullptr, c, aFactors, bFactors, status, M, N, K,
               {accumulator, outputScale});
}
#endif
