// The fp8 product of sm_90a that is told, for each tile and 256 elements of K, how long its partial
// sums are (resources/kernels/cuda/common/gemm_fp8.cuh, PROMOTION 0), compiled for the CPU over
// hopperMachine.h: every length behind every other, another one in each CTA of a cluster.
#define GROUPED 0
#define PROMOTION 0

#include <map>

#include "fp8Product.h"

using namespace blockscope;
using hopper::Mistake;

namespace {

// 0 to 3 for 256 to 32, and how often each was told.
std::map<u32, int> told;

struct AnyLength {
  static constexpr bool kLooksAhead = false;
  u64 at = 0;
  u32 word = 0;
  template <class Place>
  void startTile(const Place& place) {
    at = static_cast<u64>(place.row) << 32 | static_cast<u64>(place.col) << 8;
  }
  u32 wordOf(int step) {
    // Nobody looks at the word of a second stage.
    if (step % 2 != 0) return 77;
    word = philox(5, 1, at + static_cast<u64>(step))[0] % 4;
    told[word]++;
    return word;
  }
  template <class Place>
  void endTile(const Place&) {}
};

// What was thrown, and how many elements are wrong.
std::pair<std::string, int> outcome(int m, int n, int k, int clusters, bool byEngine,
                                    Mistake mistake = Mistake::kNone) {
  Rows a(m, k, 1), b(n, k, 2);
  for (int row = 0; row < m; row++) a.fill(row);
  for (int row = 0; row < n; row++) b.fill(row);
  Output16 c(m, n);
  using Of = fp8gemm::Product<4, 4>;
  const auto run =
      byEngine ? fp8gemm::run<true, Of, AnyLength> : fp8gemm::run<false, Of, AnyLength>;
  const std::string thrown =
      thrownBy(a, b, c, clusters, mistake, [&](auto* aMap, auto* bMap, auto* cMap) {
        run(aMap, bMap, cMap, c.bits.data(), a.factors.data(), b.factors.data(), m, n, k,
            {nullptr, 1.0f}, {});
      });
  int wrong = 0;
  for (int at = 0; at < m * n; at++) wrong += !c.isProduct(at / n, at % n, a, b, at % n);
  return {thrown, wrong};
}

void isRight(int m, int n, int k, int clusters, bool byEngine) {
  const auto [thrown, wrong] = outcome(m, n, k, clusters, byEngine);
  checkOutcome(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k), thrown,
               wrong);
}

void isSeen(Mistake mistake, const std::string& text) {
  CHECK_CONTAINS(outcome(200, 200, 1024, 1, true, mistake).first, text);
}

}  // namespace

int main() {
  isRight(300, 400, 1152, 2, true);
  isRight(130, 37, 2208, 1, false);
  isRight(256, 192, 96, 1, true);
  for (u32 length = 0; length < 4; length++) CHECK(told[length] > 4);
  isSeen(Mistake::kNoPeersHalf, "every thread waits for another");
  isSeen(Mistake::kOwnBarrierAlone, "every thread waits for another");
  isSeen(Mistake::kEarlyRead, "a read");
  isSeen(Mistake::kNoClusterSync, "may not be there yet");
  return summary();
}
