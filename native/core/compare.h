// A computed C against its reference: every figure of a ValidationReport but the perturbation
// checks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "backend.h"
#include "statedError.h"

namespace blockscope {

// Bins of the ulp histogram: 0, 1, 2, 3..4, 5..8, ..., 1025 and more.
constexpr int kUlpBins = 13;

// Share of (|A| |B|)[m, n] that a float32 sum of `k` terms may be off by: sqrt(k) units of 2^-24,
// as rounding errors that are independent add up (Higham and Mary, "A New Approach to Probabilistic
// Rounding Error Analysis", SIAM J. Sci. Comput. 41, 2019); at least 8 of them.
inline double cancellationShare(int64_t k) {
  return 0x1p-24 * std::max(8.0, std::sqrt(static_cast<double>(k)));
}
constexpr int kCancellationChecksPerRow = 64;

// Figures of one row of C, and of its reference.
struct RowFigures {
  int64_t outside = 0, nonFinite = 0;
  // Passed by an allowance alone.
  int64_t withinRounding = 0, withinCancellation = 0, withinStated = 0;
  double maxToleranceShare = 0;               // largest error / tolerance
  double maxUlpsAbove = 0, sumUlpsAbove = 0;  // above the rounding, of `pairs` elements
  int64_t pairs = 0;                          // finite, and of a finite reference
  double maxAbs = 0, maxRel = 0, squaredError = 0, squaredReference = 0;
  std::array<uint64_t, kUlpBins> ulps = {};
  std::vector<float> ratios;     // largest error / tolerance per tile of the error map
  std::vector<int64_t> failing;  // the first failing columns
  // Of the reference, rounded to the output type: elements that are not zero, that are finite, and
  // (not rounded) that are larger than their tolerance; sum of the squares of the finite ones.
  int64_t nonZero = 0, finite = 0, aboveTolerance = 0;
  double referenceSquares = 0;
};

// An element passes when it lies within the tolerance of the reference. By PassRule::kAllowances it
// also passes
// - for its rounding, when some number within the tolerance rounds to it in the output type (bf16
//   and e4m3 are coarser than the usual tolerance; beyond the range it may be infinity), or
// - for cancellation, when some number within cancellationShare of (|A| |B|)[m, n] rounds to it; at
//   most kCancellationChecksPerRow elements of a row are looked at for it.
// Of a kernel that states its error it passes, too, where that allows it (`stated`).
// NaN passes where the reference is NaN, and only there. Padding rows of groups are not judged:
// their figures are those of nothing.
RowFigures compareRow(const Problem&, const Operands&, const std::vector<double>& reference,
                      const std::vector<uint8_t>& output, const ValidateRequest&, int64_t row,
                      const StatedError* stated = nullptr);

// How many failing elements are described: at least the one that the reason names.
int64_t describedFailures(const ValidateRequest&);

// Columns of C in one tile of the error map.
int64_t tileColumns(const Problem&, const ValidateRequest&);

// Figures of all rows of C.
using CompareRows = std::function<std::vector<RowFigures>(const std::vector<uint8_t>& output)>;

// `output`: C, of the problem's output type. The status is kProvesNothing when
// agreeing with this reference proves nothing: it is all zero, or mostly zero, infinite in the
// output type, or smaller than the tolerance. `compareRows`: compareRow of every row on all cores
// when empty. Throws Error(kUsage) when the output has the wrong size.
ValidationReport judgeOutput(const Problem&, const Operands&, const std::vector<double>& reference,
                             const std::vector<uint8_t>& output, const ValidateRequest&,
                             const CancelFlag&, const CompareRows& compareRows = {});

}  // namespace blockscope
