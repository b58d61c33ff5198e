// What tests of the fp8 products of sm_90a (resources/kernels/cuda/common/gemm_fp8.cuh) over
// hopperMachine.h have alike. Included behind GROUPED and PROMOTION.
#pragma once

#define ACCUMULATE 0
#define OUTPUT_TYPE 0
#define CLUSTER 2
#define TILE_M 128
#define TILE_N 192
#define STAGES 5
#define STORE_BUFFERS 2
#define A_CHUNK 0

// The source stands behind the words that it is written in.
// clang-format off
#include "hopperMachine.h"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "../../resources/kernels/cuda/common/gemm_fp8.cuh"
#pragma GCC diagnostic pop
// clang-format on
#include "../core/philox.h"
#include "check.h"

using Fp8Product = fp8gemm::Product<4, 4>;

// Rows of small whole numbers, exact in any order, and a power of two for each. Those that are not
// filled are NaN.
struct Rows {
  int k;
  uint32_t stream;
  std::vector<uint8_t> codes;
  std::vector<float> factors;

  Rows(int rows, int k, uint32_t stream)
      : k(k), stream(stream), codes(int64_t{rows} * k, 0x7f), factors(rows + 512, NAN) {}
  void fill(int row) {
    static constexpr uint8_t kCodes[8] = {0, 0x38, 0x3c, 0x40, 0x42, 0xb8, 0xbc, 0xc0};
    const auto draw = [this](uint32_t of, uint64_t at) {
      return blockscope::philox(stream, of, at)[0];
    };
    factors[row] = std::ldexp(1.0f, static_cast<int>(draw(4, row) % 5) - 4);
    for (int64_t at = int64_t{row} * k; at < int64_t{row + 1} * k; at++)
      codes[at] = kCodes[draw(3, at) % 8];
  }
  hopper::TensorMap map(int boxRows) {
    return {codes.data(), k, static_cast<int64_t>(codes.size()) / k, 128, boxRows, 1};
  }
  fibers::Span readable() const { return {factors.data(), factors.size() * sizeof(float)}; }
};

// C in float16, NaN before it is written.
struct Output16 {
  static constexpr uint16_t kUntouched = 0x7d5a;
  int n;
  std::vector<uint16_t> bits;

  Output16(int m, int n) : n(n), bits(int64_t{m} * n, kUntouched) {}
  hopper::TensorMap map() {
    const auto rows = static_cast<int64_t>(bits.size()) / n;
    return {reinterpret_cast<uint8_t*>(bits.data()), n * 2, rows, 64, 16, 2};
  }
  bool isProduct(int row, int column, const Rows& a, const Rows& b, int rowOfB) const {
    const uint8_t *left = &a.codes[int64_t{row} * a.k], *right = &b.codes[int64_t{rowOfB} * b.k];
    float sum = 0;
    for (int i = 0; i < a.k; i++) sum += hopper::e5m2()[left[i]] * hopper::e5m2()[right[i]];
    const uint16_t got = bits[int64_t{row} * n + column];
    const uint16_t expected = blockscope::floatToHalf(sum * a.factors[row] * b.factors[rowOfB]);
    return got == expected || (got | expected) == 0x8000;  // zeros of either sign
  }
};

// What `kernel` throws on `clusters` clusters, given the three maps.
template <typename Kernel>
std::string thrownBy(Rows& a, Rows& b, Output16& c, int clusters, hopper::Mistake mistake,
                     Kernel kernel) {
  const hopper::TensorMap aMap = a.map(TILE_M), bMap = b.map(TILE_N / CLUSTER), cMap = c.map();
  const u32 bytes = gemm::Shared<Fp8Product>::kBytes;
  const std::vector<fibers::Span> readable = {a.readable(), b.readable()};
  return messageOf([&] {
    hopper::launch({clusters, CLUSTER, Fp8Product::kThreads, bytes, readable, mistake},
                   [&] { kernel(&aMap, &bMap, &cMap); });
  });
}
inline void checkOutcome(const std::string& what, const std::string& thrown, int64_t wrong) {
  checkThat(thrown == "nothing was thrown" && wrong == 0,
            what + ": " + thrown + ", " + std::to_string(wrong) + " wrong", __FILE__, __LINE__);
}
