// The kernels for few rows of A (resources/kernels/cuda/common/decode.cuh) on the CPU, their
// threads as fibers: every C against a sum in float64. A test names the formats by kernels' macros,
// includes this, the kernel, and decodeChecks.h.
#pragma once

#include <cmath>
#include <functional>

#include "check.h"
#include "hopperMachine.h"
#include "manifestValues.h"
#include "productCheck.h"
#include "scaledMatrix.h"
#include "scaledProduct.h"

#ifndef GROUPED
#define GROUPED 0
#endif
#define ROWS 64
#define STAGE_K 512
#define THREADS 640
#define SHARED_BYTES 231424
#define OWN_BYTES 65536
#define NVFP4_OWN_K 14336
#define PREPARE_THREADS 128
#define ENCODE_THREADS 512
#define WIDE_SHIFT 0
#define WIDEN_THREADS 256
#define OUTPUT_TYPE 2
#define ACCUMULATE 0
#define B_ORDER 0

// Instructions that no test here comes to.
#define asm(...)
