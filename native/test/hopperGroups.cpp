// Groups of the fp8 products of sm_90a (resources/kernels/cuda/common/gemm.cuh, gemm_fp8.cuh),
// compiled for the CPU over hopperMachine.h: every row of every group by its own matrix of B and
// its own powers of two, nothing written beside them.
#define GROUPED 1
#define ACCUMULATE 0
#define CLUSTER 2
#define TILE_M 128
#define TILE_N 192
#define STAGES 5
#define STORE_BUFFERS 2
#define PROMOTION 128
#define A_CHUNK 0

#include "hopperMachine.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "../../resources/kernels/cuda/common/gemm_fp8.cuh"
#pragma GCC diagnostic pop

#include "../core/groups.h"
#include "../core/philox.h"
#include "check.h"

using namespace blockscope;

namespace {

using Product = fp8gemm::Product<4, 4>;
constexpr int kClusterRows = gemm::GroupedShape<Product>::kClusterRows;
constexpr uint16_t kUntouched = 0x7d5a;  // NaN

struct Case {
  Groups groups;
  int n, k;
  bool byEngine;
};

// Small whole numbers, exact in any order.
uint8_t numberAt(uint64_t stream, uint64_t at) {
  static constexpr uint8_t kCodes[8] = {0, 0x38, 0x3c, 0x40, 0x42, 0xb8, 0xbc, 0xc0};
  return kCodes[philox(stream, 3, at)[0] % 8];
}
float powerAt(uint64_t stream, uint64_t row) {
  return std::ldexp(1.0f, static_cast<int>(philox(stream, 4, row)[0] % 5) - 4);
}

void groupsAreRight(const Case& of) {
  const Segments segments(of.groups);
  const auto m = static_cast<int>(segments.totalRows()), n = of.n, k = of.k,
             groups = static_cast<int>(segments.count());
  std::vector<int> starts, rows, ends;
  int tiles = 0;
  for (int group = 0; group < groups; group++) {
    starts.push_back(static_cast<int>(segments[group].first));
    rows.push_back(static_cast<int>(segments[group].rows));
    ends.push_back(tiles += (rows.back() + kClusterRows - 1) / kClusterRows);
  }
  // Padding and matrices of empty groups are NaN.
  std::vector<uint8_t> a(int64_t{m} * k, 0x7f), b(int64_t{groups} * n * k, 0x7f);
  std::vector<float> aFactors(m + 512, NAN), bFactors(groups * n + 512, NAN);
  for (int row = 0; row < m; row++) {
    if (segments.groupOf(row) < 0) continue;
    aFactors[row] = powerAt(1, row);
    for (int i = 0; i < k; i++) a[int64_t{row} * k + i] = numberAt(1, int64_t{row} * k + i);
  }
  for (int row = 0; row < groups * n; row++) {
    if (rows[row / n] == 0) continue;
    bFactors[row] = powerAt(2, row);
    for (int i = 0; i < k; i++) b[int64_t{row} * k + i] = numberAt(2, int64_t{row} * k + i);
  }
  std::vector<uint16_t> c(int64_t{m} * n, kUntouched);
  const hopper::TensorMap aMap{a.data(), k, m, 128, TILE_M, 1};
  const hopper::TensorMap bMap{b.data(), k, int64_t{groups} * n, 128, TILE_N / CLUSTER, 1};
  const hopper::TensorMap cMap{reinterpret_cast<uint8_t*>(c.data()), n * 2, m, 64, 16, 2};
  const std::vector<fibers::Span> readable = {{aFactors.data(), aFactors.size() * sizeof(float)},
                                              {bFactors.data(), bFactors.size() * sizeof(float)}};
  const GroupTables tables = {starts.data(), rows.data(), ends.data(), groups};
  const std::string thrown = messageOf([&] {
    hopper::launch({2, CLUSTER, Product::kThreads, gemm::Shared<Product>::kBytes, readable}, [&] {
      const auto run = of.byEngine ? fp8gemm::runGroups<true> : fp8gemm::runGroups<false>;
      run(&aMap, &bMap, &cMap, c.data(), tables, aFactors.data(), bFactors.data(), n, k,
          {nullptr, 1.0f});
    });
  });
  int64_t wrong = 0;
  for (int row = 0; row < m; row++) {
    const auto group = static_cast<int>(segments.groupOf(row));
    for (int col = 0; col < n; col++) {
      uint16_t expected = kUntouched;
      if (group >= 0) {
        float sum = 0;
        for (int i = 0; i < k; i++)
          sum += hopper::e5m2()[a[int64_t{row} * k + i]] *
                 hopper::e5m2()[b[(int64_t{group} * n + col) * k + i]];
        expected = floatToHalf(sum * aFactors[row] * bFactors[group * n + col]);
      }
      const uint16_t got = c[int64_t{row} * n + col];
      wrong += got != expected && !((got | expected) == 0x8000);  // zeros of either sign
    }
  }
  checkThat(thrown == "nothing was thrown" && wrong == 0,
            std::to_string(groups) + " groups, N = " + std::to_string(n) + ": " + thrown + ", " +
                std::to_string(wrong) + " wrong",
            __FILE__, __LINE__);
}

}  // namespace

int main() {
  const std::vector<int64_t> ragged = {300, 0, 17, 256, 1, 129};
  groupsAreRight({{GroupLayout::kOffsets, ragged, 1, 0}, 200, 160, true});
  groupsAreRight({{GroupLayout::kOffsets, ragged, 1, 0}, 37, 96, false});
  groupsAreRight({{GroupLayout::kContiguous, {130, 0, 5}, 128, 0}, 392, 256, true});
  groupsAreRight({{GroupLayout::kMasked, {0, 200, 33, 0, 256}, 1, 256}, 64, 736, true});
  return summary();
}
