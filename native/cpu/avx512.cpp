// AVX-512: fp4 as exact integers with VNNI, everything else as exact bfloat16 (vdpbf16ps) where the
// CPU has it and as float32 where it has not; scales beyond the range of both as float64.
#include <algorithm>
#include <array>
#include <cstring>

#include "../core/outputs.h"
#include "../core/packing.h"
#include "kernel.h"
#include "tiling.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "target.h"

namespace blockscope {

BLOCKSCOPE_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")

namespace {

void addTo(float* sums, __m512 total) {
  _mm512_storeu_ps(sums, _mm512_add_ps(_mm512_loadu_ps(sums), total));
}

__m512i broadcastFourBytes(const void* from) {
  int32_t four;
  __builtin_memcpy(&four, from, 4);
  return _mm512_set1_epi32(four);
}

// 6 x 32: 12 integer and 12 float accumulators, two registers of B, and what a block's end takes.
template <int kScaleBlockSize, ScaleProduct kProduct>
struct IntegerMicro {
  using Sum = float;
  using Panels = IntegerPanels;
  static constexpr int kRows = 6, kColumns = 32, kChunk = 1024;

  // Products of A's scale with 16 columns' scales.
  static __m512 product(const int32_t* table, int32_t a, __m512i b) {
    if constexpr (kProduct == ScaleProduct::kMultiplied)
      return _mm512_mul_ps(_mm512_castsi512_ps(_mm512_set1_epi32(a)), _mm512_castsi512_ps(b));
    if constexpr (kProduct == ScaleProduct::kExponentsAdded)
      return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_set1_epi32(a), b));
    // The permutation looks at the low four bits of B's words.
    return _mm512_castsi512_ps(
        _mm512_add_epi32(_mm512_permutexvar_epi32(b, _mm512_load_si512(table + a)), b));
  }

  static void add(const Panels& panels, int64_t k, int64_t row, int64_t panel, int64_t k0,
                  int64_t depth, float* sums, int64_t stride) {
    constexpr int64_t kStride = kChunk + Panels::kPadding;
    const int64_t blocks = k / kScaleBlockSize, block0 = k0 / kScaleBlockSize;
    const int8_t* a = panels.a + (k0 / kChunk * panels.rows + row) * kStride;
    const int32_t* aScales = panels.aScaleBits + row * blocks + block0 * kRows;
    const int32_t* aBias = panels.aBias + row * blocks + block0 * kRows;
    const uint8_t* b = panels.b + (panel * k + k0) * kColumns;
    const int32_t* bScales = panels.bScaleBits + (panel * blocks + block0) * kColumns;
    const int32_t* table = scaleProductTable();
    __m512 total[kRows][2];
    for (int i = 0; i < kRows; i++) total[i][0] = total[i][1] = _mm512_setzero_ps();
    for (int64_t block = 0; block < depth / kScaleBlockSize; block++) {
      __m512i dot[kRows][2];
      for (int i = 0; i < kRows; i++) dot[i][0] = dot[i][1] = _mm512_set1_epi32(aBias[i]);
#pragma GCC unroll 8
      for (int step = 0; step < kScaleBlockSize / 4; step++) {
        const __m512i b0 = _mm512_loadu_si512(b), b1 = _mm512_loadu_si512(b + 64);
        b += kColumns * 4;
#pragma GCC unroll 8
        for (int i = 0; i < kRows; i++) {
          const __m512i quad = broadcastFourBytes(a + i * kStride + step * 4);
          dot[i][0] = _mm512_dpbusd_epi32(dot[i][0], b0, quad);
          dot[i][1] = _mm512_dpbusd_epi32(dot[i][1], b1, quad);
        }
      }
      const __m512i s0 = _mm512_loadu_si512(bScales), s1 = _mm512_loadu_si512(bScales + 16);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; i++) {
        total[i][0] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot[i][0]), product(table, aScales[i], s0),
                                      total[i][0]);
        total[i][1] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot[i][1]), product(table, aScales[i], s1),
                                      total[i][1]);
      }
      a += kScaleBlockSize;
      aScales += kRows;
      aBias += kRows;
      bScales += kColumns;
    }
    for (int i = 0; i < kRows; i++)
      for (int j = 0; j < 2; j++) addTo(sums + i * stride + j * 16, total[i][j]);
  }
};

struct FloatLanes {
  using Number = float;
  static constexpr int kLanes = 16;
  static __m512 zero() { return _mm512_setzero_ps(); }
  static __m512 load(const float* from) { return _mm512_loadu_ps(from); }
  static __m512 broadcast(float value) { return _mm512_set1_ps(value); }
  static __m512 multiplyAdd(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
  static void addTo(float* sums, __m512 total) {
    _mm512_storeu_ps(sums, _mm512_add_ps(_mm512_loadu_ps(sums), total));
  }
};

struct DoubleLanes {
  using Number = double;
  static constexpr int kLanes = 8;
  static __m512d zero() { return _mm512_setzero_pd(); }
  static __m512d load(const double* from) { return _mm512_loadu_pd(from); }
  static __m512d broadcast(double value) { return _mm512_set1_pd(value); }
  static __m512d multiplyAdd(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
  static void addTo(double* sums, __m512d total) {
    _mm512_storeu_pd(sums, _mm512_add_pd(_mm512_loadu_pd(sums), total));
  }
};

#define BLOCKSCOPE_NUMBER_ROWS 12
#include "numberMicro.inc"

// 2 * e2m1 + offset of 64 codes: bytes become words, low nibble first, and a table lookup.
void expandE2m1(const uint8_t* packed, int64_t count, int offset, uint8_t* out) {
  const __m128i doubled = _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
  // With a mask of ones: GCC 12 warns of its own undefined register in the form without.
  const __m512i table = _mm512_add_epi8(_mm512_maskz_broadcast_i32x4(0xffff, doubled),
                                        _mm512_set1_epi8(static_cast<char>(offset)));
  for (int64_t i = 0; i < count; i += 64) {
    const int64_t left = count - i < 64 ? count - i : 64;
    const __m256i bytes = _mm256_maskz_loadu_epi8(~0u >> (32 - left / 2), packed + i / 2);
    const __m512i words = _mm512_cvtepu8_epi16(bytes);
    const __m512i codes = _mm512_and_si512(_mm512_or_si512(words, _mm512_slli_epi16(words, 4)),
                                           _mm512_set1_epi16(0x0f0f));
    _mm512_mask_storeu_epi8(out + i, ~uint64_t{0} >> (64 - left),
                            _mm512_shuffle_epi8(table, codes));
  }
}

// 64 bytes at a time: sums of four by a dot product with ones, then pairs of those.
void sumBlocks(const int8_t* numbers, int64_t blocks, int size, int32_t* sums) {
  const int perVector = 64 / size;
  for (int64_t block = 0; block < blocks; block += perVector) {
    const int64_t bytes = (blocks - block < perVector ? blocks - block : perVector) * size;
    const __m512i vector =
        _mm512_maskz_loadu_epi8(~uint64_t{0} >> (64 - bytes), numbers + block * size);
    __m512i total = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1), vector);
    total = _mm512_add_epi32(total, _mm512_shuffle_epi32(total, _MM_PERM_BADC));
    total = _mm512_add_epi32(total, _mm512_shuffle_epi32(total, _MM_PERM_CDAB));
    if (size == 32)
      total = _mm512_add_epi32(total, _mm512_shuffle_i32x4(total, total, _MM_SHUFFLE(2, 3, 0, 1)));
    const __mmask16 every = size == 16 ? 0x1111 : 0x0101;
    const __mmask16 present = static_cast<__mmask16>(0xffff >> (16 - bytes / 4));
    _mm512_mask_compressstoreu_epi32(sums + block, every & present, total);
  }
}

void narrowToHalf(const float* sums, int64_t count, uint16_t* out) {
  for (int64_t i = 0; i < count; i += 16) {
    const __mmask16 lanes =
        static_cast<__mmask16>(count - i < 16 ? (1u << (count - i)) - 1 : 0xffff);
    const __m512 row = _mm512_maskz_loadu_ps(lanes, sums + i);
    const __m256i half = _mm512_cvtps_ph(row, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm256_mask_storeu_epi16(out + i, lanes, half);
  }
}

// The bfloat16 values of codes 0..127; code 128 + c is minus code c (only 8-bit formats have codes
// that high).
class Bf16Table {
 public:
  explicit Bf16Table(const uint16_t* values) {
    for (int i = 0; i < 4; i++) quarters_[i] = _mm512_loadu_si512(values + 32 * i);
  }

  __m512i lookUp(__m512i codes) const {
    const __m512i low = _mm512_permutex2var_epi16(quarters_[0], codes, quarters_[1]);
    const __m512i high = _mm512_permutex2var_epi16(quarters_[2], codes, quarters_[3]);
    const __mmask32 isHigh = _mm512_test_epi16_mask(codes, _mm512_set1_epi16(64));
    const __m512i sign = _mm512_slli_epi16(_mm512_and_si512(codes, _mm512_set1_epi16(128)), 8);
    return _mm512_xor_si512(_mm512_mask_mov_epi16(low, isHigh, high), sign);
  }

 private:
  __m512i quarters_[4];
};

// 32 bfloat16 times the scales of their pairs; exact for scales that are safe, and NaN and infinity
// stay what they are.
__m512i scaleBf16(__m512i values, __m512 factor) {
  const __m512i upper = _mm512_set1_epi32(static_cast<int32_t>(0xffff0000));
  const __m512 even = _mm512_mul_ps(_mm512_castsi512_ps(_mm512_slli_epi32(values, 16)), factor);
  const __m512 odd = _mm512_mul_ps(_mm512_castsi512_ps(_mm512_and_si512(values, upper)), factor);
  return _mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(even), 16),
                         _mm512_and_si512(_mm512_castps_si512(odd), upper));
}

void decodeBf16Blocks(const uint16_t* values, const float* scaleValues, const uint8_t* codes,
                      bool nibbles, const uint8_t* scales, int64_t blocks, uint16_t* out) {
  const Bf16Table table(values);
  for (int64_t block = 0; block < blocks; block++) {
    __m512i wide;
    if (nibbles) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + block * 16));
      const __m512i pairs = _mm512_cvtepu8_epi32(bytes);
      wide = _mm512_or_si512(_mm512_and_si512(pairs, _mm512_set1_epi32(15)),
                             _mm512_slli_epi32(_mm512_srli_epi32(pairs, 4), 16));
    } else {
      wide = _mm512_cvtepu8_epi16(
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + block * 32)));
    }
    _mm512_storeu_si512(out + block * 32,
                        scaleBf16(table.lookUp(wide), _mm512_set1_ps(scaleValues[scales[block]])));
  }
}

// The same for `blocks` of 16 nibbles. The last one may stand alone: `out` has room for 32 numbers.
void decodeBf16HalfBlocks(const uint16_t* values, const float* scaleValues, const uint8_t* codes,
                          const uint8_t* scales, int64_t blocks, uint16_t* out) {
  const Bf16Table table(values);
  for (int64_t block = 0; block < blocks; block += 2) {
    const bool both = block + 1 < blocks;
    const __m512i pairs =
        _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(both ? 0xffff : 0x00ff, codes + block * 8));
    const __m512i wide = _mm512_or_si512(_mm512_and_si512(pairs, _mm512_set1_epi32(15)),
                                         _mm512_slli_epi32(_mm512_srli_epi32(pairs, 4), 16));
    const __m512 factors =
        _mm512_mask_blend_ps(0xff00, _mm512_set1_ps(scaleValues[scales[block]]),
                             _mm512_set1_ps(both ? scaleValues[scales[block + 1]] : 0.0f));
    _mm512_storeu_si512(out + block * 16, scaleBf16(table.lookUp(wide), factors));
  }
}

}  // namespace

BLOCKSCOPE_TARGET_END

BLOCKSCOPE_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")

namespace {

// 12 x 32: 24 accumulators.
struct Bf16Micro {
  using Sum = float;
  using Panels = NumberPanels<uint16_t>;
  static constexpr int kRows = 12, kColumns = 32, kChunk = 512;

  static void add(const Panels& panels, int64_t k, int64_t row, int64_t panel, int64_t k0,
                  int64_t depth, float* sums, int64_t stride) {
    constexpr int64_t kStride = kChunk + Panels::kPadding;
    const uint16_t* a = panels.a + (k0 / kChunk * panels.rows + row) * kStride;
    const uint16_t* b = panels.b + (panel * k + k0) * kColumns;
    __m512 total[kRows][2];
    for (int i = 0; i < kRows; i++) total[i][0] = total[i][1] = _mm512_setzero_ps();
    for (int64_t pair = 0; pair < depth / 2; pair++) {
      const __m512bh b0 = (__m512bh)_mm512_loadu_si512(b),
                     b1 = (__m512bh)_mm512_loadu_si512(b + 32);
      b += kColumns * 2;
#pragma GCC unroll 12
      for (int i = 0; i < kRows; i++) {
        int32_t two;
        __builtin_memcpy(&two, a + i * kStride + pair * 2, 4);
        const __m512bh both = (__m512bh)_mm512_set1_epi32(two);
        total[i][0] = _mm512_dpbf16_ps(total[i][0], both, b0);
        total[i][1] = _mm512_dpbf16_ps(total[i][1], both, b1);
      }
    }
    for (int i = 0; i < kRows; i++)
      for (int j = 0; j < 2; j++) {
        float* out = sums + i * stride + j * 16;
        _mm512_storeu_ps(out, _mm512_add_ps(_mm512_loadu_ps(out), total[i][j]));
      }
  }
};

}  // namespace

BLOCKSCOPE_TARGET_END

namespace {

// Element formats of eight bits or less as bfloat16, by code.
const uint16_t* bf16Values(NumberFormatId id) {
  using Values = std::array<uint16_t, 128>;
  static const auto tables = [] {
    std::array<Values, static_cast<size_t>(NumberFormatId::kE5m2) + 1> all;
    for (size_t format = 0; format < all.size(); format++)
      for (int code = 0; code < 128; code++)
        all[format][code] = floatToBf16(decodeTable(static_cast<NumberFormatId>(format))[code]);
    return all;
  }();
  return tables[static_cast<size_t>(id)].data();
}

void decodeBf16(const Side& side, int64_t row, int64_t k0, int64_t count, uint16_t* out) {
  if (!side.scales) {
    std::memcpy(out, side.codesAt(row, k0), static_cast<size_t>(count) * sizeof(uint16_t));
    return;
  }
  constexpr int64_t kStep = 256;
  const uint16_t* values = bf16Values(side.element->id);
  const float* scaleValues = decodeTable(side.scale).data();
  const bool nibbles = side.element->storageBits == 4;
  uint8_t unpacked[kStep];
  for (int64_t at = 0; at < count; at += kStep) {
    const int64_t step = std::min(kStep, count - at);
    const uint8_t* codes = side.codesAt(row, k0 + at);
    if (side.element->storageBits == 6) {
      unpackCodes(*side.element, codes, step, unpacked);
      codes = unpacked;
    }
    if (side.scaleBlockSize == 16)
      decodeBf16HalfBlocks(values, scaleValues, codes, side.scalesAt(row, k0 + at), step / 16,
                           out + at);
    else
      decodeBf16Blocks(values, scaleValues, codes, nibbles, side.scalesAt(row, k0 + at), step / 32,
                       out + at);
  }
}

void computeIntegers(const Problem& problem, const KernelOperands& packed,
                     const BlockFormat& format, ScaleSafety safety, void* c, Workspace& workspace,
                     const CancelFlag& cancel) {
  using enum ScaleProduct;
  auto multiply = [&]<int kScaleBlockSize, ScaleProduct kProduct>() {
    multiplyIntegers<IntegerMicro<kScaleBlockSize, kProduct>>(
        problem, packed, {kProduct, expandE2m1, sumBlocks}, c, narrowToHalf, workspace, cancel);
  };
  const bool sixteen = format.scaleBlockSize == 16, e8m0 = format.scale == NumberFormatId::kE8m0;
  if (safety == ScaleSafety::kSafeIfMultiplied)
    sixteen ? multiply.template operator()<16, kMultiplied>()
            : multiply.template operator()<32, kMultiplied>();
  else if (!e8m0) multiply.template operator()<16, kLookedUp>();
  else if (sixteen) multiply.template operator()<16, kExponentsAdded>();
  else multiply.template operator()<32, kExponentsAdded>();
}

template <bool kHasBf16>
void compute(const Problem& problem, const KernelOperands& packed, void* c, Workspace& workspace,
             const CancelFlag& cancel) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const ScaleSafety safety = scaleSafety(problem, packed);
  if (safety == ScaleSafety::kNeedsFloat64) {
    multiplyNumbers<NumberMicro<DoubleLanes>, double>(problem, packed, decodeNumbers<double>, c,
                                                      narrowToHalf, workspace, cancel);
  } else if (isIntegerFormat(format)) {
    computeIntegers(problem, packed, format, safety, c, workspace, cancel);
  } else if constexpr (kHasBf16) {
    multiplyNumbers<Bf16Micro, uint16_t>(problem, packed, decodeBf16, c, narrowToHalf, workspace,
                                         cancel);
  } else {
    multiplyNumbers<NumberMicro<FloatLanes>, float>(problem, packed, decodeNumbers<float>, c,
                                                    narrowToHalf, workspace, cancel);
  }
}

template <bool kHasBf16>
std::string describe(const BlockFormat& format) {
  if (isIntegerFormat(format))
    return "exact int8 dot product per scale block (vpdpbusd), float32 sum over blocks; extreme "
           "scales in float64";
  return kHasBf16 ? "element times scale exact in bfloat16 (vdpbf16ps), float32 sum; extreme "
                    "scales in float64"
                  : "element times scale exact in float32, float32 sum; extreme scales in float64";
}

template <bool kHasBf16>
std::string instruction(const BlockFormat& format) {
  if (isIntegerFormat(format)) return "int8:avx512-vnni";
  return kHasBf16 ? "bf16:avx512-bf16" : "fp32:avx512";
}

}  // namespace

CpuKernel avx512Kernel(const CpuFeatures& has) {
  CpuKernel kernel{"cpu-avx512",      "AVX-512 VNNI for fp4, float32 for the rest",
                   has.avx512Vnni,    "This CPU has no AVX-512 VNNI.",
                   describe<false>,   compute<false>,
                   instruction<false>};
  if (has.avx512Bf16) {
    kernel.summary = "AVX-512 VNNI for fp4, AVX-512 BF16 for the rest";
    kernel.describe = describe<true>;
    kernel.multiply = compute<true>;
    kernel.instruction = instruction<true>;
  }
  return kernel;
}

}  // namespace blockscope

#else

namespace blockscope {
CpuKernel avx512Kernel(const CpuFeatures&) {
  return {"cpu-avx512", "AVX-512 VNNI", false, "This build has no x86-64 kernels.",
          nullptr,      nullptr};
}
}  // namespace blockscope

#endif
