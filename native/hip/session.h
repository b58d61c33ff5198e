// One problem on one AMD GPU: kernels of manifest rows, validated against the CPU's float64
// reference and timed with HIP events.
#pragma once

#include <memory>
#include <optional>

#include "compiler.h"
#include "operation.h"

namespace blockscope::hip {

std::unique_ptr<Session> makeSession(std::shared_ptr<const Device>, std::vector<KernelRow>,
                                     std::shared_ptr<const CompileCache>, const Problem&,
                                     std::variant<GeneratedOperands, GivenOperands>,
                                     const CancelFlag&);

}  // namespace blockscope::hip
