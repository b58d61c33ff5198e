// mma-block-scale: block-scaled matrix instructions of a warp, `mma.sync ... block_scale`. sm_120a
// and sm_121a; with EMULATED 1 the same source on any GPU from sm_90 on, its matrix instruction
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

template <class Loader>
__device__ inline void multiplyBy(const Loader& loader, Output* c, int M, int N, int K,
                                  float tensorScale) {
  if (dynamicSharedBytes() < Tile::kBytes || blockDim.x != Tile::kThreads) trap();
  blockscale::run<Tile>(Machine(), loader, {M, N, K}, tensorScale, c);
}

// Where TMA takes the operands' rows.
extern "C" __global__ void __launch_bounds__(Tile::kThreads, 1)
    multiply(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
             const __grid_constant__ TensorMap aScales, const __grid_constant__ TensorMap bScales,
             Output* c, int M, int N, int K, float tensorScale) {
  multiplyBy(blockscale::BoxLoader<Tile, blockscale::Maps>{{&a, &b, &aScales, &bScales}}, c, M, N,
             K, tensorScale);
}

// Where it does not.
extern "C" __global__ void __launch_bounds__(Tile::kThreads, 1)
    multiplyByPieces(const u8* aCodes, const u8* bCodes, const u8* aScales, const u8* bScales,
                     Output* c, int M, int N, int K, float tensorScale) {
  multiplyBy(blockscale::PieceLoader<Tile>{aCodes, bCodes, aScales, bScales}, c, M, N, K,
             tensorScale);
}
