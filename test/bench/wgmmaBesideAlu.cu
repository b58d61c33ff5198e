/*
 * What a matrix instruction with A from registers leaves to other instructions on sm_90a: cycles of
 * a multiprocessor for each, where its warps have so many other instructions between two.
 *
 *   nvcc -gencode=arch=compute_90a,code=sm_90a -std=c++17 -I resources/kernels/cuda -run \
 *     test/bench/wgmmaBesideAlu.cu
 *
 * Four warpgroups a multiprocessor, as decode's; each makes four products, waits for them, and does
 * its other instructions: on one of every four schedulers a warp of each. Were the two beside one
 * another, the time would be the larger of both.
 */
#include <cstdio>
#include <cstdlib>

// What a manifest's row would tell; nothing here depends on it.
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32
#define OUTPUT_TYPE 2
#define ACCUMULATE 0
#include "common/wgmma.cuh"

constexpr int kWarpgroups = 4, kTogether = 4, kRounds = 512;

enum class Other { kLop3, kFfma };

// `Count` instructions on four chains, which nothing shortens.
template <Other Kind, int Count>
__device__ inline void work(u32 (&a)[kTogether][4], float (&sums)[4], u32 mask) {
#pragma unroll
  for (int i = 0; i < Count; i++) {
    u32& word = a[i / 4 % kTogether][i % 4];
    if (Kind == Other::kLop3)
      asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(word) : "r"(mask), "r"(mask >> 1));
    else asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(sums[i % 4]) : "f"(sums[(i + 1) % 4]));
  }
}

template <int Tokens, bool IsE5m2, Other Kind, int Each>
__global__ void __launch_bounds__(kWarpgroups * 128) measure(float* out, long long* cycles) {
  __shared__ __align__(1024) u32 tokens[Tokens * 32];
  for (int i = threadIdx.x; i < Tokens * 32; i += blockDim.x) tokens[i] = 0;
  __syncthreads();
  const u64 b = tileDescriptor((u32)__cvta_generic_to_shared(tokens));
  float total[Tokens / 2] = {}, sums[4] = {1, 2, 3, 4};
  u32 a[kTogether][4];
  for (int i = 0; i < kTogether * 4; i++) a[i / 4][i % 4] = threadIdx.x << i;
  const long long begin = clock64();
#pragma unroll 1
  for (int round = 0; round < kRounds; round++) {
    work<Kind, Each * kTogether>(a, sums, (u32)round);
    wgmmaFence();
#pragma unroll
    for (int i = 0; i < kTogether; i++) {
      if constexpr (IsE5m2) multiplyE5m2(total, a[i], b + i * kDescriptorStep, true);
      else multiplyBf16(total, a[i], b + i * kDescriptorStep, true);
    }
    wgmmaCommit();
    wgmmaWait<0>();
    holdRegisters(total);
  }
  __syncthreads();
  const long long end = clock64();
  float sum = sums[0] + sums[1] + sums[2] + sums[3];
  for (float one : total) sum += one;
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  if (blockIdx.x == 0 && threadIdx.x == 0) *cycles = end - begin;
}

template <int Tokens, bool IsE5m2, Other Kind, int Each>
void print(int blocks, float* out, long long* cycles) {
  // The first brings the code.
  for (int i = 0; i < 2; i++)
    measure<Tokens, IsE5m2, Kind, Each><<<blocks, kWarpgroups * 128>>>(out, cycles);
  long long found = 0;
  const cudaError_t error = cudaMemcpy(&found, cycles, sizeof found, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) {
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
  }
  printf("%8.1f", (double)found / (kRounds * kTogether * kWarpgroups));
}

template <int Tokens, bool IsE5m2, Other Kind>
void printRow(int blocks, float* out, long long* cycles) {
  printf("m64n%dk%d %s", Tokens, IsE5m2 ? 32 : 16, Kind == Other::kLop3 ? "LOP3" : "FFMA");
  print<Tokens, IsE5m2, Kind, 0>(blocks, out, cycles);
  print<Tokens, IsE5m2, Kind, 8>(blocks, out, cycles);
  print<Tokens, IsE5m2, Kind, 16>(blocks, out, cycles);
  print<Tokens, IsE5m2, Kind, 24>(blocks, out, cycles);
  print<Tokens, IsE5m2, Kind, 32>(blocks, out, cycles);
  print<Tokens, IsE5m2, Kind, 64>(blocks, out, cycles);
  printf("\n");
}

int main() {
  cudaDeviceProp device;
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) {
    printf("This is for a GPU of compute capability 9.0, and there is none.\n");
    return 3;
  }
  const int blocks = device.multiProcessorCount;
  float* out;
  long long* cycles;
  cudaMalloc(&out, blocks * kWarpgroups * 128 * sizeof *out);
  cudaMalloc(&cycles, sizeof *cycles);
  printf("%s: cycles for each matrix instruction, beside so many others of its warp\n",
         device.name);
  printf("                     0       8      16      24      32      64\n");
  printRow<8, false, Other::kLop3>(blocks, out, cycles);
  printRow<16, false, Other::kLop3>(blocks, out, cycles);
  printRow<32, false, Other::kLop3>(blocks, out, cycles);
  printRow<64, false, Other::kLop3>(blocks, out, cycles);
  printRow<64, false, Other::kFfma>(blocks, out, cycles);
  printRow<128, false, Other::kLop3>(blocks, out, cycles);
  printRow<64, true, Other::kLop3>(blocks, out, cycles);
  printRow<64, true, Other::kFfma>(blocks, out, cycles);
}
