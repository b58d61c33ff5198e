// In place of resources/kernels/cuda/common/betweenCtas.cuh for the CPU.
#pragma once

#include "common/pipeline.cuh"

inline u32 countIn(u32* counter) { return (*counter)++; }
inline u32 takeNumber(u32* counter) { return (*counter)++; }
inline void addReleasing(u32* counter) { (*counter)++; }
inline bool hasReached(const u32* counter, u32 count) {
  return machine().mistake == hopper::Mistake::kEarlyTile || *counter >= count;
}
inline void waitToReach(const u32* counter, u32 count) {
  machine().block.waitUntil([=] { return hasReached(counter, count); });
}
template <int Count>
void storeForAnother(float* to, const float (&numbers)[Count]) {
  std::copy_n(numbers, Count, to);
}
// What is there once others have run, but for one number where it is another than at the time
// before, as if that came later. Who asks in vain for ever fails.
template <int Count>
void loadOfAnother(float (&numbers)[Count], const float* from) {
  struct Asked {
    u32 first = 0;
    int inVain = 0;
  };
  static std::map<const float*, Asked> before;
  machine().block.waitUntil([] { return true; });
  std::copy_n(from, Count, numbers);
  const bool areAll = std::all_of(numbers, numbers + Count,
                                  [](float number) { return __float_as_uint(number) != 0; });
  Asked& asked = before[from];
  const u32 first = __float_as_uint(numbers[0]);
  if (std::exchange(asked.first, first) != first) numbers[before.size() % Count] = 0.0f;
  asked.inVain = areAll ? 0 : asked.inVain + 1;
  if (asked.inVain > 10'000) hopper::fail("a number that never comes");
}
inline void publishToCopyEngines() {}
