// In place of resources/kernels/cuda/common/formats.cuh for the CPU: what the large products call
// of it, float16 being the output.
#pragma once

#include "../../../cudaWords.h"
#include "common/outputs.cuh"

inline float finishedSum(float sum, float added, float) { return ACCUMULATE ? sum + added : sum; }
inline Output finished(float sum, const float* accumulator, long long at, float outputScale) {
  return toOutput(finishedSum(sum, ACCUMULATE ? accumulator[at] : 0.0f, outputScale));
}
inline float2 loadStreaming(const float* from) { return {from[0], from[1]}; }
