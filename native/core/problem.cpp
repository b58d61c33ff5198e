#include "backend.h"

namespace blockscope {

void Problem::setGroups(const Groups& wanted) {
  groups = Segments(wanted);
  m = groups.totalRows();
  batch = MatrixBatch({1}, {groups.count()});
}

Product Problem::product(int64_t index) const {
  if (!isGrouped()) return {batch.a(index) * m, m, batch.b(index), index * m};
  const Segment& segment = groups[index];
  return {segment.first, segment.rows, index, segment.first};
}

int64_t Problem::productOf(int64_t rowOfC) const {
  return isGrouped() ? groups.groupOf(rowOfC) : rowOfC / m;
}

std::string productWords(const Problem& problem, int64_t product, const std::string& before) {
  if (problem.productCount() == 1) return "";
  return before + (problem.isGrouped() ? "group " : "matrix ") + std::to_string(product);
}

}  // namespace blockscope
