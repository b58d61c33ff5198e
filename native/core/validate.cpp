#include "validate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "formats.h"
#include "oracle.h"
#include "outputs.h"
#include "philox.h"
#include "statedError.h"
#include "threads.h"

namespace blockscope {

namespace {

// The code whose value is twice that of `code`; -1 when the format has none.
int doubled(const NumberFormat& scale, uint8_t code) {
  const int higher = scale.mantissaBits == 0 ? code + 1 : code + (1 << scale.mantissaBits);
  const bool normal = scale.mantissaBits == 0 || code >> scale.mantissaBits > 0;
  return normal && higher <= scale.largestFinite() ? higher : -1;
}

// Both sides seen the same way: this side's rows are "rows", the other side's are "lanes" along one
// row. Rows are those of one product (a matrix of C, or a group).
struct Orientation {
  const Problem& problem;
  OperandSide side;

  bool isA() const { return side == OperandSide::kA; }
  int64_t rows(int64_t product) const { return isA() ? problem.product(product).rows : problem.n; }
  int64_t lanes(int64_t product) const { return isA() ? problem.n : problem.product(product).rows; }
  // Element of C.
  int64_t index(int64_t product, int64_t row, int64_t lane) const {
    const int64_t firstC = problem.product(product).firstC;
    return isA() ? (firstC + row) * problem.n + lane : (firstC + lane) * problem.n + row;
  }
  // Where this side's rows of a product begin among all of the operand's.
  int64_t firstRow(int64_t product) const {
    const Product of = problem.product(product);
    return isA() ? of.firstA : of.matrixB * problem.n;
  }
  // Whether a product is made of the row (of all the operand's) whose scale is raised.
  bool isTouched(int64_t product, int64_t row) const {
    const int64_t first = firstRow(product);
    return row >= first && row < first + rows(product);
  }
  double magnitude(const Operands& operands, int64_t product, int64_t row, int64_t lane) const {
    return isA() ? magnitudeElement(problem, operands, product, row, lane)
                 : magnitudeElement(problem, operands, product, lane, row);
  }
  // What the raised scale may add to the error of an element, by what the kernel states.
  double statedChangeOf(const Operands& operands, int64_t product, int64_t row, int64_t lane,
                        int64_t block, double stated) const {
    if (stated == 0) return 0;
    return isA() ? statedChange(problem, operands, product, row, lane, block, stated)
                 : statedChange(problem, operands, product, lane, row, block, stated);
  }
  double share(const Operands& operands, int64_t product, int64_t row, int64_t lane,
               int64_t block) const {
    return isA() ? blockShare(problem, operands, product, row, lane, block)
                 : blockShare(problem, operands, product, lane, row, block);
  }
};

// How far an element may lie from its expected value after a scale was raised: a kernel that passes
// with the scale as it was may err by the tolerance here, and rounds to the output type.
double allowedChange(OutputType output, double expected, const Tolerance& tolerance) {
  return tolerance.atol + tolerance.rtol * std::fabs(expected) +
         2 * outputResolution(output, expected);
}

constexpr int64_t kLanesLookedAt = 64;
constexpr int kTries = 256;

// Share of looked-at lanes where doubling the block's share shows: an output that stayed as it was
// would be caught.
double visibility(const Orientation& view, const Operands& operands,
                  const std::vector<double>& reference, int64_t product, int64_t row, int64_t block,
                  const Tolerance& tolerance) {
  const OutputType output = view.problem.output;
  const int64_t lanes = std::min(view.lanes(product), kLanesLookedAt);
  int64_t visible = 0;
  for (int64_t i = 0; i < lanes; i++) {
    const int64_t lane = view.lanes(product) * i / lanes;
    const double before = reference[view.index(product, row, lane)];
    const double change = view.share(operands, product, row, lane, block);
    const double after = before + change;
    const bool inRange =
        std::fabs(roundToOutput(output, after) - after) <= outputResolution(output, after) &&
        std::fabs(roundToOutput(output, before) - before) <= outputResolution(output, before);
    visible += inRange && std::fabs(change) > 2 * allowedChange(output, after, tolerance);
  }
  return static_cast<double>(visible) / lanes;
}

// Products whose scales are raised: the first matrix of a batch; any group that has rows, as each
// has scales of its own.
std::vector<int64_t> productsToPerturb(const Problem& problem) {
  if (!problem.isGrouped()) return {0};
  std::vector<int64_t> products;
  for (int64_t group = 0; group < problem.productCount(); group++)
    if (problem.product(group).rows > 0) products.push_back(group);
  return products;
}

}  // namespace

HeldChange::HeldChange(Operands& operands, const ChangedScale* change) {
  if (!change) return;
  auto& scales = change->side == OperandSide::kA ? operands.aScales : operands.bScales;
  scale_ = &scales[change->index];
  was_ = std::exchange(*scale_, change->code);
}

HeldChange::~HeldChange() {
  if (scale_) *scale_ = was_;
}

ScaleChoice chooseScale(const Problem& problem, const Operands& operands,
                        const std::vector<double>& reference, OperandSide side,
                        const Tolerance& tolerance) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const int64_t blocks = problem.k / format.scaleBlockSize;
  const Orientation view{problem, side};
  const auto& scales = view.isA() ? operands.aScales : operands.bScales;
  const std::vector<int64_t> products = productsToPerturb(problem);
  ScaleChoice best;
  double bestVisibility = 0;
  for (int attempt = 0; attempt < kTries && bestVisibility < 0.5; attempt++) {
    // A fixed stream of its own: the same operands are always perturbed at the same place.
    const PhiloxWords words = philox(static_cast<uint64_t>(side), 7, attempt);
    const int64_t product = products[words[2] % products.size()];
    const int64_t inProduct = words[0] % view.rows(product), block = words[1] % blocks;
    const int64_t row = view.firstRow(product) + inProduct;
    const int raised = doubled(format.scaleFormat(), scales[row * blocks + block]);
    if (raised < 0) continue;
    const double seen = visibility(view, operands, reference, product, inProduct, block, tolerance);
    if (seen <= bestVisibility) continue;
    bestVisibility = seen;
    best = {true, row, block, static_cast<uint8_t>(raised)};
  }
  return best;
}

namespace {

// The first column of `row` outside the raised row (column) that changed by more than the
// tolerance; -1: none. Less than that may be another path of the kernel, chosen by the range of all
// scales.
int64_t foreignColumn(const Problem& problem, const Operands& operands,
                      const std::vector<double>& reference, const std::vector<uint8_t>& before,
                      const std::vector<uint8_t>& after, OperandSide side,
                      const ScaleChoice& choice, const Tolerance& tolerance, int64_t row) {
  const int64_t rowBytes = problem.n * outputBytes(problem.output);
  if (std::memcmp(&before[row * rowBytes], &after[row * rowBytes], rowBytes) == 0) return -1;
  const int64_t product = problem.productOf(row);
  if (product < 0) return -1;
  const Orientation view{problem, side};
  const bool isTouched = view.isTouched(product, choice.row);
  const int64_t inProduct = row - problem.product(product).firstC;
  const int64_t chosen = choice.row - view.firstRow(product);
  if (isTouched && view.isA() && inProduct == chosen) return -1;
  for (int64_t col = 0; col < problem.n; col++) {
    if (isTouched && !view.isA() && col == chosen) continue;
    const int64_t at = row * problem.n + col;
    const double was = readOutput(problem.output, before.data(), at);
    const double is = readOutput(problem.output, after.data(), at);
    if (was == is || (std::isnan(was) && std::isnan(is))) continue;
    // One that passed with a larger error may lose it.
    const double allowed =
        allowedChange(problem.output, reference[at], tolerance) + std::fabs(was - reference[at]);
    if (std::fabs(is - was) <= allowed) continue;
    const double magnitude = magnitudeElement(problem, operands, product, inProduct, col);
    if (!(std::fabs(is - was) <= allowed + cancellationShare(problem.k) * magnitude)) return col;
  }
  return -1;
}

// A sentence naming the first element that changed though its scales stayed as they were; empty:
// none did.
std::string foreignChange(const Problem& problem, const Operands& operands,
                          const std::vector<double>& reference, const std::vector<uint8_t>& before,
                          const std::vector<uint8_t>& after, OperandSide side,
                          const ScaleChoice& choice, const Tolerance& tolerance) {
  const int64_t rows = problem.rowsOfC();
  std::vector<int64_t> columns(rows);
  parallelFor(rows, CancelFlag(), [&](int64_t row) {
    columns[row] =
        foreignColumn(problem, operands, reference, before, after, side, choice, tolerance, row);
  });
  const auto found =
      std::find_if(columns.begin(), columns.end(), [](int64_t column) { return column >= 0; });
  if (found == columns.end()) return "";
  const int64_t row = found - columns.begin(), product = problem.productOf(row);
  return "changed row " + std::to_string(row - problem.product(product).firstC) + ", column " +
         std::to_string(*found) + " of C" + productWords(problem, product, ", ");
}

}  // namespace

PerturbationCheck checkPerturbation(const Problem& problem, const Operands& operands,
                                    const std::vector<double>& reference,
                                    const std::vector<uint8_t>& before,
                                    const std::vector<uint8_t>& after, OperandSide side,
                                    const ScaleChoice& choice, const ValidateRequest& request) {
  const Tolerance& tolerance = request.tolerance;
  const Orientation view{problem, side};
  PerturbationCheck check;
  check.row = choice.row;
  check.block = choice.block;
  int64_t first = 0;  // product that the scale acts in
  while (!view.isTouched(first, choice.row)) first++;
  const std::string raising = std::string("Raising the scale of ") + (view.isA() ? "A" : "B") +
                              " at row " + std::to_string(choice.row - view.firstRow(first)) +
                              (problem.isGrouped() ? productWords(problem, first, " of ") : "") +
                              ", block " + std::to_string(choice.block);
  const std::string foreign =
      foreignChange(problem, operands, reference, before, after, side, choice, tolerance);
  if (!foreign.empty()) {
    check.state = CheckState::kFailed;
    check.reason = raising + " " + foreign + ": scales are read from the wrong place.";
    return check;
  }
  int64_t wrong = 0, touched = 0;
  auto checkElement = [&](int64_t product, int64_t row, int64_t lane) {
    const int64_t at = view.index(product, row, lane);
    const double share = view.share(operands, product, row, lane, choice.block);
    const double expected = reference[at] + share;
    const double got = readOutput(problem.output, after.data(), at);
    const double was = readOutput(problem.output, before.data(), at);
    // An element that passed with a larger error (cancellation) may keep it.
    const double allowed =
        allowedChange(problem.output, expected, tolerance) + std::fabs(was - reference[at]) +
        view.statedChangeOf(operands, product, row, lane, choice.block, request.judgedError());
    if (got == roundToOutput(problem.output, expected) || std::fabs(got - expected) <= allowed)
      return;
    // A NaN scale or element makes NaN of all that it touches, before and after.
    if (std::isnan(got) && std::isnan(expected)) return;
    const double magnitude = view.magnitude(operands, product, row, lane) + std::fabs(share);
    if (!(std::fabs(got - expected) <= allowed + cancellationShare(problem.k) * magnitude)) wrong++;
  };
  for (int64_t product = first; product < problem.productCount(); product++) {
    if (!view.isTouched(product, choice.row)) continue;
    const int64_t row = choice.row - view.firstRow(product);
    for (int64_t lane = 0; lane < view.lanes(product); lane++, touched++)
      checkElement(product, row, lane);
  }
  check.state = wrong == 0 ? CheckState::kPassed : CheckState::kFailed;
  if (wrong > 0)
    check.reason =
        raising + " changed " + std::to_string(wrong) + " of " + std::to_string(touched) +
        " elements of its " + (view.isA() ? "row" : "column") +
        " by other than that block's share: the scale acts on the wrong block, or not at all.";
  return check;
}

namespace {

class Stopwatch {
 public:
  // Seconds since the last lap.
  double lap() {
    const Clock::time_point now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

// Runs the kernel with one scale raised, where the operand has any. False: no scale was found whose
// change would show; nothing is checked.
bool perturb(const Problem& problem, const Operands& operands, const std::vector<double>& reference,
             const std::vector<uint8_t>& before, const RunKernel& run, OperandSide side,
             const ValidateRequest& request, ValidationReport& report) {
  PerturbationCheck& check = side == OperandSide::kA ? report.perturbationA : report.perturbationB;
  if (side == OperandSide::kA && !findBlockFormat(problem.format).elementA().isScaled()) {
    check.state = CheckState::kNoScales;
    return true;
  }
  const ScaleChoice choice = chooseScale(problem, operands, reference, side, request.tolerance);
  if (!choice.found) {
    check.reason = std::string("No scale of ") + (side == OperandSide::kA ? "A" : "B") +
                   " makes a change that the output type and the tolerance would show: that scales "
                   "act where they "
                   "belong cannot be seen. Use other operands.";
    return false;
  }
  const int64_t blocks = problem.k / findBlockFormat(problem.format).scaleBlockSize;
  const ChangedScale raised{side, choice.row * blocks + choice.block, choice.raised};
  const KernelRun after = run(&raised);
  report.launchNs.push_back(after.launchNs);
  check =
      checkPerturbation(problem, operands, reference, before, after.output, side, choice, request);
  return true;
}

}  // namespace

ValidationReport validateWith(const Problem& problem, const Operands& operands,
                              const std::vector<double>& reference, const RunKernel& run,
                              const ValidateRequest& request, const CancelFlag& cancel,
                              const Progress& progress, const CompareRows& compareRows) {
  auto report = [&](double fraction, const char* phase) {
    cancel.throwIfRequested();
    if (progress) progress(fraction, phase);
  };
  report(0.1, "kernel");
  Stopwatch watch;
  const KernelRun first = run(nullptr);
  const double kernelSeconds = watch.lap();
  report(0.4, "comparison");
  ValidationReport result =
      judgeOutput(problem, operands, reference, first.output, request, cancel, compareRows);
  result.kernelSeconds = kernelSeconds;
  result.comparisonSeconds = watch.lap();
  result.launchNs.push_back(first.launchNs);
  result.counted = first.counted;
  if (result.status == ValidationStatus::kProvesNothing) {
    result.perturbationA.reason = result.perturbationB.reason =
        "The comparison before it proves nothing.";
    return result;
  }
  for (const OperandSide side : {OperandSide::kA, OperandSide::kB}) {
    const bool isA = side == OperandSide::kA;
    report(isA ? 0.6 : 0.8, isA ? "scale of A" : "scale of B");
    const bool checked =
        perturb(problem, operands, reference, first.output, run, side, request, result);
    const PerturbationCheck& check = isA ? result.perturbationA : result.perturbationB;
    if (check.state == CheckState::kPassed || check.state == CheckState::kNoScales ||
        result.status != ValidationStatus::kPassed)
      continue;
    result.status = checked ? ValidationStatus::kIncorrect : ValidationStatus::kProvesNothing;
    result.reason = check.reason;
  }
  result.perturbationSeconds = watch.lap();
  report(1, "done");
  return result;
}

}  // namespace blockscope
