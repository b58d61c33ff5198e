// A kernel of a manifest row, compiled and bound to one problem.
#pragma once

#include "kernels.h"
#include "launch.h"
#include "operation.h"
#include "passes.h"
#include "rowProblem.h"

namespace blockscope::cuda {

// Whole descriptor, encoded by the driver. `address` is where the map's buffer begins. Throws
// Error(kUsage).
driver::TensorMap encodeTensorMap(const DeviceContext&, const TensorMapRow&,
                                  driver::DevicePointer address, const Variables&,
                                  const std::string& kernel);

// What a row is compiled as for `own`, which it does in `parts`. Throws Error(kUnavailable) for a
// problem or a device that the kernel does not take.
CompileRequest compileRequest(const KernelRow&, const Problem& own, const std::vector<Part>& parts,
                              const DeviceFacts&);

class ManifestOperation : public Operation {
 public:
  // Compiles. Throws Error: kUsage for a problem the kernel does not take, kUnavailable for a
  // device, kCompile.
  ManifestOperation(const DeviceContext&, const Kernels&, const KernelRow&, const Problem&);

  std::unique_ptr<OperandSet> prepare(const DeviceOperands&) override;
  void bind(const std::vector<const OperandSet*>&) override;
  void enqueue(size_t set, const Stream&) override;
  std::string fault() const override;
  double compileSeconds() const override { return compileSeconds_; }
  Counted counted() const override;

 private:
  void clearWorkspace(size_t part, const Stream&) const;
  std::vector<Launch> launchesOf(const OperandSet&, size_t part) const;
  Launch resolveLaunch(const LaunchRow&, const OperandSet&, const Part&) const;
  LaunchArgument resolveArgument(const std::string& argument, const OperandSet&, const Part&) const;
  driver::DevicePointer accumulatorOf(const OperandSet&, const Part&) const;
  // Address of an operand, C or a workspace; 0 when the name is none of these.
  driver::DevicePointer address(const std::string& name, const OperandSet&, const Part&) const;
  std::array<unsigned, 3> extents(const Expressions&, const std::string& field, unsigned missing,
                                  const Variables&) const;

  const DeviceContext& context_;
  KernelRow row_;
  Problem problem_;  // what is asked
  Problem own_;      // what the kernel does of it; passes do the rest
  std::vector<Part> parts_;
  std::unique_ptr<Module> module_;
  std::map<std::string, driver::Handle> functions_;
  std::map<std::string, DeviceBuffer> workspace_;
  std::unique_ptr<TurningPass> turning_;      // where B lies otherwise than the kernel reads it
  std::unique_ptr<FinishingPass> finishing_;  // where the kernel leaves C unfinished
  DeviceBuffer counters_;                     // u32 each; nothing where the row has none
  DeviceBuffer groupStarts_, groupRows_;  // int32 of each group, where the kernel finds them itself
  // [set][part]
  std::vector<std::vector<std::vector<Launch>>> launches_;
  // Before each part.
  std::vector<std::vector<std::pair<driver::DevicePointer, size_t>>> cleared_;
  double compileSeconds_ = 0;
};

}  // namespace blockscope::cuda
