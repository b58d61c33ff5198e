// The GPU's reference product: float64 sums of exact products, straight from canonical codes
// (one byte each, bf16 two) and linear scales. It shares nothing with the kernels it judges; the
// CPU's oracle checks a sample of its elements.
//
//   C[m, n] = outputScale * (accumulator[m, n] + tensorScale * sum over k of A[m, k] SA[m, k / V]
//   B[n, k] SB[n, k / V])
//
// element * scale (of a bf16 A: the element) has at most 8 significant bits and is exact in
// float64, and so is the product of two of them. Tile 64 x 64, 256 threads with 4 x 4 elements
// each, 16 steps of K at a time (V is a multiple of 16).

#include "operandValues.cuh"

constexpr int kTile = 64, kDepth = 16, kThreads = 256, kPerThread = 4;
static_assert(kTile * kDepth % kThreads == 0, "threads share the loading evenly");
static_assert((kTile / kPerThread) * (kTile / kPerThread) == kThreads, "threads cover the tile");

typedef unsigned char uint8;

// Elements of rows firstRow.. at k = firstK.., times their scales, into shared memory as [k][row].
__device__ void loadTile(double (*tile)[kTile + 1], const OperandValues& operand, int firstRow,
                         int rows, long long firstK) {
  for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
    const int row = i / kDepth, k = i % kDepth;
    tile[k][row] = firstRow + row < rows ? operand.at(firstRow + row, (unsigned)(firstK + k)) : 0;
  }
}

// accumulator: nullptr, or float32 (M, N). tables: values of every code of A's element format, of
// B's, and of the scale format, 256 each. aScales: nullptr where A is bf16.
extern "C" __global__ void __launch_bounds__(kThreads)
    referenceProduct(const uint8* aCodes, const uint8* bCodes, const uint8* aScales,
                     const uint8* bScales, const float* accumulator, const double* tables,
                     double* c, int M, int N, long long K, int V, double tensorScale,
                     double outputScale) {
  __shared__ double shared[3 * 256];
  __shared__ double a[kDepth][kTile + 1], b[kDepth][kTile + 1];
  for (int i = threadIdx.x; i < 3 * 256; i += kThreads) shared[i] = tables[i];
  __syncthreads();
  const int firstRow = blockIdx.y * kTile, firstCol = blockIdx.x * kTile;
  const int threadRow = threadIdx.x / (kTile / kPerThread),
            threadCol = threadIdx.x % (kTile / kPerThread);
  const OperandValues ofA = {aCodes, aScales, shared, shared + 512, (unsigned)K, (unsigned)V};
  const OperandValues ofB = {bCodes, bScales, shared + 256, shared + 512, (unsigned)K, (unsigned)V};
  double sums[kPerThread][kPerThread] = {};
  for (long long k = 0; k < K; k += kDepth) {
    loadTile(a, ofA, firstRow, M, k);
    loadTile(b, ofB, firstCol, N, k);
    __syncthreads();
    for (int step = 0; step < kDepth; step++) {
      double left[kPerThread], right[kPerThread];
#pragma unroll
      for (int i = 0; i < kPerThread; i++) {
        left[i] = a[step][threadRow + i * (kTile / kPerThread)];
        right[i] = b[step][threadCol + i * (kTile / kPerThread)];
      }
#pragma unroll
      for (int i = 0; i < kPerThread; i++)
#pragma unroll
        for (int j = 0; j < kPerThread; j++) sums[i][j] = fma(left[i], right[j], sums[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < kPerThread; i++)
    for (int j = 0; j < kPerThread; j++) {
      const int row = firstRow + threadRow + i * (kTile / kPerThread);
      const int col = firstCol + threadCol + j * (kTile / kPerThread);
      const long long at = (long long)row * N + col;
      if (row < M && col < N)
        c[at] = (sums[i][j] * tensorScale + (accumulator ? (double)accumulator[at] : 0.0)) *
                outputScale;
    }
}
