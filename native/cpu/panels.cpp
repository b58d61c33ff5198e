#include "panels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "../core/packing.h"
#include "../core/threads.h"

namespace blockscope {

PackedOperands packOperands(const Problem& problem, const Operands& operands) {
  const BlockFormat& format = findBlockFormat(problem.format);
  PackedOperands packed;
  auto pack = [](const NumberFormat& element, const std::vector<uint8_t>& codes) {
    const int64_t count = static_cast<int64_t>(codes.size());
    std::vector<uint8_t> bytes(packedBytes(element, count));
    packCodes(element, codes.data(), count, bytes.data());
    return bytes;
  };
  packed.a = pack(format.elementA(), operands.aCodes);
  packed.b = pack(format.elementB(), operands.bCodes);
  packed.aScales = operands.aScales;
  packed.bScales = operands.bScales;
  packed.tensorScale = operands.tensorScaleA * operands.tensorScaleB;
  return packed;
}

Side sideA(const Problem& problem, const PackedOperands& packed, int64_t batch) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const int64_t codes = packedBytes(format.elementA(), problem.m * problem.k);
  const int64_t scales = problem.m * (problem.k / format.scaleBlockSize);
  return {&format.elementA(),          format.scale, format.scaleBlockSize, &packed.a[batch * codes],
          &packed.aScales[batch * scales], problem.m,    problem.k};
}

Side sideB(const Problem& problem, const PackedOperands& packed, int64_t batch) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const int64_t codes = packedBytes(format.elementB(), problem.n * problem.k);
  const int64_t scales = problem.n * (problem.k / format.scaleBlockSize);
  return {&format.elementB(),          format.scale, format.scaleBlockSize, &packed.b[batch * codes],
          &packed.bScales[batch * scales], problem.n,    problem.k};
}

namespace {

constexpr int64_t roundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// Columns of B are decoded this deep at a time, so that they are still in the L1 cache when they are interleaved.
constexpr int64_t kDecodeDepth = 128;

// Panels of A and of B are packed by the same crew: tasks [0, aTasks) are A's.
template <typename PackA, typename PackB>
void packBoth(int64_t aTasks, int64_t bTasks, const CancelFlag& cancel, const PackA& packA, const PackB& packB) {
  parallelFor(aTasks + bTasks, cancel, [&](int64_t task) { task < aTasks ? packA(task) : packB(task - aTasks); });
}

// Rows [panel * shape.rows, ...) of A into their places in every chunk. decode(row, k0, count, out).
template <typename Number, typename Decode>
void packRows(const Side& side, int64_t panel, const TileShape& shape, int padding, Number* out, const Decode& decode) {
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
void packColumns(const Side& side, int64_t panel, const TileShape& shape, Number* out, const Decode& decode) {
  constexpr int64_t kGroup = sizeof(Number) < 4 ? 4 / sizeof(Number) : 1;
  struct alignas(kGroup * sizeof(Number)) Group {
    Number numbers[kGroup];
  };
  constexpr int kMaxColumns = 32;
  alignas(64) Number lines[kMaxColumns][kDecodeDepth] = {};
  const int64_t first = panel * shape.columns, columns = std::min<int64_t>(shape.columns, side.rows - first);
  Group* to = reinterpret_cast<Group*>(out + first * side.k);
  for (int64_t k0 = 0; k0 < side.k; k0 += kDecodeDepth) {
    const int64_t count = std::min(kDecodeDepth, side.k - k0);
    for (int64_t c = 0; c < columns; c++) decode(first + c, k0, count, lines[c]);
    for (int64_t g = 0; g < count / kGroup; g++)
      for (int64_t c = 0; c < shape.columns; c++) std::memcpy(to++, &lines[c][g * kGroup], sizeof(Group));
  }
}

}  // namespace

template <typename Number>
void decodeNumbers(const Side& side, int64_t row, int64_t k0, int64_t count, Number* out) {
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
NumberPanels<Number> packNumberPanels(const Side& a, const Side& b, const TileShape& shape, DecodeNumbers<Number> decode,
                                      Workspace& workspace, const CancelFlag& cancel) {
  constexpr int kPadding = NumberPanels<Number>::kPadding;
  const int64_t rows = roundUp(a.rows, shape.rows), columns = roundUp(b.rows, shape.columns);
  Number* aOut = workspace.a.take<Number>(roundUp(a.k, shape.chunk) / shape.chunk * rows * (shape.chunk + kPadding));
  Number* bOut = workspace.b.take<Number>(columns * b.k);
  auto decodeSide = [decode](const Side& side) {
    return [decode, &side](int64_t row, int64_t k0, int64_t count, Number* out) { decode(side, row, k0, count, out); };
  };
  packBoth(
      rows / shape.rows, columns / shape.columns, cancel,
      [&](int64_t panel) { packRows(a, panel, shape, kPadding, aOut, decodeSide(a)); },
      [&](int64_t panel) { packColumns(b, panel, shape, bOut, decodeSide(b)); });
  return {aOut, bOut, rows};
}
template NumberPanels<uint16_t> packNumberPanels(const Side&, const Side&, const TileShape&, DecodeNumbers<uint16_t>,
                                                 Workspace&, const CancelFlag&);
template NumberPanels<float> packNumberPanels(const Side&, const Side&, const TileShape&, DecodeNumbers<float>,
                                              Workspace&, const CancelFlag&);
template NumberPanels<double> packNumberPanels(const Side&, const Side&, const TileShape&, DecodeNumbers<double>,
                                               Workspace&, const CancelFlag&);

namespace {

int32_t scaleBits(uint8_t code, float value, ScaleProduct product) {
  // Unsigned, because a shifted negative number is what the later addition wants.
  if (product == ScaleProduct::kExponentsAdded) return static_cast<int32_t>((uint32_t{code} - 127u) << 23);
  return std::bit_cast<int32_t>(value);
}

// Sums and scales of a row panel: [block][rows].
void packBlockFacts(const Side& side, int64_t panel, const TileShape& shape, ScaleProduct product, const int8_t* a,
                    int64_t rows, int32_t* bias, int32_t* bits) {
  const auto& scaleValues = decodeTable(side.scale);
  const int64_t blocks = side.blocks(), stride = shape.chunk + IntegerPanels::kPadding;
  for (int64_t r = 0; r < shape.rows; r++) {
    const int64_t row = panel * shape.rows + r;
    for (int64_t block = 0; block < blocks; block++) {
      const int64_t k0 = block * side.scaleBlockSize, to = (panel * blocks + block) * shape.rows + r;
      if (row >= side.rows) {
        bias[to] = bits[to] = 0;
        continue;
      }
      const int8_t* codes = a + (k0 / shape.chunk * rows + row) * stride + k0 % shape.chunk;
      int32_t sum = 0;
      for (int i = 0; i < side.scaleBlockSize; i++) sum += codes[i];
      bias[to] = -12 * sum;
      const uint8_t code = *side.scalesAt(row, k0);
      bits[to] = scaleBits(code, scaleValues[code], product);
    }
  }
}

void packColumnScales(const Side& side, int64_t panel, int64_t columns, float* out) {
  const auto& scaleValues = decodeTable(side.scale);
  const int64_t first = panel * columns;
  out += first * side.blocks();
  for (int64_t block = 0; block < side.blocks(); block++)
    for (int64_t column = first; column < first + columns; column++)
      *out++ = column < side.rows ? scaleValues[side.scales[column * side.blocks() + block]] * 0.25f : 0.0f;
}

}  // namespace

IntegerPanels packIntegerPanels(const Side& a, const Side& b, const TileShape& shape, ScaleProduct product,
                                ExpandE2m1 expand, Workspace& workspace, const CancelFlag& cancel) {
  constexpr int kPadding = IntegerPanels::kPadding;
  const int64_t rows = roundUp(a.rows, shape.rows), columns = roundUp(b.rows, shape.columns);
  int8_t* aOut = workspace.a.take<int8_t>(roundUp(a.k, shape.chunk) / shape.chunk * rows * (shape.chunk + kPadding));
  uint8_t* bOut = workspace.b.take<uint8_t>(columns * b.k);
  int32_t* bias = workspace.aBias.take<int32_t>(rows * a.blocks());
  int32_t* bits = workspace.aScales.take<int32_t>(rows * a.blocks());
  float* bScales = workspace.bScales.take<float>(columns * b.blocks());
  packBoth(
      rows / shape.rows, columns / shape.columns, cancel,
      [&](int64_t panel) {
        packRows(a, panel, shape, kPadding, aOut, [&](int64_t row, int64_t k0, int64_t count, int8_t* out) {
          expand(a.codesAt(row, k0), count, 0, reinterpret_cast<uint8_t*>(out));
        });
        packBlockFacts(a, panel, shape, product, aOut, rows, bias, bits);
      },
      [&](int64_t panel) {
        packColumns(b, panel, shape, bOut, [&](int64_t row, int64_t k0, int64_t count, uint8_t* out) {
          expand(b.codesAt(row, k0), count, 12, out);
        });
        packColumnScales(b, panel, shape.columns, bScales);
      });
  return {aOut, bOut, bias, bits, bScales, rows};
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
CodeRange rangeOfNonZero(const Side& side, int64_t rows) {
  CodeRange range;
  for (int64_t row = 0; row < rows; row++)
    for (int64_t block = 0; block < side.blocks(); block++) {
      const int code = *side.scalesAt(row, block * side.scaleBlockSize);
      range.high = std::max(range.high, code);
      if (!blockIsZero(side, row, block)) range.low = std::min(range.low, code);
    }
  return range;
}

CodeRange rangeOfAll(const std::vector<uint8_t>& scales) {
  const auto [low, high] = std::minmax_element(scales.begin(), scales.end());
  return {*low, *high};
}

// e8m0 codes are 127 + exponent. Elements reach from 2^-16 to 2^16: one side within 2^-100..2^100 stays a normal number,
// products of two scales within 2^-60..2^60 leave room for the product of elements and a sum of 2^30 of them.
bool rangesAreSafe(const CodeRange& a, const CodeRange& b) {
  return a.low >= 27 && b.low >= 27 && a.high <= 227 && b.high <= 227 && a.low + b.low >= 254 - 60 &&
         a.high + b.high <= 254 + 60;
}

}  // namespace

ScaleSafety scaleSafety(const Problem& problem, const PackedOperands& packed) {
  // e4m3 scales: products within 2^-18..2^18, and a NaN goes through float arithmetic as it should.
  if (findBlockFormat(problem.format).scale == NumberFormatId::kUe4m3) return ScaleSafety::kSafe;
  if (rangesAreSafe(rangeOfAll(packed.aScales), rangeOfAll(packed.bScales))) return ScaleSafety::kSafe;
  const bool safe = rangesAreSafe(rangeOfNonZero(sideA(problem, packed, 0), problem.batch * problem.m),
                                  rangeOfNonZero(sideB(problem, packed, 0), problem.batch * problem.n));
  return safe ? ScaleSafety::kSafeBesidesZeroBlocks : ScaleSafety::kNeedsFloat64;
}

}  // namespace blockscope
