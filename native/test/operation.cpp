// The operation beside the plain product, on every CPU kernel of this machine: pairs of elements,
// both orders of B, accumulators, 8-bit outputs with a scale, and batches that broadcast.
#include <cmath>
#include <limits>

#include "../core/compare.h"
#include "../core/operands.h"
#include "../core/oracle.h"
#include "../core/outputs.h"
#include "../core/validate.h"
#include "../cpu/kernel.h"
#include "check.h"
#include "onCopies.h"

using namespace blockscope;

namespace {

const CancelFlag kNever;

std::vector<uint8_t> productOf(const CpuKernel& kernel, const Problem& problem,
                               const Operands& operands) {
  Workspace workspace;
  std::vector<uint8_t> c(problem.elements() * outputBytes(problem.output), 0xff);
  kernel.compute(problem, packOperands(problem, operands), c.data(), workspace, kNever);
  return c;
}

std::vector<CpuKernel> availableKernels() {
  std::vector<CpuKernel> kernels = cpuKernels();
  std::erase_if(kernels, [](const CpuKernel& kernel) { return !kernel.available; });
  return kernels;
}

ValidationReport validated(const CpuKernel& kernel, const Problem& problem,
                           const Operands& operands) {
  const std::vector<double> reference = referenceProduct(problem, operands, kNever, nullptr);
  ValidateRequest request;
  request.tolerance = {1e-3, 1e-3};
  auto run = [&](const Operands& given) { return KernelRun{productOf(kernel, problem, given)}; };
  return validateWith(problem, operands, reference, onCopies(operands, run), request, kNever,
                      nullptr);
}

void passes(const Problem& problem, const std::string& distribution = "normal") {
  const Operands operands = generateOperands(problem, {distribution, 11}, kNever);
  for (const CpuKernel& kernel : availableKernels()) {
    const ValidationReport report = validated(kernel, problem, operands);
    checkThat(report.status == ValidationStatus::kPassed,
              kernel.id + " " + problem.format + " to " + std::string(wordOf(problem.output)) +
                  ", " + distribution + ": " + report.reason,
              __FILE__, __LINE__);
  }
}

void everyPairOfElements() {
  CHECK(everyBlockFormat().size() == 29);
  for (const BlockFormat& format : everyBlockFormat())
    passes({std::string(format.id), 45, 70, 128, 1, OutputType::kF32});
}

// The same product, bit by bit: only where B lies differs.
void bothOrdersOfB() {
  for (const BlockFormat& format : everyBlockFormat()) {
    Problem problem{std::string(format.id), 21, 132, 352, 2, OutputType::kF32};
    const Operands operands = generateOperands(problem, {"wide-scales", 3}, kNever);
    for (const CpuKernel& kernel : availableKernels()) {
      problem.bOrder = BOrder::kNk;
      const std::vector<uint8_t> rows = productOf(kernel, problem, operands);
      problem.bOrder = BOrder::kKn;
      checkThat(productOf(kernel, problem, operands) == rows,
                kernel.id + " " + problem.format + ": B as (K, N) gives another C", __FILE__,
                __LINE__);
    }
  }
}

void rowsOfNFillWholeBytes() {
  Problem problem{"mxfp6_e2m3", 4, 6, 64};
  problem.bOrder = BOrder::kKn;
  CHECK_CONTAINS(messageOf([&] { checkProblem(problem); }), "packs 4 codes of e2m3 along N; N=6");
}

void accumulatorsOfEveryDistribution() {
  for (const char* format : {"mxfp4", "nvfp4", "mxfp8_e5m2", "e3m2xe4m3"})
    for (const char* distribution :
         {"normal", "positive", "wide-scales", "tutorial", "adversarial", "uniform-codes"}) {
      Problem problem{format, 40, 50, 512, 1, OutputType::kF32};
      problem.accumulate = true;
      passes(problem, distribution);
    }
  for (const OutputType output :
       {OutputType::kF16, OutputType::kBf16, OutputType::kE4m3, OutputType::kE5m2}) {
    Problem problem{"mxfp8", 40, 50, 512, 1, output};
    problem.accumulate = true;
    passes(problem);
  }
}

void nanAndInfinityOfAnAccumulatorStayInTheirElements() {
  Problem problem{"mxfp4", 9, 17, 64, 1, OutputType::kF32};
  problem.accumulate = true;
  Operands operands = generateOperands(problem, {"normal", 5}, kNever);
  const float infinity = std::numeric_limits<float>::infinity();
  operands.accumulator[3] = NAN;
  operands.accumulator[40] = infinity;
  operands.accumulator[41] = -infinity;
  for (const CpuKernel& kernel : availableKernels()) {
    const std::vector<uint8_t> c = productOf(kernel, problem, operands);
    int64_t nonFinite = 0;
    for (int64_t i = 0; i < problem.elements(); i++)
      nonFinite += !std::isfinite(readOutput(problem.output, c.data(), i));
    CHECK(nonFinite == 3);
    CHECK(std::isnan(readOutput(problem.output, c.data(), 3)));
    CHECK(readOutput(problem.output, c.data(), 40) == infinity);
    CHECK(readOutput(problem.output, c.data(), 41) == -infinity);
    CHECK(validated(kernel, problem, operands).status == ValidationStatus::kPassed);
  }
}

// A kernel that leaves the accumulator out is caught, and one that nobody could see proves nothing.
void aMissingAccumulatorIsSeen() {
  Problem problem{"mxfp8", 32, 32, 256, 1, OutputType::kE4m3};
  problem.accumulate = true;
  Operands operands = generateOperands(problem, {"normal", 5}, kNever);
  const std::vector<double> reference = referenceProduct(problem, operands, kNever, nullptr);
  ValidateRequest request;
  request.tolerance = {1e-3, 1e-3};
  Problem without = problem;
  without.accumulate = false;
  const CpuKernel kernel = portableKernel();
  const std::vector<uint8_t> c = productOf(kernel, without, operands);
  CHECK(judgeOutput(problem, operands, reference, c, request, kNever).status ==
        ValidationStatus::kIncorrect);
  for (float& value : operands.accumulator) value = 1e-6f;
  const ValidationReport hidden = validated(kernel, problem, operands);
  CHECK(hidden.status == ValidationStatus::kProvesNothing);
  CHECK_CONTAINS(hidden.reason, "accumulator");
}

void eightBitOutputsAreScaled() {
  for (const OutputType output : {OutputType::kE4m3, OutputType::kE5m2})
    for (const float scale : {1.0f, 0.0625f, 3.7f}) {
      Problem problem{"mxfp4", 33, 65, 256, 1, output};
      problem.outputScale = scale;
      passes(problem);
    }
  Problem wide{"mxfp4", 8, 8, 64, 1, OutputType::kF16};
  wide.outputScale = 2;
  CHECK_CONTAINS(messageOf([&] { checkProblem(wide); }), "e4m3 or e5m2");
}

// Matrix by matrix, each made of the matrices of A and B that numpy.matmul would take.
void batchesBroadcast() {
  const MatrixBatch batch({2, 1, 3}, {4, 1});
  CHECK(batch.fits() && batch.count() == 24 && batch.countA() == 6 && batch.countB() == 4);
  bool right = true;
  for (int64_t i = 0; i < 2; i++)
    for (int64_t j = 0; j < 4; j++)
      for (int64_t l = 0; l < 3; l++) {
        const int64_t matrix = (i * 4 + j) * 3 + l;
        right = right && batch.a(matrix) == i * 3 + l && batch.b(matrix) == j;
      }
  CHECK(right);
  CHECK(!MatrixBatch({2}, {3}).fits() && !MatrixBatch({0}, {1}).fits());
  Problem wrong{"mxfp4", 8, 8, 64, MatrixBatch({2}, {3})};
  CHECK_CONTAINS(messageOf([&] { checkProblem(wrong); }), "do not broadcast");

  for (const char* format : {"mxfp4", "mxfp8", "nvfp4", "w4a16_mxfp4"}) {
    Problem problem{format, 13, 34, 96, MatrixBatch({2, 1}, {3}), OutputType::kF32};
    problem.accumulate = true;
    const Operands operands = generateOperands(problem, {"normal", 2}, kNever);
    const std::vector<double> all = referenceProduct(problem, operands, kNever, nullptr);
    Problem one{format, problem.m, problem.n, problem.k, 1, OutputType::kF32};
    one.accumulate = true;
    const BlockFormat& kind = findBlockFormat(format);
    const int64_t blocks = problem.k / kind.scaleBlockSize;
    for (int64_t matrix = 0; matrix < 6; matrix++) {
      auto part = [](const auto& from, int64_t index, int64_t size) {
        return std::decay_t<decltype(from)>(from.begin() + index * size,
                                            from.begin() + (index + 1) * size);
      };
      const int64_t a = matrix / 3, b = matrix % 3, size = one.m * one.n;
      Operands single;
      single.aCodes = part(operands.aCodes, a, one.m * one.k * kind.elementA().codeBytes());
      single.bCodes = part(operands.bCodes, b, one.n * one.k);
      single.aScales = part(operands.aScales, a, one.m * kind.scalesOfRowA(one.k));
      single.bScales = part(operands.bScales, b, one.n * blocks);
      single.accumulator = part(operands.accumulator, matrix, size);
      CHECK(referenceProduct(one, single, kNever, nullptr) == part(all, matrix, size));
    }
    passes(problem);
    problem.bOrder = BOrder::kKn;
    passes(problem);
  }
}

// The matrix that several matrices of C share has one scale raised: each must change by its share.
void aSharedMatrixOfABatchIsPerturbed() {
  const Problem problem{"mxfp8", 40, 40, 256, MatrixBatch({3}, {1}), OutputType::kF32};
  const Operands operands = generateOperands(problem, {"normal", 2}, kNever);
  const std::vector<double> reference = referenceProduct(problem, operands, kNever, nullptr);
  ValidateRequest request;
  request.tolerance = {1e-3, 1e-3};
  const CpuKernel kernel = portableKernel();
  int runs = 0;
  // Raised scales of B reach the first matrix of C alone.
  auto run = [&](const Operands& given) {
    std::vector<uint8_t> c = productOf(kernel, problem, given);
    if (runs++ == 2) {
      const std::vector<uint8_t> before = productOf(kernel, problem, operands);
      const size_t matrix = c.size() / 3;
      std::copy(before.begin() + matrix, before.end(), c.begin() + matrix);
    }
    return KernelRun{c};
  };
  const ValidationReport report =
      validateWith(problem, operands, reference, onCopies(operands, run), request, kNever, nullptr);
  CHECK(report.perturbationA.state == CheckState::kPassed);
  CHECK(report.perturbationB.state == CheckState::kFailed);
  CHECK_CONTAINS(report.reason, "of 120 elements");
}

}  // namespace

int main() {
  everyPairOfElements();
  bothOrdersOfB();
  rowsOfNFillWholeBytes();
  accumulatorsOfEveryDistribution();
  nanAndInfinityOfAnAccumulatorStayInTheirElements();
  aMissingAccumulatorIsSeen();
  eightBitOutputsAreScaled();
  batchesBroadcast();
  aSharedMatrixOfABatchIsPerturbed();
  return summary();
}
