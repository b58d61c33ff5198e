// Elements and scales in registers. Formats by number, as blockscope's macros give them:
// 0 e2m1, 1 e2m3, 2 e3m2, 3 e4m3, 4 e5m2, 5 e8m0, 6 ue4m3, 7 bf16
// (OCP Microscaling Formats v1.0 section 5.3; NVFP4 for ue4m3).
#pragma once

#include "common/bf16Pairs.cuh"
#include "common/outputs.cuh"
#include "common/types.cuh"

__host__ __device__ constexpr int kBits(int format) {
  return format == 0 ? 4 : format <= 2 ? 6 : format == 7 ? 16 : 8;
}
// Elements of 16 bits carry no scales: their array is not there.
__host__ __device__ constexpr bool kIsScaled(int format) { return kBits(format) <= 8; }

__device__ inline float nanValue() { return __int_as_float(0x7fffffff); }

// A small float with a sign from its code; exact.
__device__ inline float decodeSmall(u32 code, int exponentBits, int mantissaBits, int bias) {
  const u32 sign = code >> (exponentBits + mantissaBits) & 1;
  const u32 magnitude = code & ((1u << (exponentBits + mantissaBits)) - 1);
  // As a float32 whose exponent field starts at 0; the product with a power of two puts the bias
  // right, subnormals too.
  const float raw = __int_as_float(magnitude << (23 - mantissaBits) | sign << 31);
  return raw * __int_as_float((u32)(127 + 127 - bias) << 23);
}

template <int Format>
__device__ inline float decodeElement(u32 code) {
  if (Format == 0) return decodeSmall(code, 2, 1, 1);
  if (Format == 1) return decodeSmall(code, 2, 3, 1);
  if (Format == 2) return decodeSmall(code, 3, 2, 3);
  if (Format == 3) return (code & 127) == 127 ? nanValue() : decodeSmall(code, 4, 3, 7);
  if (Format == 7) return __int_as_float(code << 16);
  // e5m2 is the upper byte of a float16, infinities and NaN included.
#ifdef __CUDACC__
  float value;
  asm("{ .reg .f16 h; mov.b16 h, %1; cvt.f32.f16 %0, h; }" : "=f"(value) : "h"((u16)(code << 8)));
  return value;
#else
  if ((code & 0x7c) != 0x7c) return decodeSmall(code, 5, 2, 15);
  return (code & 3) != 0 ? nanValue() : __int_as_float((code & 128) << 24 | 0x7f800000);
#endif
}

template <int Format>
__device__ inline float decodeScale(u32 code) {
  if (Format == 6) return (code & 127) == 127 ? nanValue() : decodeSmall(code & 127, 4, 3, 7);
  if (code == 255) return nanValue();
  // 2^-127 has no exponent field of its own: it is a subnormal float32.
  return code == 0 ? __int_as_float(0x00400000) : __int_as_float(code << 23);
}

// Scale number `index` of an operand's elements.
template <int Format>
__device__ inline float scaleOf(const u8* scales, long long index) {
  return kIsScaled(Format) ? decodeScale<SCALE_FORMAT>(scales[index]) : 1.0f;
}

// Code number `index` of packed codes: fp4 two to a byte, low nibble first; fp6 four to three
// bytes, little-endian.
template <int Format>
__device__ inline u32 packedCode(const u8* codes, long long index) {
  if (kBits(Format) == 16) return reinterpret_cast<const u16*>(codes)[index];
  if (kBits(Format) == 8) return codes[index];
  if (kBits(Format) == 4) return codes[index >> 1] >> ((index & 1) * 4) & 15;
  const u8* group = codes + index / 4 * 3;
  const u32 word = group[0] | group[1] << 8 | group[2] << 16;
  return word >> (index % 4 * 6) & 63;
}

// Bytes of one packed row of `count` codes.
template <int Format>
__device__ inline long long packedRowBytes(long long count) {
  return count * kBits(Format) / 8;
}

// What is rounded to C: the accumulator's number added, then scaled, as passes.cu does it; no
// product is fused into the addition. A scale other than 1 comes with eight bits alone.
__device__ inline float finishedSum(float sum, float accumulated, float outputScale) {
  const float total = ACCUMULATE ? __fadd_rn(sum, accumulated) : sum;
  return sizeof(Output) == 1 ? __fmul_rn(total, outputScale) : total;
}

// Element `at` of C from its sum. `accumulator`: read where ACCUMULATE is 1.
__device__ inline Output finished(float sum, const float* accumulator, long long at,
                                  float outputScale) {
  return toOutput(finishedSum(sum, ACCUMULATE ? accumulator[at] : 0.0f, outputScale));
}

// Element (row, k) of a matrix of `rows` x K, and its scale: rows of K, or, where it lies turned (B
// as (K, N)), rows of `rows`.
template <bool Turned>
__device__ inline long long elementAt(int row, int k, int rows, int K) {
  return Turned ? (long long)k * rows + row : (long long)row * K + k;
}
template <bool Turned>
__device__ inline long long scaleAt(int row, int k, int rows, int K) {
  return Turned ? (long long)(k / SCALE_BLOCK) * rows + row
                : (long long)row * (K / SCALE_BLOCK) + k / SCALE_BLOCK;
}

// Two float32 numbers that are read once, at a multiple of 8 bytes that no thread of the kernel
// writes.
__device__ inline float2 loadStreaming(const float* from) {
  float2 both;
  asm("ld.global.nc.L1::no_allocate.v2.f32 {%0, %1}, [%2];"
      : "=f"(both.x), "=f"(both.y)
      : "l"(from));
  return both;
}

// 16 bytes that are not read again soon: the cache keeps something else.
__device__ inline void storeStreaming(void* to, uint4 words) {
#ifdef __CUDACC__
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(words.x), "r"(words.y),
               "r"(words.z), "r"(words.w)
               : "memory");
#else
  *static_cast<uint4*>(to) = words;
#endif
}
