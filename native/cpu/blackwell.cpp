// Not a fast kernel but a forecast: products as the block-scaled matrix instructions of sm_100 and
// sm_120 sum them, bit for bit by the model that their kernels' emulation has too, so that a
// machine without such a GPU can tell what error to expect of one.
#include <bit>

#include "../../resources/kernels/cuda/common/blockScale/sum.cuh"
#include "../core/packing.h"
#include "kernel.h"
#include "panels.h"
#include "tiling.h"

namespace blockscope {

namespace {

// Codes one to a byte and linear scales, of either side.
struct BlackwellSide {
  const uint8_t *codes, *scales;
  int64_t rows, k, blocks;

  u32 code(int64_t row, int64_t at) const { return at < k ? codes[row * k + at] : 0; }
  u32 scale(int64_t row, int64_t block) const {
    return block < blocks ? scales[row * blocks + block] : 0;
  }
};

struct BlackwellPanels {
  blockscale::Form form;
  BlackwellSide a, b;
};

// A row of A and a column of B for one instruction; zeros beyond K.
struct BlackwellLine {
  const BlackwellPanels& panels;
  int64_t row, column, k0;
  int64_t block(int index) const { return k0 / panels.form.block() + index; }
  u32 a(int at) const { return panels.a.code(row, k0 + at); }
  u32 b(int at) const { return panels.b.code(column, k0 + at); }
  u32 scaleA(int index) const { return panels.a.scale(row, block(index)); }
  u32 scaleB(int index) const { return panels.b.scale(column, block(index)); }
};

struct BlackwellMicro {
  using Sum = float;
  using Panels = BlackwellPanels;
  static constexpr int kRows = 4, kColumns = 4, kChunk = 64;

  static void add(const Panels& panels, int64_t, int64_t row0, int64_t panel, int64_t k0,
                  int64_t depth, float* sums, int64_t stride) {
    for (int i = 0; i < kRows; i++)
      for (int j = 0; j < kColumns; j++) {
        const int64_t row = row0 + i, column = panel * kColumns + j;
        if (row >= panels.a.rows || column >= panels.b.rows) continue;
        u32 bits = std::bit_cast<u32>(sums[i * stride + j]);
        for (int64_t at = 0; at < depth; at += panels.form.depth())
          bits = blockscale::sumOf(panels.form, BlackwellLine{panels, row, column, k0 + at}, bits);
        sums[i * stride + j] = std::bit_cast<float>(bits);
      }
  }
};

BlackwellSide unpacked(const Side& side, ScratchBuffer& buffer) {
  uint8_t* codes = buffer.take<uint8_t>(side.rows * side.k);
  unpackCodes(*side.element, side.codes, side.rows * side.k, codes);
  return {codes, side.scales, side.rows, side.k, side.blocks()};
}

blockscale::Form formOf(const BlockFormat& format) {
  const auto number = [](NumberFormatId id) { return static_cast<int>(id); };
  return blockscale::formOf(number(format.a), number(format.b), number(format.scale),
                            format.scaleBlockSize);
}

void compute(const Problem& problem, const KernelOperands& packed, void* c, Workspace& workspace,
             const CancelFlag& cancel) {
  const blockscale::Form form = formOf(findBlockFormat(problem.format));
  forEachProduct(problem, packed, [&](const Product& product, const Side& a, const Side& b) {
    const BlackwellPanels panels{form, unpacked(a, workspace.a), unpacked(b, workspace.b)};
    multiplyPanels<BlackwellMicro>(problem, product, panels, packed, c, narrowToHalfPortable,
                                   cancel);
  });
}

std::string describe(const BlockFormat& format) {
  return formOf(format).depth() == 64
             ? "sums of 16 products exact, of 64 with 35 bits, float32 cut off, as sm_100 and "
               "sm_120 make them by the model of arXiv 2511.10909"
             : "sums of 32 products with 25 bits, float32 cut off, as sm_100 and sm_120 make them "
               "by the model of arXiv 2511.10909";
}

std::string lacking(const BlockFormat& format) {
  return format.elementA().isScaled()
             ? ""
             : "The instruction multiplies elements of 8 bits and fewer, each under a scale: bf16 "
               "activations are none.";
}

}  // namespace

CpuKernel blackwellKernel() {
  return {"cpu-blackwell",
          "sums as block-scaled instructions of sm_100 and sm_120: the error to expect there",
          true,
          "",
          describe,
          compute,
          [](const BlockFormat&) -> std::string { return ""; },
          lacking};
}

}  // namespace blockscope
