// What a kernel does not do of the operation, done by the host's own device code before and behind
// it (resources/kernels/cuda/common/passes.cu), inside the timed region.
#pragma once

#include <memory>

#include "kernels.h"
#include "launch.h"
#include "operation.h"

namespace blockscope::cuda {

// B as (K, N) turned to the (N, K) that a kernel reads: one matrix of the batch at a time.
class TurningPass {
 public:
  // `turnsScales`: they are linear; other layouts lie the same in both orders.
  TurningPass(const DeviceContext&, const Kernels&, const Problem&, bool packed, bool turnsScales);

  driver::DevicePointer codes() const { return codes_.address(); }
  driver::DevicePointer scales() const { return scales_.address(); }
  bool turnsScales() const { return scales_.bytes() > 0; }
  // For matrix `index` of B.
  std::vector<Launch> launches(const OperandSet&, int64_t index) const;

 private:
  Launch turn(driver::DevicePointer from, driver::DevicePointer to, int64_t columns,
              int bits) const;

  Problem problem_;
  int bits_;
  int64_t blocks_;
  std::unique_ptr<Module> module_;
  DeviceBuffer codes_, scales_;
};

// C from a kernel's float32 product: accumulator added, scaled, rounded to the output type.
class FinishingPass {
 public:
  FinishingPass(const DeviceContext&, const Kernels&, const Problem&);
  // Of the product's rows of C. `accumulator`: of those rows; 0: none.
  Launch launch(const OperandSet&, const Product&, driver::DevicePointer accumulator) const;

 private:
  Problem problem_;
  std::unique_ptr<Module> module_;
};

}  // namespace blockscope::cuda
