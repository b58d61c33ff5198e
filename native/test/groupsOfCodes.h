// The bf16 product of sm_90a that widens B's codes itself, on groups: every row by its own matrix
// of B, nothing written beside them, and the machine's mistakes are seen. A test names the formats
// (codesProduct.h) and includes this, which is the whole program.
#pragma once

#define GROUPED 1
#include "../core/groups.h"
#include "codesProduct.h"

namespace {

struct Outcome {
  std::string thrown;
  int64_t wrong = 0;
  bool isBeyond = false;
};

// By tiles of TileN rows of A. `spoil`: changes the operands before anything reads them.
template <int TileN, int Stages, typename Spoil>
Outcome outcome(const Groups& of, int n, int k, Mistake mistake, Spoil spoil) {
  using Product = bf16gemm::ProductOfCodesOver<TileN, Stages>;
  constexpr int kClusterRows = gemm::GroupedShape<Product>::kClusterRows;
  static_assert(kClusterRows == TileN, "a cluster's CTAs are one beside the other");
  const Segments segments(of);
  const auto m = static_cast<int>(segments.totalRows()),
             groups = static_cast<int>(segments.count());
  std::vector<int> starts, rows, ends;
  int tiles = 0;
  for (int group = 0; group < groups; group++) {
    starts.push_back(static_cast<int>(segments[group].first));
    rows.push_back(static_cast<int>(segments[group].rows));
    ends.push_back(tiles += (rows.back() + kClusterRows - 1) / kClusterRows);
  }
  Rows a(m, k);
  ScaledMatrix b({B_FORMAT, SCALE_FORMAT, SCALE_BLOCK}, n * groups, k, 80, "linear");
  const int blocks = k / SCALE_BLOCK;
  // NaN where nobody may look: matrices of empty groups, padding.
  for (int group = 0; group < groups; group++)
    if (rows[group] == 0)
      std::fill_n(b.scales.begin() + int64_t{group} * n * blocks, n * blocks, 255);
  for (int row = 0; row < m; row++)
    if (segments.groupOf(row) < 0)
      std::fill_n(a.scales.begin() + int64_t{row} * blocks, blocks, 255);
  spoil(a, b);

  Outcome result;
  std::vector<u16> wide(int64_t{m} * k);
  u32 beyond = 0;
  const u32 pieces = static_cast<u32>(m) * (k / 16) +
                     groups * ((n * blocks + kScalesOfPiece - 1) / kScalesOfPiece);
  for (u32 i = 0; i < pieces + 3; i++)
    widenRowsOfGroups(i, a.packed.data(), a.scales.data(), b.scales.data(), wide.data(),
                      starts.data(), rows.data(), groups, m, n, k, &beyond);
  result.isBeyond = beyond != 0;

  const Output untouched = toOutput(1234.5f);
  std::vector<Output> c(int64_t{m} * n, untouched);
  const hopper::TensorMap aMap{
      reinterpret_cast<uint8_t*>(wide.data()), k * 2, m, 128, TileN / CLUSTER, 2};
  const hopper::TensorMap codesMap{
      b.packed.data(), k * kBits(B_FORMAT) / 8, int64_t{groups} * n, 32, WIDE_TILE_M, 1};
  const hopper::TensorMap cMap{
      reinterpret_cast<uint8_t*>(c.data()), n * 2, m, 32, Product::kPieceRows, 2};
  const GroupTables tables = {starts.data(), rows.data(), ends.data(), groups};
  result.thrown = messageOf([&] {
    hopper::launch({2, CLUSTER, Product::kThreads, gemm::Shared<Product>::kBytes, {}, mistake},
                   [&] {
                     bf16gemm::runGroupsOfCodes<TileN, Stages>(&aMap, &codesMap, b.scales.data(),
                                                               &cMap, kByEngine, c.data(), tables,
                                                               n, k, kTensorScale, {nullptr, 1.0f});
                   });
  });
  for (int row = 0; row < m; row++) {
    const auto group = static_cast<int>(segments.groupOf(row));
    for (int col = 0; col < n; col++) {
      const Output element = c[int64_t{row} * n + col];
      if (group < 0) {
        result.wrong += element != untouched;
        continue;
      }
      result.wrong += !isProductOf(element, a, row, b, group * n + col);
    }
  }
  return result;
}

const Groups ragged = {GroupLayout::kOffsets, {300, 0, 17, 1}, 1, 0};

// Tiles of 256 rows of A, where no others are named.
template <int TileN = 256, int Stages = CODE_STAGES, typename Spoil>
Outcome isRight(const Groups& of, int n, int k, Spoil spoil) {
  const Outcome got = outcome<TileN, Stages>(of, n, k, Mistake::kNone, spoil);
  checkThat(got.thrown == "nothing was thrown" && got.wrong == 0,
            std::to_string(TileN) + " rows by " + std::to_string(n) + " x " + std::to_string(k) +
                ": " + got.thrown + ", " + std::to_string(got.wrong) + " wrong",
            __FILE__, __LINE__);
  return got;
}
void isSeen(Mistake mistake, const std::string& text) {
  const Outcome got =
      outcome<256, CODE_STAGES>(ragged, 64, 384, mistake, [](ScaledMatrix&, ScaledMatrix&) {});
  const bool isSeen = text.empty() ? got.wrong > 0 : got.thrown.find(text) != std::string::npos;
  checkThat(isSeen, "mistake " + std::to_string(static_cast<int>(mistake)) + ": " + got.thrown,
            __FILE__, __LINE__);
}

void checkProduct() {
  const auto asTheyAre = [](ScaledMatrix&, ScaledMatrix&) {};
  // Several tiles of a cluster; odd numbers of stages; a K that ends inside one.
  CHECK(!isRight(ragged, 520, 192, asTheyAre).isBeyond);
  isRight({GroupLayout::kMasked, {0, 100, 33, 0}, 1, 256}, kFewColumns, 480, asTheyAre);
  isRight({GroupLayout::kContiguous, {130, 5}, 128, 0}, 264, 32, asTheyAre);
  // Groups of whole tiles, of less than one, of pieces of 32 rows and less behind them.
  const Groups some = {GroupLayout::kOffsets, {128, 64, 0, 41, 200, 32}, 1, 0};
  isRight<128, CODE_STAGES_128>(some, kFewColumns, 160, asTheyAre);
  isRight<192, CODE_STAGES_192>(some, 264, 64, asTheyAre);
}
void checkMistakes() {
  isSeen(Mistake::kNoPeersHalf, "every thread waits for another");
  isSeen(Mistake::kOwnBarrierAlone, "every thread waits for another");
  isSeen(Mistake::kEarlyRead, "a read");
  isSeen(Mistake::kEarlyWrite, "a ");
  isSeen(Mistake::kNotPublished, "was not published");
  isSeen(Mistake::kEarlyChange, "registers change under a product");
  isSeen(Mistake::kNoClusterSync, "may not be there yet");
  isSeen(Mistake::kNoSwizzle, "");
  isSeen(Mistake::kOtherChunk, "");
}

// Infinities and NaN of B, which not every format has.
void checkSpecial() {
  for (const int code : {0x7f, 0xff, 0x7c, 0xfc}) {
    if (std::isfinite(decode(numberFormatOf(B_FORMAT), static_cast<uint16_t>(code)))) continue;
    const auto spoil = [code](ScaledMatrix&, ScaledMatrix& b) {
      for (const int at : {3, 70 * 128 + 64, 70 * 128 + 127, 99 * 128 + 1})
        b.codes[at] = b.packed[at] = static_cast<uint8_t>(code);
    };
    isRight({GroupLayout::kOffsets, {9}, 1, 0}, 104, 128, spoil);
  }
}

// The smallest and largest scales that bf16 takes, and one beyond on either side.
void checkScales() {
  for (const auto& [scale, isBeyond] :
       {std::pair{14, false}, {244, false}, {13, true}, {245, true}})
    for (const int at : {5, 290}) {
      const Groups one = {GroupLayout::kOffsets, {3}, 1, 0};
      const auto spoil = [scale = scale, at](ScaledMatrix&, ScaledMatrix& b) {
        b.scales[at] = scale;
      };
      const Outcome got = outcome<256, CODE_STAGES>(one, kFewColumns, 256, Mistake::kNone, spoil);
      CHECK(got.isBeyond == isBeyond);
      if (!isBeyond) isRight(one, kFewColumns, 256, spoil);
    }
}

}  // namespace

int main() {
  checkProduct();
  if (kBits(B_FORMAT) == 8) checkSpecial();
  // The machine's mistakes and scales of 8 bits are alike in all formats: once.
  if (A_FORMAT == 0 && SCALE_FORMAT == 5) checkMistakes(), checkScales();
  return summary();
}
