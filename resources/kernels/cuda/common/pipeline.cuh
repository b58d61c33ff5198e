// Barriers, the bulk tensor copy engine (TMA) and clusters of sm_90 (PTX ISA, "mbarrier",
// "cp.async.bulk.tensor").
#pragma once

#include "common/formats.cuh"
#include "common/ringPosition.cuh"
#include "common/tileOrder.cuh"

struct alignas(64) TensorMap {
  u64 opaque[16];
};

__device__ inline u32 sharedAddress(const void* pointer) {
  return (u32)__cvta_generic_to_shared(pointer);
}

__device__ inline void initBarrier(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
__device__ inline void publishBarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// True in one lane of a warp that is whole here. The assembler knows that what follows is one
// thread's: otherwise it puts every load by the copy engine into a loop over the lanes that may be
// there.
__device__ inline bool electOne() {
  u32 isElected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(isElected));
  return isElected != 0;
}

__device__ inline void expectBytes(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// An address of this CTA's shared memory, as that of the same place in CTA `rank` of the cluster.
__device__ inline u32 atCta(u32 address, u32 rank) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

// Arrives at a barrier, whichever CTA's of the cluster. Scopes here and below are
// the default ones, a CTA: stages are written by the copy engine alone and only read by threads, so
// nothing needs releasing further, and a wider scope costs a device-wide fence in every step.
__device__ inline void arriveThere(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// At the barrier of the same place in CTA `rank` of the cluster.
__device__ inline void arriveAt(u32 barrier, u32 rank) { arriveThere(atCta(barrier, rank)); }

// Nothing, but known no sooner than `word` is in its register. Who says that a stage has been read
// adds it to the barrier's address: a load that is still under way has not read yet, and the copy
// engine does not wait for it.
__device__ inline u32 behind(u32 word) { return word & threadIdx.y; }

// Arrives at a barrier of this CTA.
__device__ inline void arriveHere(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ inline void waitFor(u32 barrier, u32 parity) {
  asm volatile(
      "{ .reg .pred done; WAIT: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; "
      "@done bra DONE; bra WAIT; DONE: }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// Brings a tensor map near the copy engine.
__device__ inline void fetchMap(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// Loads a box at (x, y) into the same shared address of every CTA in `mask`; each one's barrier
// counts the bytes.
__device__ inline void loadBoxMulticast(u32 destination, const TensorMap* map, int x, int y,
                                        u32 barrier, u16 mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
      "cluster "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(destination),
      "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(mask)
      : "memory");
}

__device__ inline void loadBox(u32 destination, const TensorMap* map, int x, int y, u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3}], "
      "[%4];" ::"r"(destination),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

// What L2 does with what it loads (PTX ISA, "createpolicy"): lets go of it before all else, or when
// its turn comes.
__device__ inline u64 evictFirst() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ inline u64 evictInTurn() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ inline void loadBox(u32 destination, const TensorMap* map, int x, int y, u32 barrier,
                               u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(destination),
      "l"(map), "r"(x), "r"(y), "r"(barrier), "l"(policy)
      : "memory");
}

__device__ inline u32 clusterRank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
// Which cluster of how many; a CTA without one is its own.
__device__ inline int clusterIndex() {
  int index;
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(index));
  return index;
}
__device__ inline int clusterCount() {
  int count;
  asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(count));
  return count;
}
__device__ inline void syncCluster() {
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
// A meeting in two steps, for who has something else to do meanwhile: every thread takes both.
__device__ inline void arriveAtCluster() {
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
__device__ inline void waitForCluster() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
// Behind publishBarriers(), which has made all visible that must be, and where shared memory has
// only been read: no fence of the device.
__device__ inline void meetCluster() {
  arriveAtCluster();
  waitForCluster();
}
// Writes neighbouring numbers to a CTA's shared memory, if so; its barrier counts the bytes once
// they are there.
#define BS_SEND_NUMBERS(COUNT, TYPE, LIST, ...)                                           \
  __device__ inline void sendNumbers(bool ifSo, u32 address, u32 barrier,                 \
                                     const float (&numbers)[COUNT]) {                     \
    asm volatile(                                                                         \
        "{ .reg .pred p; setp.ne.s32 p, %0, 0; @p "                                       \
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes." TYPE " [%1], " LIST \
        ", [%2]; }" ::"r"((int)ifSo),                                                     \
        "r"(address), "r"(barrier), __VA_ARGS__                                           \
        : "memory");                                                                      \
  }
BS_SEND_NUMBERS(1, "f32", "%3", "f"(numbers[0]))
BS_SEND_NUMBERS(2, "v2.f32", "{%3, %4}", "f"(numbers[0]), "f"(numbers[1]))
BS_SEND_NUMBERS(4, "v4.f32", "{%3, %4, %5, %6}", "f"(numbers[0]), "f"(numbers[1]), "f"(numbers[2]),
                "f"(numbers[3]))
#undef BS_SEND_NUMBERS

// A warp that has read a stage says so to every CTA of the cluster, or to so many from `first` on:
// any of them may write it next.
template <int Cluster>
__device__ inline void releaseStage(u32 emptyBarrier, u32 first = 0) {
  if (threadIdx.x % 32 < Cluster) arriveAt(emptyBarrier, first + threadIdx.x % 32);
}

template <int Registers>
__device__ inline void giveRegistersBack() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ inline void takeRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

// A number that the compiler does not know: what is computed from it stays where it stands, instead
// of in registers outside of a loop that hardly ever comes here.
__device__ inline int hidden(int number) {
  asm volatile("" : "+r"(number));
  return number;
}
// The same of a place in memory.
__device__ inline const u8* hidden(const u8* place) {
  asm volatile("" : "+l"(place));
  return place;
}

// Where a block's dynamic shared memory begins, and how much of it there is.
__device__ inline u32 dynamicSharedStart() {
  extern __shared__ u8 dynamic[];
  return sharedAddress(dynamic);
}
__device__ inline u32 dynamicSharedBytes() {
  u32 bytes;
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  return bytes;
}

// Copies 16 bytes to shared memory without registers; the thread waits for all of its copies at
// once.
__device__ inline void copySixteen(u32 destination, const void* source) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(destination), "l"(source)
               : "memory");
}
// The same of 4 bytes, for what does not lie in sixteens.
__device__ inline void copyFour(u32 destination, const void* source) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(destination), "l"(source)
               : "memory");
}
__device__ inline void waitForCopies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// A barrier of some of the block's threads, whole warps; 0 is that of all.
template <int Threads>
__device__ inline void syncSome(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(Threads) : "memory");
}
// Arrives at such a barrier and goes on.
template <int Threads>
__device__ inline void arriveAtSome(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(Threads) : "memory");
}

// Stores a box from shared memory; what lies outside the tensor is left out. One thread issues,
// commits and waits.
__device__ inline void storeBox(const TensorMap* map, int x, int y, u32 source) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
      "r"(x), "r"(y), "r"(source)
      : "memory");
}
__device__ inline void commitStores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Until at most Pending groups still read shared memory.
template <int Pending>
__device__ inline void waitForStoreReads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}
// Orders this thread's writes to shared memory before the copy engine's reads.
__device__ inline void publishToCopyEngine() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Four 8 x 8 matrices of 16-bit numbers to shared memory: lane 8 i + r gives the address of row r
// of matrix i.
__device__ inline void storeMatrices(u32 address, u32 m0, u32 m1, u32 m2, u32 m3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(m0), "r"(m1), "r"(m2), "r"(m3)
               : "memory");
}

// The same of turned matrices: row r is what lanes 4 c + r / 2 hold, in half r % 2, at c.
__device__ inline void storeTurnedMatrices(u32 address, u32 m0, u32 m1, u32 m2, u32 m3) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
      "r"(m0), "r"(m1), "r"(m2), "r"(m3)
      : "memory");
}

// 16 bits to shared memory.
__device__ inline void storeHalf(u32 address, u32 low) {
  asm volatile("st.shared.u16 [%0], %1;" ::"r"(address), "h"((u16)low) : "memory");
}

// Four 8 x 8 matrices of 16-bit numbers from shared memory: lane 8 i + r gives the address of row r
// of matrix i; word i of a lane is bytes 4 * (lane % 4) and on of row lane / 4 of matrix i.
__device__ inline void loadMatrices(u32 (&words)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address));
}

__device__ inline void storeWord(u32 address, u32 word) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(word) : "memory");
}
__device__ inline void storeTwoWords(u32 address, uint2 words) {
  asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(words.x), "r"(words.y)
               : "memory");
}
__device__ inline void storeSixteen(u32 address, uint4 words) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(words.x),
               "r"(words.y), "r"(words.z), "r"(words.w)
               : "memory");
}
__device__ inline uint4 loadSixteen(u32 address) {
  uint4 words;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "r"(address)
               : "memory");
  return words;
}
__device__ inline u32 loadByte(u32 address) {
  u32 byte;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(byte) : "r"(address));
  return byte;
}
__device__ inline u32 loadWord(u32 address) {
  u32 word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address));
  return word;
}

__device__ inline void loadNumbers(float (&numbers)[1], u32 address) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(numbers[0]) : "r"(address));
}
__device__ inline void loadNumbers(float (&numbers)[2], u32 address) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
               : "=f"(numbers[0]), "=f"(numbers[1])
               : "r"(address));
}
__device__ inline void loadNumbers(float (&numbers)[4], u32 address) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(numbers[0]), "=f"(numbers[1]), "=f"(numbers[2]), "=f"(numbers[3])
               : "r"(address));
}
__device__ inline float loadNumber(u32 address) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address));
  return value;
}
__device__ inline float2 loadTwoNumbers(u32 address) {
  float2 both;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(both.x), "=f"(both.y) : "r"(address));
  return both;
}

__device__ inline void trap() { asm volatile("trap;"); }

// Programmatic dependent launch: lets the next kernel start, and waits for all that the kernel
// before this one wrote, which has waited for the one before it.
__device__ inline void letDependentsStart() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__device__ inline void waitForPredecessor() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
