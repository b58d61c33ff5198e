// Scale layouts as data: where the scale of (row, column) lies. Twin of
// src-shared/layouts/layout.ts; sources of the built-in ones stand in
// src-shared/layouts/registry.ts. A layout splits the two axes of a (rows, columns) matrix of
// one-byte scales into digits and says in which order the digits lie in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace blockscope {

struct LayoutDigit {
  enum class Axis { kRow, kColumn };
  Axis axis = Axis::kRow;
  std::string name;
  int64_t extent = 0;  // 0, for one digit of each axis: as many as the padded axis needs
};

struct ScaleLayout {
  std::string name;
  std::vector<LayoutDigit> digits;  // of the row, then of the column; each most significant first
  std::vector<size_t> order;        // every index into digits once, slowest in memory first
};

// A built-in layout by name, or a layout written out as layoutText.h has it. Throws Error(kUsage)
// naming the known layouts, or what is wrong with the text.
ScaleLayout findLayout(std::string_view nameOrText);

// The built-in layouts, each written out as text.
std::vector<std::string> builtInLayouts();

struct PaddedShape {
  int64_t rows, columns;
  int64_t size() const { return rows * columns; }
};
PaddedShape paddedShape(const ScaleLayout&, int64_t rows, int64_t columns);

// A layout for one shape.
class PlacedLayout {
 public:
  PlacedLayout(const ScaleLayout&, int64_t rows, int64_t columns);

  const PaddedShape& padded() const { return padded_; }
  // Byte offset of scale (row, column): a part that depends on the row and one that depends on the
  // column.
  int64_t offset(int64_t row, int64_t column) const { return rowPart(row) + columnPart(column); }
  int64_t rowPart(int64_t row) const { return part(LayoutDigit::Axis::kRow, row); }
  int64_t columnPart(int64_t column) const { return part(LayoutDigit::Axis::kColumn, column); }
  // The inverse: which scale lies at a byte offset below padded().size(). Padding has a row or
  // column beyond the matrix.
  struct Position {
    int64_t row, column;
  };
  Position positionAt(int64_t offset) const;
  // So many columns, counted from a multiple of it, lie side by side in memory.
  int64_t contiguousColumns() const;

 private:
  struct Digit {
    LayoutDigit::Axis axis;
    int64_t count;   // values it takes
    int64_t weight;  // what one step is worth on its axis
    int64_t stride;  // what one step is worth in memory
  };
  int64_t part(LayoutDigit::Axis, int64_t index) const;

  PaddedShape padded_;
  std::vector<Digit> digits_;  // in memory order, slowest first
};

// Linear scales (row-major, rows * columns) into the layout; padding is 0.
std::vector<uint8_t> packScales(const ScaleLayout&, const uint8_t* linear, int64_t rows,
                                int64_t columns);
// The reverse; `packed` holds paddedShape(...).size() bytes.
std::vector<uint8_t> unpackScales(const ScaleLayout&, const uint8_t* packed, int64_t rows,
                                  int64_t columns);

}  // namespace blockscope
