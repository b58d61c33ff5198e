// Words of kernels, and the marks of functions that also run on a CPU: native/test compiles those
// as plain C++.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#if defined(__CUDACC__) || defined(__HIP__)
// Without the header that hipcc reads first, HIP has attributes alone.
#ifdef __HIP__
#define LANE_CODE __attribute__((device))
#else
#define LANE_CODE __device__
#endif
// Once in the machine code, not once a call.
#define OUT_OF_LINE __attribute__((noinline))
#define UNROLL _Pragma("unroll")
#define DO_NOT_UNROLL _Pragma("unroll 1")
#define BS_PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(count) BS_PRAGMA(unroll(count))
#else
#define LANE_CODE
#define OUT_OF_LINE
#define UNROLL
#define DO_NOT_UNROLL
#define UNROLL_BY(count)
#endif

// Whether warpgroups, of which one loads and the others multiply, may divide registers so by
// setmaxnreg (PTX ISA): those that the CTA starts with, for each thread as many, in eights. Who
// asks for more waits for ever.
LANE_CODE constexpr bool mayDivideRegisters(int loading, int multiplying, int groups) {
  return loading + groups * multiplying <= (1 + groups) * (65536 / (128 * (1 + groups)) / 8 * 8);
}
