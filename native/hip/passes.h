// What a kernel does not do of the operation, done before and behind it inside the timed region:
// resources/kernels/hip/common/passes.hip, which is CUDA's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "launch.h"
#include "operands.h"

namespace blockscope::hip {

class Passes {
 public:
  // `support`: the row of the device code. Compiles it where a pass is needed.
  Passes(const Device&, const KernelRow& support, const KernelRow& row, const Problem&,
         const CompileCache& cache);

  // B as (K, N) is turned to the (N, K) that the kernel reads, one matrix at a time.
  bool turns() const { return codes_.bytes() > 0; }
  // Layouts other than linear lie the same in both orders.
  bool turnsScales() const { return scales_.bytes() > 0; }
  uint8_t* codes() const { return codes_.address(); }
  uint8_t* scales() const { return scales_.address(); }
  void turn(const OperandSet&, int64_t matrix, const Stream&) const;

  // C is made of the kernel's float32 product: accumulator added, scaled, rounded.
  bool finishes() const { return finishes_; }
  void finish(const OperandSet&, const Product&, const Stream&) const;

 private:
  void overAll(const char* function, int64_t count, std::vector<Argument>, const Stream&) const;
  void turn(uint8_t* from, uint8_t* to, int64_t columns, int bits, const Stream&) const;

  const Device& device_;
  Problem problem_;
  int bits_;
  int64_t blocks_;
  bool finishes_;
  int64_t threads_ = 0;  // of a block
  Buffer codes_, scales_;
  std::unique_ptr<Module> module_;
};

}  // namespace blockscope::hip
