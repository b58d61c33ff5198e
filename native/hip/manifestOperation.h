// A kernel of a manifest row, compiled by hipRTC and bound to one problem on one AMD GPU.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "../cuda/rowProblem.h"
#include "operation.h"
#include "passes.h"

namespace blockscope::hip {

// What a row is compiled as for `own`, which it does in `parts`. Throws Error for a problem or a
// GPU that the kernel does not take.
CompileRequest compileRequest(const KernelRow&, const Problem& own,
                              const std::vector<cuda::Part>& parts, const DeviceFacts&);

class ManifestOperation : public Operation {
 public:
  // `passes`: the row of the device code around kernels. Throws Error: kUnavailable for a problem
  // the kernel does not take and for a device, kCompile.
  ManifestOperation(const Device&, const KernelRow&, const KernelRow& passes, const Problem&,
                    const CompileCache& cache);

  OperandSet prepare(const Operands&) const override;
  void enqueue(const OperandSet&, const Stream&) override;
  std::string fault() const override;
  double compileSeconds() const override { return module_.compileSeconds(); }
  void clearCounters() const override;
  Counted counted() const override;

 private:
  uint8_t* address(const std::string& name, const OperandSet&, const cuda::Part&) const;
  Argument argumentOf(const std::string& written, const OperandSet&, const cuda::Part&) const;
  Extents extents(const Expressions&, const std::string& field, const cuda::Part&) const;
  Launch launchOf(const LaunchRow&, const OperandSet&, const cuda::Part&) const;

  const Device& device_;
  KernelRow row_;
  Problem problem_;  // what is asked
  Problem own_;      // what the kernel does of it
  std::vector<cuda::Part> parts_;
  Module module_;
  Passes passes_;
  std::map<std::string, runtime::Handle> functions_;
  std::map<std::string, Buffer> workspace_;
  Buffer counters_;                 // u32 each; nothing where the row has none
  Buffer groupStarts_, groupRows_;  // int32 of each group, where the kernel finds them itself
};

}  // namespace blockscope::hip
