// How wgmma on Hopper sums e5m2 products: hand-made cases, then random ones, against the model of arXiv 2511.10909
// (microsoft/MMA-Sim): 32 products and C are aligned to the largest exponent, each truncated to 13 fractional bits, summed
// exactly, and the sum truncated to 13 fractional bits. Prints every case that differs and 'N passed, N failed'.
//
//   nvcc -std=c++17 -gencode=arch=compute_90a,code=sm_90a -DOUTPUT_TYPE=2 -DACCUMULATE=0 -I resources/kernels/cuda accumulator.cu
#include "common/wgmma.cuh"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

constexpr int kRows = 64, kCols = 192, kDepth = 32, kFraction = 13, kSums = kCols / 2;

// a (64, 32), b (192, 32) e5m2 codes; c and d (64, 192) float32: d = c + a b^T in one instruction.
__global__ void __launch_bounds__(128) oneStep(const u8* a, const u8* b, const float* c, float* d) {
  __shared__ alignas(1024) u8 tileA[kRows * 128];
  __shared__ alignas(1024) u8 tileB[kCols * 128];
  // 128-byte swizzle: 16-byte piece p of row r lies at piece p ^ (r % 8).
  for (int i = threadIdx.x; i < kCols * kDepth; i += 128) {
    const int row = i / kDepth, k = i % kDepth, at = row * 128 + ((k / 16) ^ (row % 8)) * 16 + k % 16;
    tileB[at] = b[i];
    if (row < kRows) tileA[at] = a[i];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float sum[kSums];
  const int row0 = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, col0 = threadIdx.x % 4 * 2;
  for (int i = 0; i < kSums; i++) sum[i] = c[(row0 + i % 4 / 2 * 8) * kCols + i / 4 * 8 + col0 + i % 2];
  wgmmaFence();
  multiplyE5m2(sum, tileDescriptor((u32)__cvta_generic_to_shared(tileA)),
               tileDescriptor((u32)__cvta_generic_to_shared(tileB)), true);
  wgmmaCommit();
  wgmmaWait<0>();
  holdRegisters(sum);
  for (int i = 0; i < kSums; i++) d[(row0 + i % 4 / 2 * 8) * kCols + i / 4 * 8 + col0 + i % 2] = sum[i];
}

double decode(u8 code) {
  const int exponent = code >> 2 & 31, mantissa = code & 3;
  const double magnitude = exponent ? std::ldexp(4 + mantissa, exponent - 17) : std::ldexp(mantissa, -16);
  return code & 128 ? -magnitude : magnitude;
}
int exponentOf(u8 code) { return std::max(code >> 2 & 31, 1) - 15; }
u8 encode(double value) {
  for (int code = 0; code < 256; code++)
    if ((code & 0x7c) != 0x7c && decode(code) == value) return code;
  std::abort();
}
double truncated(double value, int exponent) {
  const double unit = std::ldexp(1.0, exponent - kFraction);
  return std::trunc(value / unit) * unit;
}

double model(const u8* a, const u8* b, float c) {
  int largest = c == 0 ? -1000 : std::ilogb(c);
  for (int k = 0; k < kDepth; k++)
    if (decode(a[k]) * decode(b[k]) != 0) largest = std::max(largest, exponentOf(a[k]) + exponentOf(b[k]));
  double sum = truncated(c, largest);
  for (int k = 0; k < kDepth; k++) sum += truncated(decode(a[k]) * decode(b[k]), largest);
  return sum == 0 ? 0 : truncated(sum, std::ilogb(sum));
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

std::vector<float> onDevice(const std::vector<u8>& a, const std::vector<u8>& b, const std::vector<float>& c) {
  u8 *da, *db;
  float *dc, *dd;
  std::vector<float> d(c.size());
  check(cudaMalloc(&da, a.size()));
  check(cudaMalloc(&db, b.size()));
  check(cudaMalloc(&dc, c.size() * 4));
  check(cudaMalloc(&dd, c.size() * 4));
  check(cudaMemcpy(da, a.data(), a.size(), cudaMemcpyHostToDevice));
  check(cudaMemcpy(db, b.data(), b.size(), cudaMemcpyHostToDevice));
  check(cudaMemcpy(dc, c.data(), c.size() * 4, cudaMemcpyHostToDevice));
  oneStep<<<1, 128>>>(da, db, dc, dd);
  check(cudaGetLastError());
  check(cudaMemcpy(d.data(), dd, d.size() * 4, cudaMemcpyDeviceToHost));
  for (void* pointer : {(void*)da, (void*)db, (void*)dc, (void*)dd}) check(cudaFree(pointer));
  return d;
}

struct Case {
  const char* what;
  float c;
  std::vector<double> factors;  // products are factor * factor
  int repeat;                   // of the last factor
  double expected;
};

int main() {
  int passed = 0, failed = 0;
  const Case cases[] = {
      {"2048 + 0.25 is kept", 2048, {0.5}, 1, 2048.25},
      {"4096 + 0.25 is lost", 4096, {0.5}, 1, 4096},
      {"4096 + 32 x 0.25: each is lost", 4096, {0.5}, 32, 4096},
      {"2048 + 32 x 0.25 is kept", 2048, {0.5}, 32, 2056},
      {"-4096 + 0.25 is truncated toward zero", -4096, {0.5}, 1, -4096},
      {"a product 96 x 96 counts with exponent 12, not 13: -4096 + 9216 + 0.5625", -4096, {96, 0.75}, 1, 5120.5},
      {"C = 9216 counts with exponent 13", 9216, {0.75}, 1, 9216},
      {"the sum 4096 + 4096 + 0.5625 is truncated to 13 bits", 4096, {64, 0.75}, 1, 8192},
      {"one scale block: 32 x 36 is exact", 0, {6}, 32, 1152},
  };
  for (const Case& test : cases) {
    std::vector<u8> a(kRows * kDepth), b(kCols * kDepth);
    for (int k = 0; k < (int)test.factors.size() + test.repeat - 1; k++)
      a[k] = b[k] = encode(test.factors[std::min<size_t>(k, test.factors.size() - 1)]);
    const double modelled = model(a.data(), b.data(), test.c);
    const float got = onDevice(a, b, std::vector<float>(kRows * kCols, test.c))[0];
    const bool good = got == test.expected && modelled == test.expected;
    (good ? passed : failed)++;
    std::printf("%s %s: %.4f (expected %.4f, model %.4f)\n", good ? "ok  " : "BAD ", test.what, got, test.expected, modelled);
  }
  std::mt19937 random(7);
  for (int spread : {1, 3, 6, 10}) {
    std::vector<u8> a(kRows * kDepth), b(kCols * kDepth);
    std::vector<float> c(kRows * kCols);
    for (std::vector<u8>* codes : {&a, &b})
      for (u8& code : *codes) code = random() % 8 == 0 ? 0 : (random() & 0x83) | (15 - spread + random() % (2 * spread + 1)) << 2;
    // What an earlier step can leave: 13 fractional bits.
    for (float& value : c) {
      const double wide = std::ldexp((double)random() - 2147483648.0, (int)(random() % (2 * spread + 1)) - 31 + spread);
      value = wide == 0 ? 0 : (float)truncated(wide, std::ilogb(wide));
    }
    const std::vector<float> d = onDevice(a, b, c);
    int different = 0;
    for (int i = 0; i < kRows * kCols; i++)
      different += d[i] != (float)model(&a[i / kCols * kDepth], &b[i % kCols * kDepth], c[i]);
    (different ? failed : passed)++;
    std::printf("%s random, exponents -%d..%d: %d of %d differ from the model\n", different ? "BAD " : "ok  ", spread, spread,
                different, kRows * kCols);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
