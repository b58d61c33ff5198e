// The figures of a comparison, and which elements pass it.
#include <cmath>
#include <numeric>

#include "../core/compare.h"
#include "../core/operands.h"
#include "../core/oracle.h"
#include "../core/outputs.h"
#include "../core/validate.h"
#include "check.h"
#include "onCopies.h"

using namespace blockscope;

namespace {

const CancelFlag kNever;
const Tolerance kTolerance{1e-3, 1e-3};

struct Case {
  Problem problem;
  Operands operands;
  std::vector<double> reference;
  std::vector<uint8_t> output;

  explicit Case(OutputType type, int64_t m = 40, int64_t n = 30, int64_t k = 128, int64_t batch = 1)
      : problem{"mxfp8", m, n, k, batch, type} {
    operands = generateOperands(problem, {"normal", 3}, kNever);
    reference = referenceProduct(problem, operands, kNever, nullptr);
    store();
  }
  void store() {
    output.resize(reference.size() * outputBytes(problem.output));
    for (size_t i = 0; i < reference.size(); i++) put(i, reference[i]);
  }
  void put(int64_t index, double value) {
    writeOutput(problem.output, value, output.data(), index);
  }
  ValidationReport compare(ValidateRequest request = {"k", kTolerance, 4, 8}) const {
    return judgeOutput(problem, operands, reference, output, request, kNever);
  }
};

void theRoundedReferencePassesInEveryType() {
  for (const OutputType type : {OutputType::kF16, OutputType::kBf16, OutputType::kF32,
                                OutputType::kE4m3, OutputType::kE5m2}) {
    const ValidationReport report = Case(type).compare();
    CHECK(report.status == ValidationStatus::kPassed);
    CHECK(report.elements == 1200 && report.elementsOutside == 0 && report.nonFinite == 0);
    CHECK(report.ulpHistogram[0] == 1200);
    for (const float tile : report.errorMap) CHECK(tile <= 1);
  }
}

void figuresAreThoseOfTheDefinition() {
  Case wrong(OutputType::kF32);
  wrong.put(5 * 30 + 7, wrong.reference[5 * 30 + 7] + 2);
  wrong.put(39 * 30 + 29, wrong.reference[39 * 30 + 29] - 0.5);
  const ValidationReport report = wrong.compare();
  CHECK(report.status == ValidationStatus::kIncorrect);
  CHECK(report.elementsOutside == 2);
  CHECK(std::fabs(report.maxAbs - 2) < 1e-5);
  CHECK_CONTAINS(report.reason,
                 "2 of 1200 elements are outside the tolerance, the first at row 5, column 7.");
  CHECK(report.failures.size() == 2 && report.failures[1].row == 39 &&
        report.failures[1].col == 29);
  double squares = 0;
  for (const double value : wrong.reference) squares += value * value;
  CHECK(std::fabs(report.normwise - std::sqrt(4.25 / squares)) < 1e-6);
  CHECK(std::fabs(report.referenceRms - std::sqrt(squares / 1200)) < 1e-9);
  CHECK(report.mapRows == 8 && report.mapCols == 8 && report.tileRows == 5 && report.tileCols == 4);
  for (int64_t tile = 0; tile < 64; tile++)
    CHECK((report.errorMap[tile] > 1) == (tile == 9 || tile == 63));
  CHECK(std::accumulate(report.ulpHistogram.begin(), report.ulpHistogram.end(), uint64_t{0}) ==
        1200);
}

void aFailureShowsItsLargestBlock() {
  Case wrong(OutputType::kF32);
  wrong.put(11 * 30 + 2, 1e6);
  const FailedElement failed = wrong.compare().failures.at(0);
  double largest = 0;
  for (int64_t block = 0; block < 4; block++)
    largest =
        std::max(largest, std::fabs(blockShare(wrong.problem, wrong.operands, 0, 11, 2, block)));
  CHECK(std::fabs(blockShare(wrong.problem, wrong.operands, 0, 11, 2, failed.block)) == largest);
  CHECK(failed.aScale == wrong.operands.aScales[11 * 4 + failed.block]);
  CHECK(failed.bScale == wrong.operands.bScales[2 * 4 + failed.block]);
  CHECK(failed.aCodes.size() == 32 &&
        failed.aCodes[31] == wrong.operands.aCodes[11 * 128 + failed.block * 32 + 31]);
}

// A number close to the reference may round the other way: half a unit of bf16 or e4m3 is more than
// 1e-3 of it.
void neighboursWithinTheToleranceOfATiePass() {
  for (const OutputType type : {OutputType::kBf16, OutputType::kE4m3}) {
    Case tie(type);
    const double step = type == OutputType::kBf16 ? 1.0 / 128 : 1.0 / 8;
    tie.reference[0] = 1 + 0.4999 * step;  // nearest: 1
    tie.put(0, 1 + step);
    CHECK(tie.compare().elementsOutside == 0);
    tie.reference[0] = 1 + 0.2 * step;
    CHECK(tie.compare().elementsOutside == 1);
  }
}

// What passes by an allowance alone is counted, and the plain rule knows no allowance.
void allowancesAreCountedAndCanBeLeftOut() {
  Case coarse(OutputType::kBf16);
  const ValidateRequest plain{"k", kTolerance, 4, 8, PassRule::kAssertClose};
  const ValidationReport allowed = coarse.compare(), alone = coarse.compare(plain);
  // Rounding to bf16 costs up to 2^-9 of a value, the tolerance is about 2^-10 of it.
  CHECK(allowed.status == ValidationStatus::kPassed && allowed.withinRounding > 0);
  CHECK(alone.status == ValidationStatus::kIncorrect && alone.withinRounding == 0);
  CHECK(alone.elementsOutside == allowed.withinRounding);
  CHECK(allowed.maxToleranceShare == alone.maxToleranceShare && alone.maxToleranceShare > 1);

  Case cancelled(OutputType::kF32);
  const double magnitude = magnitudeElement(cancelled.problem, cancelled.operands, 0, 0, 0);
  cancelled.put(0, cancelled.reference[0] + 0x1p-22 * magnitude);
  const ValidateRequest strict{"k", {0, 1e-9}, 4, 8};
  ValidateRequest strictAlone = strict;
  strictAlone.rule = PassRule::kAssertClose;
  const ValidationReport report = cancelled.compare(strict);
  CHECK(report.status == ValidationStatus::kPassed && report.withinCancellation >= 1);
  cancelled.put(0, cancelled.reference[0] + 0x1p-19 * magnitude);
  CHECK(cancelled.compare(strict).elementsOutside >= 1);
  CHECK(cancellationShare(16) == 0x1p-21 && cancellationShare(4096) == 0x1p-18);
  CHECK(cancelled.compare(strictAlone).elementsOutside >= 1);
  CHECK(cancelled.compare(strictAlone).withinCancellation == 0);
}

// What rounding leaves in a float32 sum may carry it over the middle between two numbers of a
// coarse output type: the error is then more than either costs.
void whatIsLeftOfASumMayRoundTheOtherWay() {
  for (const OutputType type : {OutputType::kBf16, OutputType::kF16, OutputType::kE4m3}) {
    Case sum(type);
    const ValidateRequest strict{"k", {0, 1e-9}, 4, 8};
    const double gap = type == OutputType::kE4m3   ? 0x1p-3
                       : type == OutputType::kBf16 ? 0x1p-7
                                                   : 0x1p-10;
    const double left =
        cancellationShare(sum.problem.k) * magnitudeElement(sum.problem, sum.operands, 0, 0, 0);
    sum.reference[0] = 1 + gap / 2 - left / 2;
    sum.put(0, 1 + gap);
    CHECK(std::fabs(1 + gap - sum.reference[0]) > left);
    const int64_t others = sum.compare(strict).elementsOutside;
    sum.reference[0] = 1 + gap / 2 - 2 * left;
    CHECK(sum.compare(strict).elementsOutside == others + 1);
  }
}

// An infinite reference allows no number: the tolerance of infinity would be infinite.
void infinityIsNotNearNumbers() {
  Case endless(OutputType::kF32);
  endless.reference[0] = INFINITY;
  endless.put(0, 1);
  CHECK(endless.compare().elementsOutside == 1);
  endless.put(0, INFINITY);
  CHECK(endless.compare().elementsOutside == 0);
}

void headroomIsErrorOverTolerance() {
  Case wrong(OutputType::kF32);
  wrong.reference[5] = 1;
  wrong.put(5, 1 + 0.0005);
  CHECK(std::fabs(wrong.compare().maxToleranceShare - 0.25) < 1e-3);
}

// 0 for a product that is right before it is rounded, whatever the output type costs; then in units
// of the output's last place.
void errorsAboveTheRoundingAreInUlps() {
  for (const OutputType type : {OutputType::kF16, OutputType::kBf16, OutputType::kE4m3}) {
    Case exact(type);
    CHECK(exact.compare().maxUlpsAboveRounding == 0 && exact.compare().meanUlpsAboveRounding == 0);
    const double ulp = ulpSize(type, 1.0);
    CHECK(ulp == (type == OutputType::kF16    ? 0x1p-10
                  : type == OutputType::kBf16 ? 0x1p-7
                                              : 0x1p-3));
    exact.reference[3] = 1 + 0.25 * ulp;
    exact.put(3, 1 + 3 * ulp);
    CHECK(std::fabs(exact.compare().maxUlpsAboveRounding - 2.25) < 1e-9);
    CHECK(std::fabs(exact.compare().meanUlpsAboveRounding - 2.25 / 1200) < 1e-9);
  }
  CHECK(ulpSize(OutputType::kF16, 0) == 0x1p-24 && ulpSize(OutputType::kF32, -1.5) == 0x1p-23);
}

void nanAndInfinityNeverPassSilently() {
  Case bad(OutputType::kF32);
  bad.put(3, NAN);
  bad.put(4, INFINITY);
  const ValidationReport report = bad.compare();
  CHECK(report.nonFinite == 2 && report.elementsOutside == 2);
  CHECK(std::isinf(report.maxAbs));
  CHECK(report.status == ValidationStatus::kIncorrect);
  // Where the right answer overflows, infinity is right and a number is not.
  Case overflow(OutputType::kF16);
  overflow.reference[0] = 1e6;
  overflow.put(0, INFINITY);
  CHECK(overflow.compare().elementsOutside == 0);
  CHECK(overflow.compare().nonFinite == 1);
  overflow.put(0, 60000);
  CHECK(overflow.compare().elementsOutside == 1);
  overflow.put(0, -INFINITY);
  CHECK(overflow.compare().elementsOutside == 1);
}

void batchesAreComparedMatrixByMatrix() {
  Case wrong(OutputType::kF16, 20, 10, 64, 3);
  wrong.put(2 * 200 + 7 * 10 + 4, 99);
  const ValidationReport report = wrong.compare();
  CHECK(report.elementsOutside == 1);
  CHECK(report.failures[0].batch == 2 && report.failures[0].row == 7 &&
        report.failures[0].col == 4);
  CHECK_CONTAINS(report.reason, "row 7, column 4 of matrix 2");
}

void noFailuresWantedIsNoCrash() {
  Case wrong(OutputType::kF16);
  wrong.put(0, 1000);
  CHECK(wrong.compare({"k", kTolerance, 0, 1}).status == ValidationStatus::kIncorrect);
}

void whatProvesNothingIsSaid() {
  Case tiny(OutputType::kF32);
  for (double& value : tiny.reference) value *= 1e-7;
  tiny.store();
  CHECK(tiny.compare().status == ValidationStatus::kProvesNothing);
  CHECK_CONTAINS(tiny.compare().reason, "smaller than the tolerance");
  CHECK(tiny.compare({"k", {1e-12, 1e-3}, 4, 8}).status == ValidationStatus::kPassed);
  Case half(OutputType::kF16);
  for (size_t i = 0; i < 700; i++) half.reference[i] = 0;
  half.store();
  CHECK_CONTAINS(half.compare().reason, "More than half of the reference is zero");
  Case zero(OutputType::kF16);
  for (double& value : zero.reference) value = 1e-12;
  zero.store();
  CHECK_CONTAINS(zero.compare().reason, "zero everywhere in f16");
}

// Where one block's share is far below the tolerance, nothing can be said about scales.
void scalesThatDoNotShowProveNothing() {
  Case flat(OutputType::kF32, 16, 16, 4096);  // elements around 64, shares of a block around 6
  const ValidateRequest loose{"k", {20, 0}, 4, 8};
  auto run = [&](const Operands&) { return KernelRun{flat.output}; };
  const ValidationReport report =
      validateWith(flat.problem, flat.operands, flat.reference, onCopies(flat.operands, run), loose,
                   kNever, nullptr);
  CHECK(report.status == ValidationStatus::kProvesNothing);
  CHECK_CONTAINS(report.reason, "No scale of A");
}

// The second matrix of a batch reads the first one's scales.
void scalesOfAnotherMatrixAreCaught() {
  Case batch(OutputType::kF32, 32, 32, 128, 2);
  std::fill(batch.operands.aScales.begin(), batch.operands.aScales.end(), uint8_t{127});
  batch.reference = referenceProduct(batch.problem, batch.operands, kNever, nullptr);
  auto run = [&](const Operands& changed) {
    Case wrong = batch;
    wrong.operands = changed;
    std::copy_n(changed.aScales.begin(), 32 * 4, wrong.operands.aScales.begin() + 32 * 4);
    wrong.reference = referenceProduct(wrong.problem, wrong.operands, kNever, nullptr);
    wrong.store();
    return KernelRun{wrong.output};
  };
  const ValidationReport report =
      validateWith(batch.problem, batch.operands, batch.reference, onCopies(batch.operands, run),
                   {"k", kTolerance, 4, 8}, kNever, nullptr);
  CHECK(report.elementsOutside == 0);
  CHECK(report.status == ValidationStatus::kIncorrect);
  CHECK_CONTAINS(report.reason, "matrix 1");
}

}  // namespace

int main() {
  theRoundedReferencePassesInEveryType();
  figuresAreThoseOfTheDefinition();
  aFailureShowsItsLargestBlock();
  neighboursWithinTheToleranceOfATiePass();
  allowancesAreCountedAndCanBeLeftOut();
  whatIsLeftOfASumMayRoundTheOtherWay();
  infinityIsNotNearNumbers();
  headroomIsErrorOverTolerance();
  errorsAboveTheRoundingAreInUlps();
  nanAndInfinityNeverPassSilently();
  batchesAreComparedMatrixByMatrix();
  noFailuresWantedIsNoCrash();
  whatProvesNothingIsSaid();
  scalesThatDoNotShowProveNothing();
  scalesOfAnotherMatrixAreCaught();
  return summary();
}
