#include "panels.h"

#include <algorithm>
#include <cmath>

#include "../core/outputs.h"
#include "../core/packing.h"

namespace blockscope {

PackedOperands packOperands(const Problem& problem, const Operands& operands) {
  const BlockFormat& format = findBlockFormat(problem.format);
  PackedOperands packed;
  auto pack = [](const NumberFormat& element, const std::vector<uint8_t>& codes) {
    std::vector<uint8_t> bytes(packedBytes(element, static_cast<int64_t>(codes.size())));
    packCodes(element, codes.data(), static_cast<int64_t>(codes.size()), bytes.data());
    return bytes;
  };
  packed.a = pack(format.elementA(), operands.aCodes);
  packed.b = pack(format.elementB(), operands.bCodes);
  packed.aScales = operands.aScales;
  packed.bScales = operands.bScales;
  packed.tensorScale = operands.tensorScaleA * operands.tensorScaleB;
  return packed;
}

MatrixView matrixOf(const Problem& problem, const PackedOperands& packed, int64_t batch) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const int64_t blocks = problem.k / format.scaleBlockSize;
  return {&packed.a[batch * packedBytes(format.elementA(), problem.m * problem.k)],
          &packed.b[batch * packedBytes(format.elementB(), problem.n * problem.k)],
          &packed.aScales[batch * problem.m * blocks], &packed.bScales[batch * problem.n * blocks]};
}

namespace {

constexpr int64_t roundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

constexpr int8_t kDoubledE2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Rows of one side as numbers element * scale.
class RowDecoder {
 public:
  RowDecoder(const NumberFormat& element, NumberFormatId scale, int scaleBlockSize, const uint8_t* codes,
             const uint8_t* scales, int64_t k)
      : element_(element), values_(decodeTable(element.id)), scaleValues_(decodeTable(scale)),
        scaleBlockSize_(scaleBlockSize), codes_(codes), scales_(scales), k_(k) {}

  void decode(int64_t row, std::vector<uint8_t>& scratch, float* out) const {
    scratch.resize(k_);
    unpackCodes(element_, codes_ + row * packedBytes(element_, k_), k_, scratch.data());
    const uint8_t* scales = scales_ + row * (k_ / scaleBlockSize_);
    for (int64_t block = 0; block < k_ / scaleBlockSize_; block++) {
      const float scale = scaleValues_[scales[block]];
      for (int64_t k = block * scaleBlockSize_; k < (block + 1) * scaleBlockSize_; k++)
        out[k] = values_[scratch[k]] * scale;
    }
  }

 private:
  const NumberFormat& element_;
  const std::array<float, 256>& values_;
  const std::array<float, 256>& scaleValues_;
  int scaleBlockSize_;
  const uint8_t* codes_;
  const uint8_t* scales_;
  int64_t k_;
};

template <typename Number>
Number narrow(float value) {
  if constexpr (sizeof(Number) == 2) return floatToBf16(value);
  else return value;
}

// Rows a thread takes at a time: enough to be worth a task, few enough to cancel soon.
constexpr int64_t kRowsPerTask = 16;

template <typename Number>
NumberPanels<Number> packNumberPanels(const Problem& problem, const MatrixView& matrix, int rowMultiple,
                                      int panelColumns, int step, const CancelFlag& cancel) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const int64_t k = problem.k;
  NumberPanels<Number> panels;
  panels.a.resize(roundUp(problem.m, rowMultiple) * k);
  panels.b.resize(roundUp(problem.n, panelColumns) * k);
  const RowDecoder a(format.elementA(), format.scale, format.scaleBlockSize, matrix.a, matrix.aScales, k);
  const RowDecoder b(format.elementB(), format.scale, format.scaleBlockSize, matrix.b, matrix.bScales, k);
  const int64_t aTasks = roundUp(problem.m, kRowsPerTask) / kRowsPerTask;
  const int64_t bTasks = roundUp(problem.n, panelColumns) / panelColumns;
  parallelFor(aTasks + bTasks, cancel, [&](int64_t task) {
    std::vector<uint8_t> scratch;
    std::vector<float> row(k);
    if (task < aTasks) {
      for (int64_t r = task * kRowsPerTask; r < std::min(problem.m, (task + 1) * kRowsPerTask); r++) {
        a.decode(r, scratch, row.data());
        std::transform(row.begin(), row.end(), &panels.a[r * k], narrow<Number>);
      }
      return;
    }
    const int64_t first = (task - aTasks) * panelColumns;
    Number* panel = &panels.b[first * k];
    for (int64_t c = first; c < std::min(problem.n, first + panelColumns); c++) {
      b.decode(c, scratch, row.data());
      for (int64_t i = 0; i < k; i++)
        panel[i / step * panelColumns * step + (c - first) * step + i % step] = narrow<Number>(row[i]);
    }
  });
  return panels;
}

}  // namespace

NumberPanels<uint16_t> packBf16Panels(const Problem& problem, const MatrixView& matrix, int rowMultiple,
                                      int panelColumns, const CancelFlag& cancel) {
  return packNumberPanels<uint16_t>(problem, matrix, rowMultiple, panelColumns, 2, cancel);
}

NumberPanels<float> packFloatPanels(const Problem& problem, const MatrixView& matrix, int rowMultiple,
                                    int panelColumns, const CancelFlag& cancel) {
  return packNumberPanels<float>(problem, matrix, rowMultiple, panelColumns, 1, cancel);
}

IntegerPanels packIntegerPanels(const Problem& problem, const MatrixView& matrix, int rowMultiple, int panelColumns,
                                const CancelFlag& cancel) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const int size = format.scaleBlockSize;
  const int64_t k = problem.k, blocks = k / size;
  const int64_t rows = roundUp(problem.m, rowMultiple), columns = roundUp(problem.n, panelColumns);
  const auto& scaleValues = decodeTable(format.scale);
  IntegerPanels panels;
  panels.a.resize(rows * k);
  panels.aScales.resize(rows * blocks);
  panels.aBias.resize(rows * blocks);
  panels.b.assign(columns * k, 12);
  panels.bScales.resize(columns * blocks);
  const int64_t aTasks = roundUp(problem.m, kRowsPerTask) / kRowsPerTask;
  const int64_t bTasks = columns / panelColumns;
  parallelFor(aTasks + bTasks, cancel, [&](int64_t task) {
    if (task < aTasks) {
      for (int64_t r = task * kRowsPerTask; r < std::min(problem.m, (task + 1) * kRowsPerTask); r++) {
        const uint8_t* packed = matrix.a + r * k / 2;
        for (int64_t i = 0; i < k / 2; i++) {
          panels.a[r * k + 2 * i] = kDoubledE2m1[packed[i] & 15];
          panels.a[r * k + 2 * i + 1] = kDoubledE2m1[packed[i] >> 4];
        }
        for (int64_t block = 0; block < blocks; block++) {
          int32_t sum = 0;
          for (int i = 0; i < size; i++) sum += panels.a[r * k + block * size + i];
          panels.aBias[r * blocks + block] = -12 * sum;
          panels.aScales[r * blocks + block] = scaleValues[matrix.aScales[r * blocks + block]];
        }
      }
      return;
    }
    const int64_t first = (task - aTasks) * panelColumns;
    uint8_t* panel = &panels.b[first * k];
    float* scales = &panels.bScales[first * blocks];
    for (int64_t c = first; c < std::min(problem.n, first + panelColumns); c++) {
      const uint8_t* packed = matrix.b + c * k / 2;
      uint8_t* out = panel + (c - first) * 4;
      for (int64_t group = 0; group < k / 4; group++) {
        for (int i = 0; i < 2; i++) {
          const uint8_t byte = packed[group * 2 + i];
          out[group * panelColumns * 4 + 2 * i] = static_cast<uint8_t>(kDoubledE2m1[byte & 15] + 12);
          out[group * panelColumns * 4 + 2 * i + 1] = static_cast<uint8_t>(kDoubledE2m1[byte >> 4] + 12);
        }
      }
      for (int64_t block = 0; block < blocks; block++)
        scales[block * panelColumns + c - first] = scaleValues[matrix.bScales[c * blocks + block]] * 0.25f;
    }
  });
  return panels;
}

bool scalesAreSafe(const Problem& problem, const PackedOperands& packed) {
  const BlockFormat& format = findBlockFormat(problem.format);
  if (format.scale == NumberFormatId::kUe4m3)
    return std::none_of(packed.aScales.begin(), packed.aScales.end(), [](uint8_t c) { return (c & 0x7f) == 0x7f; }) &&
           std::none_of(packed.bScales.begin(), packed.bScales.end(), [](uint8_t c) { return (c & 0x7f) == 0x7f; });
  const auto [lowA, highA] = std::minmax_element(packed.aScales.begin(), packed.aScales.end());
  const auto [lowB, highB] = std::minmax_element(packed.bScales.begin(), packed.bScales.end());
  // 2^17 covers the largest element (57344); 2^-16 the smallest.
  return *lowA >= 27 && *lowB >= 27 && *highA <= 227 && *highB <= 227 && *lowA + *lowB >= 254 - 80 &&
         *highA + *highB <= 254 + 80;
}

}  // namespace blockscope
