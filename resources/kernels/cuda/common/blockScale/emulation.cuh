// `mma.sync ... block_scale` lane by lane, on any GPU and on a CPU: each lane's registers and the
// selectors go in, the lane's accumulators come out. Written from the PTX ISA (form.cuh) and the
// model of the hardware's sums (sum.cuh), not from a kernel.
#pragma once

#include "common/blockScale/sum.cuh"

namespace blockscale {

struct Selectors {
  Selector a, b;
};

// What one sum is made of: the registers that hold its row of A and its column of B, two of each
// lane of a quad, and the registers of the lanes that supply their scales.
struct Line {
  Form form;
  Selectors selectors;
  u32 words[2][8], scales[2];
  LANE_CODE u32 a(int k) const {
    const Held held = heldA(form, 0, k);
    return codeIn(form, form.a, words[0][held.lane * 2 + held.word / 2], held.bit);
  }
  LANE_CODE u32 b(int k) const {
    const Held held = heldB(form, 0, k);
    return codeIn(form, form.b, words[1][held.lane * 2 + held.word], held.bit);
  }
  LANE_CODE u32 scaleA(int block) const {
    return scales[0] >> heldScaleA(0, block, selectors.a).bit & 255;
  }
  LANE_CODE u32 scaleB(int block) const {
    return scales[1] >> heldScaleB(0, block, selectors.b).bit & 255;
  }
};

// The four sums of `lane`, bits of float32, added to what `d` holds. `warp.a(lane, word)`,
// `warp.b(lane, word)`, `warp.scaleA(lane)` and `warp.scaleB(lane)` are registers of another lane;
// all lanes ask for the same words in the same order, so these may be shuffles. A form or selector
// that the instruction does not have gives NaN.
template <class Warp>
LANE_CODE inline void multiplyAdd(Form form, int lane, const Warp& warp, Selectors selectors,
                                  u32 (&d)[4]) {
  const bool isMeant =
      isForm(form) && isSelector(form, true, selectors.a) && isSelector(form, false, selectors.b);
  // Whatever was asked for, only lanes that there are are read.
  if (!isMeant) selectors = {};
  DO_NOT_UNROLL
  for (int sum = 0; sum < 4; sum++) {
    const int upper = sum / 2, row = lane / 4 + upper * 8, column = lane % 4 * 2 + sum % 2;
    Line line = {form, selectors, {}, {}};
    UNROLL
    for (int i = 0; i < 8; i++) {
      line.words[0][i] = warp.a(row % 8 * 4 + i / 2, upper + i % 2 * 2);
      line.words[1][i] = warp.b(column * 4 + i / 2, i % 2);
    }
    line.scales[0] = warp.scaleA(heldScaleA(row, 0, selectors.a).lane);
    line.scales[1] = warp.scaleB(heldScaleB(column, 0, selectors.b).lane);
    u32 before = 0;
    UNROLL
    for (int i = 0; i < 4; i++) before = i == sum ? d[i] : before;
    const u32 bits = isMeant ? sumOf(form, line, before) : kNanBits;
    UNROLL
    for (int i = 0; i < 4; i++) d[i] = i == sum ? bits : d[i];
  }
}

// Four codes of `bits` bits without gaps, spread to a byte each, as ldmatrix.m8n16 does with rows
// of 16 codes and padding (PTX ISA, "ldmatrix", .b8x16.b4x16_p64 and .b6x16_p32).
LANE_CODE inline u32 spreadCodes(int bits, u32 packed) {
  u32 word = 0;
  UNROLL
  for (int i = 0; i < 4; i++) word |= (packed >> (i * bits) & ((1u << bits) - 1)) << (i * 8);
  return word;
}

}  // namespace blockscale
