// decode-mma (resources/kernels/cuda/decode_mma.cu) on the CPU: MXFP4 with a scale for 16 elements.
#define A_FORMAT 0
#define B_FORMAT 0
#define SCALE_FORMAT 5
#define SCALE_BLOCK 16

// The kernel stands between the two.
// clang-format off
#include "decodeMmaKernel.h"
#include "../../resources/kernels/cuda/decode_mma.cu"
#include "decodeMmaChecks.h"
