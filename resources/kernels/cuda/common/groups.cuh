// Groups of a grouped product: runs of rows of A and C, each with a matrix of B of its own. Their
// starts and counts come as two tables; tiles of C are counted group after group.
#pragma once

#include "common/types.cuh"

// First row and rows of each group; an empty one begins where the next does, or at the end.
struct GroupTables {
  const int *starts, *rows;
  // Tile rows of all groups up to and with each one, made by cumulateTiles.
  const int* tileEnds;
  int groups;

  LANE_CODE int tileRows() const { return tileEnds[groups - 1]; }
};

// The first group whose tile rows end behind this one.
LANE_CODE inline int groupOfTileRow(const GroupTables& of, int tileRow) {
  int low = 0, high = of.groups - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (of.tileEnds[middle] > tileRow) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The group that a row of A belongs to; -1: it is padding, and not to be read.
LANE_CODE inline int groupOfRow(const int* starts, const int* rows, int groups, int row) {
  int low = 0, high = groups - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (starts[middle] <= row) low = middle;
    else high = middle - 1;
  }
  return row >= starts[low] && row < starts[low] + rows[low] ? low : -1;
}

// A tile row of a group: which group, and its rows from `row` to before `end`.
struct GroupTileRow {
  int group, row, end;
};
LANE_CODE inline GroupTileRow groupTileRow(const GroupTables& of, int tileRow, int rowsOfTile) {
  const int group = groupOfTileRow(of, tileRow);
  const int first = group > 0 ? of.tileEnds[group - 1] : 0, start = of.starts[group];
  return {group, start + (tileRow - first) * rowsOfTile, start + of.rows[group]};
}

// Of the rows of A and then of every group's B, one behind the other: whether it is multiplied.
// Padding is not, nor what empty groups have.
LANE_CODE inline bool isRowOfGroups(const int* starts, const int* rows, int groups, int M, int N,
                                    u32 row) {
  return row < (u32)M ? groupOfRow(starts, rows, groups, (int)row) >= 0 : rows[(row - M) / N] > 0;
}

#ifdef __CUDACC__
// tileEnds from rows, by one warp.
__device__ inline void cumulateTiles(const int* rows, int groups, int rowsOfTile, int* tileEnds) {
  const int lane = threadIdx.x % 32;
  int before = 0;
  for (int first = 0; first < groups; first += 32) {
    const int group = first + lane;
    int sum = group < groups ? (rows[group] + rowsOfTile - 1) / rowsOfTile : 0;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(0xffffffff, sum, step);
      if (lane >= step) sum += other;
    }
    if (group < groups) tileEnds[group] = before + sum;
    before += __shfl_sync(0xffffffff, sum, 31);
  }
}

// Of a pass with a block for each row of A, then one for each row of every group's B: whether its
// row is read. The first blocks make the tables of tile rows of two sizes.
__device__ inline bool takesRow(const int* starts, const int* rows, int groups, int M, int N,
                                int rowsOfTile, int* tileEnds, int rowsOfSlowTile,
                                int* slowTileEnds) {
  if (blockIdx.x == 0 && threadIdx.x < 32) cumulateTiles(rows, groups, rowsOfTile, tileEnds);
  if (blockIdx.x == 1 && threadIdx.x < 32)
    cumulateTiles(rows, groups, rowsOfSlowTile, slowTileEnds);
  return isRowOfGroups(starts, rows, groups, M, N, blockIdx.x);
}
#endif
