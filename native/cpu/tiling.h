// The loops around a micro-kernel: C in tiles over all cores, K in chunks that keep a panel of B in
// the L1 cache.
#pragma once

#include <algorithm>

#include "../core/threads.h"
#include "narrow.h"
#include "panels.h"

namespace blockscope {

// A micro-kernel has
//   Sum             type of its sums
//   kRows, kColumns of its register tile
//   kChunk          depth of a chunk of K, a multiple of 32
//   Panels          what it reads
//   add(panels, k, row, panel, k0, depth, sums, stride): adds rows [row, row + kRows) of A times a
//   panel of B, over
//                   [k0, k0 + depth) of K, to sums[kRows][kColumns]
template <typename Micro>
constexpr TileShape tileShape() {
  return {Micro::kRows, Micro::kColumns, Micro::kChunk};
}

template <typename Micro>
void multiplyPanels(const Problem& problem, const Product& product,
                    const typename Micro::Panels& panels, const KernelOperands& packed, void* c,
                    NarrowToHalf toHalf, const CancelFlag& cancel) {
  using Sum = typename Micro::Sum;
  constexpr int64_t kTileRows = 112 / Micro::kRows * Micro::kRows, kTileColumns = 128;
  static_assert(kTileColumns % Micro::kColumns == 0 && Micro::kChunk % 32 == 0);
  const int64_t tilesDown = (product.rows + kTileRows - 1) / kTileRows;
  const int64_t tilesAcross = (problem.n + kTileColumns - 1) / kTileColumns;
  parallelFor(tilesDown * tilesAcross, cancel, [&](int64_t tile) {
    const int64_t row0 = tile / tilesAcross * kTileRows,
                  column0 = tile % tilesAcross * kTileColumns;
    const int64_t rows = std::min(kTileRows, product.rows - row0),
                  columns = std::min(kTileColumns, problem.n - column0);
    alignas(64) Sum sums[kTileRows * kTileColumns];
    std::fill(std::begin(sums), std::end(sums), Sum{0});
    for (int64_t k0 = 0; k0 < problem.k; k0 += Micro::kChunk) {
      cancel.throwIfRequested();
      const int64_t depth = std::min<int64_t>(Micro::kChunk, problem.k - k0);
      for (int64_t j = 0; j < columns; j += Micro::kColumns)
        for (int64_t i = 0; i < rows; i += Micro::kRows)
          Micro::add(panels, problem.k, row0 + i, (column0 + j) / Micro::kColumns, k0, depth,
                     &sums[i * kTileColumns + j], kTileColumns);
    }
    for (int64_t i = 0; i < rows; i++) {
      Sum* line = &sums[i * kTileColumns];
      const int64_t at = (product.firstC + row0 + i) * problem.n + column0;
      if (packed.tensorScale != 1.0f)
        for (int64_t j = 0; j < columns; j++) line[j] *= packed.tensorScale;
      if (packed.accumulator)
        for (int64_t j = 0; j < columns; j++) line[j] += packed.accumulator[at + j];
      if (problem.outputScale != 1.0f)
        for (int64_t j = 0; j < columns; j++) line[j] *= problem.outputScale;
      narrowRow(problem.output, line, columns, c, at, toHalf);
    }
  });
}

// Calls multiply(product, its sides) for every product that has rows.
template <typename Multiply>
void forEachProduct(const Problem& problem, const KernelOperands& packed,
                    const Multiply& multiply) {
  for (int64_t index = 0; index < problem.productCount(); index++)
    if (const Product product = problem.product(index); product.rows > 0)
      multiply(product, sideA(problem, packed, product), sideB(problem, packed, product));
}

// Packs and multiplies every matrix of the batch, or every group, as numbers.
template <typename Micro, typename Number>
void multiplyNumbers(const Problem& problem, const KernelOperands& packed,
                     DecodeNumbers<Number> decode, void* c, NarrowToHalf toHalf,
                     Workspace& workspace, const CancelFlag& cancel) {
  forEachProduct(problem, packed, [&](const Product& product, const Side& a, const Side& b) {
    const auto panels =
        packNumberPanels<Number>(a, b, tileShape<Micro>(), decode, workspace, cancel);
    multiplyPanels<Micro>(problem, product, panels, packed, c, toHalf, cancel);
  });
}

// The same for fp4 as integers.
template <typename Micro>
void multiplyIntegers(const Problem& problem, const KernelOperands& packed,
                      const IntegerPacking& packing, void* c, NarrowToHalf toHalf,
                      Workspace& workspace, const CancelFlag& cancel) {
  forEachProduct(problem, packed, [&](const Product& product, const Side& a, const Side& b) {
    const auto panels = packIntegerPanels(a, b, tileShape<Micro>(), packing, workspace, cancel);
    multiplyPanels<Micro>(problem, product, panels, packed, c, toHalf, cancel);
  });
}

}  // namespace blockscope
