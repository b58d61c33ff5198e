// The order that a thread of a tcgen05 kernel keeps by its fences, as an emulation asks for it.
#pragma once

#include "common/tcgen05/tensorMemory.cuh"

namespace tcgen05 {

// What a thread has ordered of what it does with tensor memory.
struct ThreadOrder {
  bool isFenced = true;    // ::after_thread_sync behind its last wait
  bool hasLoaded = false;  // without a ::before_thread_sync behind it

  template <class Environment>
  LANE_CODE bool mayUse(Environment& environment, const char* what) const {
    return isFenced || environment.fail(Sentence(
                           what, " without a tcgen05.fence::after_thread_sync behind the wait"));
  }
  // Loads of this thread must be ordered before what tells others of their end.
  template <class Environment>
  LANE_CODE bool mayTell(Environment& environment, const char* where) const {
    return !hasLoaded || environment.fail(Sentence(
                             "no tcgen05.fence::before_thread_sync between a load and ", where));
  }
};

}  // namespace tcgen05
