// `v_mfma_scale_f32_*_f8f6f4` on a CPU, lane by lane: each lane's registers and the selectors go
// in, the lane's sums come out. Written from the ISA's document (form.h), not from a kernel.
//
// How the hardware rounds is in no document, and no model of it is published (MMA-Sim, arXiv
// 2511.10909, ends at CDNA3). Here the products of one instruction and C are added in float64 and
// rounded to float32 once, to nearest: no claim on last bits.
#pragma once

#include <cmath>

// clang-format off
#include "form.h"  // first: it brings the words that the other, of another folder, is made of
#include "../../cuda/common/blockScale/number.cuh"
// clang-format on

namespace mfma {

// Which byte of the scale registers an instruction reads: op_sel and op_sel_hi.
struct Selectors {
  int a, b;  // 0 to 3
};

// The values of all codes of elements (0 to 4) and scales (5).
class Values {
 public:
  Values() {
    for (int format = 0; format <= 5; format++)
      for (u32 code = 0; code < 256; code++) of_[format][code] = decoded(format, code);
  }
  double operator()(int format, u32 code) const { return of_[format][code]; }

 private:
  static double decoded(int format, u32 code) {
    const blockscale::Number number = blockscale::numberOf(format, code);
    if (number.kind == blockscale::Kind::kNan) return std::nan("");
    if (number.kind == blockscale::Kind::kInfinite)
      return number.mantissa < 0 ? -HUGE_VAL : HUGE_VAL;
    return std::ldexp(number.mantissa, number.exponent - blockscale::fractionBits(format));
  }
  double of_[6][256];
};
inline const Values valueOf;

// One row of A or column of B as an instruction reads it: `words(lane, word)` are operand
// registers of another lane, `scales(lane)` its scale register. Elements times their scales.
template <class Words, class Scales>
inline void readLine(Form form, int format, int row, const Words& words, const Scales& scales,
                     int byte, double* values) {
  for (int k = 0; k < form.depth(); k++) {
    const Held at = heldElement(form, format, row, k);
    const int word = at.bit / 32, next = word + 1 < wordsOf(format) ? word + 1 : word;
    const u64 both = words(at.lane, word) | (u64)words(at.lane, next) << 32;
    const u32 code = (u32)(both >> at.bit % 32) & ((1u << bitsOf(format)) - 1);
    const Held scale = heldScale(form, row, k / kBlock, byte);
    values[k] = valueOf(format, code) * valueOf(5, scales(scale.lane) >> scale.bit & 255);
  }
}

// One element of D.
inline float sumOf(Form form, const double* a, const double* b, float c) {
  double sum = c;
  for (int k = 0; k < form.depth(); k++) sum += a[k] * b[k];
  return (float)sum;
}

// The sums of `lane`, added to what `d` holds. `wave.a(lane, word)`, `wave.b(lane, word)`,
// `wave.scaleA(lane)` and `wave.scaleB(lane)` are registers of another lane.
template <class Wave>
inline void multiplyAdd(Form form, int lane, const Wave& wave, Selectors selectors, float* d) {
  double row[128], column[128];
  readLine(
      form, form.b, lane % form.edge, [&](int from, int word) { return wave.b(from, word); },
      [&](int from) { return wave.scaleB(from); }, selectors.b, column);
  for (int sum = 0; sum < form.sums(); sum++) {
    readLine(
        form, form.a, rowOfSum(form, lane, sum),
        [&](int from, int word) { return wave.a(from, word); },
        [&](int from) { return wave.scaleA(from); }, selectors.a, row);
    d[sum] = sumOf(form, row, column, d[sum]);
  }
}

}  // namespace mfma
