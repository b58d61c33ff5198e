// decode-fp8 (resources/kernels/cuda/decode_fp8.cu) on the CPU: NVFP4, at most four rows of A.
#define A_FORMAT 0
#define B_FORMAT 0
#define SCALE_FORMAT 6
#define SCALE_BLOCK 16

// The kernel stands between the two.
// clang-format off
#include "decodeKernel.h"
#include "../../resources/kernels/cuda/decode_fp8.cu"
#include "decodeOperands.h"
// clang-format on

namespace {

using hopper::Mistake;

constexpr const char* kKernel = "decode-fp8";

struct Product {
  // Stages of each CTA one after the other, or 0: whole tiles, on so many CTAs.
  int m, n, k, divided = 0, ctas = 1, across = 1;
  int depth = 4;  // of the ring
  std::vector<int> groups = {m};
  int matrices = 1;
  Activations a{m, k};
  ScaledMatrix b{{B_FORMAT, SCALE_FORMAT, SCALE_BLOCK}, n, k, 60, "linear"};
  GuardedOutput<float> c{m, n};
  int leftParts = 0;          // numbers of parts that are not zero after a run
  bool isOtherAgain = false;  // sums that are computed again are others: by other codes of B

  // As the manifest's SCALE_ROWS.
  int scaleRows() const { return k / SCALE_BLOCK % 16 != 0 ? 8 : 1; }
  void run(Mistake mistake = Mistake::kNone) {
    const int stages = ceilDivided(k, STAGE_K), tiles = ceilDivided(n, ROWS),
              share = across > 1 ? ceilDivided(stages, across) : divided,
              clusters = across > 1  ? tiles
                         : share > 0 ? ceilDivided(tiles * stages, share)
                                     : ctas,
              scales = k / SCALE_BLOCK, rows = scaleRows();
    std::vector<float> parts(clusters * 8 * ROWS * 4);
    std::vector<uint8_t> again = b.packed;
    for (int i = 0; i < k / 4 && isOtherAgain; i++)
      for (int row = 0; row < n; row++) again[row * (again.size() / n) + i] ^= 0x22;
    const hopper::TensorMap codesMap{b.packed.data(), k / 2, n, 128, ROWS, 1},
        scalesMap{b.scales.data(), rows * scales,
                  n / rows,        STAGE_K / SCALE_BLOCK + (rows > 1 ? 16 : 0),
                  ROWS / rows,     1,
                  false,           false,
                  rows > 1};
    hopper::launch({clusters, across, THREADS, SHARED_BYTES, {}, mistake}, [&] {
      (rows > 1 ? multiplyAlone4OfEight : multiplyAlone4)(
          codesMap, scalesMap, a.codes.data(), again.data(), a.scales.data(), b.scales.data(),
          parts.data(), c.data(), m, n, k, across, share, depth, 1.0f);
    });
    leftParts = static_cast<int>(
        std::count_if(parts.begin(), parts.end(), [](float part) { return part != 0; }));
  }
  int wrong(int every) const { return wrongOf(*this, every) + leftParts; }
};

}  // namespace

#include "decodeNumbers.h"

namespace {

// The constants of the manifest's row, and which kernel it launches for which rows of A.
void isAsInTheManifest() {
  const Json manifest = readManifest();
  int launched = 0;
  for (const Json& row : manifest["kernels"].list) {
    if (row["file"].text != "decode_fp8.cu") continue;
    blockscope::cuda::Variables names;
    for (const auto& [name, value] : row["constants"].members) names[name] = int(value);
    CHECK(names["NVFP4_OWN_K"] == NVFP4_OWN_K && names["OWN_BYTES"] == OWN_BYTES);
    names["SMS"] = 132, names["MEMORY_GBS"] = 4814, names["GROUPS"] = 0, names["V"] = SCALE_BLOCK;
    names["BITS_A"] = names["BITS_B"] = 4;
    for (const int rows : {1, 2, 4})
      for (const auto& [n, k] :
           {std::pair{2880, 2880}, {8192, 2048}, {57344, 8192}, {4096, 14336}, {100, 2048}}) {
        names["M"] = names["MOST_ROWS"] = rows, names["N"] = n, names["K"] = k;
        evaluateValues(row["values"], names);
        for (const Json& launch : row["launches"].list) {
          if (blockscope::cuda::evaluate(launch["when"].text, names) == 0) continue;
          CHECK(launch["function"].text ==
                (k == 2880 ? "multiplyAlone4OfEight" : "multiplyAlone4"));
          CHECK(names["STAGE"] == decode::Nvfp4Of<false>::kStageK && names["COLUMNS"] == 8);
          launched++;
        }
      }
  }
  CHECK(launched == 3 * 5);  // one for each problem
}

Product across(int ctas, Product product) {
  product.across = ctas;
  return product;
}

Product ofDepth(int depth, Product product) {
  product.depth = depth;
  return product;
}

// NaN among the scales of either side: in sums of its row alone, computed again.
void isRightOfNan() {
  for (const bool isOfA : {false, true}) {
    Product product{3, 130, 1024, 0, 2};
    (isOfA ? product.a.scales : product.b.scales)[1024 / SCALE_BLOCK * 2 + 5] = 0x7f;
    const std::string thrown = messageOf([&] { product.run(); });
    int wrong = 0;
    for (int row = 0; row < product.m; row++)
      for (int column = 0; column < product.n; column++)
        wrong += std::isnan(product.c[row * product.n + column]) != ((isOfA ? row : column) == 2);
    checkThat(thrown == "nothing was thrown" && wrong == 0,
              thrown + ", " + std::to_string(wrong) + " are NaN, or are not", __FILE__, __LINE__);
  }
}

void isSeen(Mistake mistake, const std::string& text, Product product) {
  checkMistake(mistake, text, product);
}

}  // namespace

int main() {
  isAsInTheManifest();
  for (const int rows : {1, 2, 3, 4}) isRight({rows, 130, 1280, 0, 2});  // a tail of K, and of N
  isRight({1, 64, 14336, 0, 1}, 3);                                      // as long as K may be
  isRight({4, 64, 14336, 0, 1}, 7);
  isRight({3, 72, 2880, 0, 2});  // scales by eight rows, which begin between two words
  isRight({4, 136, 1056, 0, 2});
  isRight({2, 330, 1280, 5}, 3);  // parts of K: stages of two tiles, or of three
  isRight({4, 72, 2880, 2});
  isRight(across(2, {1, 130, 1280}), 3);
  isRight(across(4, {3, 72, 2880}), 3);
  isRight(across(8, {4, 64, 8192}), 3);
  isRight(ofDepth(6, {3, 130, 8192, 0, 2}), 3);
  isRightOfCancelled({3, 64, 1024, 0, 1});
  isRightOfNan();
  isSeen(Mistake::kEarlyRead, "a read", {4, 130, 5120, 0, 2});
  isSeen(Mistake::kNoSwizzle, "", {4, 130, 5120, 0, 2});
  isSeen(Mistake::kNotPublished, "not published", {2, 64, 1024, 0, 1});
  isSeen(Mistake::kNoClusterSync, "may not be there yet", across(2, {3, 130, 5120}));
  return summary();
}
