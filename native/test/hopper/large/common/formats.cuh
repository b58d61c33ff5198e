// In place of resources/kernels/cuda/common/formats.cuh for the CPU: what the large products call
// of it, float16 being the output.
#pragma once

#include "../../../../core/outputs.h"
#include "../../../cudaWords.h"
#include "common/types.cuh"

typedef u16 Output;
inline u16 toOutput(float value) { return blockscope::floatToHalf(value); }
inline u32 toOutputPair(float low, float high) { return toOutput(low) | u32{toOutput(high)} << 16; }
inline float finishedSum(float sum, float added, float) { return ACCUMULATE ? sum + added : sum; }
inline Output finished(float sum, const float* accumulator, long long at, float outputScale) {
  return toOutput(finishedSum(sum, ACCUMULATE ? accumulator[at] : 0.0f, outputScale));
}
inline float2 loadStreaming(const float* from) { return {from[0], from[1]}; }
