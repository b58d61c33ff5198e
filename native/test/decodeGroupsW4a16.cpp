// decode (resources/kernels/cuda/decode.cu) on the CPU: W4A16 under MXFP4, groups with a matrix of
// B each.
#define GROUPED 1
#define A_FORMAT 7
#define B_FORMAT 0
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32

// The kernel stands between the two.
// clang-format off
#include "decodeKernel.h"
#include "../../resources/kernels/cuda/decode.cu"
#include "decodeChecks.h"
