// A kernel made ready for one problem on one device: the form it wants its operands in, and how it
// is put on a stream.
#pragma once

#include <memory>
#include <string>

#include "../core/backend.h"
#include "context.h"
#include "deviceOperands.h"

namespace blockscope::cuda {

// Operands and C on the device, in the form one kernel reads. C lies between guard zones, so that a
// kernel that writes beyond it is caught.
struct OperandSet {
  DeviceBuffer aCodes, bCodes, aScales, bScales;
  float tensorScale = 1.0f;  // product of the two per-tensor scales

  OperandSet(const DeviceContext&, const Problem&, size_t aBytes, size_t bBytes, size_t aScaleBytes,
             size_t bScaleBytes);
  driver::DevicePointer c() const { return guarded_.address() + kGuardBytes; }
  size_t cBytes() const { return cBytes_; }
  size_t bytes() const;

  // C is filled with NaN and the guards with a pattern, so that what a kernel leaves out or
  // overruns shows.
  void poison(const Stream&);
  std::vector<uint8_t> readC() const;
  // True when something wrote next to C.
  bool guardsBroken() const;
  // A set of its own with the same operands.
  std::unique_ptr<OperandSet> copy(const DeviceContext&, const Problem&, const Stream&) const;

 private:
  static constexpr size_t kGuardBytes = 65536;
  static constexpr uint8_t kGuardPattern = 0xA5;
  const DeviceContext& context_;
  size_t cBytes_;
  DeviceBuffer guarded_;
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
  virtual double compileSeconds() const { return 0; }
  // Type that C is written in when it is not the problem's: a library may not write every type. Of
  // the same size.
  virtual OutputType writes(OutputType wanted) const { return wanted; }
};

}  // namespace blockscope::cuda
