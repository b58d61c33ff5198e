#include "passes.h"

#include "../core/formats.h"
#include "../core/outputs.h"
#include "../cuda/rowProblem.h"

namespace blockscope::hip {

Passes::Passes(const Device& device, const KernelRow& support, const KernelRow& row,
               const Problem& problem, const CompileCache& cache)
    : device_(device), problem_(problem), finishes_(cuda::isFinished(row, problem)) {
  const BlockFormat& format = findBlockFormat(problem.format);
  bits_ = row.codes == CodeForm::kPacked ? format.elementB().storageBits : 8;
  blocks_ = problem.k / format.scaleBlockSize;
  if (cuda::ownProblem(row, problem).bOrder != problem.bOrder) {
    codes_ = Buffer(device, problem.n * problem.k * bits_ / 8, "B as (N, K)");
    if (row.scaleLayout == "linear")
      scales_ = Buffer(device, problem.n * blocks_, "the scales of B as (N, K / V)");
  }
  if (!turns() && !finishes_) return;
  module_ = std::make_unique<Module>(device, supportRequest(support, device.facts()), cache);
  threads_ = support.constants.at("THREADS");
}

// One thread for each of `count` things.
void Passes::overAll(const char* function, int64_t count, std::vector<Argument> arguments,
                     const Stream& stream) const {
  Launch launch;
  launch.what = function, launch.function = module_->function(function);
  launch.grid[0] = static_cast<unsigned>((count + threads_ - 1) / threads_);
  launch.block[0] = static_cast<unsigned>(threads_);
  launch.arguments = std::move(arguments);
  enqueueLaunch(device_, launch, stream);
}

void Passes::turn(uint8_t* from, uint8_t* to, int64_t columns, int bits,
                  const Stream& stream) const {
  // Codes that fill whole bytes; K is a multiple of 16.
  const int64_t perGroup = bits == 4 ? 2 : bits == 6 ? 4 : 1;
  overAll("turnPacked", problem_.n * (columns / perGroup),
          {static_cast<void*>(from), static_cast<void*>(to), problem_.n, columns, bits}, stream);
}

void Passes::turn(const OperandSet& set, int64_t matrix, const Stream& stream) const {
  auto part = [&](const Buffer& buffer) {
    return buffer.address() + buffer.bytes() / problem_.batch.countB() * matrix;
  };
  turn(part(set.bCodes), codes(), problem_.k, bits_, stream);
  if (turnsScales()) turn(part(set.bScales), scales(), blocks_, 8, stream);
}

void Passes::finish(const OperandSet& set, const Product& product, const Stream& stream) const {
  const int64_t elements = product.rows * problem_.n, first = product.firstC * problem_.n;
  void* accumulator =
      problem_.accumulate ? set.accumulator.address() + first * sizeof(float) : nullptr;
  overAll("finish", elements,
          {static_cast<void*>(set.product.address() + first * sizeof(float)), accumulator,
           static_cast<void*>(set.c.address() + first * outputBytes(problem_.output)), elements,
           static_cast<int32_t>(problem_.output), problem_.outputScale},
          stream);
}

}  // namespace blockscope::hip
