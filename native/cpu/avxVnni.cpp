// AVX-VNNI: vpdpbusd on 256-bit registers for fp4; the rest as with AVX2.
#include "kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "avx2Common.h"
#include "target.h"

namespace blockscope {

BLOCKSCOPE_TARGET_BEGIN("avx2,fma,f16c,avxvnni")

namespace {

struct VnniDot {
  static __m256i start(int32_t bias) { return _mm256_set1_epi32(bias); }
  static __m256i add(__m256i sum, __m256i unsignedBytes, __m256i signedBytes) {
    return _mm256_dpbusd_avx_epi32(sum, unsignedBytes, signedBytes);
  }
  static __m256i finish(__m256i sum, int32_t) { return sum; }
};

#include "integerMicro256.inc"

}  // namespace

BLOCKSCOPE_TARGET_END

CpuKernel avxVnniKernel(const CpuFeatures& has) {
  return {"cpu-avxvnni",
          "AVX-VNNI for fp4, float32 with AVX2 for the rest",
          has.avxVnni,
          "This CPU has no AVX-VNNI.",
          avx2::describe,
          avx2::compute<IntegerMicro<VnniDot, 16>, IntegerMicro<VnniDot, 32>>,
          [](const BlockFormat& format) -> std::string {
            return isIntegerFormat(format) ? "int8:avx-vnni" : "fp32:avx2";
          }};
}

}  // namespace blockscope

#else

namespace blockscope {
CpuKernel avxVnniKernel(const CpuFeatures&) {
  return {"cpu-avxvnni", "AVX-VNNI", false, "This build has no x86-64 kernels.", nullptr, nullptr};
}
}  // namespace blockscope

#endif
