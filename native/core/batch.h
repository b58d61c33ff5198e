// Which matrices of A and of B make which matrix of a batch of C.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace blockscope {

// Batch dimensions of A and of B, broadcast as matmul does (numpy.matmul): compared from the last,
// two are equal, or one of them is 1 or missing. Each operand's scales have its own dimensions.
class MatrixBatch {
 public:
  // `count` matrices of each, one with one.
  MatrixBatch(int64_t count = 1)
      : MatrixBatch(std::vector<int64_t>{count}, std::vector<int64_t>{count}) {}
  MatrixBatch(std::vector<int64_t> a, std::vector<int64_t> b);

  // False: two dimensions differ and none of them is 1, or one is no extent. Nothing else is to be
  // asked then.
  bool fits() const { return fits_; }
  const std::vector<int64_t>& dimsA() const { return dimsA_; }
  const std::vector<int64_t>& dimsB() const { return dimsB_; }
  // Matrices of A, of B, and of C.
  int64_t countA() const;
  int64_t countB() const;
  int64_t count() const { return static_cast<int64_t>(a_.size()); }
  // The matrix of A, and of B, that a matrix of C is made of.
  int64_t a(int64_t matrix) const { return a_[matrix]; }
  int64_t b(int64_t matrix) const { return b_[matrix]; }

 private:
  std::vector<int64_t> dimsA_, dimsB_, a_, b_;
  bool fits_ = false;
};

// "4, 1"
std::string textOf(const std::vector<int64_t>& dims);

}  // namespace blockscope
