// Printed by `blockscope layout code --layout-file layouts/columnPairs.json --language cpp`; __device__ is added.
#pragma once

// Offset of scale (r, c), column_pairs.
__device__ constexpr long scaleOffset(long r, long c, [[maybe_unused]] long rows, [[maybe_unused]] long columns) {
  const long rowTiles = (rows + 15) / 16;
  return c / 2 * 32 * rowTiles + r / 16 * 32 + c % 2 * 16 + r % 16;
}
