// The bf16 product of sm_90a that widens what later tiles need beside its own
// (resources/kernels/cuda/common/widenBeside.cuh), compiled for the CPU over hopperMachine.h, whose
// clusters run one after the other: the first has to do what all of them have. A test names the
// formats (codesProduct.h) and includes this, which is the whole program.
#pragma once

#define GROUPED 0
#include <cstring>

#include "codesProduct.h"
#include "manifestValues.h"

namespace {

using Product = bf16gemm::Product;

struct Shape {
  int m, n, k;
  // Rows of A and B that are widened before the product.
  int aBefore, bBefore, clusters = 2;
};

struct Outcome {
  std::string thrown;
  int64_t wrong = 0;
  bool isBeyondBefore = false, isBeyondBeside = false;
};

template <typename Change>
Outcome outcome(const Shape& of, Mistake mistake, Change change) {
  const auto [m, n, k, aBefore, bBefore, clusters] = of;
  Rows a(m, k);
  ScaledMatrix b({B_FORMAT, SCALE_FORMAT, SCALE_BLOCK}, n, k, 80, "linear");
  change(a, b);

  // NaN until they are made.
  std::vector<u16> aWide(int64_t{m} * k, 0x7fff), bWide(int64_t{n} * k, 0x7fff);
  std::vector<u32> words(4 + (m + 255) / 256 + (n + 255) / 256);
  const gemm::WidenProgress progress{words.data()};
  for (int64_t i = 0; i < int64_t{aBefore} * k / kWidened(A_FORMAT); i++)
    widenAt<A_FORMAT>(a.packed.data(), a.scales.data(), aWide.data(), i, progress.beyond());
  for (int64_t i = 0; i < int64_t{bBefore} * k / kWidened(B_FORMAT); i++)
    widenAt<B_FORMAT>(b.packed.data(), b.scales.data(), bWide.data(), i, progress.beyond());

  std::vector<Output> c(int64_t{m} * n + 1, toOutput(1234.5f));
  const bool byEngine = kByEngine && n % 8 == 0;
  const hopper::TensorMap aMap{
      reinterpret_cast<uint8_t*>(aWide.data()), k * 2, m, 128, WIDE_TILE_M, 2};
  const hopper::TensorMap bMap{
      reinterpret_cast<uint8_t*>(bWide.data()), k * 2, n, 128, WIDE_TILE_N / CLUSTER, 2};
  const hopper::TensorMap cMap{reinterpret_cast<uint8_t*>(c.data()), n * 2, m, 64, 16, 2};
  Outcome result;
  result.thrown = messageOf([&] {
    hopper::launch(
        {clusters, CLUSTER, Product::kThreads, gemm::Shared<Product>::kBytes, {}, mistake}, [&] {
          const auto run = byEngine ? bf16gemm::runAndWiden<true> : bf16gemm::runAndWiden<false>;
          run(&aMap, &bMap, &cMap, c.data(),
              {a.packed.data(), b.packed.data(), a.scales.data(), b.scales.data(), aWide.data(),
               bWide.data(), progress, aBefore, bBefore},
              m, n, k, kTensorScale, {nullptr, 1.0f});
        });
  });
  result.isBeyondBefore = *progress.beyond() != 0;
  result.isBeyondBeside = *progress.beyondBeside() != 0;
  for (int row = 0; row < m; row++)
    for (int col = 0; col < n; col++)
      result.wrong += !isProductOf(c[int64_t{row} * n + col], a, row, b, col);
  result.wrong += c.back() != toOutput(1234.5f);
  return result;
}
const auto asTheyAre = [](Rows&, ScaledMatrix&) {};

void isRight(const Shape& of) {
  const Outcome got = outcome(of, Mistake::kNone, asTheyAre);
  checkThat(got.thrown == "nothing was thrown" && got.wrong == 0 && !got.isBeyondBefore &&
                !got.isBeyondBeside,
            std::to_string(of.m) + " x " + std::to_string(of.n) + " x " + std::to_string(of.k) +
                ", " + std::to_string(of.aBefore) + " and " + std::to_string(of.bBefore) +
                " before: " + got.thrown + ", " + std::to_string(got.wrong) + " wrong",
            __FILE__, __LINE__);
}

void checkProduct() {
  // Rows of both, of either, of none; slabs that end early, K of less than a warp's pieces and
  // more.
  isRight({300, 296, 96, 256, 256});
  isRight({270, 40, 544, 256, 40});
  isRight({40, 530, 64, 40, 256, 1});
  isRight({30, 24, 160, 30, 24, 1});
}

// What the manifest's row has widened before the product of M x N is all that the first tile of
// each of 66 clusters needs.
cuda::Variables rowsBefore(int m, int n) {
  cuda::Variables names = {{"M", m},     {"N", n},      {"K", 8192},
                           {"SMS", 132}, {"GROUPS", 0}, {"CODES", 0}};
  const Json manifest = readManifest();
  for (const Json& row : manifest["kernels"].list)
    if (row["file"].text == "wgmma.cu") {
      for (const auto& [name, value] : row["constants"].members) names[name] = value.number;
      Json values = row["values"];
      values.members.erase("CODES");
      evaluateValues(values, names);
    }
  return names;
}
void checkRowsBefore() {
  for (const auto& [m, n] : {std::pair{8192, 8192},
                             {4096, 57344},
                             {20000, 264},
                             {200, 19000},
                             {4360, 2600},
                             {2304, 2304},
                             {100, 100}}) {
    const cuda::Variables names = rowsBefore(m, n);
    const int rows = (m + 255) / 256, columns = (n + 255) / 256;
    int64_t ofA = 0, ofB = 0;
    for (int tile = 0; tile < std::min(66, rows * columns); tile++) {
      const TilePlace place = tilePlace(tile, rows, columns);
      ofA = std::max(ofA, int64_t{std::min(m, (place.row + 1) * 256)});
      ofB = std::max(ofB, int64_t{std::min(n, (place.col + 1) * 256)});
    }
    // Bands are whole.
    CHECK(names.at("A_BEFORE") >= ofA && names.at("A_BEFORE") < ofA + 8 * 256);
    CHECK(names.at("B_BEFORE") == ofB);
  }
}

void isSeen(Mistake mistake, const std::string& text, int k = 96) {
  const Outcome got = outcome({300, 296, k, 256, 256}, mistake, asTheyAre);
  checkThat(text.empty() ? got.wrong > 0 : got.thrown.find(text) != std::string::npos,
            "mistake " + std::to_string(static_cast<int>(mistake)) + ": " + got.thrown, __FILE__,
            __LINE__);
}

// A scale beyond bf16's range is known where it was seen, and what is NaN becomes NaN.
void checkLastRow() {
  const Shape of = {270, 264, 96, 256, 256, 1};
  const auto got = [&](auto change) { return outcome(of, Mistake::kNone, change); };
  const Outcome inA = got([](Rows& a, ScaledMatrix&) { a.scales.back() = 245; }),
                inB = got([](Rows&, ScaledMatrix& b) { b.scales.back() = 13; }),
                before = got([](Rows& a, ScaledMatrix&) { a.scales.front() = 245; }),
                least =
                    got([](Rows& a, ScaledMatrix& b) { a.scales.back() = b.scales.back() = 14; }),
                most = got([](Rows&, ScaledMatrix& b) { b.scales.back() = 244; }),
                nan = got([](Rows& a, ScaledMatrix& b) {
                  a.codes[a.codes.size() - 9] = a.packed[a.packed.size() - 9] = 0x7f;
                  b.codes[3] = b.packed[3] = 0xff;
                });
  CHECK(inA.isBeyondBeside && !inA.isBeyondBefore);
  CHECK(inB.isBeyondBeside && !inB.isBeyondBefore);
  CHECK(before.isBeyondBefore && !before.isBeyondBeside);
  CHECK(!least.isBeyondBeside && least.wrong == 0);
  CHECK(!most.isBeyondBeside);  // C leaves float32
  CHECK(!nan.isBeyondBeside && !nan.isBeyondBefore && nan.wrong == 0);
}

}  // namespace

int main() {
  checkProduct();
  // Alike in all formats: once.
  if (A_FORMAT == 3 && B_FORMAT == 3) {
    isSeen(Mistake::kEarlyTile, "");
    isSeen(Mistake::kNoPeersHalf, "every thread waits for another");
    // More stages than the ring has.
    isSeen(Mistake::kOwnBarrierAlone, "every thread waits for another", 352);
    isSeen(Mistake::kEarlyRead, "a read");
    isSeen(Mistake::kNoClusterSync, "may not be there yet");
    isSeen(Mistake::kNoSwizzle, "");
    checkLastRow();
    checkRowsBefore();
  }
  return summary();
}
