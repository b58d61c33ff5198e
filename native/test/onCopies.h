// A kernel that takes operands, as validation runs one: on a copy of these, with the changed scale.
#pragma once

#include "../core/validate.h"

namespace blockscope {

template <typename Kernel>
RunKernel onCopies(const Operands& operands, Kernel kernel) {
  return [&operands, kernel](const ChangedScale* change) {
    Operands given = operands;
    const HeldChange held(given, change);
    return kernel(given);
  };
}

}  // namespace blockscope
