// Plain C++: every format, every scale, any CPU. The kernel of last resort, and of scales that would overflow or
// underflow float32 on the way: it accumulates in float64.
#include <algorithm>
#include <vector>

#include "../core/outputs.h"
#include "../core/packing.h"
#include "../core/threads.h"
#include "kernel.h"
#include "panels.h"
#include "tiling.h"

namespace blockscope {

namespace {

constexpr int64_t kTileM = 32, kTileN = 64;

// Row `row` of one side, unpacked, each block's elements times its scale.
void decodeRow(const NumberFormat& element, const BlockFormat& format, const uint8_t* packed, const uint8_t* scales,
               int64_t row, int64_t k, std::vector<uint8_t>& codes, double* out) {
  codes.resize(k);
  unpackCodes(element, packed + row * packedBytes(element, k), k, codes.data());
  const auto& values = decodeTable(element.id);
  const auto& scaleValues = decodeTable(format.scale);
  const int size = format.scaleBlockSize;
  for (int64_t i = 0; i < k; i++)
    out[i] = static_cast<double>(values[codes[i]]) * scaleValues[scales[row * (k / size) + i / size]];
}

void multiplyTile(const Problem& problem, const MatrixView& matrix, int64_t row0, int64_t col0, float tensorScale,
                  void* c, const CancelFlag& cancel) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const int64_t k = problem.k;
  const int64_t rows = std::min(kTileM, problem.m - row0), cols = std::min(kTileN, problem.n - col0);
  std::vector<uint8_t> codes;
  std::vector<double> row(k), a(k), b(k * kTileN, 0.0);
  // B transposed, so that the inner loop runs over columns.
  for (int64_t j = 0; j < cols; j++) {
    decodeRow(format.elementB(), format, matrix.b, matrix.bScales, col0 + j, k, codes, row.data());
    for (int64_t i = 0; i < k; i++) b[i * kTileN + j] = row[i];
  }
  for (int64_t i = 0; i < rows; i++) {
    cancel.throwIfRequested();
    decodeRow(format.elementA(), format, matrix.a, matrix.aScales, row0 + i, k, codes, a.data());
    double sums[kTileN] = {};
    for (int64_t x = 0; x < k; x++)
      for (int64_t j = 0; j < kTileN; j++) sums[j] += a[x] * b[x * kTileN + j];
    for (int64_t j = 0; j < cols; j++)
      writeOutput(problem.output, sums[j] * tensorScale, c, (row0 + i) * problem.n + col0 + j);
  }
}

void run(const Problem& problem, const PackedOperands& packed, void* c, const CancelFlag& cancel) {
  const int64_t tileRows = (problem.m + kTileM - 1) / kTileM, tileCols = (problem.n + kTileN - 1) / kTileN;
  const int64_t tiles = tileRows * tileCols;
  parallelFor(problem.batch * tiles, cancel, [&](int64_t task) {
    const int64_t batch = task / tiles, tile = task % tiles;
    multiplyTile(problem, matrixOf(problem, packed, batch), tile / tileCols * kTileM, tile % tileCols * kTileN,
                 packed.tensorScale, matrixOutput(problem, c, batch), cancel);
  });
}

std::string describe(const BlockFormat&) { return "element times scale exact in float64, float64 sum"; }

}  // namespace

CpuKernel portableKernel() {
  return {"cpu-portable", "plain C++, float64 sums, any CPU and any scale", true, "", describe, run};
}

}  // namespace blockscope
