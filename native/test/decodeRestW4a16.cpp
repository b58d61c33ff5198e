// resources/kernels/cuda/decode.cu on the CPU, tiles beyond whole turns first: W4A16 under MXFP4.
#define REST_FIRST 1
#define A_FORMAT 7
#define B_FORMAT 0
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32

// The kernel stands between the two.
// clang-format off
#include "decodeKernel.h"
#include "../../resources/kernels/cuda/decode.cu"
#include "decodeChecks.h"
