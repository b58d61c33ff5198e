// A kernel of a manifest row, compiled by hipRTC and bound to one problem on one AMD GPU.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "../cuda/expression.h"
#include "device.h"

namespace blockscope::hip {

// What one run reads and writes: operands as the row wants them, C between guards.
class OperandSet {
 public:
  OperandSet(const Device&, const KernelRow&, const Problem&, const Operands&);

  size_t bytes() const;
  // Fills C with a pattern that no kernel leaves, and the guards around it.
  void poison(const Device&) const;
  // Throws Error(kDevice) when memory beside C was written.
  std::vector<uint8_t> readC(const Device&, const std::string& what) const;

  Buffer aCodes, bCodes, aScales, bScales, accumulator;
  float tensorScale = 1;
  uint8_t* c() const { return c_.address() + kGuardBytes; }

 private:
  static constexpr size_t kGuardBytes = 256;
  Buffer c_;
};

class Operation {
 public:
  // Throws Error: kUsage for a problem the kernel does not take, kUnavailable for a device,
  // kCompile.
  Operation(const Device&, const KernelRow&, const Problem&, const std::string& cacheDirectory);

  void enqueue(const OperandSet&, const Stream&) const;
  double compileSeconds() const { return compileSeconds_; }

 private:
  using Argument = std::variant<void*, int32_t, int64_t, float>;
  Argument argumentOf(const std::string& written, const OperandSet&) const;
  std::array<unsigned, 3> extents(const Expressions&, const std::string& field) const;

  const Device& device_;
  KernelRow row_;
  Problem problem_;
  cuda::Variables variables_;
  Owned module_;
  std::map<std::string, runtime::Handle> functions_;
  std::map<std::string, Buffer> workspace_;
  double compileSeconds_ = 0;
};

}  // namespace blockscope::hip
