#include "operation.h"

#include <algorithm>

#include "../core/outputs.h"

namespace blockscope::cuda {

OperandSet::OperandSet(const DeviceContext& context, const Problem& problem, size_t aBytes,
                       size_t bBytes, size_t aScaleBytes, size_t bScaleBytes)
    : aCodes(context, aBytes, "operand A"),
      bCodes(context, bBytes, "operand B"),
      aScales(context, aScaleBytes, "the scales of A"),
      bScales(context, bScaleBytes, "the scales of B"),
      context_(context),
      cBytes_(static_cast<size_t>(problem.batch * problem.m * problem.n) *
              outputBytes(problem.output)),
      guarded_(context, cBytes_ + 2 * kGuardBytes, "C") {}

size_t OperandSet::bytes() const {
  return aCodes.bytes() + bCodes.bytes() + aScales.bytes() + bScales.bytes() + cBytes_;
}

void OperandSet::poison(const Stream& stream) {
  auto fill = [&](driver::DevicePointer at, uint8_t value, size_t bytes) {
    context_.check(context_.api().memsetD8Async(at, value, bytes, stream.handle()), "Clearing C");
  };
  fill(guarded_.address(), kGuardPattern, kGuardBytes);
  fill(c(), 0xFF, cBytes_);
  fill(c() + cBytes_, kGuardPattern, kGuardBytes);
}

std::vector<uint8_t> OperandSet::readC() const {
  std::vector<uint8_t> output(cBytes_);
  guarded_.read(output.data(), cBytes_, kGuardBytes);
  return output;
}

bool OperandSet::guardsBroken() const {
  std::vector<uint8_t> guard(kGuardBytes);
  for (const size_t offset : {size_t{0}, kGuardBytes + cBytes_}) {
    guarded_.read(guard.data(), kGuardBytes, offset);
    if (std::any_of(guard.begin(), guard.end(), [](uint8_t byte) { return byte != kGuardPattern; }))
      return true;
  }
  return false;
}

std::unique_ptr<OperandSet> OperandSet::copy(const DeviceContext& context, const Problem& problem,
                                             const Stream& stream) const {
  auto set = std::make_unique<OperandSet>(context, problem, aCodes.bytes(), bCodes.bytes(),
                                          aScales.bytes(), bScales.bytes());
  set->tensorScale = tensorScale;
  auto duplicate = [&](DeviceBuffer& to, const DeviceBuffer& from) {
    if (from.bytes() == 0) return;
    context.check(
        context.api().memcpyDtoDAsync(to.address(), from.address(), from.bytes(), stream.handle()),
        "Copying operands");
  };
  duplicate(set->aCodes, aCodes);
  duplicate(set->bCodes, bCodes);
  duplicate(set->aScales, aScales);
  duplicate(set->bScales, bScales);
  return set;
}

}  // namespace blockscope::cuda
