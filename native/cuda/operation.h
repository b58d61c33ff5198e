// A kernel made ready for one problem on one device: the form it wants its operands in, and how it
// is put on a stream.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "../core/backend.h"
#include "context.h"
#include "deviceOperands.h"

namespace blockscope::cuda {

// Memory that a kernel writes, between guard zones, so that one that writes beyond it is caught.
class GuardedBuffer {
 public:
  GuardedBuffer(const DeviceContext&, size_t bytes, const std::string& what);
  driver::DevicePointer address() const { return memory_.address() + kGuardBytes; }
  size_t bytes() const { return bytes_; }
  // Filled with NaN and the guards with a pattern, so that what a kernel leaves out or overruns
  // shows.
  void poison(const Stream&) const;
  std::vector<uint8_t> read() const;
  // True when something wrote next to it.
  bool guardsBroken() const;

 private:
  static constexpr size_t kGuardBytes = 65536;
  static constexpr uint8_t kGuardPattern = 0xA5;
  const DeviceContext& context_;
  size_t bytes_;
  DeviceBuffer memory_;
};

// Whether a kernel writes C itself, or a float32 product that a pass behind it finishes.
enum class KernelWrites { kC, kProduct };

// Operands and C on the device, in the form one kernel reads.
struct OperandSet {
  DeviceBuffer aCodes, bCodes, aScales, bScales, accumulator;
  float tensorScale = 1.0f;  // product of the two per-tensor scales
  GuardedBuffer c;
  std::optional<GuardedBuffer> product;  // of KernelWrites::kProduct

  OperandSet(const DeviceContext&, const Problem&, size_t aBytes, size_t bBytes, size_t aScaleBytes,
             size_t bScaleBytes, KernelWrites = KernelWrites::kC);
  size_t bytes() const;
  void poison(const Stream&) const;
  bool guardsBroken() const;
  // A set of its own with the same operands.
  std::unique_ptr<OperandSet> copy(const DeviceContext&, const Problem&, const Stream&) const;
};

class Operation {
 public:
  virtual ~Operation() = default;
  // Puts canonical operands into this kernel's form; not part of what is timed.
  virtual std::unique_ptr<OperandSet> prepare(const DeviceOperands&) = 0;
  // Says which sets will be used; `enqueue` names them by index.
  virtual void bind(const std::vector<const OperandSet*>&) = 0;
  // Puts the whole operation on the stream.
  virtual void enqueue(size_t set, const Stream&) = 0;
  // What the kernel itself found wrong in the last operation that was enqueued and has ended; none:
  // nothing.
  virtual std::string fault() const { return {}; }
  virtual double compileSeconds() const { return 0; }
  // What the operations since `bind` counted, once they are done.
  virtual Counted counted() const { return {}; }
  // What a library chose for it; none: it is no library's.
  virtual std::optional<MatmulAlgorithm> algorithm() const { return {}; }
  // Type that C is written in when it is not the problem's: a library may not write every type. Of
  // the same size.
  virtual OutputType writes(OutputType wanted) const { return wanted; }
};

}  // namespace blockscope::cuda
