#include "validate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>

#include "compare.h"
#include "formats.h"
#include "oracle.h"
#include "outputs.h"
#include "philox.h"

namespace blockscope {

namespace {

// The code whose value is twice that of `code`; -1 when the format has none.
int doubled(const NumberFormat& scale, uint8_t code) {
  const int higher = scale.mantissaBits == 0 ? code + 1 : code + (1 << scale.mantissaBits);
  const bool normal = scale.mantissaBits == 0 || code >> scale.mantissaBits > 0;
  return normal && higher <= scale.largestFinite() ? higher : -1;
}

// Both sides seen the same way: this side's rows are "rows", the other side's are "lanes" along one row.
struct Orientation {
  const Problem& problem;
  OperandSide side;

  int64_t rows() const { return side == OperandSide::kA ? problem.m : problem.n; }
  int64_t lanes() const { return side == OperandSide::kA ? problem.n : problem.m; }
  int64_t index(int64_t row, int64_t lane) const {
    return side == OperandSide::kA ? row * problem.n + lane : lane * problem.n + row;
  }
  double share(const Operands& operands, int64_t row, int64_t lane, int64_t block) const {
    return side == OperandSide::kA ? blockShare(problem, operands, 0, row, lane, block)
                                   : blockShare(problem, operands, 0, lane, row, block);
  }
};

// What the output type can resolve around a value, at least.
double resolution(OutputType output, double value) {
  switch (output) {
    case OutputType::kF16:
      return std::fabs(value) * 0x1p-10 + 0x1p-24;
    case OutputType::kBf16:
      return std::fabs(value) * 0x1p-7;
    case OutputType::kF32:
      return std::fabs(value) * 0x1p-20;
    case OutputType::kE4m3:
      return std::fabs(value) * 0x1p-3 + 0x1p-9;
  }
  return 0;
}

constexpr int64_t kLanesLookedAt = 64;
constexpr int kTries = 256;

// Share of looked-at lanes where the change is well above what the output type resolves.
double visibility(const Orientation& view, const Operands& operands, const std::vector<double>& reference, int64_t row,
                  int64_t block) {
  const int64_t lanes = std::min(view.lanes(), kLanesLookedAt);
  int64_t visible = 0;
  for (int64_t i = 0; i < lanes; i++) {
    const int64_t lane = view.lanes() * i / lanes;
    const double change = view.share(operands, row, lane, block);
    const double after = reference[view.index(row, lane)] + change;
    const bool fits = std::isfinite(roundToOutput(view.problem.output, after)) && std::fabs(after) < 6e4;
    visible += fits && std::fabs(change) > 4 * resolution(view.problem.output, after);
  }
  return static_cast<double>(visible) / lanes;
}

}  // namespace

ScaleChoice chooseScale(const Problem& problem, const Operands& operands, const std::vector<double>& reference,
                        OperandSide side) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const int64_t blocks = problem.k / format.scaleBlockSize;
  const Orientation view{problem, side};
  const auto& scales = side == OperandSide::kA ? operands.aScales : operands.bScales;
  ScaleChoice best;
  double bestVisibility = 0.05;
  for (int attempt = 0; attempt < kTries && bestVisibility < 0.5; attempt++) {
    const PhiloxWords words = philox(static_cast<uint64_t>(side) + 1, 7, attempt);
    const int64_t row = words[0] % view.rows(), block = words[1] % blocks;
    const int raised = doubled(format.scaleFormat(), scales[row * blocks + block]);
    if (raised < 0) continue;
    const double seen = visibility(view, operands, reference, row, block);
    if (seen <= bestVisibility) continue;
    bestVisibility = seen;
    best = {true, row, block, static_cast<uint8_t>(raised)};
  }
  return best;
}

PerturbationCheck checkPerturbation(const Problem& problem, const Operands& operands,
                                    const std::vector<double>& reference, const std::vector<uint8_t>& before,
                                    const std::vector<uint8_t>& after, OperandSide side, const ScaleChoice& choice,
                                    const Tolerance& tolerance) {
  const Orientation view{problem, side};
  const char* name = side == OperandSide::kA ? "A" : "B";
  const std::string line = side == OperandSide::kA ? "row" : "column";
  PerturbationCheck check;
  check.row = choice.row;
  check.block = choice.block;
  const std::string scale = "the scale of " + std::string(name) + " at row " + std::to_string(choice.row) +
                            ", block " + std::to_string(choice.block);
  const int bytes = outputBytes(problem.output);
  for (int64_t row = 0; row < view.rows(); row++) {
    if (row == choice.row) continue;
    for (int64_t lane = 0; lane < view.lanes(); lane++) {
      const int64_t at = view.index(row, lane) * bytes;
      if (std::memcmp(&before[at], &after[at], bytes) == 0) continue;
      check.reason = "Raising " + scale + " changed " + line + " " + std::to_string(row) +
                     " of C: scales are read from the wrong place.";
      return check;
    }
  }
  int64_t wrong = 0;
  for (int64_t lane = 0; lane < view.lanes(); lane++) {
    const int64_t at = view.index(choice.row, lane);
    const double share = view.share(operands, choice.row, lane, choice.block);
    const double expected = reference[at] + share;
    const double got = readOutput(problem.output, after.data(), at);
    const double was = readOutput(problem.output, before.data(), at);
    const double allowed = tolerance.atol + tolerance.rtol * std::fabs(expected) +
                           4 * resolution(problem.output, expected) + std::fabs(was - reference[at]);
    const double rounded = roundToOutput(problem.output, expected);
    if (got != rounded && !(std::fabs(got - expected) <= allowed)) wrong++;
  }
  if (wrong > 0) {
    check.reason = "Raising " + scale + " changed " + std::to_string(wrong) + " of " +
                   std::to_string(view.lanes()) + " elements of its " + line +
                   " by other than that block's share: the scale acts on the wrong block, or not at all.";
    return check;
  }
  check.passed = true;
  return check;
}

namespace {

PerturbationCheck perturb(const Problem& problem, const Operands& operands, const std::vector<double>& reference,
                          const std::vector<uint8_t>& before, const RunKernel& run, OperandSide side,
                          const Tolerance& tolerance) {
  const ScaleChoice choice = chooseScale(problem, operands, reference, side);
  PerturbationCheck check;
  if (!choice.found) {
    check.reason = "No scale was found whose change would show in the output type.";
    return check;
  }
  Operands changed = operands;
  const int64_t blocks = problem.k / findBlockFormat(problem.format).scaleBlockSize;
  auto& scales = side == OperandSide::kA ? changed.aScales : changed.bScales;
  scales[choice.row * blocks + choice.block] = choice.raised;
  return checkPerturbation(problem, operands, reference, before, run(changed), side, choice, tolerance);
}

}  // namespace

ValidationReport validateWith(const Problem& problem, const Operands& operands, const std::vector<double>& reference,
                              const RunKernel& run, const ValidateRequest& request, const CancelFlag& cancel,
                              const Progress& progress) {
  auto report = [&](double fraction, const char* phase) {
    cancel.throwIfRequested();
    if (progress) progress(fraction, phase);
  };
  ValidationReport result;
  const std::string nothing = whyItProvesNothing(problem, reference, result);
  const ValidationReport guards = result;
  report(0.1, "kernel");
  const auto start = std::chrono::steady_clock::now();
  const std::vector<uint8_t> output = run(operands);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report(0.4, "comparison");
  result = compareWithReference(problem, operands, reference, output, request, cancel);
  result.referenceRms = guards.referenceRms;
  result.referenceNonZero = guards.referenceNonZero;
  result.kernelSeconds = seconds;
  if (!nothing.empty()) {
    result.status = ValidationStatus::kProvesNothing;
    result.reason = nothing;
    return result;
  }
  report(0.6, "scale of A");
  result.perturbationA = perturb(problem, operands, reference, output, run, OperandSide::kA, request.tolerance);
  report(0.8, "scale of B");
  result.perturbationB = perturb(problem, operands, reference, output, run, OperandSide::kB, request.tolerance);
  for (const PerturbationCheck* check : {&result.perturbationA, &result.perturbationB}) {
    if (check->passed || result.status != ValidationStatus::kPassed) continue;
    result.status = ValidationStatus::kIncorrect;
    result.reason = check->reason;
  }
  report(1, "done");
  return result;
}

}  // namespace blockscope
