// wgmma on sm_90a (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operations"):
// A and B tiles in shared memory, K-major, 128-byte swizzle; D in registers of a warpgroup.
#pragma once

#include "common/formats.cuh"

// Descriptor of a K-major tile whose rows are 128 bytes, swizzled by TMA: groups of 8 rows are 1024
// bytes apart.
__device__ inline u64 tileDescriptor(u32 sharedAddress) {
  constexpr u64 kSwizzle128 = 1ull << 62, kGroupStride = (u64)(1024 >> 4) << 32,
                kLeading = 1ull << 16;
  return kSwizzle128 | kGroupStride | kLeading | (sharedAddress >> 4 & 0x3fff);
}

// Along K inside the 128-byte row: descriptors count in 16 bytes, one instruction takes 32.
constexpr u64 kDescriptorStep = 32 >> 4;

__device__ inline void wgmmaFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmmaCommit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int Pending>
__device__ inline void wgmmaWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// Keeps the compiler from moving uses of accumulators past this point: reads before the wait that
// precedes it, or additions into the next matrix instructions, which would then be serialised.
template <int Count>
__device__ inline void holdRegisters(float (&d)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; i++) asm volatile("" : "+f"(d[i])::"memory");
}

// The same of an operand in registers: what it is made by stands ahead of this point.
__device__ inline void holdOperand(u32 (&words)[4]) {
#pragma unroll
  for (int i = 0; i < 4; i++) asm volatile("" : "+r"(words[i])::"memory");
}

// Accumulators as the assembler lists them: BS_TEN(7) is "%70, ..., %79", BS_EIGHT(8) is d[8] ...
// d[15].
#define BS_TEN(t)                                                                                  \
  "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t \
  "9"
#define BS_LIST_4 "%0, %1, %2, %3"
#define BS_LIST_8 BS_LIST_4 ", %4, %5, %6, %7"
#define BS_LIST_16 BS_TEN() ", %10, %11, %12, %13, %14, %15"
#define BS_LIST_32 BS_TEN() ", " BS_TEN(1) ", " BS_TEN(2) ", %30, %31"
#define BS_LIST_70 \
  BS_TEN() ", " BS_TEN(1) ", " BS_TEN(2) ", " BS_TEN(3) ", " BS_TEN(4) ", " BS_TEN(5) ", " BS_TEN(6)
#define BS_LIST_64                                                         \
  BS_TEN()                                                                 \
  ", " BS_TEN(1) ", " BS_TEN(2) ", " BS_TEN(3) ", " BS_TEN(4) ", " BS_TEN( \
      5) ", %60, %61, %62, %63"
#define BS_LIST_96 BS_LIST_70 ", " BS_TEN(7) ", " BS_TEN(8) ", %90, %91, %92, %93, %94, %95"
#define BS_LIST_100 BS_LIST_70 ", " BS_TEN(7) ", " BS_TEN(8) ", " BS_TEN(9)
#define BS_LIST_128 \
  BS_LIST_100 ", " BS_TEN(10) ", " BS_TEN(11) ", %120, %121, %122, %123, %124, %125, %126, %127"
#define BS_EIGHT(i)                                                                           \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define BS_HOLD_4 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define BS_HOLD_8 BS_EIGHT(0)
#define BS_HOLD_16 BS_HOLD_8, BS_EIGHT(8)
#define BS_HOLD_32 BS_HOLD_16, BS_EIGHT(16), BS_EIGHT(24)
#define BS_HOLD_64 BS_HOLD_32, BS_EIGHT(32), BS_EIGHT(40), BS_EIGHT(48), BS_EIGHT(56)
#define BS_HOLD_96 BS_HOLD_64, BS_EIGHT(64), BS_EIGHT(72), BS_EIGHT(80), BS_EIGHT(88)
#define BS_HOLD_128 BS_HOLD_96, BS_EIGHT(96), BS_EIGHT(104), BS_EIGHT(112), BS_EIGHT(120)

// D (64 x 2 COUNT) = A B^T, plus D where `accumulate`; `instruction` names shape and types, A, B
// and the rest are operands number COUNT, COUNT + 1 and COUNT + 2.
#define BS_WGMMA(name, COUNT, instruction, a_, b_, p_, rest)                           \
  __device__ inline void name(float (&d)[COUNT], u64 a, u64 b, bool accumulate) {      \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, " p_                                  \
                 ", 0; wgmma.mma_async.sync.aligned." instruction " {" BS_LIST_##COUNT \
                 "}, " a_ ", " b_ ", p, " rest "; }"                                   \
                 : BS_HOLD_##COUNT                                                     \
                 : "l"(a), "l"(b), "r"((int)accumulate));                              \
  }

BS_WGMMA(multiplyE5m2, 96, "m64n192k32.f32.e5m2.e5m2", "%96", "%97", "%98", "1, 1")
BS_WGMMA(multiplyE4m3, 96, "m64n192k32.f32.e4m3.e4m3", "%96", "%97", "%98", "1, 1")
BS_WGMMA(multiplyE4m3E5m2, 96, "m64n192k32.f32.e4m3.e5m2", "%96", "%97", "%98", "1, 1")
BS_WGMMA(multiplyE5m2E4m3, 96, "m64n192k32.f32.e5m2.e4m3", "%96", "%97", "%98", "1, 1")
BS_WGMMA(multiplyBf16, 128, "m64n256k16.f32.bf16.bf16", "%128", "%129", "%130", "1, 1, 0, 0")

// The same with A, 64 rows, in registers: word 2 h + r of a thread holds row warp * 16 + lane / 4 +
// 8 r, bytes 16 h + 4 * (lane % 4) and on of the 32 that an instruction takes.
#define BS_WGMMA_FROM_REGISTERS(name, COUNT, instruction, a0_, a1_, a2_, a3_, b_, p_, rest)   \
  __device__ inline void name(float (&d)[COUNT], const u32(&a)[4], u64 b, bool accumulate) {  \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, " p_                                         \
                 ", 0; wgmma.mma_async.sync.aligned." instruction " {" BS_LIST_##COUNT        \
                 "}, {" a0_ ", " a1_ ", " a2_ ", " a3_ "}, " b_ ", p, " rest "; }"            \
                 : BS_HOLD_##COUNT                                                            \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"((int)accumulate)); \
  }

BS_WGMMA_FROM_REGISTERS(multiplyE5m2, 4, "m64n8k32.f32.e5m2.e5m2", "%4", "%5", "%6", "%7", "%8",
                        "%9", "1, 1")
BS_WGMMA_FROM_REGISTERS(multiplyE5m2, 8, "m64n16k32.f32.e5m2.e5m2", "%8", "%9", "%10", "%11", "%12",
                        "%13", "1, 1")
BS_WGMMA_FROM_REGISTERS(multiplyE5m2, 16, "m64n32k32.f32.e5m2.e5m2", "%16", "%17", "%18", "%19",
                        "%20", "%21", "1, 1")
BS_WGMMA_FROM_REGISTERS(multiplyE5m2, 32, "m64n64k32.f32.e5m2.e5m2", "%32", "%33", "%34", "%35",
                        "%36", "%37", "1, 1")
// Of numbers of 16 bits, by 16, 32 and 64 columns.
#define BS_WGMMA_FEW_COLUMNS(name, type)                                                         \
  BS_WGMMA_FROM_REGISTERS(name, 8, "m64n16k16.f32." type "." type, "%8", "%9", "%10", "%11",     \
                          "%12", "%13", "1, 1, 0")                                               \
  BS_WGMMA_FROM_REGISTERS(name, 16, "m64n32k16.f32." type "." type, "%16", "%17", "%18", "%19",  \
                          "%20", "%21", "1, 1, 0")                                               \
  BS_WGMMA_FROM_REGISTERS(name, 32, "m64n64k16.f32." type "." type, "%32", "%33", "%34", "%35",  \
                          "%36", "%37", "1, 1, 0")
BS_WGMMA_FEW_COLUMNS(multiplyBf16, "bf16")
BS_WGMMA_FEW_COLUMNS(multiplyF16, "f16")
BS_WGMMA_FROM_REGISTERS(multiplyBf16, 64, "m64n128k16.f32.bf16.bf16", "%64", "%65", "%66", "%67",
                        "%68", "%69", "1, 1, 0")
BS_WGMMA_FROM_REGISTERS(multiplyBf16, 96, "m64n192k16.f32.bf16.bf16", "%96", "%97", "%98", "%99",
                        "%100", "%101", "1, 1, 0")
BS_WGMMA_FROM_REGISTERS(multiplyBf16, 128, "m64n256k16.f32.bf16.bf16", "%128", "%129", "%130",
                        "%131", "%132", "%133", "1, 1, 0")
