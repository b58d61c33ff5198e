// One thread computes one element of C in float32, with scales in a layout that blockscope knows only from a file:
//
//   C[m, n] = sum over k of A[m, k] SA[m, k / V] B[n, k] SB[n, k / V]
//
// SA (M, K / V) and SB (N, K / V) lie as layouts/columnPairs.json says. A_FORMAT, B_FORMAT, SCALE_FORMAT and SCALE_BLOCK are
// given by blockscope.
#include "scaleOffset.cuh"

static_assert(A_FORMAT == 0 && B_FORMAT == 0, "elements are e2m1");

// OCP MX v1.0, section 5.3.3: sign, two exponent bits of bias 1, one mantissa bit; 0.5 is the only subnormal.
__device__ float decodeE2m1(unsigned code) {
  const int exponent = code >> 1 & 3, mantissa = code & 1;
  const float magnitude = exponent ? ldexpf(1.0f + 0.5f * mantissa, exponent - 1) : 0.5f * mantissa;
  return code & 8 ? -magnitude : magnitude;
}

// e8m0 (SCALE_FORMAT 5) is a power of two; ue4m3 (6) has bias 7 and three mantissa bits. The last code of each is NaN.
__device__ float decodeScale(unsigned code) {
  const float nan = __int_as_float(0x7fffffff);
  if (SCALE_FORMAT == 5) return code == 255 ? nan : ldexpf(1.0f, (int)code - 127);
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  if ((code & 127) == 127) return nan;
  return exponent ? ldexpf(8.0f + mantissa, exponent - 10) : ldexpf((float)mantissa, -9);
}

extern "C" __global__ void multiply(const unsigned char* aCodes, const unsigned char* bCodes,
                                    const unsigned char* aScales, const unsigned char* bScales, float* c, int M, int N,
                                    int K, float tensorScale) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  const int blocks = K / SCALE_BLOCK;
  float sum = 0;
  for (int block = 0; block < blocks; block++) {
    float share = 0;
    for (int k = block * SCALE_BLOCK; k < (block + 1) * SCALE_BLOCK; k++)
      share += decodeE2m1(aCodes[(long long)row * K + k]) * decodeE2m1(bCodes[(long long)col * K + k]);
    sum += share * decodeScale(aScales[scaleOffset(row, block, M, blocks)]) *
           decodeScale(bScales[scaleOffset(col, block, N, blocks)]);
  }
  c[(long long)row * N + col] = sum * tensorScale;
}
