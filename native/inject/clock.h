// CLOCK_REALTIME: CUPTI's timestamps are of it, and it is one clock for all processes of a machine.
#pragma once

#include <time.h>

#include <cstdint>

namespace blockscope::inject {

inline uint64_t realTimeNs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace blockscope::inject
