// Tiles in an order that reuses L2: bands of kBand tile rows, column by column inside a band.
#pragma once

// HIP sources, of another folder, have it already.
#ifndef LANE_CODE
#include "common/types.cuh"
#endif

struct TilePlace {
  int row, col;
};
LANE_CODE inline TilePlace tilePlace(int tile, int tileRows, int tileCols) {
  constexpr int kBand = 8;
  const int perBand = kBand * tileCols, band = tile / perBand, first = band * kBand;
  const int height = tileRows - first < kBand ? tileRows - first : kBand,
            inside = tile - band * perBand;
  return {first + inside % height, inside / height};
}
