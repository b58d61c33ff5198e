// decode-mma (resources/kernels/cuda/decode_mma.cu) on the CPU: MXFP8 where a GPU makes no float16
// of 8-bit codes, as before sm_89.
#define WITHOUT_HALVES
#define A_FORMAT 3
#define B_FORMAT 3
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32

// The kernel stands between the two.
// clang-format off
#include "decodeMmaKernel.h"
#include "../../resources/kernels/cuda/decode_mma.cu"
#include "decodeMmaChecks.h"
