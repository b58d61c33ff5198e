// What memory gives at most: reading, and copying, with 16 bytes a thread and step.

typedef unsigned int u32;
typedef long long i64;

// Reads `count` vectors `passes` times. The sum is stored where it cannot be, so that no read is
// left out.
extern "C" __global__ void __launch_bounds__(256)
    readAll(const uint4* from, i64 count, int passes, u32* never) {
  u32 sum = 0;
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (int pass = 0; pass < passes; pass++) {
#pragma unroll 8
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
      uint4 value;
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                   : "l"(from + i));
      sum += value.x ^ value.y ^ value.z ^ value.w;
    }
  }
  if (sum == 0x9e3779b9 && count < 0) *never = sum;
}

extern "C" __global__ void __launch_bounds__(256) copyAll(const uint4* from, uint4* to, i64 count) {
  const i64 stride = (i64)gridDim.x * blockDim.x;
#pragma unroll 4
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) to[i] = from[i];
}
