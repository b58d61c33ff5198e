// decode-mma (resources/kernels/cuda/decode_mma.cu) on the CPU: e5m2 by e5m2.
#define A_FORMAT 4
#define B_FORMAT 4
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32

// The kernel stands between the two.
// clang-format off
#include "decodeMmaKernel.h"
#include "../../resources/kernels/cuda/decode_mma.cu"
#include "decodeMmaChecks.h"
