// Two bf16 numbers to a word: rounding, products, their bits, and matrix instructions of a warp.
#pragma once

#include "common/types.cuh"

__device__ inline u32 toBf16Pair(float low, float high) {
  u32 pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

__device__ inline u32 multiplyBf16Pair(u32 a, u32 b) {
  u32 product;
#if __CUDA_ARCH__ >= 900
  asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
#else
  // With -0 added, which changes no number.
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(product) : "r"(a), "r"(b), "r"(0x80008000));
#endif
  return product;
}
// The lesser of each half's two, and a number beside NaN.
__device__ inline u32 lesserBf16Pair(u32 a, u32 b) {
  u32 lesser;
  asm("min.bf16x2 %0, %1, %2;" : "=r"(lesser) : "r"(a), "r"(b));
  return lesser;
}
// The bits under the mask; compilers would take a shift of them before it, and need another mask.
template <u32 Mask>
__device__ inline u32 onlyBits(u32 a) {
  u32 bits;
  asm("and.b32 %0, %1, %2;" : "=r"(bits) : "r"(a), "n"(Mask));
  return bits;
}
// The bits of `a` under the mask, those of `b` elsewhere: one instruction, which compilers make two
// of where they know bits of `b`.
template <u32 Mask>
__device__ inline u32 selectBits(u32 a, u32 b) {
  u32 bits;
  asm("lop3.b32 %0, %1, %2, %3, 0xe4;" : "=r"(bits) : "r"(a), "r"(b), "n"(Mask));
  return bits;
}
// Two of eight bytes of two words, one to a half, each below a byte of its sign: a selector with 8
// (PTX ISA, prmt), which CUDA's __byte_perm takes away.
__device__ inline u32 besideSigns(u32 low, u32 high, int first, int second) {
  u32 both;
  asm("prmt.b32 %0, %1, %2, %3;"
      : "=r"(both)
      : "r"(low), "r"(high), "r"((first + second * 0x100) * 0x11 + 0x8080));
  return both;
}
__device__ inline u32 bothHalves(float value) { return toBf16Pair(value, value); }
// One half in both: what multiplies takes it out of the register where it is, if it is told so and
// not by a permutation of bytes.
__device__ inline u32 bothOfHalf(u32 pair, int half) {
  u32 both;
  if (half == 0)
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; mov.b32 %0, {low, low}; }"
        : "=r"(both)
        : "r"(pair));
  else
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; mov.b32 %0, {high, high}; }"
        : "=r"(both)
        : "r"(pair));
  return both;
}

// D (16 x 8) = A B^T, fragments of a warp of numbers of 16 bits (PTX ISA, "mma.m16n8k16").
#define BS_MULTIPLY(NAME, TYPE)                                                              \
  __device__ inline void NAME(float* d, const u32(&a)[4], u32 b0, u32 b1) {                  \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE                      \
                 ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"  \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                            \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(0.0f)); \
  }
BS_MULTIPLY(multiplyPairs, "bf16")
// D += A B^T.
#define BS_ADD_PRODUCTS(NAME, TYPE)                                                     \
  __device__ inline void NAME(float* d, const u32(&a)[4], u32 b0, u32 b1) {             \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE                 \
                 ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                       \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));       \
  }
BS_ADD_PRODUCTS(addPairs, "bf16")
