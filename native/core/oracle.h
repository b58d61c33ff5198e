// The reference: float64 accumulation of exact products. Shares no code with any kernel.
//
// element * scale is exact in float64 (at most 8 significant bits; bf16 has none), and so is the
// product of two of them.
#pragma once

#include <vector>

#include "backend.h"

namespace blockscope {

// C before it is rounded to its type, all of its rows x N, row-major; padding rows of groups are
// zero. Blocked and threaded over all cores.
std::vector<double> referenceProduct(const Problem&, const Operands&, const CancelFlag&,
                                     const Progress&);

// `row` and `product` below: a row of one product (Problem::product), a matrix of C or a group.

// One element of C, straight from the definition; for checking other oracles.
double referenceElement(const Problem&, const Operands&, int64_t product, int64_t row, int64_t col);

// What one scale block contributes to one element of C.
double blockShare(const Problem&, const Operands&, int64_t product, int64_t row, int64_t col,
                  int64_t block);

// Sum over k of |A B|, and |accumulator|, for one element: the scale of its rounding errors.
double magnitudeElement(const Problem&, const Operands&, int64_t product, int64_t row, int64_t col);

// Euclidean norm of a row of an operand (of all its matrices together) over elements first..last of
// K, without tensor scales.
double rowNorm(const Problem&, const Operands&, OperandSide, int64_t row, int64_t first,
               int64_t last);

}  // namespace blockscope
