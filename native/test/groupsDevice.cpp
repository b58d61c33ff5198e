// How kernels find a tile's group and a row's (resources/kernels/cuda/common/groups.cuh), compiled
// for the CPU, against the segments of core.
#include "check.h"
#include "groupTables.h"

using namespace blockscope;

namespace {

std::vector<Groups> cases() {
  std::vector<Groups> all = {
      {GroupLayout::kContiguous, {13, 0, 64, 1, 65}, 64, 0},
      {GroupLayout::kContiguous, {0, 0, 5, 0}, 128, 0},
      {GroupLayout::kMasked, {0, 3, 40, 0, 17, 0}, 1, 40},
      {GroupLayout::kOffsets, {0, 7, 33, 0, 1, 128, 0}, 1, 0},
      {GroupLayout::kOffsets, {300}, 1, 0},
  };
  Groups many{GroupLayout::kOffsets, std::vector<int64_t>(256), 1, 0};
  for (int64_t group = 0; group < 256; group++) many.rows[group] = group * 7 % 45;
  all.push_back(many);
  return all;
}

void rowsAndTilesFindTheirGroups(const Groups& groups, int rowsOfTile) {
  const Segments segments(groups);
  const HostGroupTables tables(segments, rowsOfTile);
  const GroupTables given = tables.given();
  const auto m = static_cast<int>(segments.totalRows()), n = 7;
  for (int row = 0; row < m; row++) {
    CHECK(groupOfRow(given.starts, given.rows, given.groups, row) == segments.groupOf(row));
    CHECK(isRowOfGroups(given.starts, given.rows, given.groups, m, n, row) ==
          (segments.groupOf(row) >= 0));
  }
  for (int row = 0; row < given.groups * n; row++)
    CHECK(isRowOfGroups(given.starts, given.rows, given.groups, m, n, m + row) ==
          (given.rows[row / n] > 0));
  // Tile rows of all groups, one after the other: every row that is multiplied is in one of them.
  int tile = 0;
  for (int group = 0; group < given.groups; group++)
    for (int row = 0; row < given.rows[group]; row += rowsOfTile, tile++) {
      const GroupTileRow place = groupTileRow(given, tile, rowsOfTile);
      CHECK(place.group == group && place.row == given.starts[group] + row &&
            place.end == given.starts[group] + given.rows[group]);
    }
  CHECK(tile == given.tileRows());
}

}  // namespace

int main() {
  for (const Groups& groups : cases())
    for (const int rowsOfTile : {1, 16, 64, 128, 256})
      rowsAndTilesFindTheirGroups(groups, rowsOfTile);
  return summary();
}
