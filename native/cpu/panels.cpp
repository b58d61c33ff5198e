#include "panels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "../core/outputs.h"
#include "../core/packing.h"
#include "../core/threads.h"

namespace blockscope {

Side sideA(const Problem& problem, const KernelOperands& packed, const Product& product) {
  const BlockFormat& format = findBlockFormat(problem.format);
  return {&format.elementA(),
          format.scale,
          format.scaleBlockSize,
          packed.a.data() + packedBytes(format.elementA(), product.firstA * problem.k),
          format.elementA().isScaled()
              ? packed.aScales.data() + product.firstA * (problem.k / format.scaleBlockSize)
              : nullptr,
          product.rows,
          problem.k};
}

Side sideB(const Problem& problem, const KernelOperands& packed, const Product& product) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const int64_t first = product.matrixB * problem.n;
  return {&format.elementB(),
          format.scale,
          format.scaleBlockSize,
          packed.b.data() + packedBytes(format.elementB(), first * problem.k),
          packed.bScales.data() + first * (problem.k / format.scaleBlockSize),
          problem.n,
          problem.k};
}

namespace {

constexpr int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Columns of B are decoded this deep at a time, so that they are still in the L1 cache when they
// are interleaved.
constexpr int64_t kDecodeDepth = 128;

// Panels of A and of B are packed by the same crew: tasks [0, aTasks) are A's.
template <typename PackA, typename PackB>
void packBoth(int64_t aTasks, int64_t bTasks, const CancelFlag& cancel, const PackA& packA,
              const PackB& packB) {
  parallelFor(aTasks + bTasks, cancel,
              [&](int64_t task) { task < aTasks ? packA(task) : packB(task - aTasks); });
}

// Rows [panel * shape.rows, ...) of A into their places in every chunk. decode(row, k0, count,
// out).
template <typename Number, typename Decode>
void packRows(const Side& side, int64_t panel, const TileShape& shape, int padding, Number* out,
              const Decode& decode) {
  const int64_t padded = roundUp(side.rows, shape.rows), stride = shape.chunk + padding;
  for (int64_t row = panel * shape.rows; row < (panel + 1) * shape.rows; row++)
    for (int64_t k0 = 0; k0 < side.k; k0 += shape.chunk) {
      const int64_t count = std::min<int64_t>(shape.chunk, side.k - k0);
      Number* line = out + (k0 / shape.chunk * padded + row) * stride;
      if (row < side.rows) decode(row, k0, count, line);
      else std::fill_n(line, count, Number{});
    }
}

// Columns [panel * shape.columns, ...) of B, interleaved in groups of 4 / sizeof(Number), or one.
template <typename Number, typename Decode>
void packColumns(const Side& side, int64_t panel, const TileShape& shape, Number* out,
                 const Decode& decode) {
  constexpr int64_t kGroup = sizeof(Number) < 4 ? 4 / sizeof(Number) : 1;
  struct alignas(kGroup * sizeof(Number)) Group {
    Number numbers[kGroup];
  };
  constexpr int kMaxColumns = 32;
  alignas(64) Number lines[kMaxColumns][kDecodeDepth] = {};
  const int64_t first = panel * shape.columns,
                columns = std::min<int64_t>(shape.columns, side.rows - first);
  Group* to = reinterpret_cast<Group*>(out + first * side.k);
  for (int64_t k0 = 0; k0 < side.k; k0 += kDecodeDepth) {
    const int64_t count = std::min(kDecodeDepth, side.k - k0);
    for (int64_t c = 0; c < columns; c++) decode(first + c, k0, count, lines[c]);
    for (int64_t g = 0; g < count / kGroup; g++)
      for (int64_t c = 0; c < shape.columns; c++)
        std::memcpy(to++, &lines[c][g * kGroup], sizeof(Group));
  }
}

}  // namespace

template <typename Number>
void decodeNumbers(const Side& side, int64_t row, int64_t k0, int64_t count, Number* out) {
  if (!side.scales) {
    const uint8_t* codes = side.codesAt(row, k0);
    for (int64_t i = 0; i < count; i++)
      out[i] = bf16ToFloat(static_cast<uint16_t>(codes[2 * i] | codes[2 * i + 1] << 8));
    return;
  }
  constexpr int64_t kStep = 128;
  const auto& values = decodeTable(side.element->id);
  const auto& scaleValues = decodeTable(side.scale);
  const uint8_t* scales = side.scalesAt(row, k0);
  uint8_t codes[kStep];
  for (int64_t at = 0; at < count; at += kStep) {
    const int64_t step = std::min(kStep, count - at);
    unpackCodes(*side.element, side.codesAt(row, k0 + at), step, codes);
    for (int64_t i = 0; i < step; i += side.scaleBlockSize) {
      const Number scale = scaleValues[*scales++];
      for (int64_t j = i; j < i + side.scaleBlockSize; j++) out[at + j] = values[codes[j]] * scale;
    }
  }
}
template void decodeNumbers<float>(const Side&, int64_t, int64_t, int64_t, float*);
template void decodeNumbers<double>(const Side&, int64_t, int64_t, int64_t, double*);

template <typename Number>
NumberPanels<Number> packNumberPanels(const Side& a, const Side& b, const TileShape& shape,
                                      DecodeNumbers<Number> decode, Workspace& workspace,
                                      const CancelFlag& cancel) {
  constexpr int kPadding = NumberPanels<Number>::kPadding;
  const int64_t rows = roundUp(a.rows, shape.rows), columns = roundUp(b.rows, shape.columns);
  Number* aOut = workspace.a.take<Number>(roundUp(a.k, shape.chunk) / shape.chunk * rows *
                                          (shape.chunk + kPadding));
  Number* bOut = workspace.b.take<Number>(columns * b.k);
  auto decodeSide = [decode](const Side& side) {
    return [decode, &side](int64_t row, int64_t k0, int64_t count, Number* out) {
      decode(side, row, k0, count, out);
    };
  };
  packBoth(
      rows / shape.rows, columns / shape.columns, cancel,
      [&](int64_t panel) { packRows(a, panel, shape, kPadding, aOut, decodeSide(a)); },
      [&](int64_t panel) { packColumns(b, panel, shape, bOut, decodeSide(b)); });
  return {aOut, bOut, rows};
}
template NumberPanels<uint16_t> packNumberPanels(const Side&, const Side&, const TileShape&,
                                                 DecodeNumbers<uint16_t>, Workspace&,
                                                 const CancelFlag&);
template NumberPanels<float> packNumberPanels(const Side&, const Side&, const TileShape&,
                                              DecodeNumbers<float>, Workspace&, const CancelFlag&);
template NumberPanels<double> packNumberPanels(const Side&, const Side&, const TileShape&,
                                               DecodeNumbers<double>, Workspace&,
                                               const CancelFlag&);

int32_t scaleBitsA(NumberFormatId scale, uint8_t code, ScaleProduct product) {
  switch (product) {
    case ScaleProduct::kMultiplied:
      return std::bit_cast<int32_t>(decodeTable(scale)[code]);
    case ScaleProduct::kExponentsAdded:
      // Unsigned, because a negative exponent wraps until B's is added.
      return static_cast<int32_t>((uint32_t{code} - 127u) << 23);
    case ScaleProduct::kLookedUp:
      // A zero scale is here only on a block of zeros, where any finite number does.
      return 16 * (code == 0 ? 0x38 : code & 0x7f);
  }
  return 0;
}

int32_t scaleBitsB(NumberFormatId scale, uint8_t code, ScaleProduct product) {
  if (product != ScaleProduct::kLookedUp)
    return std::bit_cast<int32_t>(decodeTable(scale)[code] * 0.25f);
  if (code == 0) code = 0x38;
  const uint32_t field = code >> 3 & 15, mantissa = code & 7;
  // e4m3 is mantissa * 2^(field - 10), with the hidden bit where the field is not zero.
  const uint32_t exponent = (field == 0 ? 1 : field) - 10 - 2;
  return static_cast<int32_t>((exponent << 23) + mantissa + (field == 0 ? 0 : 8));
}

const int32_t* scaleProductTable() {
  struct alignas(64) Table {
    int32_t rows[128][16];
  };
  static const Table table = [] {
    Table made;
    for (int code = 0; code < 128; code++)
      for (int i = 0; i < 16; i++)
        made.rows[code][i] =
            std::bit_cast<int32_t>(decodeTable(NumberFormatId::kUe4m3)[code] * i) - i;
    return made;
  }();
  return table.rows[0];
}

namespace {

// Sums and scales of a row panel: [block][rows].
void packBlockFacts(const Side& side, int64_t panel, const TileShape& shape,
                    const IntegerPacking& packing, const int8_t* a, int64_t rows, int32_t* bias,
                    int32_t* bits) {
  constexpr int kMaxBlocks = 64;  // of one chunk
  const int64_t blocks = side.blocks(), stride = shape.chunk + IntegerPanels::kPadding;
  int32_t words[256], sums[kMaxBlocks];
  for (int code = 0; code < 256; code++)
    words[code] = scaleBitsA(side.scale, static_cast<uint8_t>(code), packing.scaleProduct);
  bias += panel * shape.rows * blocks;
  bits += panel * shape.rows * blocks;
  const int64_t first = panel * shape.rows,
                present = std::min<int64_t>(shape.rows, side.rows - first);
  if (present < shape.rows) {
    std::fill_n(bias, shape.rows * blocks, 0);
    std::fill_n(bits, shape.rows * blocks, words[side.scale == NumberFormatId::kE8m0 ? 127 : 0x38]);
  }
  for (int64_t r = 0; r < present; r++)
    for (int64_t k0 = 0; k0 < side.k; k0 += shape.chunk) {
      const int64_t count = std::min<int64_t>(shape.chunk, side.k - k0) / side.scaleBlockSize;
      packing.sumBlocks(a + (k0 / shape.chunk * rows + first + r) * stride, count,
                        side.scaleBlockSize, sums);
      const uint8_t* scales = side.scalesAt(first + r, k0);
      int64_t to = k0 / side.scaleBlockSize * shape.rows + r;
      for (int64_t block = 0; block < count; block++, to += shape.rows) {
        bias[to] = -12 * sums[block];
        bits[to] = words[scales[block]];
      }
    }
}

void packColumnScales(const Side& side, int64_t panel, int64_t columns, ScaleProduct product,
                      int32_t* out) {
  int32_t words[256];
  for (int code = 0; code < 256; code++)
    words[code] = scaleBitsB(side.scale, static_cast<uint8_t>(code), product);
  const int64_t first = panel * columns;
  out += first * side.blocks();
  for (int64_t block = 0; block < side.blocks(); block++)
    for (int64_t column = first; column < first + columns; column++)
      // Columns beyond N repeat the last: finite numbers, that nobody reads.
      *out++ = words[side.scales[std::min(column, side.rows - 1) * side.blocks() + block]];
}

}  // namespace

IntegerPanels packIntegerPanels(const Side& a, const Side& b, const TileShape& shape,
                                const IntegerPacking& packing, Workspace& workspace,
                                const CancelFlag& cancel) {
  constexpr int kPadding = IntegerPanels::kPadding;
  const int64_t rows = roundUp(a.rows, shape.rows), columns = roundUp(b.rows, shape.columns);
  int8_t* aOut = workspace.a.take<int8_t>(roundUp(a.k, shape.chunk) / shape.chunk * rows *
                                          (shape.chunk + kPadding));
  uint8_t* bOut = workspace.b.take<uint8_t>(columns * b.k);
  int32_t* bias = workspace.aBias.take<int32_t>(rows * a.blocks());
  int32_t* aBits = workspace.aScales.take<int32_t>(rows * a.blocks());
  int32_t* bBits = workspace.bScales.take<int32_t>(columns * b.blocks());
  packBoth(
      rows / shape.rows, columns / shape.columns, cancel,
      [&](int64_t panel) {
        packRows(a, panel, shape, kPadding, aOut,
                 [&](int64_t row, int64_t k0, int64_t count, int8_t* out) {
                   packing.expand(a.codesAt(row, k0), count, 0, reinterpret_cast<uint8_t*>(out));
                 });
        packBlockFacts(a, panel, shape, packing, aOut, rows, bias, aBits);
      },
      [&](int64_t panel) {
        packColumns(b, panel, shape, bOut,
                    [&](int64_t row, int64_t k0, int64_t count, uint8_t* out) {
                      packing.expand(b.codesAt(row, k0), count, 12, out);
                    });
        packColumnScales(b, panel, shape.columns, packing.scaleProduct, bBits);
      });
  return {aOut, bOut, bias, aBits, bBits, rows};
}

namespace {

struct CodeRange {
  int low = 255, high = 0;
};

bool blockIsZero(const Side& side, int64_t row, int64_t block) {
  const int64_t bytes = side.scaleBlockSize * side.element->storageBits / 8;
  const uint8_t* codes = side.codesAt(row, block * side.scaleBlockSize);
  return std::all_of(codes, codes + bytes, [](uint8_t byte) { return byte == 0; });
}

// Zero blocks, to which quantisers give scale code 0, do not count at the lower end.
CodeRange rangeOfNonZero(const Side& side) {
  CodeRange range;
  for (int64_t row = 0; row < side.rows; row++)
    for (int64_t block = 0; block < side.blocks(); block++) {
      const int code = *side.scalesAt(row, block * side.scaleBlockSize);
      range.high = std::max(range.high, code);
      if (!blockIsZero(side, row, block)) range.low = std::min(range.low, code);
    }
  return range;
}

CodeRange rangeOfAll(std::span<const uint8_t> scales) {
  // A loop that compilers vectorise, unlike std::minmax_element.
  uint8_t low = 255, high = 0;
  for (const uint8_t code : scales) {
    low = std::min(low, code);
    high = std::max(high, code);
  }
  return {low, high};
}

// Exponent fields of bf16, which are e8m0's codes; zeros do not count.
CodeRange rangeOfExponents(const Side& side) {
  CodeRange range;
  const uint8_t* codes = side.codes;
  for (int64_t i = 0; i < side.rows * side.k; i++) {
    const int magnitude = (codes[2 * i] | codes[2 * i + 1] << 8) & 0x7fff;
    if (magnitude == 0) continue;
    range.low = std::min(range.low, magnitude >> 7);
    range.high = std::max(range.high, magnitude >> 7);
  }
  return range;
}

// e8m0 codes are 127 + exponent. Elements reach from 2^-16 to 2^16: one side within 2^-100..2^100
// stays a normal number, products of two scales within 2^-60..2^60 leave room for the product of
// elements and a sum of 2^30 of them.
bool rangesAreSafe(const CodeRange& a, const CodeRange& b) {
  return a.low >= 27 && b.low >= 27 && a.high <= 227 && b.high <= 227 &&
         a.low + b.low >= 254 - 60 && a.high + b.high <= 254 + 60;
}

}  // namespace

ScaleSafety scaleSafety(const Problem& problem, const KernelOperands& packed) {
  const bool e4m3 = findBlockFormat(problem.format).scale == NumberFormatId::kUe4m3;
  // Rows of A that are multiplied: padding rows of groups are not read.
  std::vector<Side> sidesOfA;
  if (problem.isGrouped()) {
    for (int64_t group = 0; group < problem.productCount(); group++)
      sidesOfA.push_back(sideA(problem, packed, problem.product(group)));
  } else {
    sidesOfA.push_back(sideA(problem, packed, {}));
    sidesOfA.back().rows = problem.rowsOfA();
  }
  Side ofB = sideB(problem, packed, {});
  ofB.rows = problem.rowsOfB();
  auto rangeOf = [](const std::vector<Side>& sides, auto rangeOfSide) {
    CodeRange range;
    for (const Side& side : sides) {
      const CodeRange own = rangeOfSide(side);
      range = {std::min(range.low, own.low), std::max(range.high, own.high)};
    }
    return range;
  };
  if (!sidesOfA.empty() && !sidesOfA.front().scales) {
    // ue4m3 scales are within 2^-9..2^9, zero and NaN among them.
    const CodeRange b = e4m3 ? CodeRange{118, 136} : rangeOfNonZero(ofB);
    return rangesAreSafe(rangeOf(sidesOfA, rangeOfExponents), b) ? ScaleSafety::kSafeIfMultiplied
                                                                 : ScaleSafety::kNeedsFloat64;
  }
  auto all = [](const Side& side) {
    return rangeOfAll({side.scales, static_cast<size_t>(side.rows * side.blocks())});
  };
  const CodeRange allA = rangeOf(sidesOfA, all), allB = all(ofB);
  // e4m3 scales are within 2^-9..2^9; NaN is 0x7f, and bit 7 does not count.
  auto plain = [](const CodeRange& range) { return range.low > 0 && range.high < 0x7f; };
  if (e4m3 ? plain(allA) && plain(allB) : rangesAreSafe(allA, allB)) return ScaleSafety::kSafe;
  const CodeRange a = rangeOf(sidesOfA, rangeOfNonZero), b = rangeOfNonZero(ofB);
  if (e4m3) return plain(a) && plain(b) ? ScaleSafety::kSafe : ScaleSafety::kSafeIfMultiplied;
  return rangesAreSafe(a, b) ? ScaleSafety::kSafeIfMultiplied : ScaleSafety::kNeedsFloat64;
}

}  // namespace blockscope
