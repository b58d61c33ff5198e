// What the host does of an operation where a kernel does not do it itself: B turned to the order it
// reads, C finished from its float32 product. Both are timed with the kernel.
#include "eightBits.cuh"

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;

// Code `index` of packed codes: fp4 two to a byte, low nibble first; fp6 four to three bytes,
// little-endian.
__device__ inline u32 codeAt(const u8* packed, long long index, int bits) {
  if (bits == 8) return packed[index];
  if (bits == 4) return packed[index >> 1] >> ((index & 1) * 4) & 15;
  const u8* group = packed + index / 4 * 3;
  return (group[0] | group[1] << 8 | group[2] << 16) >> (index % 4 * 6) & 63;
}

// (K, N) packed along N to (N, K) packed along K; `depth`: K. A thread makes the codes of whole
// bytes.
extern "C" __global__ void turnPacked(const u8* from, u8* to, long long N, long long depth,
                                      int bits) {
  const int count = bits == 4 ? 2 : bits == 6 ? 4 : 1;
  const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= N * (depth / count)) return;
  const long long n = index % N, k = index / N * count;
  u32 word = 0;
  for (int i = 0; i < count; i++) word |= codeAt(from, (k + i) * N + n, bits) << (i * bits);
  u8* own = to + (n * depth + k) * bits / 8;
  for (int i = 0; i < count * bits / 8; i++) own[i] = (u8)(word >> (8 * i));
}

// AMD's are clang's own conversions (resources/kernels/hip/common/passes.hip).
#ifndef __HIP__
__device__ inline u16 toF16(float value) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

__device__ inline u16 toBf16(float value) {
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
#endif

// C = outputScale * (product + accumulator), rounded; output types by number as OutputType has
// them.
extern "C" __global__ void finish(const float* product, const float* accumulator, void* c,
                                  long long count, int outputType, float outputScale) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float sum = accumulator ? __fadd_rn(product[i], accumulator[i]) : product[i];
  const float value = __fmul_rn(sum, outputScale);
  switch (outputType) {
    case 0:
      ((u16*)c)[i] = toF16(value);
      break;
    case 1:
      ((u16*)c)[i] = toBf16(value);
      break;
    case 2:
      ((float*)c)[i] = value;
      break;
    case 3:
      ((u8*)c)[i] = (u8)toE4m3(value);
      break;
    default:
      ((u8*)c)[i] = (u8)toE5m2(value);
  }
}
