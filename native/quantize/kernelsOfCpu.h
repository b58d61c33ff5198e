// The loops compiled for more than the portable instruction set; nullptr where the CPU or the
// compiler lacks it.
#pragma once

#include "blockQuantizer.h"

namespace blockscope {

const QuantizeKernels* avx2QuantizeKernels();
const QuantizeKernels* avx512QuantizeKernels();

}  // namespace blockscope
