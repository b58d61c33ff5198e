#include "passes.h"

#include "../core/formats.h"
#include "../core/outputs.h"
#include "../core/packing.h"

namespace blockscope::cuda {

namespace {

constexpr const char* kSupport = "support-passes";
constexpr int kThreads = 256;

// One thread for each of `count` things.
Launch overAll(const Module& module, const char* function, const std::string& name, int64_t count) {
  Launch launch;
  launch.name = name;
  launch.function = module.function(function);
  launch.grid[0] = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  launch.block[0] = kThreads;
  return launch;
}

}  // namespace

TurningPass::TurningPass(const DeviceContext& context, const Kernels& kernels,
                         const Problem& problem, bool packed, bool turnsScales)
    : problem_(problem), module_(kernels.support(context, kSupport)) {
  const BlockFormat& format = findBlockFormat(problem.format);
  bits_ = packed ? format.elementB().storageBits : 8;
  blocks_ = problem.k / format.scaleBlockSize;
  codes_ =
      DeviceBuffer(context, static_cast<size_t>(problem.n * problem.k * bits_ / 8), "B as (N, K)");
  if (turnsScales)
    scales_ = DeviceBuffer(context, static_cast<size_t>(problem.n * blocks_),
                           "the scales of B as (N, K / V)");
}

Launch TurningPass::turn(driver::DevicePointer from, driver::DevicePointer to, int64_t columns,
                         int bits) const {
  // Codes that fill whole bytes; K is a multiple of 16.
  const int64_t perGroup = bits == 4 ? 2 : bits == 6 ? 4 : 1;
  Launch launch =
      overAll(*module_, "turnPacked", "turning B to (N, K)", problem_.n * (columns / perGroup));
  launch.arguments = {from, to, problem_.n, columns, bits};
  return launch;
}

std::vector<Launch> TurningPass::launches(const OperandSet& set, int64_t index) const {
  const int64_t matrices = problem_.batch.countB();
  auto part = [&](const DeviceBuffer& buffer) {
    return buffer.address() + buffer.bytes() / matrices * index;
  };
  std::vector<Launch> launches = {turn(part(set.bCodes), codes_.address(), problem_.k, bits_)};
  if (turnsScales()) launches.push_back(turn(part(set.bScales), scales_.address(), blocks_, 8));
  return launches;
}

FinishingPass::FinishingPass(const DeviceContext& context, const Kernels& kernels,
                             const Problem& problem)
    : problem_(problem), module_(kernels.support(context, kSupport)) {}

Launch FinishingPass::launch(const OperandSet& set, const Product& product,
                             driver::DevicePointer accumulator) const {
  const int64_t elements = product.rows * problem_.n, first = product.firstC * problem_.n;
  Launch launch = overAll(*module_, "finish", "finishing C", elements);
  launch.arguments = {set.product->address() + first * sizeof(float),
                      accumulator,
                      set.c.address() + first * outputBytes(problem_.output),
                      elements,
                      static_cast<int32_t>(problem_.output),
                      problem_.outputScale};
  return launch;
}

}  // namespace blockscope::cuda
