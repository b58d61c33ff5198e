// decode-mma: fp4 and fp8 formats, and fp4 weights under bf16 activations, for few rows of A by
// mma.sync. sm_80 and later.
//
//   C (M, N) = outputScale (A (M, K) x B (N, K) + accumulator (M, N)) with one linear scale per
//   SCALE_BLOCK elements along K; any M, N; or that for each group of rows with a matrix of B of
//   its own.
//
// A CTA multiplies 16 or 32 rows of B by at most 16 of A (common/decode_mma.cuh), more are blocks,
// CTAs beside one another, of which all but one read B from L2: a grid's x; its y are tiles. With
// one row of A, x are. Products are exact, sums float32.
// Elements of C whose operands or sums leave that range are computed again in float64.
#include "common/decode_mma.cuh"
#include "common/groups.cuh"

// What stands before a CTA's first loads is some of a small product's time. So its own number is
// read first of all (`hidden`), where the compiler would read it between loads, and in some kernels
// again in every turn; and what addresses are of comes first among the arguments, in one line of
// their cache.

#if GROUPED
extern "C" __global__ void placeTiles(const int* groupRows, int* tileEnds, int groups,
                                      int rowsOfTile) {
  cumulateTiles(groupRows, groups, rowsOfTile, tileEnds);
}

// As many blocks as there may be tile rows; those beyond have nothing to do.
#define BS_DECODE_MMA(NAME, COLUMNS, TILES, WARPS, AT_ONCE)                                        \
  extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_ONCE)                                \
      NAME(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, int M, int N, \
           int K, Output* c, float tensorScale, const float* accumulator, float outputScale,       \
           const int* groupStarts, const int* groupRows, const int* tileEnds, int groups) {        \
    const GroupTables of = {groupStarts, groupRows, tileEnds, groups};                             \
    const int tile = hidden((int)blockIdx.y), block = (int)blockIdx.x;                             \
    if (block >= of.tileRows()) return;                                                            \
    const GroupTileRow place = groupTileRow(of, block, COLUMNS);                                   \
    const long long matrix = (long long)place.group * N;                                           \
    decode::multiplyRows<COLUMNS, TILES, WARPS>(                                                   \
        {aCodes, bCodes + packedRowBytes<B_FORMAT>(matrix * K), aScales,                           \
         bScales + matrix * (K / SCALE_BLOCK)},                                                    \
        c, tile * (TILES * decode::kRowsOfTile), place.row, place.end, N, K, tensorScale,          \
        accumulator, outputScale);                                                                 \
  }
#else
#define BS_DECODE_MMA(NAME, COLUMNS, TILES, WARPS, AT_ONCE)                                        \
  extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_ONCE)                                \
      NAME(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, int M, int N, \
           int K, Output* c, float tensorScale, const float* accumulator, float outputScale) {     \
    decode::multiplyRows<COLUMNS, TILES, WARPS>(                                                   \
        {aCodes, bCodes, aScales, bScales}, c,                                                     \
        hidden((int)(COLUMNS == 1 ? blockIdx.x : blockIdx.y)) * (TILES * decode::kRowsOfTile),     \
        COLUMNS == 1 ? 0 : (int)blockIdx.x * COLUMNS, M, N, K, tensorScale, accumulator,           \
        outputScale);                                                                              \
  }
#endif

// Tiles alone, and pairs, for so many rows of A; AT_ONCE: CTAs of sixteen warps, or as many of
// fewer, that a multiprocessor must have registers for.
#define BS_DECODE_TILES(COLUMNS, AT_ONCE)                               \
  BS_DECODE_MMA(multiply##COLUMNS##By4, COLUMNS, 1, 4, (4 * (AT_ONCE))) \
  BS_DECODE_MMA(multiply##COLUMNS##By8, COLUMNS, 1, 8, (2 * (AT_ONCE))) \
  BS_DECODE_MMA(multiply##COLUMNS##By16, COLUMNS, 1, 16, AT_ONCE)
BS_DECODE_TILES(8, 1)
BS_DECODE_TILES(16, 1)
#if !GROUPED
#define BS_DECODE_PAIRS(COLUMNS)                               \
  BS_DECODE_MMA(multiply##COLUMNS##PairsBy4, COLUMNS, 2, 4, 4) \
  BS_DECODE_MMA(multiply##COLUMNS##PairsBy8, COLUMNS, 2, 8, 2)
BS_DECODE_PAIRS(8)
BS_DECODE_MMA(multiply16PairsBy12, 16, 2, 12, 1)
// Pairs alone on a multiprocessor: by as many warps as there are registers for, or twelve where
// these have as many turns.
#if B_FORMAT == 0
BS_DECODE_MMA(multiply8PairsBy12, 8, 2, 12, 1)
BS_DECODE_TILES(1, 1)
BS_DECODE_PAIRS(1)
BS_DECODE_MMA(multiply1PairsBy12, 1, 2, 12, 1)
BS_DECODE_MMA(multiply1PairsBy16, 1, 2, 16, 1)
#else
BS_DECODE_MMA(multiply8PairsBy16, 8, 2, 16, 1)
// Where float16 leaves little to do but loads, more of them are under way by more warps (timed on
// an H200; an sm_120 would spill); five tiles of six warps at once, where a multiprocessor has
// five.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
BS_DECODE_TILES(1, 2)
BS_DECODE_MMA(multiply1By6, 1, 1, 6, 5)
#else
BS_DECODE_TILES(1, 1)
BS_DECODE_MMA(multiply1By6, 1, 1, 6, 2)
#endif
#endif
#endif
