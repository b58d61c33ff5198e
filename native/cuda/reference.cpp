#include "reference.h"

#include <cmath>

#include "../core/formats.h"
#include "../core/oracle.h"
#include "../core/philox.h"
#include "launch.h"

namespace blockscope::cuda {

namespace {

constexpr int kTile = 64;  // oracle.cu

// float64 sums in another order differ by rounding alone: far below this share of the sum of
// magnitudes.
constexpr double kAgreement = 1e-12;
constexpr int kSampled = 256;

void checkSample(const Problem& problem, const Operands& operands,
                 const std::vector<double>& reference) {
  for (int i = 0; i < kSampled; i++) {
    const uint64_t word = uint64_t{philox(1, 11, i)[0]} << 32 | philox(1, 11, i)[1];
    const int64_t at = static_cast<int64_t>(word % reference.size());
    const int64_t rowOfAll = at / problem.n, batch = problem.productOf(rowOfAll);
    if (batch < 0) continue;  // padding of groups
    const int64_t row = rowOfAll - problem.product(batch).firstC, col = at % problem.n;
    const double expected = referenceElement(problem, operands, batch, row, col);
    const double got = reference[at];
    if (got == expected || (std::isnan(got) && std::isnan(expected))) continue;
    if (std::fabs(got - expected) <=
        kAgreement * magnitudeElement(problem, operands, batch, row, col))
      continue;
    throw Error(ErrorKind::kDevice, "The GPU's reference product differs from the CPU's at (" +
                                        std::to_string(row) + ", " + std::to_string(col) +
                                        "): " + std::to_string(got) + " against " +
                                        std::to_string(expected) +
                                        ". The device or its compiler is not to be trusted.");
  }
}

}  // namespace

std::vector<double> valueTables(const Problem& problem) {
  const BlockFormat& format = findBlockFormat(problem.format);
  std::vector<double> tables;
  for (const NumberFormat* numbers :
       {&format.elementA(), &format.elementB(), &format.scaleFormat()})
    for (int code = 0; code < 256; code++)
      tables.push_back(decode(*numbers, static_cast<uint16_t>(code % numbers->codeCount())));
  return tables;
}

std::vector<double> deviceReference(const DeviceContext& context, const Kernels& kernels,
                                    const Problem& problem, const DeviceOperands& operands,
                                    const Operands& sameOnHost) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const auto module = kernels.support(context, "support-oracle");
  const std::vector<double> values = valueTables(problem);
  DeviceBuffer tables(context, values.size() * sizeof(double), "the reference's tables");
  tables.write(values.data(), values.size() * sizeof(double));
  const int64_t blocks = problem.k / format.scaleBlockSize;
  DeviceBuffer product(context, static_cast<size_t>(problem.elements()) * sizeof(double),
                       "the reference product");
  const Stream stream(context);
  // Padding rows of groups are 0.
  context.check(context.api().memsetD8Async(product.address(), 0, product.bytes(), stream.handle()),
                "The reference product");
  for (int64_t index = 0; index < problem.productCount(); index++) {
    const Product part = problem.product(index);
    if (part.rows == 0) continue;
    Launch launch;
    launch.name = "the reference product";
    launch.function = module->function("referenceProduct");
    launch.grid = {static_cast<unsigned>((problem.n + kTile - 1) / kTile),
                   static_cast<unsigned>((part.rows + kTile - 1) / kTile), 1};
    launch.block = {256, 1, 1};
    const int64_t rowB = part.matrixB * problem.n, firstC = part.firstC * problem.n;
    const driver::DevicePointer accumulator =
        problem.accumulate ? operands.accumulator().address() + firstC * sizeof(float) : 0;
    const NumberFormat& ofA = format.elementA();
    const driver::DevicePointer scalesA =
        ofA.isScaled() ? operands.scales(Matrix::kA).address() + part.firstA * blocks : 0;
    launch.arguments = {
        operands.codes(Matrix::kA).address() + part.firstA * problem.k * ofA.codeBytes(),
        operands.codes(Matrix::kB).address() + rowB * problem.k,
        scalesA,
        operands.scales(Matrix::kB).address() + rowB * blocks,
        accumulator,
        tables.address(),
        product.address() + firstC * sizeof(double),
        static_cast<int32_t>(part.rows),
        static_cast<int32_t>(problem.n),
        problem.k,
        static_cast<int32_t>(format.scaleBlockSize),
        static_cast<double>(sameOnHost.tensorScaleA) * sameOnHost.tensorScaleB,
        static_cast<double>(problem.outputScale)};
    enqueueLaunch(context, launch, stream);
  }
  stream.wait("The reference product");
  std::vector<double> reference(static_cast<size_t>(problem.elements()));
  product.read(reference.data(), reference.size() * sizeof(double));
  checkSample(problem, sameOnHost, reference);
  return reference;
}

}  // namespace blockscope::cuda
