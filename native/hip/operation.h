// A kernel made ready for one problem on one AMD GPU: the form it wants its operands in, and how it
// is put on a stream.
#pragma once

#include <optional>
#include <string>

#include "operands.h"

namespace blockscope::hip {

class Operation {
 public:
  virtual ~Operation() = default;
  // Operands in this kernel's form, and room for C; not part of what is timed.
  virtual OperandSet prepare(const Operands&) const = 0;
  // Puts the whole operation on the stream.
  virtual void enqueue(const OperandSet&, const Stream&) = 0;
  // What the kernel itself found wrong in the last operation that was enqueued and has ended; none:
  // nothing.
  virtual std::string fault() const { return {}; }
  virtual double compileSeconds() const { return 0; }
  // What the operations since `clearCounters` counted, once they are done.
  virtual void clearCounters() const {}
  virtual Counted counted() const { return {}; }
  // What a library chose for it; none: it is no library's.
  virtual std::optional<MatmulAlgorithm> algorithm() const { return {}; }
  // Type that C is written in when it is not the problem's: a library may not write every type. Of
  // the same size.
  virtual OutputType writes(OutputType wanted) const { return wanted; }
};

}  // namespace blockscope::hip
