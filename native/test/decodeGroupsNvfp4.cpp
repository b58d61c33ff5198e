// decode (resources/kernels/cuda/decode.cu) on the CPU: groups with a matrix of B each.
#define GROUPED 1
#define A_FORMAT 0
#define B_FORMAT 0
#define SCALE_FORMAT 6
#define SCALE_BLOCK 16

// The kernel stands between the two.
// clang-format off
#include "decodeKernel.h"
#include "../../resources/kernels/cuda/decode.cu"
#include "decodeChecks.h"
