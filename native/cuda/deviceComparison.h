// C against its reference on the GPU (resources/kernels/cuda/common/compare.cu).
#pragma once

#include <memory>
#include <vector>

#include "../core/compare.h"
#include "context.h"
#include "deviceOperands.h"
#include "kernels.h"

namespace blockscope::cuda {

class DeviceComparison {
 public:
  // Keeps the reference (batch * M * N) on the device. The operands must outlive it.
  DeviceComparison(const DeviceContext&, const Kernels&, const Problem&, const DeviceOperands&,
                   const std::vector<double>& reference);

  // What compareRow says of every row. The device adds up in another order: sums differ in the last
  // digits.
  std::vector<RowFigures> rows(const std::vector<uint8_t>& output, const ValidateRequest&) const;

 private:
  const DeviceContext& context_;
  Problem problem_;
  const DeviceOperands& operands_;
  std::unique_ptr<Module> module_;
  DeviceBuffer reference_, tables_, places_;
};

}  // namespace blockscope::cuda
