#include "layouts.h"

#include <string>

#include "backend.h"

namespace blockscope {

ScaleLayout findLayout(std::string_view name) {
  if (name == "linear") return ScaleLayout::kLinear;
  if (name == "nvidia_32_4_4") return ScaleLayout::kNvidia32x4x4;
  if (name == "cdna4_mfma16") return ScaleLayout::kCdna4Mfma16;
  if (name == "cdna4_mfma32") return ScaleLayout::kCdna4Mfma32;
  throw Error(ErrorKind::kUsage, "\"" + std::string(name) +
                                     "\" is no scale layout. Layouts: linear, nvidia_32_4_4, cdna4_mfma16, "
                                     "cdna4_mfma32.");
}

namespace {

constexpr int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

PaddedShape paddedShape(ScaleLayout layout, int64_t rows, int64_t columns) {
  switch (layout) {
    case ScaleLayout::kLinear:
      return {rows, columns};
    case ScaleLayout::kNvidia32x4x4:
      return {roundUp(rows, 128), roundUp(columns, 4)};
    default:
      return {roundUp(rows, 32), roundUp(columns, 8)};
  }
}

int64_t packedOffset(ScaleLayout layout, const PaddedShape& padded, int64_t r, int64_t c) {
  const int64_t columns = padded.columns;
  switch (layout) {
    case ScaleLayout::kLinear:
      return r * columns + c;
    case ScaleLayout::kNvidia32x4x4:
      return (r / 128 * (columns / 4) + c / 4) * 512 + r % 32 * 16 + r % 128 / 32 * 4 + c % 4;
    case ScaleLayout::kCdna4Mfma32:
      return r / 32 * 32 * columns + c / 8 * 256 + c % 2 * 128 + r % 32 * 4 + c % 8 / 2;
    case ScaleLayout::kCdna4Mfma16:
      return r / 32 * 32 * columns + c / 8 * 256 + c % 4 * 64 + r % 16 * 4 + c % 8 / 4 * 2 + r % 32 / 16;
  }
  return -1;
}

std::vector<uint8_t> packScales(ScaleLayout layout, const uint8_t* linear, int64_t rows, int64_t columns) {
  const PaddedShape padded = paddedShape(layout, rows, columns);
  std::vector<uint8_t> packed(padded.size(), 0);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++) packed[packedOffset(layout, padded, r, c)] = linear[r * columns + c];
  return packed;
}

std::vector<uint8_t> unpackScales(ScaleLayout layout, const uint8_t* packed, int64_t rows, int64_t columns) {
  const PaddedShape padded = paddedShape(layout, rows, columns);
  std::vector<uint8_t> linear(rows * columns);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++) linear[r * columns + c] = packed[packedOffset(layout, padded, r, c)];
  return linear;
}

}  // namespace blockscope
