// decode (resources/kernels/cuda/decode.cu) on the CPU: mixed.
#define A_FORMAT 3
#define B_FORMAT 0
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32

// The kernel stands between the two.
// clang-format off
#include "decodeKernel.h"
#include "../../resources/kernels/cuda/decode.cu"
#include "decodeChecks.h"
