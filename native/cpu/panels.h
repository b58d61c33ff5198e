// Operands rearranged for register tiles (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication").
//
// B goes into panels of kNr columns, depth outermost, so that a micro-kernel reads it straight through; A stays in rows,
// from which it broadcasts. Rows and columns beyond M and N are zero.
#pragma once

#include <cstdint>
#include <vector>

#include "../core/threads.h"
#include "kernel.h"

namespace blockscope {

// A matrix of the batch: where its packed rows begin.
struct MatrixView {
  const uint8_t* a;
  const uint8_t* b;
  const uint8_t* aScales;
  const uint8_t* bScales;
};
MatrixView matrixOf(const Problem&, const PackedOperands&, int64_t batch);

// fp4 x fp4 as integers: 2 * e2m1 is an integer in -12..12, so a block's dot product is exact in int32. vpdpbusd wants
// one side unsigned: B is kept as 2 * e2m1 + 12, and A's sums take the 12 back.
struct IntegerPanels {
  std::vector<uint8_t> b;      // [panel][K / 4][kNr][4]
  std::vector<float> bScales;  // [panel][block][kNr], divided by 4 for the two doublings
  std::vector<int8_t> a;       // [row][K]
  std::vector<float> aScales;  // [row][block]
  std::vector<int32_t> aBias;  // [row][block]: -12 * sum of the block
};
IntegerPanels packIntegerPanels(const Problem&, const MatrixView&, int rowMultiple, int panelColumns, const CancelFlag&);

// element * scale as numbers: exact in bfloat16 (8 significant bits) and float32 for scales inside the safe range.
template <typename Number>
struct NumberPanels {
  std::vector<Number> b;  // [panel][K / step][kNr][step]: step 2 for bfloat16 pairs, 1 for float32
  std::vector<Number> a;  // [row][K]
};
NumberPanels<uint16_t> packBf16Panels(const Problem&, const MatrixView&, int rowMultiple, int panelColumns,
                                      const CancelFlag&);
NumberPanels<float> packFloatPanels(const Problem&, const MatrixView&, int rowMultiple, int panelColumns,
                                    const CancelFlag&);

// True when no intermediate of the fast kernels can overflow, underflow or meet a NaN that they would treat wrongly:
// all scales finite, products of scales within 2^-100..2^100. Otherwise the portable kernel is used.
bool scalesAreSafe(const Problem&, const PackedOperands&);

}  // namespace blockscope
