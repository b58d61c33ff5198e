// Memory of the host that a kernel of fibers may read or write.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fibers {

struct Span {
  const void* start;
  size_t bytes;

  bool holds(const void* from, size_t count) const {
    const auto at = reinterpret_cast<uintptr_t>(from), first = reinterpret_cast<uintptr_t>(start);
    return at >= first && at + count <= first + bytes;
  }
};

}  // namespace fibers
