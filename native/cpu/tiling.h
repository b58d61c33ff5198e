// The loops around a micro-kernel: C in tiles over all cores, K in chunks that keep a panel of B in the L1 cache.
#pragma once

#include <algorithm>
#include <vector>

#include "../core/outputs.h"
#include "panels.h"

namespace blockscope {

// Writes a tile of float32 sums as the output type; `narrowToHalf` converts a row where the instruction set can.
using NarrowRow = void (*)(const float* sums, int64_t count, uint16_t* out);

// Micro: kMr, kNr, kKc (depth of a chunk, a multiple of 32), and
//   add(panels, row, panel, k0, depth, sums, stride): sums[kMr][kNr] += A rows x B panel over [k0, k0 + depth).
template <typename Micro, typename Panels>
void multiplyPanels(const Problem& problem, const Panels& panels, float tensorScale, void* c, NarrowRow narrowToHalf,
                    const CancelFlag& cancel) {
  constexpr int64_t kTileM = Micro::kMr * (112 / Micro::kMr), kTileN = 128;
  static_assert(kTileN % Micro::kNr == 0 && Micro::kKc % 32 == 0);
  const int64_t tileRows = (problem.m + kTileM - 1) / kTileM, tileCols = (problem.n + kTileN - 1) / kTileN;
  parallelFor(tileRows * tileCols, cancel, [&](int64_t tile) {
    // Neighbouring tasks share rows of A, so that two cores do not fetch the same panel of B at once.
    const int64_t row0 = tile / tileCols * kTileM, col0 = tile % tileCols * kTileN;
    const int64_t rows = std::min(kTileM, problem.m - row0), cols = std::min(kTileN, problem.n - col0);
    alignas(64) float sums[kTileM * kTileN];
    std::fill(std::begin(sums), std::end(sums), 0.0f);
    for (int64_t k0 = 0; k0 < problem.k; k0 += Micro::kKc) {
      const int64_t depth = std::min<int64_t>(Micro::kKc, problem.k - k0);
      for (int64_t j = 0; j < cols; j += Micro::kNr)
        for (int64_t i = 0; i < rows; i += Micro::kMr)
          Micro::add(problem, panels, row0 + i, (col0 + j) / Micro::kNr, k0, depth, &sums[i * kTileN + j], kTileN);
    }
    for (int64_t i = 0; i < rows; i++) {
      float* line = &sums[i * kTileN];
      const int64_t at = (row0 + i) * problem.n + col0;
      if (tensorScale != 1.0f)
        for (int64_t j = 0; j < cols; j++) line[j] *= tensorScale;
      if (problem.output == OutputType::kF32) std::copy_n(line, cols, static_cast<float*>(c) + at);
      else if (problem.output == OutputType::kF16) narrowToHalf(line, cols, static_cast<uint16_t*>(c) + at);
      else
        for (int64_t j = 0; j < cols; j++) writeOutput(problem.output, line[j], c, at + j);
    }
  });
}

inline void* matrixOutput(const Problem& problem, void* c, int64_t batch) {
  return static_cast<uint8_t*>(c) + batch * problem.m * problem.n * outputBytes(problem.output);
}

}  // namespace blockscope
