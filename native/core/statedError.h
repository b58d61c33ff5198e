// An approximate kernel is judged by the error that its row states for operands such as these: of
// C as a whole, norm-wise, and of every element by its share of it.
#pragma once

#include <cstdint>
#include <vector>

#include "backend.h"

namespace blockscope {

// An element may be off by this many times what is stated: errors of sums scatter, and a tail of
// six standard deviations is met in a large C; a wrong block of scales is off by more.
constexpr double kStatedTail = 32;

// Scale blocks beside one that was raised, in elements of K, whose products are aligned with its
// own: as long as the longest sums that are promoted at once.
constexpr int64_t kStatedInterval = 256;

class StatedError {
 public:
  // `stated`: norm-wise, before C is rounded to its type.
  StatedError(const Problem&, const Operands&, const std::vector<double>& reference, double stated,
              const CancelFlag&);

  // How far an element may lie from its reference: kStatedTail times the share that rows of the
  // norms |a_m| and |b_n| have of an error that is as large as stated; and its rounding.
  double allowed(int64_t rowOfC, int64_t col, double reference) const;

  // Norm-wise error of the reference itself, rounded to the type of C.
  double rounding() const { return rounding_; }

  // What of a norm-wise error is not rounding: the two are independent and add up as squares.
  double beforeRounding(double normwise) const;

  // Whether that is as stated. The sum over `elements` of error times rounding is 0 but for chance,
  // which gets four of its standard deviations.
  bool holds(double normwise, int64_t elements) const;

 private:
  const Problem& problem_;
  double stated_ = 0, rounding_ = 0, perNorms_ = 0;
  std::vector<double> normsA_, normsB_;  // of every row
};

// What a raised scale may add to the error of an element of C: what is stated, of the rows'
// norms over kStatedInterval elements about the block. Norms are of values without tensor scales.
double statedChange(const Problem&, const Operands&, int64_t product, int64_t row, int64_t col,
                    int64_t block, double stated);

}  // namespace blockscope
