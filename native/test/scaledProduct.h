// What a block-scaled kernel's C must be, bit for bit: its instructions one after the other in
// order of K, and close to the plain product.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "../../resources/kernels/cuda/common/blockScale/sum.cuh"
#include "../core/outputs.h"
#include "scaledMatrix.h"

// C with elements before and behind it that nobody may write.
template <typename Output>
class GuardedOutput {
 public:
  GuardedOutput(int m, int n)
      : all_(m * n + 2 * kGuards, Output(77)), bytes_(m * n * sizeof(Output)) {}
  Output* data() { return all_.data() + kGuards; }
  size_t bytes() const { return bytes_; }
  const Output& operator[](size_t at) const { return all_[kGuards + at]; }
  int guardsWritten() const {
    int count = 0;
    for (int i = 0; i < kGuards; i++)
      count += all_[i] != Output(77) || all_[all_.size() - 1 - i] != Output(77);
    return count;
  }

 private:
  static constexpr int kGuards = 64;
  std::vector<Output> all_;
  size_t bytes_;
};

// One row of A and one column of B for one instruction; zeros beyond K.
struct ScaledLine {
  const blockscale::Form& form;
  const ScaledMatrix &ofA, &ofB;
  int row, column, k0;
  u32 a(int at) const { return code(ofA, row, at); }
  u32 b(int at) const { return code(ofB, column, at); }
  u32 scaleA(int block) const { return scale(ofA, row, block); }
  u32 scaleB(int block) const { return scale(ofB, column, block); }

 private:
  u32 code(const ScaledMatrix& of, int line, int at) const {
    return k0 + at < of.k ? of.codes[line * of.k + k0 + at] : 0;
  }
  u32 scale(const ScaledMatrix& of, int line, int block) const {
    const int at = k0 / form.block() + block, count = of.k / form.block();
    return at < count ? of.scales[line * count + at] : 0;
  }
};

template <typename Output>
Output roundedTo(float value) {
  if constexpr (sizeof(Output) == 4) return value;
  else return blockscope::floatToHalf(value);
}

// Elements, of one in `every`, that are not what the instructions give in order of K times
// `factor`, and elements far from the plain product; guards that were written.
template <typename Output>
int wrongElements(const blockscale::Form& form, const ScaledMatrix& a, const ScaledMatrix& b,
                  const GuardedOutput<Output>& c, float factor, int every) {
  int count = c.guardsWritten();
  const int k = a.k;
  for (int at = 0; at < a.rows * b.rows; at += every) {
    const int row = at / b.rows, column = at % b.rows;
    u32 bits = 0;
    for (int k0 = 0; k0 < k; k0 += form.depth())
      bits = blockscale::sumOf(form, ScaledLine{form, a, b, row, column, k0}, bits);
    const Output expected = roundedTo<Output>(std::bit_cast<float>(bits) * factor);
    count += std::memcmp(&c[at], &expected, sizeof(Output)) != 0;
    double sum = 0, magnitude = 0;
    for (int i = 0; i < k; i++) {
      const double product = a.value(row, i) * b.value(column, i);
      sum += product, magnitude += std::fabs(product);
    }
    const double allowed = (k / form.depth() + 1) * 0x1p-22;
    count += !(std::fabs(std::bit_cast<float>(bits) - sum) <= allowed * magnitude);
  }
  return count;
}
