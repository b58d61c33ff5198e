// One problem on one AMD GPU: kernels of manifest rows, validated against the CPU's float64
// reference and timed with HIP events.
#pragma once

#include <memory>
#include <optional>

#include "operation.h"

namespace blockscope::hip {

std::unique_ptr<Session> makeSession(std::shared_ptr<const Device>, std::vector<KernelRow>,
                                     std::string cacheDirectory, const Problem&,
                                     std::variant<GeneratedOperands, GivenOperands>,
                                     const CancelFlag&);

// How many operand sets a cold measurement takes in turn, so that the last cache before memory
// holds none of them (docs/measurement.md). CDNA3 and CDNA4 have 256 MB of Infinity Cache behind
// their L2 (CDNA 3 and CDNA 4 architecture white papers).
int64_t coldSetsOf(int64_t bytesPerSet, const DeviceFacts&);

}  // namespace blockscope::hip
