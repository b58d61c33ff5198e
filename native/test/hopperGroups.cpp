// Groups of the fp8 products of sm_90a (resources/kernels/cuda/common/gemm.cuh, gemm_fp8.cuh),
// compiled for the CPU over hopperMachine.h: every row of every group by its own matrix of B and
// its own powers of two, nothing written beside them.
#define GROUPED 1
#define PROMOTION 128

#include "fp8Product.h"
#include "groupTables.h"

using namespace blockscope;

namespace {

constexpr int kClusterRows = gemm::GroupedShape<Fp8Product>::kClusterRows;

void groupsAreRight(const Groups& groups, int n, int k, bool byEngine) {
  const Segments segments(groups);
  const auto m = static_cast<int>(segments.totalRows()), count = static_cast<int>(segments.count());
  const HostGroupTables tables(segments, kClusterRows);
  // Padding and matrices of empty groups are NaN.
  Rows a(m, k, 1), b(count * n, k, 2);
  for (int row = 0; row < m; row++)
    if (segments.groupOf(row) >= 0) a.fill(row);
  for (int row = 0; row < count * n; row++)
    if (tables.rows[row / n] > 0) b.fill(row);
  Output16 c(m, n);
  const auto run = byEngine ? fp8gemm::runGroups<true> : fp8gemm::runGroups<false>;
  const std::string thrown =
      thrownBy(a, b, c, 2, hopper::Mistake::kNone, [&](auto* aMap, auto* bMap, auto* cMap) {
        run(aMap, bMap, cMap, c.bits.data(), tables.given(), a.factors.data(), b.factors.data(), n,
            k, {nullptr, 1.0f});
      });
  int64_t wrong = 0;
  for (int row = 0; row < m; row++) {
    const auto group = static_cast<int>(segments.groupOf(row));
    for (int column = 0; column < n; column++)
      wrong += group < 0 ? c.bits[int64_t{row} * n + column] != Output16::kUntouched
                         : !c.isProduct(row, column, a, b, group * n + column);
  }
  checkOutcome(std::to_string(count) + " groups, N = " + std::to_string(n), thrown, wrong);
}

}  // namespace

int main() {
  const std::vector<int64_t> ragged = {300, 0, 17, 256, 1, 129};
  groupsAreRight({GroupLayout::kOffsets, ragged, 1, 0}, 200, 160, true);
  groupsAreRight({GroupLayout::kOffsets, ragged, 1, 0}, 37, 96, false);
  groupsAreRight({GroupLayout::kContiguous, {130, 0, 5}, 128, 0}, 392, 256, true);
  groupsAreRight({GroupLayout::kMasked, {0, 200, 33, 0, 256}, 1, 256}, 64, 736, true);
  return summary();
}
