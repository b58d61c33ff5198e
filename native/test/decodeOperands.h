// Operands of products that kernels for few rows of A make, of groups too, and how many of their
// sums are wrong. Included behind the kernel.
#pragma once

namespace {

int ceilDivided(int a, int b) { return (a + b - 1) / b; }

// A of bf16 without scales, or like B.
struct Activations {
  std::vector<uint8_t> codes, scales;
  std::vector<double> values;

  Activations(int rows, int k) {
    if constexpr (A_FORMAT == 7) {
      for (int i = 0; i < rows * k; i++) {
        const uint32_t draw = blockscope::philox(7, 50, i)[0];
        const float value = std::ldexp(static_cast<float>(static_cast<int>(draw % 255) - 127), -6);
        const uint16_t bits = blockscope::floatToBf16(value);
        codes.push_back(bits & 255), codes.push_back(bits >> 8);
        values.push_back(value);
      }
    } else {
      const ScaledMatrix a({A_FORMAT, SCALE_FORMAT, SCALE_BLOCK}, rows, k, 50, "linear");
      codes = a.packed, scales = a.scales;
      for (int i = 0; i < rows * k; i++) values.push_back(a.value(i / k, i % k));
    }
  }
};

// Groups begin at multiples of four rows; what lies between is padding.
int afterGroup(int start, int rows) { return (start + rows + 3) / 4 * 4; }

// Where each group begins, and where the last one ends.
std::vector<int> startsOf(const std::vector<int>& groups) {
  std::vector<int> all = {0};
  for (const int rows : groups) all.push_back(afterGroup(all.back(), rows));
  return all;
}

// Of one sum in `every`; padding is not judged.
template <class Product>
int wrongOf(const Product& of, int every) {
  int count = of.c.guardsWritten();
  const std::vector<int> starts = startsOf(of.groups);
  for (int matrix = 0; matrix < of.matrices; matrix++)
    for (int at = 0; at < of.groups[matrix] * of.n; at += every) {
      const int row = starts[matrix] + at / of.n, column = matrix * of.n + at % of.n;
      double sum = 0, magnitude = 0;
      for (int i = 0; i < of.k; i++) {
        const double product = of.a.values[row * of.k + i] * of.b.value(column, i);
        sum += product, magnitude += std::fabs(product);
      }
      count += !(std::fabs(of.c[row * of.n + at % of.n] - sum) <= 0x1p-20 * magnitude);
    }
  return count;
}

}  // namespace
