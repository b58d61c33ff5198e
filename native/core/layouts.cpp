#include "layouts.h"

#include <cstring>

namespace blockscope {

namespace {

using Axis = LayoutDigit::Axis;

// Product of the fixed digits of an axis: the axis is padded to a multiple of it.
int64_t tileExtent(const ScaleLayout& layout, Axis axis) {
  int64_t extent = 1;
  for (const LayoutDigit& digit : layout.digits)
    if (digit.axis == axis && digit.extent > 0) extent *= digit.extent;
  return extent;
}

constexpr int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Calls copy(packed offset, linear index, bytes) for every run of scales that lie side by side in
// both. Runs of all but the last columns have `kRun` bytes, so that a short one is a single move;
// kRun 0: as many as `run` says.
template <int64_t kRun, typename Copy>
void forRuns(const PlacedLayout& placed, int64_t run, int64_t rows, int64_t columns, Copy copy) {
  const int64_t bytes = kRun ? kRun : run;
  const int64_t whole = columns / bytes;
  std::vector<int64_t> parts(whole + 1);
  for (int64_t i = 0; i <= whole; i++) parts[i] = placed.columnPart(i * bytes);
  for (int64_t row = 0; row < rows; row++) {
    const int64_t packed = placed.rowPart(row), linear = row * columns;
    for (int64_t i = 0; i < whole; i++) copy(packed + parts[i], linear + i * bytes, bytes);
    if (columns % bytes) copy(packed + parts[whole], linear + whole * bytes, columns % bytes);
  }
}

template <typename Copy>
void forRuns(const ScaleLayout& layout, int64_t rows, int64_t columns, Copy copy) {
  const PlacedLayout placed(layout, rows, columns);
  const int64_t run = placed.contiguousColumns();
  if (run == 1) forRuns<1>(placed, run, rows, columns, copy);
  else if (run == 4) forRuns<4>(placed, run, rows, columns, copy);
  else forRuns<0>(placed, run, rows, columns, copy);
}

}  // namespace

PaddedShape paddedShape(const ScaleLayout& layout, int64_t rows, int64_t columns) {
  return {roundUp(rows, tileExtent(layout, Axis::kRow)),
          roundUp(columns, tileExtent(layout, Axis::kColumn))};
}

PlacedLayout::PlacedLayout(const ScaleLayout& layout, int64_t rows, int64_t columns)
    : padded_(paddedShape(layout, rows, columns)) {
  std::vector<Digit> byAxis(layout.digits.size());
  const int64_t rowRest = padded_.rows / tileExtent(layout, Axis::kRow),
                columnRest = padded_.columns / tileExtent(layout, Axis::kColumn);
  int64_t rowWeight = 1, columnWeight = 1;
  for (size_t i = layout.digits.size(); i-- > 0;) {
    const LayoutDigit& digit = layout.digits[i];
    const bool ofRow = digit.axis == Axis::kRow;
    int64_t& weight = ofRow ? rowWeight : columnWeight;
    const int64_t count = digit.extent ? digit.extent : (ofRow ? rowRest : columnRest);
    byAxis[i] = {digit.axis, count, weight, 0};
    weight *= count;
  }
  int64_t stride = padded_.size();
  for (const size_t i : layout.order) {
    Digit& digit = byAxis[i];
    stride /= digit.count;
    digit.stride = stride;
    digits_.push_back(digit);
  }
}

int64_t PlacedLayout::part(Axis axis, int64_t index) const {
  int64_t offset = 0;
  for (const Digit& digit : digits_)
    if (digit.axis == axis) offset += index / digit.weight % digit.count * digit.stride;
  return offset;
}

PlacedLayout::Position PlacedLayout::positionAt(int64_t offset) const {
  Position position{0, 0};
  for (const Digit& digit : digits_)
    (digit.axis == Axis::kRow ? position.row : position.column) +=
        offset / digit.stride % digit.count * digit.weight;
  return position;
}

int64_t PlacedLayout::contiguousColumns() const {
  int64_t run = 1;
  for (auto digit = digits_.rbegin(); digit != digits_.rend(); digit++) {
    if (digit->axis != Axis::kColumn || digit->weight != digit->stride) break;
    run *= digit->count;
  }
  return run;
}

std::vector<uint8_t> packScales(const ScaleLayout& layout, const uint8_t* linear, int64_t rows,
                                int64_t columns) {
  std::vector<uint8_t> packed(paddedShape(layout, rows, columns).size(), 0);
  forRuns(layout, rows, columns, [&](int64_t at, int64_t index, int64_t bytes) {
    std::memcpy(packed.data() + at, linear + index, bytes);
  });
  return packed;
}

std::vector<uint8_t> unpackScales(const ScaleLayout& layout, const uint8_t* packed, int64_t rows,
                                  int64_t columns) {
  std::vector<uint8_t> linear(rows * columns);
  forRuns(layout, rows, columns, [&](int64_t at, int64_t index, int64_t bytes) {
    std::memcpy(linear.data() + index, packed + at, bytes);
  });
  return linear;
}

}  // namespace blockscope
