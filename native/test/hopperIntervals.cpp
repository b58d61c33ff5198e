// The fp8 product of sm_90a that is told, for each tile and 256 elements of K, how long its partial
// sums are (resources/kernels/cuda/common/gemm_fp8.cuh, PROMOTION 0), compiled for the CPU over
// hopperMachine.h: every length behind every other, another one in each CTA of a cluster.
#define GROUPED 0
#define ACCUMULATE 0
#define CLUSTER 2
#define TILE_M 128
#define TILE_N 192
#define STAGES 5
#define STORE_BUFFERS 2
#define PROMOTION 0
#define A_CHUNK 0

#include "hopperMachine.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "../../resources/kernels/cuda/common/gemm_fp8.cuh"
#pragma GCC diagnostic pop

#include <map>

#include "../core/philox.h"
#include "check.h"

using namespace blockscope;
using hopper::Mistake;

namespace {

using Product = fp8gemm::Product<4, 4>;

// 0 to 3 for 256 to 32, and how often each was told.
std::map<u32, int> told;

struct AnyLength {
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

struct Operand {
  std::vector<uint8_t> codes;
  std::vector<float> factors;
  // Small whole numbers, exact in any order.
  Operand(int rows, int k, uint32_t stream) : codes(int64_t{rows} * k), factors(rows + 512, NAN) {
    static constexpr uint8_t kCodes[8] = {0, 0x38, 0x3c, 0x40, 0x42, 0xb8, 0xbc, 0xc0};
    for (size_t i = 0; i < codes.size(); i++) codes[i] = kCodes[philox(stream, 3, i)[0] % 8];
    for (int row = 0; row < rows; row++)
      factors[row] = std::ldexp(1.0f, static_cast<int>(philox(stream, 4, row)[0] % 5) - 4);
  }
};

// What was thrown, and how many elements are wrong.
std::pair<std::string, int> outcome(int m, int n, int k, int clusters, bool byEngine,
                                    Mistake mistake = Mistake::kNone) {
  Operand a(m, k, 1), b(n, k, 2);
  std::vector<uint16_t> c(int64_t{m} * n, 0x7d5a);
  const hopper::TensorMap aMap{a.codes.data(), k, m, 128, TILE_M, 1};
  const hopper::TensorMap bMap{b.codes.data(), k, n, 128, TILE_N / CLUSTER, 1};
  const hopper::TensorMap cMap{reinterpret_cast<uint8_t*>(c.data()), n * 2, m, 64, 16, 2};
  const std::vector<fibers::Span> readable = {{a.factors.data(), a.factors.size() * sizeof(float)},
                                              {b.factors.data(), b.factors.size() * sizeof(float)}};
  const u32 bytes = gemm::Shared<Product>::kBytes;
  const std::string thrown = messageOf([&] {
    hopper::launch({clusters, CLUSTER, Product::kThreads, bytes, readable, mistake}, [&] {
      const auto run = byEngine ? fp8gemm::run<true, AnyLength> : fp8gemm::run<false, AnyLength>;
      run(&aMap, &bMap, &cMap, c.data(), a.factors.data(), b.factors.data(), m, n, k,
          {nullptr, 1.0f}, {});
    });
  });
  int wrong = 0;
  for (int at = 0; at < m * n; at++) {
    float sum = 0;
    for (int i = 0; i < k; i++)
      sum += hopper::e5m2()[a.codes[int64_t{at / n} * k + i]] *
             hopper::e5m2()[b.codes[int64_t{at % n} * k + i]];
    const uint16_t expected = floatToHalf(sum * a.factors[at / n] * b.factors[at % n]);
    wrong += c[at] != expected && !((c[at] | expected) == 0x8000);  // zeros of either sign
  }
  return {thrown, wrong};
}

void isRight(int m, int n, int k, int clusters, bool byEngine) {
  const auto [thrown, wrong] = outcome(m, n, k, clusters, byEngine);
  checkThat(thrown == "nothing was thrown" && wrong == 0,
            std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) + ": " +
                thrown + ", " + std::to_string(wrong) + " wrong",
            __FILE__, __LINE__);
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
  isSeen(Mistake::kNoClusterSync, "which has ended");
  return summary();
}
