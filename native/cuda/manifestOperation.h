// A kernel of a manifest row, compiled and bound to one problem.
#pragma once

#include "expression.h"
#include "kernels.h"
#include "launch.h"
#include "operation.h"
#include "passes.h"

namespace blockscope::cuda {

// The names expressions may use for this problem on this device, the row's constants among them.
Variables problemVariables(const KernelRow&, const Problem&, int multiprocessors);
// Macros of resources/kernels/cuda/README.md for one format and output type, the row's constants
// and options.
std::vector<std::string> compileOptions(const KernelRow&, const Problem&);
// What the kernel itself is compiled for: passes before and behind it do what it does not.
Problem ownProblem(const KernelRow&, const Problem&);
// Whether one round of its launches does all groups; else there is one for each group.
bool doesAllGroups(const KernelRow&, const Problem&);
// The sentence of the first requirement that does not hold, or why the output type cannot be
// written; empty: all hold.
std::string whyUnsupported(const KernelRow&, const Problem&, const Variables&);
// Whole descriptor, encoded by the driver. `address` is where the map's buffer begins. Throws
// Error(kUsage).
driver::TensorMap encodeTensorMap(const DeviceContext&, const TensorMapRow&,
                                  driver::DevicePointer address, const Variables&,
                                  const std::string& kernel);

class ManifestOperation : public Operation {
 public:
  // Compiles. Throws Error: kUsage for a problem the kernel does not take, kUnavailable for a
  // device, kCompile.
  ManifestOperation(const DeviceContext&, const Kernels&, const KernelRow&, const Problem&);

  std::unique_ptr<OperandSet> prepare(const DeviceOperands&) override;
  void bind(const std::vector<const OperandSet*>&) override;
  void enqueue(size_t set, const Stream&) override;
  double compileSeconds() const override { return compileSeconds_; }

 private:
  // What one round of the row's launches computes: a matrix of C, a group, or all groups at once.
  struct Part {
    Product product;
    Variables variables;
    int64_t scalesA = 0;  // bytes before its scales of A
  };
  void clearWorkspace(const Stream&) const;
  std::vector<Part> partsOf(int multiprocessors) const;
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
  DeviceBuffer groupStarts_, groupRows_;  // int32 of each group, where the kernel finds them itself
  // [set][part]
  std::vector<std::vector<std::vector<Launch>>> launches_;
  double compileSeconds_ = 0;
};

}  // namespace blockscope::cuda
