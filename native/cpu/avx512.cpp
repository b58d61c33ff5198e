// AVX-512: fp4 as exact integers with VNNI, everything else as exact bfloat16 with vdpbf16ps, float32 accumulators.
#include "kernel.h"
#include "cpuFeatures.h"
#include "panels.h"
#include "tiling.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "target.h"

namespace blockscope {

BLOCKSCOPE_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512bf16")

namespace {

// 7 x 32: 14 integer and 14 float accumulators, two registers of B, one of A: 31 of 32.
template <int kScaleBlockSize>
struct IntegerMicro {
  static constexpr int kMr = 7, kNr = 32, kKc = 1024;

  static void add(const Problem& problem, const IntegerPanels& panels, int64_t row, int64_t panel, int64_t k0,
                  int64_t depth, float* sums, int64_t stride) {
    const int64_t k = problem.k, blocks = k / kScaleBlockSize, block0 = k0 / kScaleBlockSize;
    const int8_t* a = &panels.a[row * k + k0];
    const float* aScales = &panels.aScales[row * blocks + block0];
    const int32_t* aBias = &panels.aBias[row * blocks + block0];
    const uint8_t* b = &panels.b[panel * kNr * k + k0 * kNr];
    const float* bScales = &panels.bScales[panel * kNr * blocks + block0 * kNr];
    __m512 total[kMr][2];
    for (int i = 0; i < kMr; i++) total[i][0] = total[i][1] = _mm512_setzero_ps();
    for (int64_t block = 0; block < depth / kScaleBlockSize; block++) {
      __m512i dot[kMr][2];
      for (int i = 0; i < kMr; i++) dot[i][0] = dot[i][1] = _mm512_set1_epi32(aBias[i * blocks + block]);
#pragma GCC unroll 8
      for (int step = 0; step < kScaleBlockSize / 4; step++) {
        const __m512i b0 = _mm512_loadu_si512(b), b1 = _mm512_loadu_si512(b + 64);
        b += kNr * 4;
#pragma GCC unroll 8
        for (int i = 0; i < kMr; i++) {
          int32_t four;
          __builtin_memcpy(&four, a + i * k + step * 4, 4);
          const __m512i quad = _mm512_set1_epi32(four);
          dot[i][0] = _mm512_dpbusd_epi32(dot[i][0], b0, quad);
          dot[i][1] = _mm512_dpbusd_epi32(dot[i][1], b1, quad);
        }
      }
      a += kScaleBlockSize;
      const __m512 s0 = _mm512_loadu_ps(bScales), s1 = _mm512_loadu_ps(bScales + 16);
      bScales += kNr;
#pragma GCC unroll 8
      for (int i = 0; i < kMr; i++) {
        const __m512 scale = _mm512_set1_ps(aScales[i * blocks + block]);
        total[i][0] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot[i][0]), _mm512_mul_ps(scale, s0), total[i][0]);
        total[i][1] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot[i][1]), _mm512_mul_ps(scale, s1), total[i][1]);
      }
    }
    for (int i = 0; i < kMr; i++)
      for (int j = 0; j < 2; j++) {
        float* out = sums + i * stride + j * 16;
        _mm512_storeu_ps(out, _mm512_add_ps(_mm512_loadu_ps(out), total[i][j]));
      }
  }
};

// 12 x 32: 24 accumulators.
struct Bf16Micro {
  static constexpr int kMr = 12, kNr = 32, kKc = 512;

  static void add(const Problem& problem, const NumberPanels<uint16_t>& panels, int64_t row, int64_t panel, int64_t k0,
                  int64_t depth, float* sums, int64_t stride) {
    const int64_t k = problem.k;
    const uint16_t* a = &panels.a[row * k + k0];
    const uint16_t* b = &panels.b[panel * kNr * k + k0 * kNr];
    __m512 total[kMr][2];
    for (int i = 0; i < kMr; i++) total[i][0] = total[i][1] = _mm512_setzero_ps();
    for (int64_t pair = 0; pair < depth / 2; pair++) {
      const __m512bh b0 = (__m512bh)_mm512_loadu_si512(b), b1 = (__m512bh)_mm512_loadu_si512(b + 32);
      b += kNr * 2;
#pragma GCC unroll 12
      for (int i = 0; i < kMr; i++) {
        int32_t two;
        __builtin_memcpy(&two, a + i * k + pair * 2, 4);
        const __m512bh both = (__m512bh)_mm512_set1_epi32(two);
        total[i][0] = _mm512_dpbf16_ps(total[i][0], both, b0);
        total[i][1] = _mm512_dpbf16_ps(total[i][1], both, b1);
      }
    }
    for (int i = 0; i < kMr; i++)
      for (int j = 0; j < 2; j++) {
        float* out = sums + i * stride + j * 16;
        _mm512_storeu_ps(out, _mm512_add_ps(_mm512_loadu_ps(out), total[i][j]));
      }
  }
};

void narrowRow(const float* sums, int64_t count, uint16_t* out) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m256i half = _mm512_cvtps_ph(_mm512_loadu_ps(sums + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), half);
  }
  for (; i < count; i++) out[i] = floatToHalf(sums[i]);
}

}  // namespace

BLOCKSCOPE_TARGET_END

namespace {

void run(const Problem& problem, const PackedOperands& packed, void* c, const CancelFlag& cancel) {
  if (!scalesAreSafe(problem, packed)) return portableKernel().run(problem, packed, c, cancel);
  const BlockFormat& format = findBlockFormat(problem.format);
  const bool integer = format.a == NumberFormatId::kE2m1 && format.b == NumberFormatId::kE2m1;
  for (int64_t batch = 0; batch < problem.batch; batch++) {
    const MatrixView matrix = matrixOf(problem, packed, batch);
    void* out = matrixOutput(problem, c, batch);
    if (integer) {
      const IntegerPanels panels = packIntegerPanels(problem, matrix, 7, 32, cancel);
      if (format.scaleBlockSize == 16)
        multiplyPanels<IntegerMicro<16>>(problem, panels, packed.tensorScale, out, narrowRow, cancel);
      else
        multiplyPanels<IntegerMicro<32>>(problem, panels, packed.tensorScale, out, narrowRow, cancel);
    } else {
      const NumberPanels<uint16_t> panels = packBf16Panels(problem, matrix, 12, 32, cancel);
      multiplyPanels<Bf16Micro>(problem, panels, packed.tensorScale, out, narrowRow, cancel);
    }
  }
}

std::string describe(const BlockFormat& format) {
  return format.a == NumberFormatId::kE2m1 && format.b == NumberFormatId::kE2m1
             ? "exact int8 dot product per scale block (vpdpbusd), float32 sum over blocks"
             : "element times scale exact in bfloat16 (vdpbf16ps), float32 sum";
}

}  // namespace

CpuKernel avx512Kernel() {
  const CpuFeatures& has = cpuFeatures();
  return {"cpu-avx512", "AVX-512 VNNI and BF16, register tiles 7x32 and 12x32", has.avx512Vnni && has.avx512Bf16,
          "This CPU has no AVX-512 VNNI and BF16.", describe, run};
}

}  // namespace blockscope

#else

namespace blockscope {
CpuKernel avx512Kernel() { return {"cpu-avx512", "AVX-512 VNNI and BF16", false, "Not an x86-64 build.", nullptr, nullptr}; }
}  // namespace blockscope

#endif
