// Work on the weights of checkpoints, in pieces of bounded memory and on all cores. Every function
// takes rows counted through all matrices of a weight, so that a caller can go on where it stopped;
// reports how much of the rows is done; and throws Error(kCancelled) when asked to stop.
#pragma once

#include <cstdint>

#include "../core/backend.h"
#include "blockQuantizer.h"
#include "storedValues.h"

namespace blockscope {

// Numbers that are none, among the values of some rows.
struct BadValues {
  int64_t nan = 0, infinite = 0;
  int64_t first =
      -1;  // the first of them, counted through all matrices: row * k + column; -1: none
};

struct ScannedValues {
  double largest = 0;  // largest finite magnitude
  BadValues bad;
};
ScannedValues scanValues(const StoredValues&, RowRange, const CancelFlag&, const Progress&);

// Where a quantised weight goes: places of the codes and the scales of its first row, in files that
// are there.
struct QuantizedWeight {
  QuantizedForm form;
  FilePlace codes, scales;
  ScaleLayout layout;
};

struct QuantizedRows {
  BadBlocks badBlocks = 0;
  BadValues bad;
};
// In a layout that mixes rows the range must be whole matrices. fp4 codes are packed two a byte,
// others lie one in a byte.
QuantizedRows quantizeRows(const StoredValues&, RowRange, const QuantizedWeight&, const CancelFlag&,
                           const Progress&);

// Two weights of the same rows and K, value by value. Sums are over the pairs of which both are
// finite.
struct ComparedRows {
  double signal = 0;        // sum of x^2
  double noise = 0;         // sum of (x - y)^2
  double largestError = 0;  // largest |x - y|
  int64_t different = 0;    // pairs of which one is no finite number and the other is not the same
  int64_t lost = 0;         // of them, finite in the original
  BadValues bad;            // of the original
};
ComparedRows compareRows(const StoredValues& original, const StoredValues& converted, RowRange,
                         const CancelFlag&, const Progress&);

// Linear or packed scales of matrices `range` (whole ones) into another layout.
void repackScales(const StoredScales& from, int64_t rowsPerMatrix, int64_t columns, RowRange range,
                  const ScaleLayout& layout, const FilePlace& to, const CancelFlag&,
                  const Progress&);

void copyBytes(const FilePlace& from, const FilePlace& to, int64_t count, const CancelFlag&,
               const Progress&);

}  // namespace blockscope
