// Memory of the host that a kernel of fibers may read or write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace fibers {

struct Span {
  const void* start;
  size_t bytes;

  bool holds(const void* from, size_t count) const {
    const auto at = reinterpret_cast<uintptr_t>(from), first = reinterpret_cast<uintptr_t>(start);
    return at >= first && at + count <= first + bytes;
  }
};

inline void checkReadable(const std::vector<Span>& readable, const void* from, size_t bytes) {
  for (const Span& span : readable)
    if (span.holds(from, bytes)) return;
  throw std::runtime_error("a read outside the operands");
}

inline void storeIn(const Span& c, void* to, const void* from, size_t bytes) {
  if (reinterpret_cast<uintptr_t>(to) % bytes != 0)
    throw std::runtime_error("a store that is not aligned");
  if (!c.holds(to, bytes)) throw std::runtime_error("a store outside C");
  std::memcpy(to, from, bytes);
}

}  // namespace fibers
