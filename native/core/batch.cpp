#include "batch.h"

#include <algorithm>

namespace blockscope {

namespace {

constexpr int64_t kMostMatrices = 1 << 20;

// Product of the dimensions; 0 when one is no extent or there are too many matrices.
int64_t matricesOf(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (const int64_t extent : dims) {
    if (extent < 1 || extent > kMostMatrices || count > kMostMatrices / extent) return 0;
    count *= extent;
  }
  return count;
}

// Extent of dimension `at` from the last; 1 where there is none.
int64_t extentAt(const std::vector<int64_t>& dims, size_t at) {
  return at < dims.size() ? dims[dims.size() - 1 - at] : 1;
}

}  // namespace

MatrixBatch::MatrixBatch(std::vector<int64_t> a, std::vector<int64_t> b)
    : dimsA_(std::move(a)), dimsB_(std::move(b)) {
  if (matricesOf(dimsA_) == 0 || matricesOf(dimsB_) == 0) return;
  // Dimensions of C from the last, and how far apart neighbours along each lie in A and in B.
  std::vector<int64_t> dims, strideA, strideB;
  int64_t sizeA = 1, sizeB = 1;
  for (size_t at = 0; at < std::max(dimsA_.size(), dimsB_.size()); at++) {
    const int64_t ofA = extentAt(dimsA_, at), ofB = extentAt(dimsB_, at);
    if (ofA != ofB && ofA != 1 && ofB != 1) return;
    dims.push_back(std::max(ofA, ofB));
    strideA.push_back(ofA == 1 ? 0 : sizeA);
    strideB.push_back(ofB == 1 ? 0 : sizeB);
    sizeA *= ofA;
    sizeB *= ofB;
  }
  const int64_t count = matricesOf(dims);
  for (int64_t matrix = 0; matrix < count; matrix++) {
    int64_t rest = matrix, ofA = 0, ofB = 0;
    for (size_t at = 0; at < dims.size(); at++) {
      ofA += rest % dims[at] * strideA[at];
      ofB += rest % dims[at] * strideB[at];
      rest /= dims[at];
    }
    a_.push_back(ofA);
    b_.push_back(ofB);
  }
  fits_ = count > 0;
}

int64_t MatrixBatch::countA() const { return matricesOf(dimsA_); }
int64_t MatrixBatch::countB() const { return matricesOf(dimsB_); }

std::string textOf(const std::vector<int64_t>& dims) {
  std::string text;
  for (const int64_t extent : dims) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return text;
}

}  // namespace blockscope
