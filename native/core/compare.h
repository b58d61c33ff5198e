// A computed C against its reference: every figure of a ValidationReport but the perturbation checks.
#pragma once

#include <vector>

#include "backend.h"

namespace blockscope {

// `output`: batch * M * N elements of the problem's output type. An element passes when it equals the reference rounded
// to the output type (so an overflow to infinity passes where the reference overflows too) or lies within the
// tolerance of it, or its error is below 2^-21 of (|A| |B|)[m, n]: cancellation that no float32 sum resolves. NaN passes
// only where the reference is NaN.
ValidationReport compareWithReference(const Problem&, const Operands&, const std::vector<double>& reference,
                                      const std::vector<uint8_t>& output, const ValidateRequest&, const CancelFlag&);

// A sentence when this reference proves nothing: all zero, or mostly zero or infinite in the output type.
// Fills referenceRms and referenceNonZero.
std::string whyItProvesNothing(const Problem&, const std::vector<double>& reference, ValidationReport&);

}  // namespace blockscope
