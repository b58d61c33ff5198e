// What memory gives at most: reading, and copying, with 16 bytes a lane and step. `blocks`: of the
// grid.

typedef unsigned int u32;
typedef long long i64;
typedef u32 Words4 __attribute__((ext_vector_type(4)));

#define KERNEL \
  extern "C" __attribute__((global)) void __attribute__((amdgpu_flat_work_group_size(1, THREADS)))

// Reads `count` vectors `passes` times, every pass by other compute units: each has a cache of its
// own before the L2, which is what is asked for. The sum is stored where it cannot be, so that no
// read is left out.
KERNEL readAll(const Words4* from, i64 count, int passes, u32* never, int blocks) {
  u32 sum = 0;
  const i64 stride = (i64)blocks * THREADS;
  const int block = __builtin_amdgcn_workgroup_id_x(), thread = __builtin_amdgcn_workitem_id_x();
#pragma unroll 1
  for (int pass = 0; pass < passes; pass++) {
#pragma unroll 8
    for (i64 i = (i64)((block + pass * 37) % blocks) * THREADS + thread; i < count; i += stride) {
      const Words4 value = from[i];
      sum += value[0] ^ value[1] ^ value[2] ^ value[3];
    }
  }
  if (sum == 0x9e3779b9 && count < 0) *never = sum;
}

KERNEL copyAll(const Words4* from, Words4* to, i64 count, int blocks) {
  const i64 stride = (i64)blocks * THREADS;
  const int block = __builtin_amdgcn_workgroup_id_x(), thread = __builtin_amdgcn_workitem_id_x();
#pragma unroll 4
  for (i64 i = (i64)block * THREADS + thread; i < count; i += stride) to[i] = from[i];
}
