// AVX2 with FMA: fp4 as exact integers (vpmaddubsw, or vpdpbusd where the CPU has AVX-VNNI), the rest as float32.
#include "kernel.h"
#include "cpuFeatures.h"
#include "panels.h"
#include "tiling.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "target.h"

namespace blockscope {

BLOCKSCOPE_TARGET_BEGIN("avx2,fma,f16c")

namespace {

// The dot product of four bytes in each 32-bit lane: u8 in 0..24 times s8 in -12..12; a pair's sum is at most 576.
struct PairwiseDot {
  static __m256i add(__m256i sum, __m256i unsignedBytes, __m256i signedBytes) {
    const __m256i pairs = _mm256_maddubs_epi16(unsignedBytes, signedBytes);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

// 6 x 16 with float32: 12 accumulators, two registers of B, one of A.
struct FloatMicro {
  static constexpr int kMr = 6, kNr = 16, kKc = 256;

  static void add(const Problem& problem, const NumberPanels<float>& panels, int64_t row, int64_t panel, int64_t k0,
                  int64_t depth, float* sums, int64_t stride) {
    const int64_t k = problem.k;
    const float* a = &panels.a[row * k + k0];
    const float* b = &panels.b[panel * kNr * k + k0 * kNr];
    __m256 total[kMr][2];
    for (int i = 0; i < kMr; i++) total[i][0] = total[i][1] = _mm256_setzero_ps();
    for (int64_t step = 0; step < depth; step++) {
      const __m256 b0 = _mm256_loadu_ps(b), b1 = _mm256_loadu_ps(b + 8);
      b += kNr;
#pragma GCC unroll 6
      for (int i = 0; i < kMr; i++) {
        const __m256 one = _mm256_broadcast_ss(a + i * k + step);
        total[i][0] = _mm256_fmadd_ps(one, b0, total[i][0]);
        total[i][1] = _mm256_fmadd_ps(one, b1, total[i][1]);
      }
    }
    for (int i = 0; i < kMr; i++)
      for (int j = 0; j < 2; j++) {
        float* out = sums + i * stride + j * 8;
        _mm256_storeu_ps(out, _mm256_add_ps(_mm256_loadu_ps(out), total[i][j]));
      }
  }
};

void narrowRow(const float* sums, int64_t count, uint16_t* out) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(sums + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), half);
  }
  for (; i < count; i++) out[i] = floatToHalf(sums[i]);
}

}  // namespace

BLOCKSCOPE_TARGET_END

// 3 x 16 with integers: 6 integer and 6 float accumulators, two registers of B, one of A.
#define BLOCKSCOPE_INTEGER_MICRO(Name, Dot)                                                                          \
  template <int kScaleBlockSize>                                                                                     \
  struct Name {                                                                                                      \
    static constexpr int kMr = 3, kNr = 16, kKc = 1024;                                                              \
    static void add(const Problem& problem, const IntegerPanels& panels, int64_t row, int64_t panel, int64_t k0,     \
                    int64_t depth, float* sums, int64_t stride) {                                                    \
      const int64_t k = problem.k, blocks = k / kScaleBlockSize, block0 = k0 / kScaleBlockSize;                      \
      const int8_t* a = &panels.a[row * k + k0];                                                                     \
      const float* aScales = &panels.aScales[row * blocks + block0];                                                 \
      const int32_t* aBias = &panels.aBias[row * blocks + block0];                                                   \
      const uint8_t* b = &panels.b[panel * kNr * k + k0 * kNr];                                                      \
      const float* bScales = &panels.bScales[panel * kNr * blocks + block0 * kNr];                                   \
      __m256 total[kMr][2];                                                                                          \
      for (int i = 0; i < kMr; i++) total[i][0] = total[i][1] = _mm256_setzero_ps();                                 \
      for (int64_t block = 0; block < depth / kScaleBlockSize; block++) {                                            \
        __m256i dot[kMr][2];                                                                                         \
        for (int i = 0; i < kMr; i++) dot[i][0] = dot[i][1] = _mm256_set1_epi32(aBias[i * blocks + block]);          \
        for (int step = 0; step < kScaleBlockSize / 4; step++, b += kNr * 4) {                                       \
          const __m256i b0 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));                                \
          const __m256i b1 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + 32));                           \
          for (int i = 0; i < kMr; i++) {                                                                            \
            int32_t four;                                                                                            \
            __builtin_memcpy(&four, a + i * k + step * 4, 4);                                                        \
            const __m256i quad = _mm256_set1_epi32(four);                                                            \
            dot[i][0] = Dot::add(dot[i][0], b0, quad);                                                               \
            dot[i][1] = Dot::add(dot[i][1], b1, quad);                                                               \
          }                                                                                                          \
        }                                                                                                            \
        a += kScaleBlockSize;                                                                                        \
        const __m256 s0 = _mm256_loadu_ps(bScales), s1 = _mm256_loadu_ps(bScales + 8);                               \
        bScales += kNr;                                                                                              \
        for (int i = 0; i < kMr; i++) {                                                                              \
          const __m256 scale = _mm256_set1_ps(aScales[i * blocks + block]);                                          \
          total[i][0] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot[i][0]), _mm256_mul_ps(scale, s0), total[i][0]);       \
          total[i][1] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot[i][1]), _mm256_mul_ps(scale, s1), total[i][1]);       \
        }                                                                                                            \
      }                                                                                                              \
      for (int i = 0; i < kMr; i++)                                                                                  \
        for (int j = 0; j < 2; j++) {                                                                                \
          float* out = sums + i * stride + j * 8;                                                                    \
          _mm256_storeu_ps(out, _mm256_add_ps(_mm256_loadu_ps(out), total[i][j]));                                   \
        }                                                                                                            \
    }                                                                                                                \
  }

// The same text compiled for two instruction sets: a function made for one cannot be inlined into the other's loop.
BLOCKSCOPE_TARGET_BEGIN("avx2,fma,f16c")
namespace {
BLOCKSCOPE_INTEGER_MICRO(PairwiseMicro, PairwiseDot);
}
BLOCKSCOPE_TARGET_END

BLOCKSCOPE_TARGET_BEGIN("avx2,fma,f16c,avxvnni")
namespace {
struct VnniDot {
  static __m256i add(__m256i sum, __m256i unsignedBytes, __m256i signedBytes) {
    return _mm256_dpbusd_avx_epi32(sum, unsignedBytes, signedBytes);
  }
};
BLOCKSCOPE_INTEGER_MICRO(VnniMicro, VnniDot);
}  // namespace
BLOCKSCOPE_TARGET_END

#undef BLOCKSCOPE_INTEGER_MICRO

namespace {

template <template <int> class IntegerMicro>
void run(const Problem& problem, const PackedOperands& packed, void* c, const CancelFlag& cancel) {
  if (!scalesAreSafe(problem, packed)) return portableKernel().run(problem, packed, c, cancel);
  const BlockFormat& format = findBlockFormat(problem.format);
  const bool integer = format.a == NumberFormatId::kE2m1 && format.b == NumberFormatId::kE2m1;
  for (int64_t batch = 0; batch < problem.batch; batch++) {
    const MatrixView matrix = matrixOf(problem, packed, batch);
    void* out = matrixOutput(problem, c, batch);
    if (integer) {
      const IntegerPanels panels = packIntegerPanels(problem, matrix, 3, 16, cancel);
      if (format.scaleBlockSize == 16)
        multiplyPanels<IntegerMicro<16>>(problem, panels, packed.tensorScale, out, narrowRow, cancel);
      else
        multiplyPanels<IntegerMicro<32>>(problem, panels, packed.tensorScale, out, narrowRow, cancel);
    } else {
      const NumberPanels<float> panels = packFloatPanels(problem, matrix, 6, 16, cancel);
      multiplyPanels<FloatMicro>(problem, panels, packed.tensorScale, out, narrowRow, cancel);
    }
  }
}

std::string describe(const BlockFormat& format) {
  return format.a == NumberFormatId::kE2m1 && format.b == NumberFormatId::kE2m1
             ? "exact int8 dot product per scale block, float32 sum over blocks"
             : "element times scale exact in float32, float32 sum";
}

}  // namespace

CpuKernel avx2Kernel() {
  return {"cpu-avx2", "AVX2 and FMA, register tiles 3x16 and 6x16", cpuFeatures().avx2, "This CPU has no AVX2 and FMA.",
          describe, run<PairwiseMicro>};
}

CpuKernel avxVnniKernel() {
  return {"cpu-avxvnni", "AVX-VNNI for fp4, AVX2 and FMA for the rest", cpuFeatures().avxVnni,
          "This CPU has no AVX-VNNI.", describe, run<VnniMicro>};
}

}  // namespace blockscope

#else

namespace blockscope {
CpuKernel avx2Kernel() { return {"cpu-avx2", "AVX2 and FMA", false, "Not an x86-64 build.", nullptr, nullptr}; }
CpuKernel avxVnniKernel() { return {"cpu-avxvnni", "AVX-VNNI", false, "Not an x86-64 build.", nullptr, nullptr}; }
}  // namespace blockscope

#endif
