// What the host does around kernels on AMD GPUs is what it does on NVIDIA's
// (resources/kernels/cuda/common/passes.cu): here are the words of CUDA that it is written in, as
// clang's builtins, whether or not a header has declared some of them before.
#pragma clang fp contract(off)

#undef __device__
#undef __global__
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __float_as_uint(value) __builtin_bit_cast(unsigned, (float)(value))
#define __uint_as_float(bits) __builtin_bit_cast(float, (unsigned)(bits))
#define __fadd_rn(a, b) ((float)(a) + (float)(b))
#define __fmul_rn(a, b) ((float)(a) * (float)(b))

namespace {

struct Index {
  unsigned x;
};

__device__ inline Index blockOfGrid() { return {__builtin_amdgcn_workgroup_id_x()}; }
__device__ inline Index threadOfBlock() { return {__builtin_amdgcn_workitem_id_x()}; }

__device__ inline unsigned short toF16(float value) {
  return __builtin_bit_cast(unsigned short, (_Float16)value);
}
__device__ inline unsigned short toBf16(float value) {
  return __builtin_bit_cast(unsigned short, (__bf16)value);
}

}  // namespace

#define blockIdx blockOfGrid()
#define threadIdx threadOfBlock()
#define blockDim \
  Index { THREADS }

#include "../../cuda/common/passes.cu"
