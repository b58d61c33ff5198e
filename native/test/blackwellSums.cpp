// The CPU's forecast of block-scaled instructions (cpu/blackwell.cpp): C bit for bit as the
// instructions make it one after the other in order of K, which is not as float64 rounds.
#include "../cpu/kernel.h"
#include "productCheck.h"
#include "scaledProduct.h"

using namespace blockscope;

namespace {

const CancelFlag kNever;

const CpuKernel& forecast() {
  for (const CpuKernel& kernel : cpuModels())
    if (kernel.id == "cpu-blackwell") return kernel;
  throw std::runtime_error("there is no cpu-blackwell");
}

blockscale::Form formOf(const BlockFormat& format) {
  return blockscale::formOf(static_cast<int>(format.a), static_cast<int>(format.b),
                            static_cast<int>(format.scale), format.scaleBlockSize);
}

template <typename Output>
struct Product {
  static constexpr float kFactor = 0.75f;
  const BlockFormat& format;
  int m, n, k;
  ScaledMatrix a{
      {static_cast<int>(format.a), static_cast<int>(format.scale), format.scaleBlockSize},
      m,
      k,
      0,
      "linear"},
      b{{static_cast<int>(format.b), static_cast<int>(format.scale), format.scaleBlockSize},
        n,
        k,
        2,
        "linear"};
  GuardedOutput<Output> c{m, n};

  void run() {
    const OutputType type = sizeof(Output) == 4 ? OutputType::kF32 : OutputType::kF16;
    const Problem problem{std::string(format.id), m, n, k, 1, type};
    forecast().run(problem, {a.packed, b.packed, a.scales, b.scales, kFactor, {}}, c.data(),
                   kNever);
  }
  int wrong(int every) const { return wrongElements(formOf(format), a, b, c, kFactor, every); }
};

template <typename Output>
void isRight(const BlockFormat& format, int m, int n, int k) {
  Product<Output> product{format, m, n, k};
  checkProduct(std::string(format.id), product, 1);
}

void everyPair() {
  int pairs = 0;
  for (const BlockFormat& format : everyBlockFormat()) {
    const std::string lacking = forecast().lacking(format);
    CHECK(lacking.empty() == format.elementA().isScaled());
    if (!lacking.empty()) continue;
    isRight<float>(format, 9, 7, 160);
    pairs++;
  }
  CHECK(pairs == 27);
}

// Tiles of C, tails of an instruction, both types of C.
void shapes() {
  isRight<uint16_t>(findBlockFormat("nvfp4"), 113, 130, 80);
  isRight<float>(findBlockFormat("mxfp4_b16"), 5, 131, 48);
  isRight<uint16_t>(findBlockFormat("mxfp8"), 120, 5, 96);
}

// Elements that float64 sums, rounded once, would have otherwise.
int cutOff(const char* format) {
  Product<float> product{findBlockFormat(format), 16, 16, 2048};
  product.run();
  int count = 0;
  for (int at = 0; at < product.m * product.n; at++) {
    double sum = 0;
    for (int i = 0; i < product.k; i++)
      sum += product.a.value(at / product.n, i) * product.b.value(at % product.n, i);
    count += product.c[at] != static_cast<float>(sum) * Product<float>::kFactor;
  }
  return count;
}

}  // namespace

int main() {
  everyPair();
  shapes();
  CHECK(cutOff("mxfp8") > 200);
  CHECK(cutOff("mxfp6_e2m3") > 100);
  return summary();
}
