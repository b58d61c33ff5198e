// The groups of a grouped product (the experts of a layer): runs of rows of A, each with a matrix
// of B of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fields.h"
#include "words.h"

namespace blockscope {

// Where the rows of a group stand in A and C.
//   contiguous: one segment after the other, each begun at a multiple of `alignment`; the rows from
//               a group's end to the next segment are padding (DeepGEMM's m_indices hold -1 there)
//   masked:     group g has the rows from g * maxRows; those beyond its count are padding
//   offsets:    without any padding, given by their cumulative ends (torch's grouped_mm)
enum class GroupLayout { kContiguous, kMasked, kOffsets };
template <>
struct Words<GroupLayout> {
  static constexpr std::array<std::string_view, 3> all = {"contiguous", "masked", "offsets"};
};

struct Groups {
  GroupLayout layout = GroupLayout::kOffsets;
  std::vector<int64_t> rows;  // of each group, 0 for an empty one; none: the product has no groups
  int64_t alignment = 1;      // of contiguous segments
  int64_t maxRows = 0;        // of a masked group
  BLOCKSCOPE_FIELDS(layout, rows, alignment, maxRows)

  bool any() const { return !rows.empty(); }
  int64_t count() const { return static_cast<int64_t>(rows.size()); }
};

// Rows of A that are one group's.
struct Segment {
  int64_t first = 0, rows = 0;
};

// Segments of groups that fit (below), and how many rows A and C have with their padding.
class Segments {
 public:
  Segments() = default;
  explicit Segments(const Groups&);
  int64_t totalRows() const { return totalRows_; }
  int64_t count() const { return static_cast<int64_t>(segments_.size()); }
  const Segment& operator[](int64_t group) const { return segments_[group]; }
  // Of the largest group; 0 without groups.
  int64_t mostRows() const;
  // The group that a row belongs to; -1: it is padding.
  int64_t groupOf(int64_t row) const;

 private:
  std::vector<Segment> segments_;
  int64_t totalRows_ = 0;
};

// Why these are no groups, in a sentence; empty: they are.
std::string whyNoGroups(const Groups&);

}  // namespace blockscope
