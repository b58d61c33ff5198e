// The tables of groups that kernels are given (resources/kernels/cuda/common/groups.cuh), from the
// segments of core.
#pragma once

#include <vector>

#include "../../resources/kernels/cuda/common/groups.cuh"
#include "../core/groups.h"

struct HostGroupTables {
  std::vector<int> starts, rows, ends;  // ends: tile rows up to and with a group's

  HostGroupTables(const blockscope::Segments& segments, int rowsOfTile) {
    int tiles = 0;
    for (int64_t group = 0; group < segments.count(); group++) {
      starts.push_back(static_cast<int>(segments[group].first));
      rows.push_back(static_cast<int>(segments[group].rows));
      ends.push_back(tiles += (rows.back() + rowsOfTile - 1) / rowsOfTile);
    }
  }
  GroupTables given() const {
    return {starts.data(), rows.data(), ends.data(), static_cast<int>(starts.size())};
  }
};
