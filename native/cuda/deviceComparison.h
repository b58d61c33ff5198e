// C against its reference on the GPU (resources/kernels/cuda/common/compare.cu).
#pragma once

#include <memory>
#include <vector>

#include "../core/compare.h"
#include "context.h"
#include "kernels.h"

namespace blockscope::cuda {

class DeviceComparison {
 public:
  // Keeps the reference (batch * M * N) on the device.
  DeviceComparison(const DeviceContext&, const Kernels&, const Problem&,
                   const std::vector<double>& reference);

  // What compareRow says of every row. Rows whose elements all pass are the device's; the others
  // are the CPU's. The device adds squares in another order: their sums differ in the last digits.
  std::vector<RowFigures> rows(const Operands&, const std::vector<double>& reference,
                               const std::vector<uint8_t>& output, const ValidateRequest&,
                               const CancelFlag&) const;

 private:
  const DeviceContext& context_;
  Problem problem_;
  std::unique_ptr<Module> module_;
  DeviceBuffer reference_;
};

}  // namespace blockscope::cuda
