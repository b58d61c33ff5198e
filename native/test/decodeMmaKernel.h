// As decodeKernel.h, for decode-mma; decodeMmaChecks.h stands behind the kernel.
#pragma once

#include "decodeKernel.h"

// The tables of groups are the test's.
inline void cumulateTiles(const int*, int, int, int*) {}
