// In place of resources/kernels/cuda/common/outputs.cuh for the CPU: float32, or float16.
#pragma once

#include "../../../core/outputs.h"
#include "common/types.cuh"

#if OUTPUT_TYPE == 2
typedef float Output;
inline Output toOutput(float value) { return value; }
inline u32 toOutputPair(float, float) { return 0; }
#else
static_assert(OUTPUT_TYPE == 0, "what tests ask for");
typedef u16 Output;
inline Output toOutput(float value) { return blockscope::floatToHalf(value); }
inline u32 toOutputPair(float low, float high) { return toOutput(low) | u32{toOutput(high)} << 16; }
#endif
