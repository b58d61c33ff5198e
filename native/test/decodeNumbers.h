// Products of a kernel for few rows of A, `kKernel`, with numbers of every kind. Included behind
// its Product.
#pragma once

namespace {

void isRight(Product product, int every = 1) { checkProduct(kKernel, product, every); }

// The halves of K of the second row, or of the only one, are equal but for the sign, as those of B
// are: its sums are zero, and known to be.
void isRightOfCancelled(Product product) {
  auto& a = product.a;
  auto& b = product.b;
  const size_t own = product.m > 1 ? 1 : 0;
  const auto repeat = [](auto& all, size_t row, size_t each) {
    std::copy_n(all.begin() + row * each, each / 2, all.begin() + row * each + each / 2);
  };
  const int bytes = product.k * kBits(A_FORMAT) / 8;
  repeat(a.codes, own, bytes);
  for (int i = bytes / 2; i < bytes; i++)
    a.codes[own * bytes + i] ^= kBits(A_FORMAT) == 4                 ? 0x88
                                : kBits(A_FORMAT) == 8 || i % 2 == 1 ? 0x80
                                                                     : 0;
  repeat(a.scales, own, a.scales.size() / product.m);
  for (int i = 0; i < product.k / 2; i++)
    a.values[own * product.k + product.k / 2 + i] = -a.values[own * product.k + i];
  for (int row = 0; row < product.n; row++) {
    repeat(b.codes, row, product.k);
    repeat(b.packed, row, b.packed.size() / product.n);
    repeat(b.scales, row, b.scales.size() / product.n);
  }
  product.isOtherAgain = true;
  isRight(product);
}

// Products below what sums are scaled by: computed again.
void isRightOfSmall(Product product) {
  auto& a = product.a;
  for (size_t i = 0; i < a.values.size(); i++) {
    if constexpr (A_FORMAT == 7) {
      const uint16_t bits =
          blockscope::floatToBf16(static_cast<float>(std::ldexp(a.values[i], -35)));
      a.codes[2 * i] = bits & 255, a.codes[2 * i + 1] = bits >> 8;
      a.values[i] = std::ldexp(a.values[i], -35);
    } else {
      a.values[i] = std::ldexp(a.values[i], 92 - a.scales[i / SCALE_BLOCK]);
    }
  }
  std::fill(a.scales.begin(), a.scales.end(), 92);
  std::fill(product.b.scales.begin(), product.b.scales.end(), 40);
  isRight(product);
}

// Products of one block of K are float32's smallest numbers, which a kernel may lose, those of
// others are zeros of scales that lose nothing: who has them knows nothing of it.
void isRightOfLost(Product product, int lost) {
  auto& a = product.a;
  auto& b = product.b;
  for (size_t i = 0; i < a.values.size(); i++)
    a.values[i] = std::ldexp(a.values[i], 127 - a.scales[i / SCALE_BLOCK]);
  std::fill(a.scales.begin(), a.scales.end(), 127);
  const int blocks = product.k / SCALE_BLOCK;
  for (int row = 0; row < product.n; row++) {
    const auto clear = [&](auto& all, int value) {
      const size_t each = all.size() / product.n;
      for (size_t i = 0; i < each; i++)
        if (static_cast<int>(i / (each / blocks)) != lost) all[row * each + i] = value;
    };
    clear(b.codes, 0), clear(b.packed, 0), clear(b.scales, 127);
    b.scales[row * blocks + lost] = 0;
  }
  isRight(product);
}

// Zeros of B by large numbers of A, under scales that may lose something.
void isRightOfZeros(Product product) {
  auto& a = product.a;
  auto& b = product.b;
  for (size_t i = 0; i < a.values.size(); i++)
    a.values[i] = std::ldexp(a.values[i], 180 - a.scales[i / SCALE_BLOCK]);
  std::fill(a.scales.begin(), a.scales.end(), 180);
  for (auto* all : {&b.codes, &b.packed, &b.scales}) std::fill(all->begin(), all->end(), 0);
  isRight(product);
}

// Rows of A whose power of two is small by numbers of B that are not: what comes of it is a normal
// number of float32, sums times that power alone are none.
void isRightOfSmallRows(Product product) {
  auto& a = product.a;
  for (size_t i = 0; i < a.values.size(); i++)
    a.values[i] = std::ldexp(a.values[i], 54 - a.scales[i / SCALE_BLOCK]);
  std::fill(a.scales.begin(), a.scales.end(), 54);
  for (size_t i = 0; i < product.b.scales.size(); i++) product.b.scales[i] = i % 2 == 0 ? 64 : 70;
  isRight(product);
}

}  // namespace
