// The forms of `mma.sync ... block_scale` (sm_120a and its family) and what each lane's registers
// hold: PTX ISA 9.0, "Warp-level matrix instructions: mma", its sections "Block scaling for
// mma.sync", "Matrix fragments for mma.m16n8k32" and "Matrix fragments for mma.m16n8k64". Golden
// data: NVIDIA/cutlass, include/cute/atom/mma_traits_sm120.hpp (native/test/blockScaleMma.cpp).
//
// Formats by number, as in formats.cuh: 0 e2m1, 1 e2m3, 2 e3m2, 3 e4m3, 4 e5m2, 5 ue8m0, 6 ue4m3.
#pragma once

#include "common/types.cuh"

namespace blockscale {

// D (16 x 8, float32) = A (16 x depth) B (depth x 8) + C, each run of `depth / vector` elements
// along K under a scale.
struct Form {
  int a, b, scale;
  int vector;  // scales of a row along K: 1, 2 or 4, scale_vec::1X, 2X, 4X

  // Of K: kind::mxf8f6f4 has 32, kind::mxf4 and mxf4nvf4 64.
  LANE_CODE constexpr int depth() const { return vector == 1 ? 32 : 64; }
  LANE_CODE constexpr int block() const { return depth() / vector; }
  // Bits that an element takes in a register.
  LANE_CODE constexpr int bits() const { return vector == 1 ? 8 : 4; }
};

// Whether there is such an instruction on sm_120a (ptxas 13.0).
LANE_CODE constexpr bool isForm(Form form) {
  const bool bothFp4 = form.a == 0 && form.b == 0;
  if (form.vector == 1)
    return form.scale == 5 && form.a >= 0 && form.a <= 4 && form.b >= 0 && form.b <= 4;
  return bothFp4 &&
         ((form.vector == 2 && form.scale == 5) || (form.vector == 4 && form.scale == 6));
}

// The fastest form for codes of two formats under a scale per `scaleBlock` elements; not isForm()
// where there is none.
LANE_CODE constexpr Form formOf(int a, int b, int scale, int scaleBlock) {
  return {a, b, scale, a == 0 && b == 0 ? 64 / scaleBlock : 32 / scaleBlock};
}

// Immediates of the instruction: in which byte of a scale register the first scale lies, and which
// lanes of a quad supply it.
struct Selector {
  int byte, thread;
};
LANE_CODE constexpr bool isSelector(Form form, bool ofA, Selector selector) {
  const bool isByte =
      selector.byte >= 0 && selector.byte + form.vector <= 4 && selector.byte % form.vector == 0;
  return isByte && selector.thread >= 0 && selector.thread < (ofA ? 2 : 4);
}

// Where an element or scale lies: in register `word` of the operand in lane `lane`, from bit `bit`.
struct Held {
  int lane, word, bit;
};

// Element (row, k) of A: a register has `run` neighbours along K, a quad four such runs, registers
// 0 and 1 the rows 0..7 and 8..15 of the lower half of K.
LANE_CODE constexpr Held heldA(Form form, int row, int k) {
  const int run = 32 / form.bits();
  return {row % 8 * 4 + k / run % 4, row / 8 + k / (run * 4) * 2, k % run * form.bits()};
}
LANE_CODE constexpr Held heldB(Form form, int column, int k) {
  const int run = 32 / form.bits();
  return {column * 4 + k / run % 4, k / (run * 4), k % run * form.bits()};
}
// Sum (row, column) of C and D.
LANE_CODE constexpr Held heldC(int row, int column) {
  return {row % 8 * 4 + column / 2, row / 8 * 2 + column % 2, 0};
}

// Scale of row `row` of A and block `block` along K: thread-id-a chooses a pair of lanes of the
// quad, for rows 0..7 and 8..15.
LANE_CODE constexpr Held heldScaleA(int row, int block, Selector selector) {
  return {row % 8 * 4 + selector.thread * 2 + row / 8, 0, (selector.byte + block) * 8};
}
LANE_CODE constexpr Held heldScaleB(int column, int block, Selector selector) {
  return {column * 4 + selector.thread, 0, (selector.byte + block) * 8};
}

// An element's code from its place in a register: below a byte's width in m16n8k32, fp6 lies in
// bits 0..5 and fp4 in bits 2..5.
LANE_CODE constexpr u32 codeIn(Form form, int format, u32 word, int bit) {
  const int shift = form.bits() == 8 && format == 0 ? bit + 2 : bit;
  return word >> shift & (format == 0 ? 15u : format <= 2 ? 63u : 255u);
}

}  // namespace blockscale
