// Seeded operands. docs/operands.md defines every distribution to the bit; a GPU generator makes
// the same bytes.
#pragma once

#include <string>
#include <vector>

#include "backend.h"
#include "formats.h"
#include "layouts.h"

namespace blockscope {

// Random streams: one for each array of a problem.
enum class OperandStream : uint32_t {
  kCodesA = 0,
  kCodesB = 1,
  kScalesA = 2,
  kScalesB = 3,
  kAccumulator = 4
};

// Throws Error(kUsage) for a shape the format cannot take: K must be a multiple of V, all extents
// at least 1, batches must broadcast, rows of B as (K, N) must fill whole bytes; and for an output
// scale that the output type does not have.
void checkProblem(const Problem&);

// Throws Error(kUsage) for an unknown distribution.
void checkDistribution(const std::string& name);

// Generated accumulators are N(0, 1) times 2^this: about as large as the product they are added to,
// so that one that is left out shows in every output type.
int accumulatorExponent(const Problem&, const std::string& distribution);

// What rows of A hold that belong to no group: codes with all bits set, and scales that are NaN. A
// kernel that lets them act makes NaN of what it touches.
struct PaddingCodes {
  uint8_t element, scale;  // element: each byte of a code
};
PaddingCodes paddingCodes(const BlockFormat&);
std::vector<Segment> paddingRows(const Problem&);

// Rows of A whose scales are padded together: each matrix of a batch, each group that has rows. In
// the linear layout, which has no padding, all rows as they stand.
std::vector<Segment> scaleSegments(const Problem&, const ScaleLayout&);

// Canonical host operands. Throws Error(kUsage) for an unknown distribution.
Operands generateOperands(const Problem&, const GeneratedOperands&, const CancelFlag&);

// Throws Error(kUsage) unless all sizes are those of the problem and every byte is a code of its
// format.
void checkOperands(const Problem&, const GivenOperands&);

}  // namespace blockscope
