// Scale layouts: the descriptions against formulas written out by hand, and what holds for every
// description.
#include "../core/layouts.h"

#include <set>

#include "../core/backend.h"
#include "../core/layoutText.h"
#include "../core/philox.h"
#include "check.h"

// The index function of the example kernel with a layout of its own, behind its words.
// clang-format off
#include "cudaWords.h"
#include "../../test/gpu/kernels/userLayout/scaleOffset.cuh"
// clang-format on

using namespace blockscope;

namespace {

std::vector<uint8_t> randomScales(int64_t count) {
  std::vector<uint8_t> scales(count);
  for (int64_t i = 0; i < count; i++) scales[i] = static_cast<uint8_t>(philox(9, 0, i)[0]);
  return scales;
}

// spec: cuBLAS "1D Block Scaling Factors Layout", PTX ISA tcgen05, Triton tutorial 10 for CDNA4;
// `columns` is padded.
using Formula = int64_t (*)(int64_t r, int64_t c, int64_t columns);
struct Known {
  const char* name;
  Formula formula;
  int64_t rowTile, columnTile;
};
const Known kKnown[] = {
    {"linear", [](int64_t r, int64_t c, int64_t columns) { return r * columns + c; }, 1, 1},
    {"nvidia_32_4_4",
     [](int64_t r, int64_t c, int64_t columns) {
       return (r / 128 * (columns / 4) + c / 4) * 512 + r % 32 * 16 + r % 128 / 32 * 4 + c % 4;
     },
     128, 4},
    {"cdna4_mfma32",
     [](int64_t r, int64_t c, int64_t columns) {
       return r / 32 * 32 * columns + c / 8 * 256 + c % 2 * 128 + r % 32 * 4 + c % 8 / 2;
     },
     32, 8},
    {"cdna4_mfma16",
     [](int64_t r, int64_t c, int64_t columns) {
       return r / 32 * 32 * columns + c / 8 * 256 + c % 4 * 64 + r % 16 * 4 + c % 8 / 4 * 2 +
              r % 32 / 16;
     },
     32, 8},
};

constexpr int64_t kRows[] = {1, 32, 100, 129, 300};
constexpr int64_t kColumns[] = {1, 4, 8, 13, 64};

void descriptionsGiveTheFormulas() {
  for (const Known& known : kKnown)
    for (const int64_t rows : kRows)
      for (const int64_t columns : kColumns) {
        const PlacedLayout placed(findLayout(known.name), rows, columns);
        CHECK(placed.padded().rows == (rows + known.rowTile - 1) / known.rowTile * known.rowTile);
        CHECK(placed.padded().columns ==
              (columns + known.columnTile - 1) / known.columnTile * known.columnTile);
        bool all = true;
        for (int64_t r = 0; r < rows; r++)
          for (int64_t c = 0; c < columns; c++)
            all = all && placed.offset(r, c) == known.formula(r, c, placed.padded().columns);
        CHECK(all);
      }
}

void placesEveryScaleOnce(const ScaleLayout& layout, int64_t rows, int64_t columns) {
  const PlacedLayout placed(layout, rows, columns);
  const PaddedShape& padded = placed.padded();
  std::set<int64_t> seen;
  bool inverse = true;
  for (int64_t r = 0; r < padded.rows; r++)
    for (int64_t c = 0; c < padded.columns; c++) {
      const int64_t offset = placed.offset(r, c);
      const auto [row, column] = placed.positionAt(offset);
      inverse = inverse && row == r && column == c;
      seen.insert(offset);
    }
  CHECK(inverse);
  CHECK(static_cast<int64_t>(seen.size()) == padded.size());
  CHECK(*seen.begin() == 0 && *seen.rbegin() == padded.size() - 1);
}

void packsAndUnpacks(const ScaleLayout& layout, int64_t rows, int64_t columns) {
  const PlacedLayout placed(layout, rows, columns);
  const std::vector<uint8_t> linear = randomScales(rows * columns);
  const std::vector<uint8_t> packed = packScales(layout, linear.data(), rows, columns);
  std::vector<uint8_t> expected(placed.padded().size(), 0);
  for (int64_t i = 0; i < rows * columns; i++)
    expected[placed.offset(i / columns, i % columns)] = linear[i];
  CHECK(packed == expected);
  CHECK(unpackScales(layout, packed.data(), rows, columns) == linear);
}

void everyLayoutIsABijection() {
  std::vector<std::string> texts = builtInLayouts();
  CHECK(texts.size() >= 9);
  // Runs of 1, 2 and 12 scales; the column first; digits of one axis apart from each other.
  texts.push_back("users = a:0 b:3 c:5 | d:0 e:2 f:6 | d c a b e f");
  texts.push_back("mixed = a:0 b:3 | d:0 e:7 f:2 | e d b a f");
  texts.push_back("columnMajor = r:0 | c:0 | c r");
  for (const std::string& text : texts)
    for (const int64_t rows : kRows)
      for (const int64_t columns : kColumns) {
        placesEveryScaleOnce(findLayout(text), rows, columns);
        packsAndUnpacks(findLayout(text), rows, columns);
      }
}

void aKernelsOwnIndexFunctionAgrees() {
  const PlacedLayout placed(
      findLayout("column_pairs = rowTile:0 rowInTile:16 | columnTile:0 columnInTile:2 | "
                 "columnTile rowTile columnInTile rowInTile"),
      100, 7);
  bool all = true;
  for (int64_t r = 0; r < 100; r++)
    for (int64_t c = 0; c < 7; c++)
      all = all &&
            placed.offset(r, c) == scaleOffset(static_cast<long>(r), static_cast<long>(c), 100, 7);
  CHECK(all);
}

void badTextsAreNamed() {
  auto said = [](const std::string& text) -> std::string {
    try {
      findLayout(text);
    } catch (const Error& error) {
      return error.kind == ErrorKind::kUsage ? error.what() : "another kind";
    }
    return "nothing was thrown";
  };
  CHECK_CONTAINS(said("spiral"), "\"spiral\" is no scale layout. Layouts: linear, nvidia_32_4_4, ");
  CHECK_CONTAINS(said("mine = a:0 | b:0"),
                 "\"mine\" is no usable layout: it is not written as name = ");
  CHECK_CONTAINS(said("= a:0 | b:0 | a b"), "it is not written as");
  CHECK_CONTAINS(said("two words = a:0 | b:0 | a b"), "it is not written as");
  CHECK_CONTAINS(said("mine = a:0 | b:0 | a b | a b"), "it is not written as");
  CHECK_CONTAINS(said("mine = | b:0 | b"), "the row has no digits");
  CHECK_CONTAINS(said("mine = a | b:0 | a b"), "\"a\" is not written as name:extent");
  CHECK_CONTAINS(said("mine = a:-1 | b:0 | a b"), "\"a:-1\" is not written as");
  CHECK_CONTAINS(said("mine = a:0x | b:0 | a b"), "\"a:0x\" is not written as");
  CHECK_CONTAINS(said("mine = a:99999999999999999999 | b:0 | a b"), "is not written as");
  CHECK_CONTAINS(said("mine = a:4 | b:0 | a b"), "one digit must have extent 0 (the rest)");
  CHECK_CONTAINS(said("mine = a:0 c:0 | b:0 | a b c"), "\"a\" and \"c\" both have extent 0");
  CHECK_CONTAINS(said("mine = a:0 c:512 d:512 | b:0 | a b c d"), "a tile of more than 65536");
  CHECK_CONTAINS(said("mine = a:0 | a:0 | a"), "the digit \"a\" appears twice");
  CHECK_CONTAINS(said("mine = a:0 | b:0 | a c"), "order names \"c\", which is no digit");
  CHECK_CONTAINS(said("mine = a:0 | b:0 | a"), "order must name \"b\" exactly once");
  CHECK_CONTAINS(said("mine = a:0 | b:0 | a b a"), "order must name \"a\" exactly once");
  CHECK_CONTAINS(said("mine = a:0 | b:0 | " + std::string(3000, 'a')), "more than 2000 characters");
}

}  // namespace

int main() {
  descriptionsGiveTheFormulas();
  everyLayoutIsABijection();
  aKernelsOwnIndexFunctionAgrees();
  badTextsAreNamed();
  return summary();
}
