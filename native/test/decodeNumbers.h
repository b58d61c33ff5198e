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

// A format's code of 1, and of its largest number.
constexpr int codeOfOne(int format) { return format == 0 ? 2 : format == 3 ? 56 : 60; }
constexpr int codeOfMost(int format) { return format == 0 ? 7 : format == 3 ? 0x7e : 0x7b; }

// All of the only row of A is zero but its first number, which is 1, and two neighbours of the
// block before the last: those are `number`, or 1 under `scale`, or zero as well. B's scales make
// as much of either. So what is lost of one is seen beside the other.
void isRightOfTwo(Product product, int scale, float number) {
  auto& a = product.a;
  auto& b = product.b;
  const int blocks = product.k / SCALE_BLOCK, block = blocks - 2, first = block * SCALE_BLOCK + 4;
  std::fill(a.codes.begin(), a.codes.end(), 0), std::fill(a.values.begin(), a.values.end(), 0.0);
  std::fill(a.scales.begin(), a.scales.end(), 127);
  const auto put = [&](int at, float value, double with) {
    a.values[at] = static_cast<double>(value) * with;
    const uint16_t bits = blockscope::floatToBf16(value);
    if (A_FORMAT == 7) a.codes[2 * at] = bits & 255, a.codes[2 * at + 1] = bits >> 8;
    else if (value != 0)
      a.codes[at * kBits(A_FORMAT) / 8] |= codeOfOne(A_FORMAT) << (A_FORMAT == 0 ? at % 2 * 4 : 0);
  };
  put(0, 1, 1);
  for (const int at : {first, first + 1}) put(at, number, std::ldexp(1.0, scale - 127));
  if (A_FORMAT != 7) a.scales[block] = static_cast<uint8_t>(scale);
  const int exponent = A_FORMAT == 7 ? std::ilogb(number) : scale - 127;
  for (int row = 0; row < product.n; row++) {
    b.scales[row * blocks] = 127;
    b.scales[row * blocks + block] =
        static_cast<uint8_t>(std::min(std::max(127 - exponent, 1), 254));
  }
  isRight(product);
}

// The largest numbers that there are, A's under `scale`, all blocks of B but the first under
// 2^-127. There B is 1 under `first`: sums beside which the others are nothing, or something, or
// that are computed again.
void isRightOfLeastScales(Product product, int scale, int first) {
  auto& a = product.a;
  auto& b = product.b;
  const auto packed = [](int format, int code) {
    return static_cast<uint8_t>(kBits(format) == 4 ? 17 * code : code);
  };
  const int most = codeOfMost(A_FORMAT);
  const auto& numbers = blockscope::decodeTable(static_cast<blockscope::NumberFormatId>(A_FORMAT));
  std::fill(a.codes.begin(), a.codes.end(), packed(A_FORMAT, most));
  std::fill(a.values.begin(), a.values.end(), std::ldexp(double{numbers[most]}, scale - 127));
  std::fill(a.scales.begin(), a.scales.end(), static_cast<uint8_t>(scale));
  for (int row = 0; row < product.n; row++)
    for (int i = 0; i < product.k; i++) {
      const bool isFirst = i < SCALE_BLOCK;
      const int at = row * product.k + i,
                code = isFirst ? codeOfOne(B_FORMAT) : codeOfMost(B_FORMAT);
      b.codes[at] = static_cast<uint8_t>(code);
      b.packed[at * kBits(B_FORMAT) / 8] = packed(B_FORMAT, code);
      b.scales[at / SCALE_BLOCK] = static_cast<uint8_t>(isFirst ? first : 0);
    }
  isRight(product);
}

// NaN in one block of a row of B, by its scale or an element, is NaN in all of the row's sums, and
// in no others.
void isNanOfOneRow(Product product, bool ofA, bool byElement) {
  const int row = std::max(0, (ofA ? product.m : product.n) - 2), blocks = product.k / SCALE_BLOCK;
  if (byElement) (ofA ? product.a.codes : product.b.packed)[(row + 1) * product.k - 1] = 0x7f;
  else
    (ofA ? product.a.scales : product.b.scales)[(row + 1) * blocks - 1] =
        SCALE_FORMAT == 5 ? 255 : 127;
  product.run();
  for (int token = 0; token < product.m; token++)
    for (int of = 0; of < product.n; of++)
      CHECK(std::isnan(product.c[token * product.n + of]) == ((ofA ? token : of) == row));
}

}  // namespace
