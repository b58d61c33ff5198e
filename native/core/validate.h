// A whole validation: is the reference worth anything, does the kernel agree with it, and does each
// scale act where it belongs.
#pragma once

#include <functional>
#include <vector>

#include "backend.h"
#include "compare.h"

namespace blockscope {

// One run of a kernel: C, all elements of the problem's output type, and the time of its
// launches alone.
struct KernelRun {
  std::vector<uint8_t> output;
  double launchNs = 0;  // 0: not known
  Counted counted = {};
};

// A scale that a run of the kernel finds in place of the one that stands in the operands.
struct ChangedScale {
  OperandSide side = OperandSide::kA;
  int64_t index = 0;  // among all scales of the operand
  uint8_t code = 0;
};
// nullptr: the operands as they are.
using RunKernel = std::function<KernelRun(const ChangedScale*)>;

// Host operands with that scale (nullptr: none) as long as it lives, and as they were after it:
// gigabytes are not copied for one byte.
class HeldChange {
 public:
  HeldChange(Operands&, const ChangedScale*);
  ~HeldChange();
  HeldChange(const HeldChange&) = delete;
  HeldChange& operator=(const HeldChange&) = delete;

 private:
  uint8_t* scale_ = nullptr;
  uint8_t was_ = 0;
};

// Runs the kernel up to three times: on the operands, and with one scale of A, then one of B,
// raised by one exponent (in the first matrix of a batch, in any group). A problem none of whose
// scales would show proves nothing.
ValidationReport validateWith(const Problem&, const Operands&, const std::vector<double>& reference,
                              const RunKernel& run, const ValidateRequest&, const CancelFlag&,
                              const Progress&, const CompareRows& compareRows = {});

// A scale whose raising by one exponent shows in the output: of row `row` of A (or of B), all its
// matrices together, at block `block`.
struct ScaleChoice {
  bool found = false;
  int64_t row = 0, block = 0;
  uint8_t raised = 0;  // the code one exponent higher
};
ScaleChoice chooseScale(const Problem&, const Operands&, const std::vector<double>& reference,
                        OperandSide, const Tolerance&);

// Compares two outputs, before and after the scale was raised: exactly the row's (column's) share
// must have changed.
PerturbationCheck checkPerturbation(const Problem&, const Operands&,
                                    const std::vector<double>& reference,
                                    const std::vector<uint8_t>& before,
                                    const std::vector<uint8_t>& after, OperandSide,
                                    const ScaleChoice&, const ValidateRequest&);

}  // namespace blockscope
