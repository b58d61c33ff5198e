// resources/kernels/cuda/decode_fp8.cu on the CPU, where tiles beyond whole turns come first.
#define REST_FIRST 1
#define A_FORMAT 0
#define B_FORMAT 0
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32

// The kernel stands between the two.
// clang-format off
#include "decodeKernel.h"
#include "../../resources/kernels/cuda/decode_fp8.cu"
#include "decodeChecks.h"
