#include "statedError.h"

#include <algorithm>
#include <cmath>

#include "formats.h"
#include "oracle.h"
#include "outputs.h"
#include "threads.h"

namespace blockscope {

namespace {

// Norms of all rows of an operand; 0 for one that holds NaN or infinities, so that nothing is
// allowed on its account.
std::vector<double> normsOf(const Problem& problem, const Operands& operands, OperandSide side,
                            const CancelFlag& cancel) {
  std::vector<double> norms(side == OperandSide::kA ? problem.rowsOfA() : problem.rowsOfB());
  parallelFor(static_cast<int64_t>(norms.size()), cancel, [&](int64_t row) {
    const double norm = rowNorm(problem, operands, side, row, 0, problem.k);
    norms[row] = std::isfinite(norm) ? norm : 0;
  });
  return norms;
}

double squaresOf(const std::vector<double>& norms, int64_t first, int64_t count) {
  double sum = 0;
  for (int64_t i = first; i < first + count; i++) sum += norms[i] * norms[i];
  return sum;
}

}  // namespace

StatedError::StatedError(const Problem& problem, const Operands& operands,
                         const std::vector<double>& reference, double stated,
                         const CancelFlag& cancel)
    : problem_(problem),
      stated_(stated),
      normsA_(normsOf(problem, operands, OperandSide::kA, cancel)),
      normsB_(normsOf(problem, operands, OperandSide::kB, cancel)) {
  struct Sums {
    double reference = 0, rounding = 0;
  };
  std::vector<Sums> rows(problem.rowsOfC());
  parallelFor(static_cast<int64_t>(rows.size()), cancel, [&](int64_t row) {
    if (problem.productOf(row) < 0) return;
    for (int64_t at = row * problem.n; at < (row + 1) * problem.n; at++) {
      const double rounded = roundToOutput(problem.output, reference[at]);
      if (!std::isfinite(rounded) || !std::isfinite(reference[at])) continue;
      rows[row].reference += reference[at] * reference[at];
      rows[row].rounding += (rounded - reference[at]) * (rounded - reference[at]);
    }
  });
  Sums all;
  for (const Sums& row : rows) all.reference += row.reference, all.rounding += row.rounding;
  if (all.reference > 0) rounding_ = std::sqrt(all.rounding / all.reference);
  double norms = 0;
  for (int64_t i = 0; i < problem.productCount(); i++) {
    const Product product = problem.product(i);
    norms += squaresOf(normsA_, product.firstA, product.rows) *
             squaresOf(normsB_, product.matrixB * problem.n, problem.n);
  }
  if (norms > 0) perNorms_ = kStatedTail * stated * std::sqrt(all.reference / norms);
}

double StatedError::allowed(int64_t rowOfC, int64_t col, double reference) const {
  const Product product = problem_.product(problem_.productOf(rowOfC));
  const int64_t rowA = product.firstA + rowOfC - product.firstC;
  return perNorms_ * normsA_[rowA] * normsB_[product.matrixB * problem_.n + col] +
         outputResolution(problem_.output, reference);
}

double StatedError::beforeRounding(double normwise) const {
  return std::sqrt(std::max(0.0, normwise * normwise - rounding_ * rounding_));
}

bool StatedError::holds(double normwise, int64_t elements) const {
  const double chance = 8 * stated_ * rounding_ / std::sqrt(static_cast<double>(elements));
  return normwise * normwise <= rounding_ * rounding_ + stated_ * stated_ + chance;
}

double statedChange(const Problem& problem, const Operands& operands, int64_t product, int64_t row,
                    int64_t col, int64_t block, double stated) {
  const Product of = problem.product(product);
  const int64_t at = block * findBlockFormat(problem.format).scaleBlockSize;
  const int64_t first = at / kStatedInterval * kStatedInterval,
                last = std::min(problem.k, first + kStatedInterval);
  const double a = rowNorm(problem, operands, OperandSide::kA, of.firstA + row, first, last),
               b = rowNorm(problem, operands, OperandSide::kB, of.matrixB * problem.n + col, first,
                           last);
  // The raised scale doubles its block, and what was lost before may be gained.
  const double change = 4 * stated * a * b *
                        std::fabs(static_cast<double>(operands.tensorScaleA) *
                                  operands.tensorScaleB * problem.outputScale);
  return std::isfinite(change) ? change : 0;
}

}  // namespace blockscope
