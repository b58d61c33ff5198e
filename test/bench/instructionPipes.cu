/*
 * Which instructions of a kernel's loop share a pipe of a multiprocessor's scheduler: cycles of one
 * for each instruction, of one kind alone and of two by turns. Two that share a pipe take the sum
 * of both, two that do not the larger.
 *
 *   nvcc -gencode=arch=compute_90a,code=sm_90a -std=c++17 -run test/bench/instructionPipes.cu
 *
 * sm_89 and later (cvt of fp8). One CTA of 16 warps, four a scheduler, eight chains each.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>

using u32 = uint32_t;

#define BS_CHECK(CALL)                                                            \
  do {                                                                            \
    const cudaError_t error = CALL;                                               \
    if (error != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(error)); \
    if (error != cudaSuccess) exit(1);                                            \
  } while (0)

enum Kind { kLop3, kShf, kPrmt, kImad, kHmul2, kE4m3, kE5m2, kKinds };
constexpr const char* kNames[] = {"LOP3",  "SHF",         "PRMT",       "IMAD",
                                  "HMUL2", "e4m3 to f16", "e5m2 to f16"};

template <int Of>
__device__ inline void step(u32& word, u32 other, u32 third) {
  if (Of == kLop3) asm volatile("lop3.b32 %0, %0, 0x7f00ff01, %1, 0xe2;" : "+r"(word) : "r"(other));
  if (Of == kShf) asm volatile("shf.r.wrap.b32 %0, %0, %1, 5;" : "+r"(word) : "r"(other));
  if (Of == kPrmt) asm volatile("prmt.b32 %0, %0, %1, 0x1404;" : "+r"(word) : "r"(other));
  if (Of == kImad) asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(word) : "r"(other), "r"(third));
  if (Of == kHmul2) asm volatile("mul.rn.bf16x2 %0, %0, %1;" : "+r"(word) : "r"(other));
  if (Of == kE4m3)
    asm volatile("{ .reg .b16 low, high; mov.b32 {low, high}, %0; cvt.rn.f16x2.e4m3x2 %0, low; }"
                 : "+r"(word));
  if (Of == kE5m2)
    asm volatile("{ .reg .b16 low, high; mov.b32 {low, high}, %0; cvt.rn.f16x2.e5m2x2 %0, low; }"
                 : "+r"(word));
}

constexpr int kTurns = 64, kUnrolled = 8, kChains = 8, kWarpsOfScheduler = 4;

template <int First, int Second>
__global__ void run(u32* out, long long* cycles, u32 other, u32 third) {
  u32 words[kChains];
  for (int i = 0; i < kChains; i++) words[i] = threadIdx.x + i;
  const long long begin = clock64();
#pragma unroll 1
  for (int turn = 0; turn < kTurns; turn++)
#pragma unroll
    for (int i = 0; i < kUnrolled * kChains; i += 2) {
      step<First>(words[i % kChains], other, third);
      step<Second>(words[(i + 1) % kChains], other, third);
    }
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - begin;
  u32 all = 0;
  for (const u32 word : words) all ^= word;
  if (all == 1) *out = all;  // never, but the compiler does not know
}

template <int First, int Second>
void print(u32* out, long long* cycles) {
  // The second time its instructions are there.
  for (int i = 0; i < 2; i++) run<First, Second><<<1, 512>>>(out, cycles, 0x3c003c00, 5);
  BS_CHECK(cudaDeviceSynchronize());
  const double each = double(*cycles) / (kTurns * kUnrolled * kChains * kWarpsOfScheduler);
  printf("%-12s %-12s %.2f cycles\n", kNames[First], First == Second ? "" : kNames[Second], each);
  if constexpr (Second + 1 < kKinds) print<First, Second + 1>(out, cycles);
  else if constexpr (First + 1 < kKinds) print<First + 1, First + 1>(out, cycles);
}

int main() {
  u32* out;
  long long* cycles;
  BS_CHECK(cudaMallocManaged(&out, sizeof *out));
  BS_CHECK(cudaMallocManaged(&cycles, sizeof *cycles));
  print<0, 0>(out, cycles);
}
