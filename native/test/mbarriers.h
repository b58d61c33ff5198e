// The mbarriers of a CTA: phases that end when all arrivals and all announced bytes are there. PTX
// ISA 9.0, "Parallel Synchronization and Communication Instructions: mbarrier".
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

class Mbarriers {
 public:
  void init(uint32_t at, int arrivals) { barriers_[at] = {arrivals, arrivals, 0, 0}; }
  void invalidate(uint32_t at) {
    find(at);
    barriers_.erase(at);
  }
  // An arrival that announces bytes of asynchronous copies.
  void arrive(uint32_t at, int64_t expectedBytes = 0) {
    Barrier& barrier = find(at);
    if (barrier.left == 0) fail(at, "has more arrivals in a phase than it was made for");
    barrier.left--, barrier.bytes += expectedBytes;
    settle(barrier);
  }
  void complete(uint32_t at, int64_t bytes) {
    Barrier& barrier = find(at);
    barrier.bytes -= bytes;
    settle(barrier);
  }
  // Whether the phase of this parity is over: what try_wait.parity asks.
  bool isOver(uint32_t at, uint32_t parity) { return (find(at).phase & 1) != (parity & 1); }
  // How many are over.
  uint32_t phases(uint32_t at) { return find(at).phase; }

 private:
  struct Barrier {
    int count, left;
    int64_t bytes;
    uint32_t phase;
  };
  Barrier& find(uint32_t at) {
    const auto found = barriers_.find(at);
    if (found == barriers_.end()) fail(at, "was not initialised");
    return found->second;
  }
  static void settle(Barrier& barrier) {
    if (barrier.left > 0 || barrier.bytes != 0) return;
    barrier.left = barrier.count;
    barrier.phase++;
  }
  [[noreturn]] static void fail(uint32_t at, const char* what) {
    throw std::runtime_error("the mbarrier at " + std::to_string(at) + " " + what);
  }

  std::map<uint32_t, Barrier> barriers_;
};
