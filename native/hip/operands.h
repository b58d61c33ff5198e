// What one run of a kernel reads and writes on an AMD GPU: operands as its row wants them, C and
// the float32 product before it between guards.
#pragma once

#include <string>
#include <vector>

#include "device.h"

namespace blockscope::hip {

// Memory with bytes before and behind it that nobody may write.
class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  GuardedBuffer(const Device&, size_t bytes, const std::string& what);

  uint8_t* address() const { return memory_.address() + kGuardBytes; }
  size_t bytes() const { return memory_.bytes() == 0 ? 0 : memory_.bytes() - 2 * kGuardBytes; }
  // Fills it with a pattern that no kernel leaves, and the guards.
  void poison(const Device&) const;
  // Throws Error(kDevice) when memory beside it was written.
  std::vector<uint8_t> read(const Device&, const std::string& what) const;

 private:
  static constexpr size_t kGuardBytes = 256;
  Buffer memory_;
};

// Codes and scales as they are to lie on the device.
struct PackedOperands {
  std::vector<uint8_t> aCodes, bCodes, aScales, bScales;
};

class OperandSet {
 public:
  // As a row wants them.
  OperandSet(const Device&, const KernelRow&, const Problem&, const Operands&);
  // `packed`: of the operands. `isFinished`: C is made of a float32 product.
  OperandSet(const Device&, const Problem&, const Operands&, const PackedOperands& packed,
             bool isFinished = false);

  size_t bytes() const;
  void poison(const Device&) const;
  std::vector<uint8_t> readC(const Device&, const std::string& what) const;

  Buffer aCodes, bCodes, aScales, bScales, accumulator;
  GuardedBuffer c, product;  // no product: the kernel writes C
  float tensorScale = 1;
};

}  // namespace blockscope::hip
