// C's elements: their type, and a sum as one of them.
#pragma once

#include "common/eightBits.cuh"
#include "common/types.cuh"

#if OUTPUT_TYPE == 2
typedef float Output;
#elif OUTPUT_TYPE >= 3
typedef u8 Output;
#else
typedef u16 Output;
#endif

__device__ inline Output toOutput(float value) {
#if OUTPUT_TYPE == 0
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#elif OUTPUT_TYPE == 1
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#elif OUTPUT_TYPE == 3
  return (u8)toE4m3(value);
#elif OUTPUT_TYPE == 4
  return (u8)toE5m2(value);
#else
  return value;
#endif
}

// Two neighbouring outputs of at most 16 bits in the low bits of a word; `low` has the lower
// address.
__device__ inline u32 toOutputPair(float low, float high) {
  u32 pair;
#if OUTPUT_TYPE == 4
  pair = toE5m2Pair(low, high);
#elif OUTPUT_TYPE == 3
  pair = toE4m3Pair(low, high);
#elif OUTPUT_TYPE == 1
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#else
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#endif
  return pair;
}
