// mfma-scale: block-scaled matrix instructions of a wave, `v_mfma_scale_f32_16x16x128_f8f6f4` or
// `_32x32x64_f8f6f4` by EDGE. gfx950.
//
//   C (M, N) = accumulator + tensorScale A (M, K) x B (N, K)^T, scales linear, or with SHUFFLED 1
//   in cdna4_mfma16 (EDGE 16) or cdna4_mfma32 (EDGE 32); any M, N, K a multiple of 32.
//
// Codes and scales go to the instruction as they are; it adds in float32.
#include "common/machine.h"

// All of these are constants of the manifest's row, whose grid relies on them.
typedef mfma::Tile<A_FORMAT, B_FORMAT, EDGE, SHUFFLED, TILE_M, TILE_N,
                   (A_FORMAT == 0 && B_FORMAT == 0) ? TILE_K_FP4 : TILE_K>
    Tile;
static_assert(Tile::kThreads == THREADS, "as the manifest's row has them");
static_assert(SCALE_FORMAT == 5 && SCALE_BLOCK == 32, "the instruction takes e8m0 per 32");

extern "C" __attribute__((global)) void __attribute__((amdgpu_flat_work_group_size(1, THREADS)))
__attribute__((amdgpu_waves_per_eu(1, 1)))
multiply(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, mfma::Output* c,
         int M, int N, int K, float tensorScale, const float* accumulator) {
  static __attribute__((shared)) __attribute__((aligned(16))) u8 lds[Tile::kBytes];
  const mfma::NativeMachine machine = {(LDS u8*)lds};
  mfma::run<Tile>(machine, {aCodes, bCodes, aScales, bScales, M, N, K}, {tensorScale, accumulator},
                  c);
}
