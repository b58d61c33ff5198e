// Scale layouts: where the scale of (row, column) lies. spec: cuBLAS "1D Block Scaling Factors Layout", PTX ISA tcgen05,
// Triton tutorial 10 for CDNA4. Written as formulas, apart from the descriptions in src-shared/layouts.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace blockscope {

enum class ScaleLayout { kLinear, kNvidia32x4x4, kCdna4Mfma16, kCdna4Mfma32 };

// Throws Error(kUsage) naming the known layouts.
ScaleLayout findLayout(std::string_view name);

struct PaddedShape {
  int64_t rows, columns;
  int64_t size() const { return rows * columns; }
};
PaddedShape paddedShape(ScaleLayout, int64_t rows, int64_t columns);

// Byte offset of scale (row, column) when the matrix has been padded to `padded`.
int64_t packedOffset(ScaleLayout, const PaddedShape& padded, int64_t row, int64_t column);

std::vector<uint8_t> packScales(ScaleLayout, const uint8_t* linear, int64_t rows, int64_t columns);
std::vector<uint8_t> unpackScales(ScaleLayout, const uint8_t* packed, int64_t rows, int64_t columns);

}  // namespace blockscope
