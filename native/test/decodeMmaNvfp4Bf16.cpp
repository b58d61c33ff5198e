// decode-mma (resources/kernels/cuda/decode_mma.cu) on the CPU: NVFP4 where a GPU makes no float16
// of scales, as before sm_89.
#define WITHOUT_HALVES
#define A_FORMAT 0
#define B_FORMAT 0
#define SCALE_FORMAT 6
#define SCALE_BLOCK 16

// The kernel stands between the two.
// clang-format off
#include "decodeMmaKernel.h"
#include "../../resources/kernels/cuda/decode_mma.cu"
#include "decodeMmaChecks.h"
