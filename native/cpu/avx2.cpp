// AVX2 with FMA: fp4 as exact integers with vpmaddubsw, everything else as float32; extreme scales
// as float64.
#include "kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "avx2Common.h"
#include "target.h"

namespace blockscope {

BLOCKSCOPE_TARGET_BEGIN("avx2,fma,f16c")

namespace {

// u8 in 0..24 times s8 in -12..12: a pair's sum is at most 576, so 16 bits hold the 8 of a block
// of 32.
struct PairwiseDot {
  static __m256i start(int32_t) { return _mm256_setzero_si256(); }
  static __m256i add(__m256i sum, __m256i unsignedBytes, __m256i signedBytes) {
    return _mm256_add_epi16(sum, _mm256_maddubs_epi16(unsignedBytes, signedBytes));
  }
  static __m256i finish(__m256i sum, int32_t bias) {
    return _mm256_add_epi32(_mm256_madd_epi16(sum, _mm256_set1_epi16(1)), _mm256_set1_epi32(bias));
  }
};

#include "integerMicro256.inc"

struct FloatLanes {
  using Number = float;
  static constexpr int kLanes = 8;
  static __m256 zero() { return _mm256_setzero_ps(); }
  static __m256 load(const float* from) { return _mm256_loadu_ps(from); }
  static __m256 broadcast(float value) { return _mm256_set1_ps(value); }
  static __m256 multiplyAdd(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
  static void addTo(float* sums, __m256 total) {
    _mm256_storeu_ps(sums, _mm256_add_ps(_mm256_loadu_ps(sums), total));
  }
};

struct DoubleLanes {
  using Number = double;
  static constexpr int kLanes = 4;
  static __m256d zero() { return _mm256_setzero_pd(); }
  static __m256d load(const double* from) { return _mm256_loadu_pd(from); }
  static __m256d broadcast(double value) { return _mm256_set1_pd(value); }
  static __m256d multiplyAdd(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
  static void addTo(double* sums, __m256d total) {
    _mm256_storeu_pd(sums, _mm256_add_pd(_mm256_loadu_pd(sums), total));
  }
};

#define BLOCKSCOPE_NUMBER_ROWS 6
#include "numberMicro.inc"

}  // namespace

namespace avx2 {

// Bytes become words, low nibble first, and a table lookup.
void expandE2m1(const uint8_t* packed, int64_t count, int offset, uint8_t* out) {
  const __m128i table =
      _mm_add_epi8(_mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12),
                   _mm_set1_epi8(static_cast<char>(offset)));
  for (int64_t i = 0; i < count; i += 16) {
    const __m128i words =
        _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(packed + i / 2)));
    const __m128i codes =
        _mm_and_si128(_mm_or_si128(words, _mm_slli_epi16(words, 4)), _mm_set1_epi16(0x0f0f));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm_shuffle_epi8(table, codes));
  }
}

void sumBlocks(const int8_t* numbers, int64_t blocks, int size, int32_t* sums) {
  for (int64_t block = 0; block < blocks; block++, numbers += size) {
    const __m128i* from = reinterpret_cast<const __m128i*>(numbers);
    // vpsadbw adds unsigned bytes; 12 makes them so.
    const __m128i offset = _mm_set1_epi8(12);
    __m128i total = _mm_sad_epu8(_mm_add_epi8(_mm_loadu_si128(from), offset), _mm_setzero_si128());
    if (size == 32)
      total = _mm_add_epi64(total, _mm_sad_epu8(_mm_add_epi8(_mm_loadu_si128(from + 1), offset),
                                                _mm_setzero_si128()));
    sums[block] = _mm_cvtsi128_si32(total) + _mm_extract_epi16(total, 4) - 12 * size;
  }
}

void narrowToHalf(const float* sums, int64_t count, uint16_t* out) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i half =
        _mm256_cvtps_ph(_mm256_loadu_ps(sums + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), half);
  }
  narrowToHalfPortable(sums + i, count - i, out + i);
}

}  // namespace avx2

BLOCKSCOPE_TARGET_END

namespace avx2 {

void multiplyAsFloat32(const Problem& problem, const KernelOperands& packed, void* c,
                       Workspace& workspace, const CancelFlag& cancel) {
  multiplyNumbers<NumberMicro<FloatLanes>, float>(problem, packed, decodeNumbers<float>, c,
                                                  narrowToHalf, workspace, cancel);
}

void multiplyAsFloat64(const Problem& problem, const KernelOperands& packed, void* c,
                       Workspace& workspace, const CancelFlag& cancel) {
  multiplyNumbers<NumberMicro<DoubleLanes>, double>(problem, packed, decodeNumbers<double>, c,
                                                    narrowToHalf, workspace, cancel);
}

std::string describe(const BlockFormat& format) {
  return isIntegerFormat(format)
             ? "exact int8 dot product per scale block, float32 sum over blocks; extreme scales in "
               "float64"
             : "element times scale exact in float32, float32 sum; extreme scales in float64";
}

}  // namespace avx2

CpuKernel avx2Kernel(const CpuFeatures& has) {
  return {"cpu-avx2",
          "AVX2: int8 dot products for fp4, float32 for the rest",
          has.avx2,
          "This CPU has no AVX2 with FMA and F16C.",
          avx2::describe,
          avx2::compute<IntegerMicro<PairwiseDot, 16>, IntegerMicro<PairwiseDot, 32>>,
          [](const BlockFormat& format) -> std::string {
            return isIntegerFormat(format) ? "int8:avx2" : "fp32:avx2";
          }};
}

}  // namespace blockscope

#else

namespace blockscope {
CpuKernel avx2Kernel(const CpuFeatures&) {
  return {"cpu-avx2", "AVX2", false, "This build has no x86-64 kernels.", nullptr, nullptr};
}
}  // namespace blockscope

#endif
