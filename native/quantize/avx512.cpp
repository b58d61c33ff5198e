#include <cmath>
#include <cstring>
#include <limits>

#include "../cpu/cpuFeatures.h"
#include "../cpu/target.h"
#include "kernelsOfCpu.h"

namespace blockscope {

#if defined(__x86_64__) && defined(__GNUC__)

namespace avx512 {
namespace {

BLOCKSCOPE_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")
#include "blockQuantizer.inc"
BLOCKSCOPE_TARGET_END

constexpr QuantizeKernels kernels = kernelsNamed("AVX-512");

}  // namespace
}  // namespace avx512

const QuantizeKernels* avx512QuantizeKernels() {
  return cpuFeatures().avx512 ? &avx512::kernels : nullptr;
}

#else

const QuantizeKernels* avx512QuantizeKernels() { return nullptr; }

#endif

}  // namespace blockscope
