// The bf16 product of sm_90a that widens B's codes itself
// (resources/kernels/cuda/common/gemm_codes.cuh), compiled for the CPU over hopperMachine.h: what
// its tests on groups (groupsOfCodes.h) and on one product (rowsOfCodes.h) have alike. A test names
// the formats by kernels' macros, and OUTPUT_TYPE 0 where C is float16 and the copy engine's to
// store.
#pragma once

#define ACCUMULATE 0
#define B_ORDER 0
#ifndef OUTPUT_TYPE
#define OUTPUT_TYPE 2
#endif
#define CLUSTER 2
#define WIDE_TILE_M 128
#define WIDE_TILE_N 256
#define WIDE_STAGES 4
#define WIDE_STORE_BUFFERS 4
#define WIDE_SHIFT 4
#define WIDEN_THREADS 256
#define CODE_STAGES 5
#define CODE_STAGES_128 8
#define CODE_STAGES_192 6
#define CODE_STORE_BUFFERS 2
#define SCALES_OF_THREAD 16
#define TILED_TILE 64
#define TILED_THREADS 256

#include "hopperMachine.h"
// Instructions that no test here comes to.
#define asm(...)
#include "../../resources/kernels/cuda/common/gemm_codes.cuh"
#undef asm

#include "check.h"
#include "scaledMatrix.h"

using namespace blockscope;
using hopper::Mistake;

namespace {

constexpr bool kByEngine = OUTPUT_TYPE == 0;
// float16 holds the sums with it.
constexpr float kTensorScale = kByEngine ? 0x1p-8f : 1;
// Rows of C that the engine stores are multiples of 16 bytes.
constexpr int kFewColumns = kByEngine ? 40 : 37;

// A: bf16 without scales, or like B.
struct Rows : ScaledMatrix {
  static constexpr bool kIsScaledA = A_FORMAT != 7;
  std::vector<double> plain;

  Rows(int rows, int k)
      : ScaledMatrix({kIsScaledA ? A_FORMAT : 0, SCALE_FORMAT, SCALE_BLOCK}, rows, k, 70,
                     "linear") {
    if (kIsScaledA) return;
    packed.clear();
    for (int i = 0; i < rows * k; i++) {
      const uint32_t draw = philox(7, 50, i)[0];
      plain.push_back(std::ldexp(static_cast<int>(draw % 255) - 127, -6));
      const uint16_t bits = floatToBf16(static_cast<float>(plain.back()));
      packed.push_back(bits & 255), packed.push_back(bits >> 8);
    }
  }
  double value(int row, int i) const {
    return kIsScaledA ? ScaledMatrix::value(row, i) : plain[row * k + i];
  }
};

// Whether C has this element for a sum of products, whose magnitudes' sum is `magnitude`.
inline bool isRightElement(Output element, double sum, double magnitude) {
  const float got = kByEngine ? halfToFloat(static_cast<uint16_t>(element)) : element;
  const double tolerance = magnitude * 0x1p-20 + (kByEngine ? std::fabs(sum) * 0x1p-11 : 0);
  if (std::isnan(sum)) return std::isnan(got);
  if (std::isinf(sum) || (kByEngine && std::fabs(sum) > 65519))
    return got == std::copysign(INFINITY, sum);
  return std::fabs(got - sum) <= tolerance;
}
// For row `row` of A by row `rowOfB` of B.
inline bool isProductOf(Output element, const Rows& a, int row, const ScaledMatrix& b, int rowOfB) {
  double sum = 0, magnitude = 0;
  for (int i = 0; i < a.k; i++) {
    const double product = a.value(row, i) * b.value(rowOfB, i) * kTensorScale;
    sum += product, magnitude += std::fabs(product);
  }
  return isRightElement(element, sum, magnitude);
}

}  // namespace
