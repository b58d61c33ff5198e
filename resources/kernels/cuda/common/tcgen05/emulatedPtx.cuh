// What the emulated tcgen05 product needs of sm_90 beside common/pipeline.cuh, as PTX.
// native/test/emulatedGpu.h has the same for a CPU.
#pragma once

#include "common/pipeline.cuh"

namespace tcgen05 {

__device__ inline u64 nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__device__ inline void loadPiece(u32 (&words)[4], u32 address) {
  asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address)
               : "memory");
}
__device__ inline void storePiece(u32 address, const u32 (&words)[4]) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

// A barrier of `count` threads, which need not be whole warps in step.
__device__ inline void syncThreads(int barrier, int count) {
  asm volatile("barrier.cta.sync %0, %1;" ::"r"(barrier), "r"(count) : "memory");
}
// Whether the phase of this parity is over; may take a while to say no.
__device__ inline bool isOver(u32 barrier, u32 parity) {
  u32 is;
  asm volatile(
      "{ .reg .pred over; mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
      "selp.u32 %0, 1, 0, over; }"
      : "=r"(is)
      : "r"(barrier), "r"(parity)
      : "memory");
  return is != 0;
}
// What the copy engine says when bytes have come, to a shared::cluster address.
__device__ inline void completeBytes(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(barrier),
               "r"(bytes)
               : "memory");
}
// A box of scales: runs of 512 bytes from (group, block).
__device__ inline void loadScaleBox(u32 to, const TensorMap* map, int group, int block,
                                    u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {0, %2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(group), "r"(block), "r"(barrier)
      : "memory");
}

}  // namespace tcgen05
