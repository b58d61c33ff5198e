// What decode-mma (resources/kernels/cuda/decode_mma.cu) must do: products of any shape by four,
// eight and sixteen warps, of tiles of B in pairs, of groups, zeros and numbers that may be lost,
// and rows whose numbers are outside of what is multiplied. Included behind the kernel.
#pragma once

#include "decodeOperands.h"

namespace {

// Rows of A that a CTA has, of a product or group of `rows`: as the manifest's COLUMNS.
int columnsOf(int rows) { return rows == 1 && !GROUPED ? 1 : rows <= 8 ? 8 : 16; }

constexpr const char* kKernel = "decode-mma";

// Pairs of a CTA that is alone on a multiprocessor.
constexpr int kMostWarps = B_FORMAT == 0 ? 12 : 16;
// One row has pairs with B of 4 bits alone.
constexpr bool kOneHasPairs = B_FORMAT == 0;
#if !GROUPED
#if B_FORMAT == 0
constexpr auto multiply8PairsByMost = multiply8PairsBy12;
#else
constexpr auto multiply8PairsByMost = multiply8PairsBy16;
#endif
#endif

struct Product {
  int m, n, k, warps = 4;
  std::vector<int> groups = {m};  // rows of each
  int matrices = static_cast<int>(groups.size());
  Activations a{m, k};
  ScaledMatrix b{{B_FORMAT, SCALE_FORMAT, SCALE_BLOCK}, n * matrices, k, 60, "linear"};
  GuardedOutput<float> c{m, n};
  bool isInPairs = false;
  bool isOtherAgain = false;  // of no use: what is computed again is read where all is

  void run() {
    const int most = *std::max_element(groups.begin(), groups.end()), columns = columnsOf(most);
    std::vector<int> tileEnds;
    for (const int rows : groups)
      tileEnds.push_back((tileEnds.empty() ? 0 : tileEnds.back()) + ceilDivided(rows, columns));
    // As the manifest's BLOCKS.
    const int blocks = GROUPED ? std::min(ceilDivided(m, columns) + matrices,
                                          matrices * ceilDivided(most, columns))
                               : ceilDivided(m, columns);
    hopper::Launch of = {ceilDivided(n, isInPairs ? 32 : 16) * blocks, 1, 32 * warps, 0};
    if (columns > 1) of.across = blocks;  // else tiles are a row
    hopper::launch(of, [&] {
      const auto call = [&](auto kernel) {
        kernel(a.codes.data(), b.packed.data(), a.scales.data(), b.scales.data(), m, n, k, c.data(),
               1.0f, nullptr, 1.0f
#if GROUPED
               ,
               startsOf(groups).data(), groups.data(), tileEnds.data(), matrices
#endif
        );
      };
#if !GROUPED
      if (isInPairs && columns == 16) return call(multiply16PairsBy12);
      if (isInPairs && columns == 8)
        return call(warps == 4   ? multiply8PairsBy4
                    : warps == 8 ? multiply8PairsBy8
                                 : multiply8PairsByMost);
#if B_FORMAT == 0
      if (isInPairs)
        return call(warps == 4    ? multiply1PairsBy4
                    : warps == 8  ? multiply1PairsBy8
                    : warps == 16 ? multiply1PairsBy16
                                  : multiply1PairsBy12);
#endif
#if B_FORMAT != 0
      if (columns == 1 && warps == 6) return call(multiply1By6);
#endif
      if (columns == 1)
        return call(warps == 4 ? multiply1By4 : warps == 8 ? multiply1By8 : multiply1By16);
#endif
      if (columns == 8) call(warps == 4 ? multiply8By4 : warps == 8 ? multiply8By8 : multiply8By16);
      else call(warps == 4 ? multiply16By4 : warps == 8 ? multiply16By8 : multiply16By16);
    });
  }
  int wrong(int every) const { return wrongOf(*this, every); }
};

}  // namespace

#include "decodeNumbers.h"

namespace {

Product byEight(Product product) {
  product.warps = 8;
  return product;
}
// Where there are so many for one row.
Product bySix(Product product) {
  product.warps = B_FORMAT != 0 && product.m == 1 ? 6 : 8;
  return product;
}
Product bySixteen(Product product) {
  product.warps = 16;
  return product;
}
// With as many warps as there are for pairs of so many rows. Where one row has none, tiles alone.
Product inPairs(Product product, int warps = 0) {
  if (product.m == 1 && !kOneHasPairs) return byEight(product);
  product.warps = warps > 0 ? warps : product.m <= 8 ? kMostWarps : 12;
  product.isInPairs = true;
  return product;
}

// What the manifest's row launches is what its kernels are.
void isAsInTheManifest() {
  const Json manifest = readManifest();
  int launched = 0, inPairs = 0;
  std::set<std::string> found;
  for (const Json& row : manifest["kernels"].list) {
    if (row["file"].text != "decode_mma.cu") continue;
    blockscope::cuda::Variables names;
    for (const auto& [name, value] : row["constants"].members) names[name] = int(value);
    CHECK(names["ROWS"] == decode::kRowsOfTile);
    names["SMS"] = 132, names["GROUPS"] = GROUPED ? 3 : 0, names["V"] = SCALE_BLOCK;
    names["BITS_A"] = kBits(A_FORMAT), names["BITS_B"] = kBits(B_FORMAT);
    for (const int rows : {1, 8, 9, 16, 17, 64})
      for (const auto& [n, k] : {std::pair{2880, 2880},
                                 {7168, 2048},
                                 {4096, 7168},
                                 {11008, 4096},
                                 {8192, 8192},
                                 {10240, 8192},
                                 {8, 32}}) {
        names["M"] = names["MOST_ROWS"] = rows, names["N"] = n, names["K"] = k;
        evaluateValues(row["values"], names);
        for (const Json& launch : row["launches"].list) {
          const std::string& function = launch["function"].text;
          if (function == "placeTiles" ||
              blockscope::cuda::evaluate(launch["when"].text, names) == 0)
            continue;
          const int columns = columnsOf(rows), warps = static_cast<int>(names["WARPS"]);
          const bool areInPairs = names["IN_PAIRS"] != 0;
          CHECK(columns > 1 || kOneHasPairs || !areInPairs);
          CHECK(function == "multiply" + std::to_string(columns) + (areInPairs ? "Pairs" : "") +
                                "By" + std::to_string(warps));
          CHECK(names["TILES"] == ceilDivided(n, areInPairs ? 32 : 16));
          const auto& grid = launch["grid"].list;
          CHECK(grid.back().text == "TILES" && (columns == 1) == (grid.size() == 1));
          CHECK(columns == 1 || grid.front().text == "BLOCKS");
          inPairs += areInPairs;
          const int ofOne = ceilDivided(rows, columns);
          CHECK(names["BLOCKS"] == (GROUPED ? std::min(ofOne + 3, 3 * ofOne) : ofOne));
          CHECK(names["OF_WARP"] == decode::kOfWarp);
          const auto turnsBy = [&](int warps) { return ceilDivided(k, warps * decode::kOfWarp); };
          CHECK(names["MOST_WARPS"] == (columns == 1 && turnsBy(16) < turnsBy(12) ? 16
                                        : columns <= 8                            ? kMostWarps
                                                                                  : 12));
          found.insert(function);
          launched++;
        }
      }
  }
  CHECK(launched == 6 * 7);  // one for each problem
  CHECK(GROUPED || B_FORMAT == 0 || found.count("multiply1By6"));
  CHECK(GROUPED ? inPairs == 0 : inPairs >= 10 && inPairs < launched);
  for (const int warps : {4, 8, kMostWarps})
    CHECK(GROUPED || found.count("multiply8PairsBy" + std::to_string(warps)));
}

// A scale is marked, which is gathered for a whole row, where elements other than zero are spoiled
// by it, which is asked of each block of a row that has a mark.
void marksAreOfWhatIsSpoiled() {
  using Made = decode::MadeInTurns;
  for (u32 scale = 0; scale < 256; scale++)
    CHECK(((decode::markedOutside<Made>(scale) & decode::kMarksOfOutside) != 0) ==
          decode::isSpoiledScaled<Made>(scale, 0x11111111));
}

// One block of one row of B under `scale`, at an end of what is exact or past it, with what it has
// or with zeros; the warp's other rows have nothing of the kind.
void isRightOfScale(Product product, int scale, bool isZero) {
  auto& b = product.b;
  const int row = product.n / 2, blocks = product.k / SCALE_BLOCK, block = blocks - 2;
  b.scales[row * blocks + block] = static_cast<uint8_t>(scale);
  const auto clear = [&](auto& all) {
    const size_t each = all.size() / product.n / blocks;
    std::fill_n(all.begin() + (row * blocks + block) * each, each, 0);
  };
  if (isZero) clear(b.codes), clear(b.packed);
  isRight(product);
}

// Products that are lost among A's and B's powers of two, and make a normal number together.
void isRightOfLostTogether(Product product) {
  auto& a = product.a;
  for (size_t i = 0; i < a.values.size(); i++) {
    a.values[i] = 0x1p-125;
    const uint16_t bits = blockscope::floatToBf16(0x1p-125f);
    a.codes[2 * i] = bits & 255, a.codes[2 * i + 1] = bits >> 8;
  }
  std::fill(product.b.codes.begin(), product.b.codes.end(), 1);
  std::fill(product.b.packed.begin(), product.b.packed.end(), 0x11);
  std::fill(product.b.scales.begin(), product.b.scales.end(), 1);
  isRight(product);
}

}  // namespace

#if GROUPED
int main() {
  isAsInTheManifest();
  marksAreOfWhatIsSpoiled();
  const auto of = [](std::vector<int> groups, int n, int k, int warps) {
    int m = 0;
    for (const int rows : groups) m = afterGroup(m, rows);
    return Product{m, n, k, warps, std::move(groups)};
  };
  isRight(of({5, 0, 2}, 136, 1056, 4));
  isRight(of({5, 0, 2}, 40, 1056, 8));
  isRight(of({20, 64}, 72, 544, 4), 3);
  isRight(of({9, 0, 16, 1, 12}, 37, 1280, 8), 3);
  isRight(of({0, 5}, 16, 32, 4));
  isRight(of({7, 1, 0, 8}, 24, 4160, 16));
  return summary();
}
#else
int main() {
  isAsInTheManifest();
  marksAreOfWhatIsSpoiled();
  isRight({1, 16, 32});
  isRight({1, 8, 64});     // fewer rows than a CTA has
  isRight({1, 40, 1056});  // a last turn that some of four lanes have nothing of
  isRight(byEight({1, 37, 2880}));
  isRight({3, 50, 2048});
  isRight(byEight({3, 50, 2048}));
  isRight({8, 200, 1056});  // a last turn that some of four lanes have nothing of
  isRight(byEight({8, 37, 2880}));
  isRight({9, 33, 1120});
  isRight(byEight({16, 72, 4096}), 3);
  isRight({17, 40, 544});  // blocks of rows
  isRight(byEight({64, 24, 1056}), 3);
  isRight(bySix({1, 40, 4096}));
  isRight(bySix({1, 24, 1120}));
  isRight(bySixteen({1, 24, 7168}));
  isRight(bySixteen({13, 40, 2880}));  // some warps have nothing
  isRight(inPairs({1, 32, 32}));
  isRight(inPairs({1, 72, 2880}));
  isRight(inPairs({1, 40, 1056}, 4));
  isRight(inPairs({1, 50, 2048}, 8));
  isRight(inPairs({1, 56, 7168}, 16));
  isRight(inPairs({8, 50, 2880}));
  isRight(inPairs({5, 72, 1056}, 8));
  isRight(inPairs({3, 8, 4096}, 8));  // a second tile that is not there
  isRight(inPairs({7, 40, 1120}, 4));
  isRight(inPairs({16, 88, 1120}));
  isRight(inPairs({41, 40, 544}), 3);
  isRightOfCancelled({3, 64, 1024});
  isRightOfCancelled({1, 64, 1024});
  isRightOfCancelled(inPairs({9, 56, 1088}));
  isRightOfCancelled(byEight({9, 24, 1088}));
  if (SCALE_FORMAT == 5) {
    isRightOfSmall({3, 24, 512});
    isRightOfSmall({1, 24, 1056});
    isRightOfSmall(byEight({10, 24, 1056}));
    isRightOfSmall(inPairs({3, 40, 1056}, 8));
    // The ends of B's scales.
    const int least = decode::MadeInTurns::kLeastScale, most = least + decode::kMoreScales;
    for (const int scale : {least, most, least - 1, most + 1, 0, 210})
      for (const bool isZero : {false, true}) {
        isRightOfScale({5, 40, 1056}, scale, isZero);
        isRightOfScale(inPairs({1, 60, 1056}), scale, isZero);
        isRightOfScale(byEight({12, 24, 2048}), scale, isZero);
        isRightOfScale(inPairs({12, 60, 1056}), scale, isZero);
      }
  }
  if (SCALE_FORMAT == 5 && A_FORMAT != 7) {
    for (const int lost : {0, 20, 32}) isRightOfLost({3, 24, 1056}, lost);
    isRightOfSmallRows({3, 24, 1056});
    isRightOfZeros({3, 40, 1056});
    for (const int lost : {0, 20, 32}) isRightOfLost({1, 24, 1056}, lost);
    isRightOfSmallRows({1, 24, 1056});
    isRightOfZeros({1, 40, 1056});
  }
  if (SCALE_FORMAT == 6 && A_FORMAT == 7)
    for (const int rows : {1, 3}) isRightOfLostTogether({rows, 24, 1024});
  if (SCALE_FORMAT == 5 && A_FORMAT != 7) {
    // The ends of A's scales, B's making up for them.
    for (const int scale : {0, 1, 2, 40, 150, 164, 230, 253, 254})
      for (const bool isZero : {false, true}) {
        isRightOfTwo({1, 40, 1056}, scale, isZero ? 0 : 1);
        isRightOfTwo(inPairs({1, 60, 2048}), scale, isZero ? 0 : 1);
      }
  }
  if (SCALE_FORMAT == 5 && A_FORMAT != 7)
    // Sums that float32 has.
    for (const int scale : {30, 80, 105, 150, 235})
      for (int first = std::max(0, 140 - scale); first < std::min(255, 340 - scale); first += 15)
        isRightOfLeastScales({1, 16, 2048}, scale, first);
  // Under scales whose product is no number, but times what they scale is one.
  if (A_FORMAT != 7 && kBits(B_FORMAT) == 8) isRightOfLeastScales({1, 16, 2048}, 104, 0);
  if (A_FORMAT == 7 && SCALE_FORMAT == 5)
    for (const float number :
         {0x1p-80f, -0x1p-81f, 0x1p-126f, 0x1p-133f, 0x1p37f, -0x1p38f, 0x1p100f})
      isRightOfTwo({1, 40, 1056}, 127, number);
  isNanOfOneRow({3, 40, 1056}, false, false);
  isNanOfOneRow({1, 40, 1056}, false, false);
  isNanOfOneRow(byEight({9, 40, 2048}), false, false);
  isNanOfOneRow(inPairs({3, 60, 1056}, 8), false, false);
  isNanOfOneRow(inPairs({1, 60, 1056}, 8), false, false);
  isNanOfOneRow(inPairs({3, 60, 1056}, 4), false, false);
  isNanOfOneRow(inPairs({9, 44, 1056}), false, false);
  if (A_FORMAT != 7)
    for (const int rows : {1, 3}) isNanOfOneRow({rows, 40, 1056}, true, false);
  if (A_FORMAT != 7) isNanOfOneRow(byEight({11, 24, 1056}), true, false);
  if (A_FORMAT != 7) isNanOfOneRow(inPairs({11, 40, 1056}), true, false);
  if (B_FORMAT == 3)
    for (const int rows : {1, 3}) isNanOfOneRow({rows, 40, 1056}, false, true);
  if (A_FORMAT == 3)
    for (const int rows : {1, 3}) isNanOfOneRow({rows, 40, 1056}, true, true);
  return summary();
}
#endif
