// A product that a kernel of fibers makes: it ends, and no element is wrong.
#pragma once

#include <string>

#include "check.h"

// `Product` has m, n, k, run() and wrong(every): the elements, of one in `every`, that are wrong.
template <class Product>
void checkProduct(const std::string& kernel, Product& product, int every) {
  const std::string what = kernel + ", " + std::to_string(product.m) + " x " +
                           std::to_string(product.n) + " x " + std::to_string(product.k);
  const std::string thrown = messageOf([&] { product.run(); });
  checkThat(thrown == "nothing was thrown", what + ": " + thrown, __FILE__, __LINE__);
  const int wrong = product.wrong(every);
  checkThat(wrong == 0, what + ": " + std::to_string(wrong) + " wrong", __FILE__, __LINE__);
}

// A mistake of the machine is seen: what is thrown has `text`, or, where it is empty, nothing is
// and more than a quarter of the elements are wrong.
template <class Product, class Mistake>
void checkMistake(Mistake mistake, const std::string& text, Product& product) {
  const std::string thrown = messageOf([&] { product.run(mistake); });
  const bool seen =
      text.empty() ? thrown == "nothing was thrown" && product.wrong(1) > product.m * product.n / 4
                   : thrown.find(text) != std::string::npos;
  checkThat(seen, "mistake " + std::to_string(static_cast<int>(mistake)) + " not seen: " + thrown,
            __FILE__, __LINE__);
}

// "0 x 3 under 32": a pair of formats and the block of a scale.
inline std::string pairName(int a, int b, int scaleBlock) {
  return std::to_string(a) + " x " + std::to_string(b) + " under " + std::to_string(scaleBlock);
}
