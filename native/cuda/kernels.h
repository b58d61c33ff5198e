// The kernels this backend was given: rows of manifests, read once, and the support code among
// them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler.h"
#include "context.h"

namespace blockscope::cuda {

class Kernels {
 public:
  explicit Kernels(const BackendOptions&);

  const std::vector<KernelRow>& rows() const { return rows_; }  // without support rows
  const KernelRow* find(const std::string& id) const;
  const CompileCache& cache() const { return cache_; }
  // Compiles the support row `id` for the device. Throws Error(kUnavailable) when it is not there.
  std::unique_ptr<Module> support(const DeviceContext&, const std::string& id) const;
  // Compiles what these kernels need on the device, and all support rows, side by side.
  void compileAhead(const std::vector<KernelUse>&, const DeviceFacts&, const CancelFlag&,
                    const Progress&) const;
  // What a row offers on a device.
  KernelInfo describe(const KernelRow&, const DeviceFacts&) const;

 private:
  std::vector<KernelRow> rows_, supportRows_;
  CompileCache cache_;
};

}  // namespace blockscope::cuda
