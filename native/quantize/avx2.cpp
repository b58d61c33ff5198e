#include <cmath>
#include <cstring>
#include <limits>

#include "../cpu/cpuFeatures.h"
#include "../cpu/target.h"
#include "kernelsOfCpu.h"

namespace blockscope {

#if defined(__x86_64__) && defined(__GNUC__)

namespace avx2 {
namespace {

BLOCKSCOPE_TARGET_BEGIN("avx2")
#include "blockQuantizer.inc"
BLOCKSCOPE_TARGET_END

constexpr QuantizeKernels kernels = kernelsNamed("AVX2");

}  // namespace
}  // namespace avx2

const QuantizeKernels* avx2QuantizeKernels() {
  return cpuFeatures().avx2 ? &avx2::kernels : nullptr;
}

#else

const QuantizeKernels* avx2QuantizeKernels() { return nullptr; }

#endif

}  // namespace blockscope
