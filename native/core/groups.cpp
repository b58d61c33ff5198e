#include "groups.h"

#include <algorithm>

namespace blockscope {

Segments::Segments(const Groups& groups) {
  int64_t next = 0;
  for (const int64_t rows : groups.rows) {
    segments_.push_back({next, rows});
    switch (groups.layout) {
      case GroupLayout::kContiguous:
        next += (rows + groups.alignment - 1) / groups.alignment * groups.alignment;
        break;
      case GroupLayout::kMasked:
        next += groups.maxRows;
        break;
      case GroupLayout::kOffsets:
        next += rows;
        break;
    }
  }
  totalRows_ = next;
}

int64_t Segments::mostRows() const {
  int64_t most = 0;
  for (const Segment& segment : segments_) most = std::max(most, segment.rows);
  return most;
}

int64_t Segments::groupOf(int64_t row) const {
  // The last segment that begins at or before the row: empty ones begin where the next one does.
  const auto after = std::upper_bound(
      segments_.begin(), segments_.end(), row,
      [](int64_t wanted, const Segment& segment) { return wanted < segment.first; });
  if (after == segments_.begin()) return -1;
  const Segment& segment = *(after - 1);
  return row < segment.first + segment.rows ? after - 1 - segments_.begin() : -1;
}

std::string whyNoGroups(const Groups& groups) {
  constexpr int64_t kMostRows = 1 << 20, kMostGroups = 1 << 12;
  if (groups.count() > kMostGroups)
    return "there are " + std::to_string(groups.count()) + "; at most " +
           std::to_string(kMostGroups) + " are taken";
  int64_t sum = 0;
  for (int64_t group = 0; group < groups.count(); group++) {
    const int64_t rows = groups.rows[group];
    const std::string which = "group " + std::to_string(group);
    if (rows < 0 || rows > kMostRows)
      return which + " has " + std::to_string(rows) + " rows; 0 to " + std::to_string(kMostRows) +
             " are taken";
    if (groups.layout == GroupLayout::kMasked && rows > groups.maxRows)
      return which + " has " + std::to_string(rows) + " rows, and a masked group at most " +
             std::to_string(groups.maxRows);
    sum += rows;
  }
  if (sum == 0) return "none of them has a row";
  if (groups.layout == GroupLayout::kContiguous &&
      (groups.alignment < 1 || groups.alignment > kMostRows))
    return "segments begin at multiples of " + std::to_string(groups.alignment) + "; 1 to " +
           std::to_string(kMostRows) + " is taken";
  return "";
}

}  // namespace blockscope
