// What calls in the PTX of Triton's kernels for sm_120 come to: its matrix instruction, by the
// machine of mma-block-scale-emulated.
#include "common/blockScale/machine.cuh"
#include "thirdParty/scale.cuh"

#define ALL_THREADS THREADS
#define BEGIN
#define END

struct alignas(16) TwoWords {
  u32 of[2];
};
struct alignas(16) FourWords {
  u32 of[4];
};

template <int A, int B, int Scale, int Vector>
struct OfInstruction {
  __device__ static constexpr blockscale::Form form() { return {A, B, Scale, Vector}; }
};

template <class T>
__device__ inline FourWords multiplyAdd(const FourWords& c, const FourWords& a, const TwoWords& b,
                                        u32 scaleA, u32 scaleB) {
  float d[4];
  for (int i = 0; i < 4; i++) d[i] = __uint_as_float(c.of[i]);
  blockscale::EmulatedMachine::multiplyAdd<T>(d, a.of, b.of[0], b.of[1], scaleA, scaleB);
  FourWords sums;
  for (int i = 0; i < 4; i++) sums.of[i] = __float_as_uint(d[i]);
  return sums;
}

#define MULTIPLY_ADD(A, B, SCALE, VECTOR)                                                    \
  extern "C" __device__ __noinline__ __attribute__((used))                                   \
  FourWords multiplyAdd_##A##_##B##_##SCALE##_##VECTOR(FourWords c, FourWords a, TwoWords b, \
                                                       u32 scaleA, u32 scaleB) {             \
    return multiplyAdd<OfInstruction<A, B, SCALE, VECTOR>>(c, a, b, scaleA, scaleB);         \
  }
