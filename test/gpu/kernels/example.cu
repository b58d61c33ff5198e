// One thread computes one element of C in float32: the smallest kernel that a manifest can name.
//
//   C[m, n] = sum over k of A[m, k] SA[m, k / V] B[n, k] SB[n, k / V]
//
// A_FORMAT, B_FORMAT, SCALE_FORMAT, SCALE_BLOCK and OUTPUT_TYPE are given by blockscope.

// Value of a code with a sign, `exponentBits` and `mantissaBits` (OCP MX v1.0, section 5.3).
__device__ float decodeFloat(unsigned code, int exponentBits, int mantissaBits, int bias) {
  const unsigned exponent = code >> mantissaBits & ((1u << exponentBits) - 1);
  const unsigned mantissa = code & ((1u << mantissaBits) - 1);
  const float magnitude = exponent == 0 ? ldexpf((float)mantissa, 1 - bias - mantissaBits)
                                        : ldexpf((float)(mantissa + (1u << mantissaBits)), (int)exponent - bias - mantissaBits);
  return code >> (exponentBits + mantissaBits) & 1 ? -magnitude : magnitude;
}

template <int Format>
__device__ float decode(unsigned code) {
  if (Format == 0) return decodeFloat(code, 2, 1, 1);
  if (Format == 4) return decodeFloat(code, 5, 2, 15);
  if (Format == 5) return code == 255 ? __int_as_float(0x7fffffff) : ldexpf(1.0f, (int)code - 127);
  return (code & 127) == 127 ? __int_as_float(0x7fffffff) : decodeFloat(code, 4, 3, 7);
}

#if OUTPUT_TYPE == 0
typedef unsigned short Output;
__device__ Output toOutput(float value) {
  Output result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
}
#elif OUTPUT_TYPE == 1
typedef unsigned short Output;
__device__ Output toOutput(float value) {
  Output result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
}
#else
typedef float Output;
__device__ Output toOutput(float value) { return value; }
#endif

extern "C" __global__ void multiply(const unsigned char* aCodes, const unsigned char* bCodes, const unsigned char* aScales,
                                    const unsigned char* bScales, Output* c, int M, int N, int K, float tensorScale) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  const long long blocks = K / SCALE_BLOCK;
  float sum = 0;
  for (int block = 0; block < blocks; block++) {
    float share = 0;
    for (int k = block * SCALE_BLOCK; k < (block + 1) * SCALE_BLOCK; k++)
      share += decode<A_FORMAT>(aCodes[(long long)row * K + k]) * decode<B_FORMAT>(bCodes[(long long)col * K + k]);
#ifdef IGNORE_SCALES
    sum += share;
#else
    sum += share * decode<SCALE_FORMAT>(aScales[row * blocks + block]) * decode<SCALE_FORMAT>(bScales[col * blocks + block]);
#endif
  }
  c[(long long)row * N + col] = toOutput(sum * tensorScale);
}
