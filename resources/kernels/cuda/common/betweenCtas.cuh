// What CTAs of a kernel, or threads of them, tell one another by way of memory (PTX ISA, "Memory
// Consistency Model").
#pragma once

#include "common/formats.cuh"

// Counts a CTA in, by one thread behind a barrier: what those before it wrote is there for whoever
// reads behind its own. Their number.
__device__ inline u32 countIn(u32* counter) {
  u32 before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
               : "=r"(before)
               : "l"(counter)
               : "memory");
  return before;
}

// The next number of a counter.
__device__ inline u32 takeNumber(u32* counter) {
  u32 before;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;"
               : "=r"(before)
               : "l"(counter)
               : "memory");
  return before;
}
// One more of what a warp has done, and whether there are so many: what its lanes wrote before is
// there for who reads behind the answer.
__device__ inline void addReleasing(u32* counter) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}
__device__ inline bool hasReached(const u32* counter, u32 count) {
  u32 reached;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(reached) : "l"(counter) : "memory");
  return reached >= count;
}
__device__ inline void waitToReach(const u32* counter, u32 count) {
  while (!hasReached(counter, count)) {
  }
}
// Two or four numbers to where a thread of another CTA takes them, and what is there by now.
__device__ inline void storeForAnother(float* to, const float (&numbers)[2]) {
  asm volatile("st.relaxed.gpu.global.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(numbers[0]),
               "f"(numbers[1])
               : "memory");
}
__device__ inline void storeForAnother(float* to, const float (&numbers)[4]) {
  asm volatile("st.relaxed.gpu.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(numbers[0]),
               "f"(numbers[1]), "f"(numbers[2]), "f"(numbers[3])
               : "memory");
}
__device__ inline void loadOfAnother(float (&numbers)[2], const float* from) {
  asm volatile("ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%2];"
               : "=f"(numbers[0]), "=f"(numbers[1])
               : "l"(from)
               : "memory");
}
__device__ inline void loadOfAnother(float (&numbers)[4], const float* from) {
  asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(numbers[0]), "=f"(numbers[1]), "=f"(numbers[2]), "=f"(numbers[3])
               : "l"(from)
               : "memory");
}
// Orders this thread's reads and writes of memory and what copy engines read and write: on either
// side of a release.
__device__ inline void publishToCopyEngines() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}
