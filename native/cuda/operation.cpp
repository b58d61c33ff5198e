#include "operation.h"

#include <algorithm>

#include "../core/outputs.h"

namespace blockscope::cuda {

GuardedBuffer::GuardedBuffer(const DeviceContext& context, size_t bytes, const std::string& what)
    : context_(context), bytes_(bytes), memory_(context, bytes + 2 * kGuardBytes, what) {}

void GuardedBuffer::poison(const Stream& stream) const {
  auto fill = [&](driver::DevicePointer at, uint8_t value, size_t bytes) {
    context_.check(context_.api().memsetD8Async(at, value, bytes, stream.handle()), "Clearing C");
  };
  fill(memory_.address(), kGuardPattern, kGuardBytes);
  fill(address(), 0xFF, bytes_);
  fill(address() + bytes_, kGuardPattern, kGuardBytes);
}

std::vector<uint8_t> GuardedBuffer::read() const {
  std::vector<uint8_t> output(bytes_);
  memory_.read(output.data(), bytes_, kGuardBytes);
  return output;
}

bool GuardedBuffer::guardsBroken() const {
  std::vector<uint8_t> guard(kGuardBytes);
  for (const size_t offset : {size_t{0}, kGuardBytes + bytes_}) {
    memory_.read(guard.data(), kGuardBytes, offset);
    if (std::any_of(guard.begin(), guard.end(), [](uint8_t byte) { return byte != kGuardPattern; }))
      return true;
  }
  return false;
}

OperandSet::OperandSet(const DeviceContext& context, const Problem& problem, size_t aBytes,
                       size_t bBytes, size_t aScaleBytes, size_t bScaleBytes, KernelWrites writes)
    : aCodes(context, aBytes, "operand A"),
      bCodes(context, bBytes, "operand B"),
      aScales(context, aScaleBytes, "the scales of A"),
      bScales(context, bScaleBytes, "the scales of B"),
      accumulator(context, problem.accumulate ? problem.elements() * sizeof(float) : 0,
                  "the accumulator"),
      c(context, static_cast<size_t>(problem.elements() * outputBytes(problem.output)), "C") {
  if (writes == KernelWrites::kProduct)
    product.emplace(context, problem.elements() * sizeof(float), "the product");
}

size_t OperandSet::bytes() const {
  return aCodes.bytes() + bCodes.bytes() + aScales.bytes() + bScales.bytes() + accumulator.bytes() +
         (product ? product->bytes() : 0) + c.bytes();
}

void OperandSet::poison(const Stream& stream) const {
  c.poison(stream);
  if (product) product->poison(stream);
}

bool OperandSet::guardsBroken() const {
  return c.guardsBroken() || (product && product->guardsBroken());
}

std::unique_ptr<OperandSet> OperandSet::copy(const DeviceContext& context, const Problem& problem,
                                             const Stream& stream) const {
  auto set = std::make_unique<OperandSet>(context, problem, aCodes.bytes(), bCodes.bytes(),
                                          aScales.bytes(), bScales.bytes(),
                                          product ? KernelWrites::kProduct : KernelWrites::kC);
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
  duplicate(set->accumulator, accumulator);
  return set;
}

}  // namespace blockscope::cuda
