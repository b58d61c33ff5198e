// tcgen05: block-scaled products of the tensor core of sm_100a, sm_103a and sm_110a; with EMULATED
// 1 the same source on any GPU from sm_90 on, over a model of tensor memory and the instructions.
//
//   C (M, N) = tensorScale A (M, K) x B (N, K)^T, scales in nvidia_32_4_4; any M and N.
//
// Codes and scales go to the instruction as they are, through shared and tensor memory. Its sums
// keep 25 bits below the largest product of 32 (fp4 beside fp4: 35 below the largest sum of 16) and
// are cut off to float32 (common/blockScale/sum.cuh).
#if EMULATED
#include "common/tcgen05/emulatedMachine.cuh"
#else
#include "common/tcgen05/machine.cuh"
#endif

// TILE_N, STAGES and CTAS are constants of the manifest's row, whose grid, boxes and shared memory
// rely on them.
typedef tcgen05::Tile<A_FORMAT, B_FORMAT, SCALE_FORMAT, SCALE_BLOCK, TILE_N,
                      SCALE_BLOCK == 16 ? STAGES_16 : STAGES, CTAS>
    Tile;
static_assert(Tile::kTileM == TILE_M && Tile::kThreads == THREADS && Tile::kRowBytes == ROW_BYTES,
              "as the manifest's row has them");

#if EMULATED
extern "C" __global__ void __launch_bounds__(Tile::kThreads + TENSOR_THREADS, 1)
    multiply(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
             const __grid_constant__ TensorMap aScales, const __grid_constant__ TensorMap bScales,
             const u8* aCodes, const u8* bCodes, const u8* aScaleBytes, const u8* bScaleBytes,
             u8* tensorMemory, u8* fault, Output* c, int M, int N, int K, float tensorScale) {
  if (dynamicSharedBytes() < Tile::kBytes || blockDim.x != Tile::kThreads + TENSOR_THREADS)
    asm volatile("trap;");
  tcgen05::runEmulated<Tile>(
      {&a, &b, &aScales, &bScales, aCodes, bCodes, aScaleBytes, bScaleBytes, {M, N, K}},
      tensorMemory, fault, tensorScale, c);
}
#else
extern "C" __global__ void __launch_bounds__(Tile::kThreads, 1)
    multiply(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
             const __grid_constant__ TensorMap aScales, const __grid_constant__ TensorMap bScales,
             Output* c, int M, int N, int K, float tensorScale) {
  if (dynamicSharedBytes() < Tile::kBytes || blockDim.x != Tile::kThreads) asm volatile("trap;");
  tcgen05::run<Tile>(tcgen05::NativeMachine{&a, &b, &aScales, &bScales}, {M, N, K}, tensorScale, c);
}
#endif
