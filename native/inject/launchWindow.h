// Which launches are part of the capture, by correlation id: a record that comes late is judged by
// its launch, not by its time. One bit each in a ring: exact until four million launches are under
// way.
#pragma once

#include <atomic>
#include <cstdint>

namespace blockscope::inject {

class LaunchWindow {
 public:
  void mark(uint32_t correlation, bool isInside) {
    std::atomic<uint64_t>& word = words_[index(correlation)];
    const uint64_t bit = 1ull << (correlation % 64);
    // Most launches find the bit as it should be: a read shares the line, a write does not.
    if (((word.load(std::memory_order_relaxed) & bit) != 0) == isInside) return;
    if (isInside) word.fetch_or(bit, std::memory_order_relaxed);
    else word.fetch_and(~bit, std::memory_order_relaxed);
  }
  bool holds(uint32_t correlation) const {
    return (words_[index(correlation)].load(std::memory_order_relaxed) >> (correlation % 64)) & 1;
  }

 private:
  static constexpr uint32_t kLaunches = 1u << 22;
  static uint32_t index(uint32_t correlation) { return correlation % kLaunches / 64; }
  std::atomic<uint64_t> words_[kLaunches / 64] = {};
};

inline LaunchWindow launchWindow;

}  // namespace blockscope::inject
