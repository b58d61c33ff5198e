// What the block-scaled product needs of gfx950 beside arithmetic (gemm.h): clang's builtins, which
// are the same in hipRTC and in clang without ROCm's headers.
#pragma once

#include "gemm.h"

namespace mfma {

typedef int Words8 __attribute__((ext_vector_type(8)));
typedef u32 Words4 __attribute__((ext_vector_type(4)));
typedef u32 Words2 __attribute__((ext_vector_type(2)));

// The one instruction that the source is compiled for.
#if EDGE == 16
#define MFMA_SCALE __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4
typedef float SumsOfLane __attribute__((ext_vector_type(4)));
#else
#define MFMA_SCALE __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4
typedef float SumsOfLane __attribute__((ext_vector_type(16)));
#endif

#if OUTPUT_TYPE == 0
typedef _Float16 Output;
#elif OUTPUT_TYPE == 1
typedef __bf16 Output;
#else
typedef float Output;
#endif
typedef Output Output4 __attribute__((ext_vector_type(4)));

// What copies beyond the matrix read.
static __attribute__((device)) const u8 kZeros[16] __attribute__((aligned(16))) = {};

#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))

struct NativeMachine {
  typedef mfma::Output Output;
  LDS u8* lds;

  LANE_CODE static int thread() { return __builtin_amdgcn_workitem_id_x(); }
  // The same in all lanes, and known to be so.
  LANE_CODE static int wave() { return __builtin_amdgcn_readfirstlane(thread() / kLanes); }
  LANE_CODE static int block() { return __builtin_amdgcn_workgroup_id_x(); }
  LANE_CODE static const u8* zeros() { return kZeros; }

  // Lane l's `Bytes` from its address to `to` + l x Bytes; `to` is the same in all lanes.
  template <int Bytes>
  LANE_CODE void copy(u32 to, const u8* from) const {
    // The builtin takes no size that a template is to give.
    if constexpr (Bytes == 16)
      __builtin_amdgcn_global_load_lds((GLOBAL void*)from, (LDS void*)(lds + to), 16, 0, 0);
    else __builtin_amdgcn_global_load_lds((GLOBAL void*)from, (LDS void*)(lds + to), 4, 0, 0);
  }
  LANE_CODE static void waitForCopies() {
    // vmcnt(0), nothing else (LLVM AMDGPUUsage, "s_waitcnt" of gfx9).
    __builtin_amdgcn_s_waitcnt(0x0f70);
  }
  LANE_CODE static void sync() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
  }

  LANE_CODE static u32 loadWord(const u8* from) { return *(const GLOBAL u32*)from; }
  LANE_CODE static u32 loadByte(const u8* from) { return *(const GLOBAL u8*)from; }
  LANE_CODE static float loadFloat(const float* from) { return *(const GLOBAL float*)from; }
  LANE_CODE void loadLds16(u32* to, u32 from) const {
    const Words4 words = *(const LDS Words4*)(lds + from);
    for (int i = 0; i < 4; i++) to[i] = words[i];
  }
  LANE_CODE void loadLds8(u32* to, u32 from) const {
    const Words2 words = *(const LDS Words2*)(lds + from);
    for (int i = 0; i < 2; i++) to[i] = words[i];
  }

  LANE_CODE static void storeFour(Output* to, const float (&values)[4]) {
    Output4 four;
    for (int i = 0; i < 4; i++) four[i] = (Output)values[i];
    *(GLOBAL Output4*)to = four;
  }
  LANE_CODE static void storeOne(Output* to, float value) { *(GLOBAL Output*)to = (Output)value; }

  // `byteA` of the register `scaleA` scales the first operand. Bytes are known once loops are
  // unrolled; the builtin wants to be told before.
  template <class T>
  LANE_CODE static void multiplyAdd(float (&d)[T::form().sums()], const Fragment& a,
                                    const Fragment& b, int byteA, u32 scaleA, int byteB,
                                    u32 scaleB) {
    constexpr int kFirstFormat = instructionFormat(B_FORMAT),
                  kSecondFormat = instructionFormat(A_FORMAT);
    const Words8 first = vectorOf(a), second = vectorOf(b);
    SumsOfLane sums;
    for (int i = 0; i < T::form().sums(); i++) sums[i] = d[i];
    switch (byteA * 4 + byteB) {
#define CASE(byteA, byteB)                                                                         \
  case byteA * 4 + byteB:                                                                          \
    sums = MFMA_SCALE(first, second, sums, kFirstFormat, kSecondFormat, byteA, (int)scaleA, byteB, \
                      (int)scaleB);                                                                \
    break;
#define CASES(byteA) CASE(byteA, 0) CASE(byteA, 1) CASE(byteA, 2) CASE(byteA, 3)
      CASES(0) CASES(1) CASES(2) CASES(3)
#undef CASES
#undef CASE
    }
    for (int i = 0; i < T::form().sums(); i++) d[i] = sums[i];
  }

 private:
  LANE_CODE static Words8 vectorOf(const Fragment& fragment) {
    Words8 words;
    for (int i = 0; i < kMostWords; i++) words[i] = (int)fragment.words[i];
    return words;
  }
};

}  // namespace mfma
