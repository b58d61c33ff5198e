// Operands as they lie in memory, and B as (K, N) turned into what the kernels read.
#include <algorithm>

#include "../core/formats.h"
#include "../core/packing.h"
#include "../core/threads.h"
#include "kernel.h"

namespace blockscope {

namespace {

std::vector<uint8_t> packedCodes(const NumberFormat& element, const std::vector<uint8_t>& codes) {
  const int64_t count = static_cast<int64_t>(codes.size()) / element.codeBytes();
  std::vector<uint8_t> bytes(packedBytes(element, count));
  packCodes(element, codes.data(), count, bytes.data());
  return bytes;
}

// A tile of B that stays in the L1 cache; whole bytes of packed codes along both sides.
constexpr int64_t kTileN = 64, kTileK = 256;

// Columns [n0, ...) of one packed matrix (K, N) into rows of one (N, K).
void turnColumns(const NumberFormat& element, const uint8_t* from, int64_t k, int64_t n, int64_t n0,
                 uint8_t* to) {
  const int64_t columns = std::min(kTileN, n - n0);
  uint8_t tile[kTileK * kTileN], line[kTileK];
  for (int64_t k0 = 0; k0 < k; k0 += kTileK) {
    const int64_t depth = std::min(kTileK, k - k0);
    for (int64_t d = 0; d < depth; d++)
      unpackCodes(element, from + packedBytes(element, (k0 + d) * n + n0), columns,
                  tile + d * kTileN);
    for (int64_t column = 0; column < columns; column++) {
      for (int64_t d = 0; d < depth; d++) line[d] = tile[d * kTileN + column];
      packCodes(element, line, depth, to + packedBytes(element, (n0 + column) * k + k0));
    }
  }
}

}  // namespace

PackedOperands packOperands(const Problem& problem, const Operands& operands) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const int64_t blocks = problem.k / format.scaleBlockSize;
  const bool isTurned = problem.bOrder == BOrder::kKn;
  PackedOperands packed;
  packed.a = packedCodes(format.elementA(), operands.aCodes);
  packed.b =
      packedCodes(format.elementB(),
                  isTurned ? transposed(operands.bCodes, problem.n, problem.k) : operands.bCodes);
  packed.aScales = operands.aScales;
  packed.bScales = isTurned ? transposed(operands.bScales, problem.n, blocks) : operands.bScales;
  packed.tensorScale = operands.tensorScaleA * operands.tensorScaleB;
  if (problem.accumulate) packed.accumulator = operands.accumulator;
  return packed;
}

KernelOperands kernelOperands(const Problem& problem, const PackedOperands& packed,
                              Workspace& workspace, const CancelFlag& cancel) {
  KernelOperands operands{
      packed.a,       packed.b,           packed.aScales,
      packed.bScales, packed.tensorScale, problem.accumulate ? packed.accumulator.data() : nullptr};
  if (problem.bOrder == BOrder::kNk) return operands;
  const BlockFormat& format = findBlockFormat(problem.format);
  const NumberFormat& element = format.elementB();
  const int64_t n = problem.n, k = problem.k, blocks = k / format.scaleBlockSize;
  const int64_t codeBytes = packedBytes(element, n * k), scaleBytes = n * blocks;
  uint8_t* codes = workspace.turnedCodes.take<uint8_t>(static_cast<int64_t>(packed.b.size()));
  uint8_t* scales =
      workspace.turnedScales.take<uint8_t>(static_cast<int64_t>(packed.bScales.size()));
  const int64_t tiles = (n + kTileN - 1) / kTileN;
  parallelFor(problem.batch.countB() * tiles, cancel, [&](int64_t task) {
    const int64_t matrix = task / tiles, n0 = task % tiles * kTileN;
    turnColumns(element, &packed.b[matrix * codeBytes], k, n, n0, codes + matrix * codeBytes);
    for (int64_t column = n0; column < std::min(n0 + kTileN, n); column++)
      for (int64_t block = 0; block < blocks; block++)
        scales[matrix * scaleBytes + column * blocks + block] =
            packed.bScales[matrix * scaleBytes + block * n + column];
  });
  operands.b = {codes, packed.b.size()};
  operands.bScales = {scales, packed.bScales.size()};
  return operands;
}

}  // namespace blockscope
