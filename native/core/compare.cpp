#include "compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "formats.h"
#include "oracle.h"
#include "outputs.h"
#include "threads.h"

namespace blockscope {

namespace {

int ulpBin(int64_t distance) {
  if (distance <= 2) return static_cast<int>(distance);
  int bin = 3;
  for (int64_t top = 4; distance > top && bin < kUlpBins - 1; top *= 2) bin++;
  return bin;
}

double allowedError(const Tolerance& tolerance, double reference) {
  return tolerance.atol + tolerance.rtol * std::fabs(reference);
}

enum class Passes { kNot, kByTolerance, kByRounding, kByCancellation, kByStatement };

struct Judged {
  double error;  // |got - reference|; infinite when a NaN or an infinity stands where none should
  Passes passes;
};

// Whether some number within `room` of the reference rounds to `got`: of all of them the nearest
// does. Beyond the range of the output type it may be infinity.
bool mayRoundTo(OutputType output, double got, double reference, double room) {
  return roundToOutput(output, std::clamp(got, reference - room, reference + room)) == got;
}

Judged judgeElement(OutputType output, double got, double reference, double allowed,
                    bool hasAllowances) {
  if (std::isnan(reference)) {
    if (std::isnan(got)) return {0.0, Passes::kByTolerance};
    return {INFINITY, Passes::kNot};
  }
  if (std::isnan(got)) return {INFINITY, Passes::kNot};
  if (got == reference) return {0.0, Passes::kByTolerance};  // infinities too
  const double difference = std::fabs(got - reference);
  const double error = std::isnan(difference) ? INFINITY : difference;
  if (error <= allowed && std::isfinite(error)) return {error, Passes::kByTolerance};
  // The output type may be coarser than the tolerance, or end before the reference does, which may
  // itself be infinite.
  const double room = std::isinf(reference) ? 0.0 : allowed;
  if (!hasAllowances || !mayRoundTo(output, got, reference, room)) return {error, Passes::kNot};
  return {std::isfinite(error) ? error : 0.0, Passes::kByRounding};
}

FailedElement describeFailure(const Problem& problem, const Operands& operands, int64_t index,
                              int64_t row, int64_t col, double got, double reference) {
  const Product product = problem.product(index);
  const BlockFormat& format = findBlockFormat(problem.format);
  const int64_t blocks = problem.k / format.scaleBlockSize;
  FailedElement failed;
  failed.batch = index;
  failed.row = row;
  failed.col = col;
  failed.got = got;
  failed.reference = reference;
  failed.absoluteError = std::fabs(got - reference);
  double largest = -1;
  for (int64_t block = 0; block < blocks; block++) {
    const double share = std::fabs(blockShare(problem, operands, index, row, col, block));
    if (share > largest || std::isnan(share)) {
      largest = std::isnan(share) ? INFINITY : share;
      failed.block = block;
    }
  }
  const int64_t rowA = product.firstA + row, rowB = product.matrixB * problem.n + col;
  for (int64_t k = failed.block * format.scaleBlockSize;
       k < (failed.block + 1) * format.scaleBlockSize; k++) {
    failed.aCodes.push_back(
        codeAt(format.elementA(), operands.aCodes.data(), rowA * problem.k + k));
    failed.bCodes.push_back(
        codeAt(format.elementB(), operands.bCodes.data(), rowB * problem.k + k));
  }
  if (format.elementA().isScaled()) failed.aScale = operands.aScales[rowA * blocks + failed.block];
  failed.bScale = operands.bScales[rowB * blocks + failed.block];
  return failed;
}

// |A| |B| of an element of C by its place among all of them; 0 on padding rows of groups.
double magnitudeAt(const Problem& problem, const Operands& operands, int64_t element) {
  const int64_t row = element / problem.n, product = problem.productOf(row);
  if (product < 0) return 0;
  return magnitudeElement(problem, operands, product, row - problem.product(product).firstC,
                          element % problem.n);
}

// max |got - reference| / (|A| |B|) over elements spread evenly: pure relative errors fail at
// cancelled outputs for every scheme, this does not.
double sampledScaledError(const Problem& problem, const Operands& operands,
                          const std::vector<double>& reference, const std::vector<uint8_t>& output,
                          const CancelFlag& cancel) {
  constexpr int64_t kSamples = 1024;
  const int64_t count = static_cast<int64_t>(reference.size());
  const int64_t samples = std::min(kSamples, count);
  std::vector<double> errors(samples);
  parallelFor(samples, cancel, [&](int64_t i) {
    const int64_t element = count * i / samples;
    const double magnitude = magnitudeAt(problem, operands, element);
    const double got = readOutput(problem.output, output.data(), element);
    const double error = std::fabs(got - reference[element]);
    errors[i] = magnitude > 0 && std::isfinite(error) ? error / magnitude : 0.0;
  });
  return *std::max_element(errors.begin(), errors.end());
}

// Share of elements, out of some spread evenly, whose accumulator shows in C: left out, the element
// would be outside its tolerance.
double visibleAccumulators(const Problem& problem, const Operands& operands,
                           const std::vector<double>& reference, const ValidateRequest& request) {
  constexpr int64_t kSamples = 4096;
  const int64_t count = static_cast<int64_t>(reference.size());
  const int64_t samples = std::min(kSamples, count);
  int64_t visible = 0, seen = 0;
  for (int64_t i = 0; i < samples; i++) {
    const int64_t element = count * i / samples;
    if (problem.productOf(element / problem.n) < 0) continue;
    seen++;
    const double expected = reference[element];
    const double hidden =
        allowedError(request.tolerance, expected) + 2 * outputResolution(problem.output, expected);
    const double added =
        std::fabs(static_cast<double>(operands.accumulator[element])) * problem.outputScale;
    // One that is NaN or infinite makes its element so.
    visible += !std::isfinite(added) || added > hidden;
  }
  return seen == 0 ? 1 : static_cast<double>(visible) / static_cast<double>(seen);
}

// A sentence when agreeing with a reference of these figures proves nothing. Fills referenceRms and
// referenceNonZero.
std::string whyItProvesNothing(const Problem& problem, const std::vector<RowFigures>& rows,
                               ValidationReport& report) {
  double nonZero = 0, finite = 0, aboveTolerance = 0, squares = 0;
  for (const RowFigures& row : rows) {
    nonZero += static_cast<double>(row.nonZero);
    finite += static_cast<double>(row.finite);
    aboveTolerance += static_cast<double>(row.aboveTolerance);
    squares += row.referenceSquares;
  }
  const auto count = static_cast<double>(report.elements);
  report.referenceRms = std::sqrt(squares / count);
  report.referenceNonZero = nonZero / count;
  const std::string type(wordOf(problem.output));
  if (nonZero == 0)
    return "The reference is zero everywhere in " + type +
           ": a kernel that writes zeros would pass. Use other operands.";
  if (nonZero < 0.5 * count)
    return "More than half of the reference is zero in " + type +
           " (underflow): this proves nothing. Use other operands.";
  if (finite < 0.5 * count)
    return "More than half of the reference overflows " + type +
           ": this proves nothing. Use --out f32 or other operands.";
  if (aboveTolerance < 0.5 * count)
    return "More than half of the reference is smaller than the tolerance: a kernel that writes "
           "zeros would pass. Use "
           "a smaller --atol or other operands.";
  return "";
}

}  // namespace

int64_t describedFailures(const ValidateRequest& request) {
  return std::max(1, request.maxFailures);
}

int64_t tileColumns(const Problem& problem, const ValidateRequest& request) {
  return (problem.n + request.mapTiles - 1) / request.mapTiles;
}

RowFigures compareRow(const Problem& problem, const Operands& operands,
                      const std::vector<double>& reference, const std::vector<uint8_t>& output,
                      const ValidateRequest& request, int64_t row, const StatedError* stated) {
  const int64_t cols = problem.n, tile = tileColumns(problem, request);
  RowFigures own;
  own.ratios.assign((cols + tile - 1) / tile, 0.0f);
  if (problem.productOf(row) < 0) return own;
  const bool hasAllowances = request.rule == PassRule::kAllowances;
  for (int64_t col = 0; col < cols; col++) {
    const double expected = reference[row * cols + col];
    const double got = readOutput(problem.output, output.data(), row * cols + col);
    const double allowed = allowedError(request.tolerance, expected);
    const double rounded = roundToOutput(problem.output, expected);
    own.nonZero += rounded != 0;
    own.finite += std::isfinite(rounded);
    own.aboveTolerance += std::fabs(expected) > allowed;
    if (std::isfinite(expected)) own.referenceSquares += expected * expected;
    Judged judged = judgeElement(problem.output, got, expected, allowed, hasAllowances);
    if (judged.passes == Passes::kNot && stated &&
        judged.error <= stated->allowed(row, col, expected))
      judged.passes = Passes::kByStatement;
    const bool mayCancel =
        hasAllowances && std::isfinite(judged.error) && own.outside < kCancellationChecksPerRow;
    if (judged.passes == Passes::kNot && mayCancel &&
        mayRoundTo(problem.output, got, expected,
                   cancellationShare(problem.k) * magnitudeAt(problem, operands, row * cols + col)))
      judged.passes = Passes::kByCancellation;
    own.nonFinite += !std::isfinite(got);
    own.withinRounding += judged.passes == Passes::kByRounding;
    own.withinCancellation += judged.passes == Passes::kByCancellation;
    own.withinStated += judged.passes == Passes::kByStatement;
    if (judged.passes == Passes::kNot) {
      own.outside++;
      if (static_cast<int64_t>(own.failing.size()) < describedFailures(request))
        own.failing.push_back(col);
    }
    own.maxAbs = std::max(own.maxAbs, judged.error);
    if (expected != 0) own.maxRel = std::max(own.maxRel, judged.error / std::fabs(expected));
    if (std::isfinite(expected) && std::isfinite(got)) {
      own.squaredError += judged.error * judged.error;
      own.squaredReference += expected * expected;
      own.pairs++;
      const double above =
          got == rounded ? 0 : std::fabs(got - expected) / ulpSize(problem.output, expected) - 0.5;
      own.maxUlpsAbove = std::max(own.maxUlpsAbove, above);
      own.sumUlpsAbove += std::max(0.0, above);
    }
    const int64_t ulps = ulpDistance(problem.output, got, expected);
    own.ulps[ulps < 0 ? (std::isnan(got) && std::isnan(expected) ? 0 : kUlpBins - 1)
                      : ulpBin(ulps)]++;
    double ratio = judged.error == 0 ? 0 : judged.error / allowed;
    own.maxToleranceShare = std::max(own.maxToleranceShare, ratio);
    if (judged.passes != Passes::kNot) ratio = std::min(ratio, 1.0);
    float& cell = own.ratios[col / tile];
    cell = std::max(cell, static_cast<float>(ratio));
  }
  return own;
}

namespace {

// The rows added up in their order, so that nothing depends on the threads.
ValidationReport addUp(const Problem& problem, const Operands& operands,
                       const std::vector<double>& reference, const std::vector<uint8_t>& output,
                       const ValidateRequest& request, const std::vector<RowFigures>& rows,
                       const CancelFlag& cancel) {
  const int64_t cols = problem.n;
  ValidationReport report;
  report.tileRows = (problem.m + request.mapTiles - 1) / request.mapTiles;
  report.tileCols = tileColumns(problem, request);
  report.mapRows = (problem.m + report.tileRows - 1) / report.tileRows;
  report.mapCols = (cols + report.tileCols - 1) / report.tileCols;
  report.errorMap.assign(report.mapRows * report.mapCols, 0.0f);
  report.ulpHistogram.assign(kUlpBins, 0);
  double squaredError = 0, squaredReference = 0;
  int64_t pairs = 0;
  for (size_t row = 0; row < rows.size(); row++) {
    const RowFigures& own = rows[row];
    const int64_t product = problem.productOf(static_cast<int64_t>(row));
    if (product < 0) continue;
    report.elements += cols;
    report.elementsOutside += own.outside;
    report.nonFinite += own.nonFinite;
    report.withinRounding += own.withinRounding;
    report.withinCancellation += own.withinCancellation;
    report.withinStated += own.withinStated;
    report.maxToleranceShare = std::max(report.maxToleranceShare, own.maxToleranceShare);
    report.maxUlpsAboveRounding = std::max(report.maxUlpsAboveRounding, own.maxUlpsAbove);
    report.meanUlpsAboveRounding += own.sumUlpsAbove;
    pairs += own.pairs;
    report.maxAbs = std::max(report.maxAbs, own.maxAbs);
    report.maxRel = std::max(report.maxRel, own.maxRel);
    squaredError += own.squaredError;
    squaredReference += own.squaredReference;
    for (int bin = 0; bin < kUlpBins; bin++) report.ulpHistogram[bin] += own.ulps[bin];
    const int64_t inMatrix = static_cast<int64_t>(row) % problem.m,
                  inProduct = static_cast<int64_t>(row) - problem.product(product).firstC;
    float* map = &report.errorMap[inMatrix / report.tileRows * report.mapCols];
    for (int64_t tile = 0; tile < report.mapCols; tile++)
      map[tile] = std::max(map[tile], own.ratios[tile]);
    for (const int64_t col : own.failing) {
      if (static_cast<int64_t>(report.failures.size()) >= describedFailures(request)) break;
      const int64_t at = static_cast<int64_t>(row) * cols + col;
      const double got = readOutput(problem.output, output.data(), at);
      report.failures.push_back(
          describeFailure(problem, operands, product, inProduct, col, got, reference[at]));
    }
  }
  if (pairs > 0) report.meanUlpsAboveRounding /= static_cast<double>(pairs);
  report.normwise = squaredReference == 0 ? (squaredError == 0 ? 0.0 : INFINITY)
                                          : std::sqrt(squaredError / squaredReference);
  report.maxScaled = sampledScaledError(problem, operands, reference, output, cancel);
  if (report.elementsOutside > 0) {
    const FailedElement& first = report.failures.front();
    report.status = ValidationStatus::kIncorrect;
    report.reason = std::to_string(report.elementsOutside) + " of " +
                    std::to_string(report.elements) + " elements are outside " +
                    (request.judgedError() > 0 ? "what the kernel states" : "the tolerance") +
                    ", the first at row " + std::to_string(first.row) + ", column " +
                    std::to_string(first.col) + productWords(problem, first.batch, " of ") + ".";
  }
  return report;
}

std::vector<RowFigures> compareOnAllCores(const Problem& problem, const Operands& operands,
                                          const std::vector<double>& reference,
                                          const std::vector<uint8_t>& output,
                                          const ValidateRequest& request,
                                          const CancelFlag& cancel) {
  std::vector<RowFigures> rows(problem.rowsOfC());
  parallelFor(static_cast<int64_t>(rows.size()), cancel, [&](int64_t row) {
    rows[row] = compareRow(problem, operands, reference, output, request, row);
  });
  return rows;
}

// "1.5e-4"
std::string errorWords(double error) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%.1e", error);
  std::string words = digits;
  if (words.size() > 2 && words[words.size() - 2] == '0') words.erase(words.size() - 2, 1);
  return words;
}

// Adds what the kernel's own statement makes of it.
void judgeByStatement(const StatedError& stated, double error, ValidationReport& report) {
  report.statedError = error;
  report.errorBeforeRounding = stated.beforeRounding(report.normwise);
  if (report.status != ValidationStatus::kPassed || stated.holds(report.normwise, report.elements))
    return;
  report.status = ValidationStatus::kIncorrect;
  report.reason = "The norm-wise error is " + errorWords(report.errorBeforeRounding) +
                  "; the kernel states " + errorWords(error) + " for these operands.";
}

}  // namespace

ValidationReport judgeOutput(const Problem& problem, const Operands& operands,
                             const std::vector<double>& reference,
                             const std::vector<uint8_t>& output, const ValidateRequest& request,
                             const CancelFlag& cancel, const CompareRows& compareRows) {
  const int64_t needed = problem.elements() * outputBytes(problem.output);
  if (static_cast<int64_t>(output.size()) != needed)
    throw Error(ErrorKind::kUsage, "The output has " + std::to_string(output.size()) + " bytes; " +
                                       std::to_string(needed) + " are needed.");
  std::vector<RowFigures> rows =
      compareRows ? compareRows(output)
                  : compareOnAllCores(problem, operands, reference, output, request, cancel);
  std::optional<StatedError> stated;
  if (request.judgedError() > 0) {
    stated.emplace(problem, operands, reference, request.judgedError(), cancel);
    parallelFor(static_cast<int64_t>(rows.size()), cancel, [&](int64_t row) {
      if (rows[row].outside > 0)
        rows[row] = compareRow(problem, operands, reference, output, request, row, &*stated);
    });
  }
  ValidationReport report = addUp(problem, operands, reference, output, request, rows, cancel);
  if (stated) judgeByStatement(*stated, request.judgedError(), report);
  report.outputDigest = digestOf(output);
  report.perturbationA.reason = report.perturbationB.reason =
      "The product was computed elsewhere, once, on the operands as they are.";
  std::string nothing = whyItProvesNothing(problem, rows, report);
  if (nothing.empty() && problem.accumulate &&
      visibleAccumulators(problem, operands, reference, request) < 0.5)
    nothing =
        "More than half of the accumulator is smaller than what the tolerance and the output type "
        "show: a kernel that leaves it out would pass. Use other operands.";
  if (!nothing.empty()) {
    report.status = ValidationStatus::kProvesNothing;
    report.reason = nothing;
  }
  return report;
}

}  // namespace blockscope
