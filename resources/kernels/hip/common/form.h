// The two forms of `v_mfma_scale_f32_*_f8f6f4` (gfx950) and what each lane's registers hold: AMD
// Instinct CDNA4 Instruction Set Architecture, "Matrix Arithmetic Instructions" (VOP3PX2, its
// tables of dense matrix layouts). Golden data: rocjitsu's address functions
// (native/test/mfmaScale.cpp).
//
// Formats by number, as in every source here: 0 e2m1, 1 e2m3, 2 e3m2, 3 e4m3, 4 e5m2.
#pragma once

#include "../../cuda/common/types.cuh"

namespace mfma {

constexpr int kLanes = 64;                     // of a wave
constexpr int kBlock = 32;                     // elements of K under a scale
constexpr int kMostWords = 8, kMostSums = 16;  // registers of an operand and of sums, at most

LANE_CODE constexpr int bitsOf(int format) { return format == 0 ? 4 : format <= 2 ? 6 : 8; }
// The instruction's number of a format: cbsz of its first operand, blgp of its second.
LANE_CODE constexpr int instructionFormat(int format) {
  return format == 0 ? 4 : format <= 2 ? format + 1 : format - 3;
}
// 32-bit registers that 32 elements take.
LANE_CODE constexpr int wordsOf(int format) { return bitsOf(format); }

// D (edge x edge, float32) = A (edge x depth) B (depth x edge) + C.
struct Form {
  int a, b;  // formats of the first and the second operand
  int edge;  // 16 or 32

  LANE_CODE constexpr int depth() const { return edge == 16 ? 128 : 64; }
  LANE_CODE constexpr int blocks() const { return depth() / kBlock; }
  // Groups of lanes, each of which has 32 elements along K of every row.
  LANE_CODE constexpr int groups() const { return kLanes / edge; }
  LANE_CODE constexpr int sums() const { return edge * edge / kLanes; }
};

LANE_CODE constexpr bool isForm(Form form) {
  return (form.edge == 16 || form.edge == 32) && form.a >= 0 && form.a <= 4 && form.b >= 0 &&
         form.b <= 4;
}

// Where an element, scale or sum lies: from bit `bit` of the registers of lane `lane`, which follow
// one another without gaps: codes of 6 bits cross from one into the next.
struct Held {
  int lane, bit;
};

// Element `k` of row `row` of A, or of column `row` of B. A lane has 32: neighbours along K of 4
// and 6 bits; of 8 bits two runs of 16, half of the depth apart.
LANE_CODE constexpr Held heldElement(Form form, int format, int row, int k) {
  const int bits = bitsOf(format), half = form.depth() / 2;
  if (bits == 8) return {k % half / 16 * form.edge + row, (k / half * 16 + k % 16) * 8};
  return {k / kBlock * form.edge + row, k % kBlock * bits};
}

// Sum (row, column) of C and D: four neighbours along the rows in neighbouring registers.
LANE_CODE constexpr Held heldSum(Form form, int row, int column) {
  const int group = row / 4 % form.groups(), run = row / 4 / form.groups();
  return {group * form.edge + column, (run * 4 + row % 4) * 32};
}
// The row of register `sum` of a lane; its column is lane % edge.
LANE_CODE constexpr int rowOfSum(Form form, int lane, int sum) {
  return (sum / 4 * form.groups() + lane / form.edge) * 4 + sum % 4;
}

// Scale of row (column) `row` for elements 32 block .. 32 block + 31 of K, also where those lie in
// two lanes; op_sel and op_sel_hi choose its byte.
LANE_CODE constexpr Held heldScale(Form form, int row, int block, int byte) {
  return {block * form.edge + row, byte * 8};
}

}  // namespace mfma
