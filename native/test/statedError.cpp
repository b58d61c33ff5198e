// Approximate kernels are judged by the error that they state: one that makes it passes, one a bit
// worse does not, nor one with a mistake.
#include "../core/statedError.h"

#include <algorithm>
#include <cmath>

#include "../core/formats.h"
#include "../core/operands.h"
#include "../core/oracle.h"
#include "../core/outputs.h"
#include "../core/threads.h"
#include "../core/validate.h"
#include "check.h"
#include "onCopies.h"

using namespace blockscope;

namespace {

const CancelFlag kNever;
constexpr int64_t kInterval = 128, kStep = 32;

// Sums as Hopper's tensor cores make them, with so many fractional bits: 32 products and the sum so
// far are aligned to the largest exponent and truncated; float32 totals of kInterval.
double truncatedSum(const std::vector<double>& a, const std::vector<double>& b, int bits) {
  float total = 0;
  const auto k = static_cast<int64_t>(a.size());
  for (int64_t from = 0; from < k; from += kInterval) {
    double sum = 0;
    for (int64_t step = from; step < std::min(k, from + kInterval); step += kStep) {
      double most = std::fabs(sum);
      for (int64_t i = step; i < step + kStep; i++) most = std::max(most, std::fabs(a[i] * b[i]));
      if (most == 0) continue;
      const double unit = std::ldexp(1.0, std::ilogb(most) - bits);
      double wide = std::trunc(sum / unit) * unit;
      for (int64_t i = step; i < step + kStep; i++) wide += std::trunc(a[i] * b[i] / unit) * unit;
      sum = wide;
    }
    total += static_cast<float>(sum);
  }
  return total;
}

// Rows of an operand as numbers.
std::vector<std::vector<double>> rowsOf(const Problem& problem, const Operands& operands,
                                        OperandSide side) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const bool isA = side == OperandSide::kA;
  const NumberFormat& element = isA ? format.elementA() : format.elementB();
  const auto& codes = isA ? operands.aCodes : operands.bCodes;
  const auto& scales = isA ? operands.aScales : operands.bScales;
  std::vector<std::vector<double>> rows(isA ? problem.m : problem.n);
  for (size_t row = 0; row < rows.size(); row++)
    for (int64_t k = 0; k < problem.k; k++) {
      const auto at = static_cast<int64_t>(row) * problem.k + k;
      rows[row].push_back(decode(element, codes[at]) *
                          decode(format.scaleFormat(), scales[at / format.scaleBlockSize]));
    }
  return rows;
}

struct Case {
  Problem problem;
  Operands operands;
  std::vector<double> reference;

  explicit Case(const char* distribution, OutputType type = OutputType::kF32)
      : problem{"mxfp8", 96, 80, 1024, 1, type} {
    operands = generateOperands(problem, {distribution, 3}, kNever);
    reference = referenceProduct(problem, operands, kNever, nullptr);
  }
  std::vector<uint8_t> product(const Operands& given, int bits) const {
    const auto a = rowsOf(problem, given, OperandSide::kA),
               b = rowsOf(problem, given, OperandSide::kB);
    std::vector<uint8_t> c(problem.elements() * outputBytes(problem.output));
    parallelFor(problem.m, kNever, [&](int64_t row) {
      for (int64_t col = 0; col < problem.n; col++)
        writeOutput(problem.output, truncatedSum(a[row], b[col], bits), c.data(),
                    row * problem.n + col);
    });
    return c;
  }
  using Kernel = std::function<KernelRun(const Operands&)>;
  ValidationReport validate(const Kernel& run, double stated,
                            PassRule rule = PassRule::kAllowances) const {
    return validateWith(problem, operands, reference, onCopies(operands, run),
                        {"k", {1e-4, 1e-4}, 4, 8, rule, stated}, kNever, nullptr);
  }
  ValidationReport validate(int bits, double stated, PassRule rule = PassRule::kAllowances) const {
    return validate([&](const Operands& given) { return KernelRun{product(given, bits)}; }, stated,
                    rule);
  }
};

// What the kernel of 13 bits states of its error: what it makes on other operands, and a fifth.
double statedOf(const char* distribution) {
  return 1.2 * Case(distribution).validate(13, 0).normwise;
}

void aBitTooBadFails() {
  for (const char* distribution : {"normal", "positive", "wide-scales"})
    for (const OutputType type : {OutputType::kF32, OutputType::kF16}) {
      const double stated = statedOf(distribution);
      const Case of(distribution, type);
      const ValidationReport good = of.validate(13, stated), bad = of.validate(12, stated);
      CHECK(good.status == ValidationStatus::kPassed && good.reason.empty());
      CHECK(good.perturbationA.state == CheckState::kPassed &&
            good.perturbationB.state == CheckState::kPassed);
      CHECK(good.withinStated > 0 && good.elementsOutside == 0 && good.statedError == stated);
      CHECK(good.errorBeforeRounding < stated && good.errorBeforeRounding > stated / 1.5);
      CHECK(bad.status == ValidationStatus::kIncorrect && bad.errorBeforeRounding > stated);
      CHECK_CONTAINS(bad.reason, "the kernel states");
      if (bad.elementsOutside == 0) CHECK_CONTAINS(bad.reason, "The norm-wise error is ");
    }
}

void withoutAStatementTheToleranceJudges() {
  const Case of("normal");
  const ValidationReport report = of.validate(13, 0);
  CHECK(report.status == ValidationStatus::kIncorrect && report.elementsOutside > 0);
  CHECK(report.withinStated == 0 && report.statedError == 0);
  CHECK_CONTAINS(report.reason, "outside the tolerance");
  const ValidationReport alone = of.validate(13, 1, PassRule::kAssertClose);
  CHECK(alone.status == ValidationStatus::kIncorrect && alone.statedError == 0);
  CHECK(alone.elementsOutside >= report.elementsOutside);
}

void mistakesFail() {
  const Case of("normal");
  const double stated = statedOf("normal");
  auto judge = [&](auto spoil) {
    return of.validate(
        [&](const Operands& given) {
          Operands changed = given;
          spoil(changed);
          return KernelRun{of.product(changed, 13)};
        },
        stated);
  };
  const ValidationReport shifted = judge([](Operands& one) {
    std::rotate(one.aScales.begin(), one.aScales.begin() + 1, one.aScales.end());
  });
  CHECK(shifted.status == ValidationStatus::kIncorrect);
  CHECK_CONTAINS(shifted.reason, "outside what the kernel states");
  // A kernel that keeps the scales that it first saw.
  const ValidationReport kept = judge([&](Operands& one) { one.aScales = of.operands.aScales; });
  CHECK(kept.status == ValidationStatus::kIncorrect);
  CHECK(kept.perturbationA.state == CheckState::kFailed);
  CHECK_CONTAINS(kept.reason, "Raising the scale of A");
  // One block of one element.
  const ValidationReport lost = of.validate(
      [&](const Operands& given) {
        std::vector<uint8_t> c = of.product(given, 13);
        const int64_t at = 7 * of.problem.n + 5;
        const double without =
            readOutput(of.problem.output, c.data(), at) - blockShare(of.problem, given, 0, 7, 5, 3);
        writeOutput(of.problem.output, without, c.data(), at);
        return KernelRun{c};
      },
      stated);
  CHECK(lost.status == ValidationStatus::kIncorrect && lost.elementsOutside == 1);
  CHECK_CONTAINS(lost.reason,
                 "1 of 7680 elements are outside what the kernel states, the first "
                 "at row 7, column 5.");
  const ValidationReport nan = of.validate(
      [&](const Operands& given) {
        std::vector<uint8_t> c = of.product(given, 13);
        writeOutput(of.problem.output, NAN, c.data(), 11);
        return KernelRun{c};
      },
      stated);
  CHECK(nan.status == ValidationStatus::kIncorrect && nan.nonFinite == 1);
}

}  // namespace

int main() {
  aBitTooBadFails();
  withoutAStatementTheToleranceJudges();
  mistakesFail();
  return summary();
}
