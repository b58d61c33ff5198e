// A computed C against its reference: every figure of a ValidationReport but the perturbation checks.
#pragma once

#include <vector>

#include "backend.h"

namespace blockscope {

// `output`: batch * M * N elements of the problem's output type. An element passes when
// - it lies within the tolerance of the reference, or some number within the tolerance rounds to it in the output type
//   (bf16 and e4m3 are coarser than the usual tolerance; beyond the range that number may be infinity), or
// - its error is below 2^-21 of (|A| |B|)[m, n]: cancellation that no float32 sum resolves.
// NaN passes only where the reference is NaN.
ValidationReport compareWithReference(const Problem&, const Operands&, const std::vector<double>& reference,
                                      const std::vector<uint8_t>& output, const ValidateRequest&, const CancelFlag&);

// A sentence when agreeing with this reference proves nothing: it is all zero, or mostly zero, infinite in the output
// type, or smaller than the tolerance. Fills referenceRms and referenceNonZero.
std::string whyItProvesNothing(const Problem&, const std::vector<double>& reference, const Tolerance&,
                               ValidationReport&, const CancelFlag&);

// Both: the comparison, its status kProvesNothing where the reference proves nothing. Throws Error(kUsage) when the
// output has the wrong size.
ValidationReport judgeOutput(const Problem&, const Operands&, const std::vector<double>& reference,
                             const std::vector<uint8_t>& output, const ValidateRequest&, const CancelFlag&);

}  // namespace blockscope
