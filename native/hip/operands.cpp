#include "operands.h"

#include <algorithm>

#include "../core/formats.h"
#include "../core/layouts.h"
#include "../core/operands.h"
#include "../core/outputs.h"
#include "../core/packing.h"
#include "../cuda/rowProblem.h"

namespace blockscope::hip {

namespace {

constexpr uint8_t kGuard = 0xa5, kPoison = 0xff;

std::vector<uint8_t> codesFor(const KernelRow& row, const NumberFormat& format,
                              const std::vector<uint8_t>& codes) {
  if (row.codes != CodeForm::kPacked) return codes;
  const auto count = static_cast<int64_t>(codes.size()) / format.codeBytes();
  std::vector<uint8_t> packed(packedBytes(format, count));
  packCodes(format, codes.data(), count, packed.data());
  return packed;
}

// Scales of rows that are padded together, one after the other.
std::vector<uint8_t> scalesFor(const ScaleLayout& layout, const std::vector<Segment>& segments,
                               const std::vector<uint8_t>& linear, int64_t blocks) {
  std::vector<uint8_t> all;
  for (const Segment& segment : segments) {
    const auto packed =
        packScales(layout, linear.data() + segment.first * blocks, segment.rows, blocks);
    all.insert(all.end(), packed.begin(), packed.end());
  }
  return all;
}

Buffer uploaded(const Device& device, const void* from, size_t bytes) {
  Buffer buffer(device, bytes, "the operands");
  buffer.write(device, from, bytes);
  return buffer;
}

Buffer uploaded(const Device& device, const std::vector<uint8_t>& bytes) {
  return uploaded(device, bytes.data(), bytes.size());
}

PackedOperands packedFor(const KernelRow& row, const Problem& problem, const Operands& operands) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const ScaleLayout layout = findLayout(row.scaleLayout);
  const int64_t blocks = problem.k / format.scaleBlockSize;
  const bool isTurned = problem.bOrder == BOrder::kKn;
  PackedOperands packed;
  packed.aCodes = codesFor(row, format.elementA(), operands.aCodes);
  packed.bCodes =
      codesFor(row, format.elementB(),
               isTurned ? transposed(operands.bCodes, problem.n, problem.k) : operands.bCodes);
  if (format.elementA().isScaled())
    packed.aScales = scalesFor(layout, scaleSegments(problem, layout), operands.aScales, blocks);
  std::vector<Segment> ofB;
  for (int64_t i = 0; i < problem.batch.countB(); i++) ofB.push_back({i * problem.n, problem.n});
  // Other layouts lie the same in both orders.
  packed.bScales = isTurned && layout.name == "linear"
                       ? transposed(operands.bScales, problem.n, blocks)
                       : scalesFor(layout, ofB, operands.bScales, blocks);
  return packed;
}

}  // namespace

GuardedBuffer::GuardedBuffer(const Device& device, size_t bytes, const std::string& what)
    : memory_(device, bytes + 2 * kGuardBytes, what) {}

void GuardedBuffer::poison(const Device& device) const {
  if (bytes() == 0) return;
  const auto& api = device.api();
  device.check(api.memset(memory_.address(), kGuard, memory_.bytes()), "Preparing C");
  device.check(api.memset(address(), kPoison, bytes()), "Preparing C");
}

std::vector<uint8_t> GuardedBuffer::read(const Device& device, const std::string& what) const {
  std::vector<uint8_t> all(memory_.bytes());
  if (all.empty()) return all;
  memory_.read(device, all.data(), all.size());
  const auto isGuard = [](uint8_t byte) { return byte == kGuard; };
  if (!std::all_of(all.begin(), all.begin() + kGuardBytes, isGuard) ||
      !std::all_of(all.end() - kGuardBytes, all.end(), isGuard))
    throw Error(ErrorKind::kDevice, what + " writes outside C: memory next to C was changed.");
  return {all.begin() + kGuardBytes, all.end() - kGuardBytes};
}

OperandSet::OperandSet(const Device& device, const KernelRow& row, const Problem& problem,
                       const Operands& operands)
    : OperandSet(device, problem, operands, packedFor(row, problem, operands),
                 cuda::isFinished(row, problem)) {}

OperandSet::OperandSet(const Device& device, const Problem& problem, const Operands& operands,
                       const PackedOperands& packed, bool isFinished)
    : aCodes(uploaded(device, packed.aCodes)),
      bCodes(uploaded(device, packed.bCodes)),
      aScales(uploaded(device, packed.aScales)),
      bScales(uploaded(device, packed.bScales)),
      accumulator(uploaded(device, operands.accumulator.data(),
                           operands.accumulator.size() * sizeof(float))),
      c(device, problem.elements() * outputBytes(problem.output), "C"),
      tensorScale(operands.tensorScaleA * operands.tensorScaleB) {
  if (isFinished)
    product = GuardedBuffer(device, problem.elements() * sizeof(float), "the product");
}

size_t OperandSet::bytes() const {
  size_t all = c.bytes() + product.bytes();
  for (const Buffer* buffer : {&aCodes, &bCodes, &aScales, &bScales, &accumulator})
    all += buffer->bytes();
  return all;
}

void OperandSet::poison(const Device& device) const {
  c.poison(device);
  product.poison(device);
}

std::vector<uint8_t> OperandSet::readC(const Device& device, const std::string& what) const {
  product.read(device, what);
  return c.read(device, what);
}

}  // namespace blockscope::hip
