// mma-block-scale: block-scaled matrix instructions of a warp, `mma.sync ... block_scale`. sm_120a
// and sm_121a; with EMULATED 1 the same source on any GPU from sm_80 on, its matrix instruction
// computed lane by lane.
//
//   C (M, N) = tensorScale A (M, K) x B (N, K)^T, scales in nvidia_32_4_4; any M, N, K a multiple
//   of SCALE_BLOCK.
//
// Codes and scales go to the instruction as they are. Its sums keep 25 bits below the largest
// product of 32 (fp4 beside fp4: 35 below the largest sum of 16) and are cut off to float32
// (common/blockScale/sum.cuh).
#include "common/blockScale/gemm.cuh"
#include "common/blockScale/machine.cuh"

// TILE_K and STAGES are constants of the manifest's row, whose shared memory relies on them.
typedef blockscale::Tile<A_FORMAT, B_FORMAT, SCALE_FORMAT, SCALE_BLOCK, TILE_K,
                         (A_FORMAT == 0 && B_FORMAT == 0) ? STAGES_FP4 : STAGES>
    Tile;
static_assert(Tile::kTileM == TILE_M && Tile::kTileN == TILE_N && Tile::kThreads == THREADS,
              "as the manifest's row has them");

#if EMULATED
typedef blockscale::EmulatedMachine Machine;
#else
typedef blockscale::NativeMachine Machine;
#endif

extern "C" __global__ void __launch_bounds__(Tile::kThreads)
    multiply(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales, Output* c,
             int M, int N, int K, float tensorScale) {
  if (dynamicSharedBytes() < Tile::kBytes || blockDim.x != Tile::kThreads) asm volatile("trap;");
  blockscale::run<Tile>(Machine(), {aCodes, bCodes, aScales, bScales, M, N, K}, tensorScale, c);
}
