// In place of resources/kernels/cuda/common/pipeline.cuh for the CPU: the same functions over
// hopperMachine.h. And the few of common/formats.cuh that the products call.
#pragma once

#include "common/tileOrder.cuh"
#include "../../hopperMachine.h"

using hopper::machine;
using hopper::TensorMap;

struct float2 {
  float x, y;
};
inline float2 make_float2(float x, float y) { return {x, y}; }

typedef u16 Output;
inline u16 toOutput(float value) { return blockscope::floatToHalf(value); }
inline u32 toOutputPair(float low, float high) { return toOutput(low) | u32{toOutput(high)} << 16; }
inline float finishedSum(float sum, float added, float) { return ACCUMULATE ? sum + added : sum; }
inline Output finished(float sum, const float* accumulator, long long at, float outputScale) {
  return toOutput(finishedSum(sum, ACCUMULATE ? accumulator[at] : 0.0f, outputScale));
}
inline float2 loadStreaming(const float* from) { return {from[0], from[1]}; }

inline u32 sharedAddress(const void*) { return hopper::kSharedStart; }
inline u32 dynamicSharedBytes() { return machine().sharedBytes(); }
inline void trap() { hopper::fail("a trap"); }
inline bool electOne() { return machine().lane() == 0; }
inline u32 clusterRank() { return machine().rank(); }
inline void syncCluster() { machine().block.syncCluster(); }
inline void __syncwarp() { machine().syncWarp(); }
inline void syncWarpgroup(int barrier) { machine().syncWarpgroup(barrier); }
template <int>
void giveRegistersBack() {}
template <int>
void takeRegisters() {}

inline void initBarrier(u32 barrier, u32 arrivals) {
  machine().cta().barriers.init(barrier, static_cast<int>(arrivals));
}
inline void publishBarriers() {}
inline void expectBytes(u32 barrier, u32 bytes) { machine().cta().barriers.arrive(barrier, bytes); }
inline void arriveAt(u32 barrier, u32 rank) { machine().cta(rank).barriers.arrive(barrier); }
inline void waitFor(u32 barrier, u32 parity) { machine().wait(barrier, parity); }
template <int Cluster>
void releaseStage(u32 emptyBarrier) {
  if (machine().lane() < Cluster) arriveAt(emptyBarrier, static_cast<u32>(machine().lane()));
}

inline void loadBoxMulticast(u32 to, const TensorMap* map, int x, int y, u32 barrier, u16 mask) {
  machine().load(to, *map, x, y, barrier, mask);
}
inline void loadBox(u32 to, const TensorMap* map, int x, int y, u32 barrier) {
  machine().load(to, *map, x, y, barrier, static_cast<u16>(1u << clusterRank()));
}
inline void copySixteen(u32 to, const void* from) { machine().copy(to, from, 16); }
inline void copyFour(u32 to, const void* from) { machine().copy(to, from, 4); }
inline void waitForCopies() { machine().waitForCopies(); }
inline void storeBox(const TensorMap* map, int x, int y, u32 from) {
  machine().store(*map, x, y, from);
}
inline void commitStores() {}
template <int>
void waitForStoreReads() {}
inline void publishToCopyEngine() {}
inline void storeMatrices(u32 address, u32 m0, u32 m1, u32 m2, u32 m3) {
  machine().storeMatrices(address, {m0, m1, m2, m3});
}
inline void storeHalf(u32 address, u32 low) {
  const u16 bits = static_cast<u16>(low);
  machine().cta().write(address, &bits, 2);
}
inline void storeWord(u32 address, u32 word) { machine().cta().write(address, &word, 4); }
inline u32 loadWord(u32 address) {
  return __builtin_bit_cast(u32, machine().cta().number(address));
}
inline u32 __shfl_sync(u32, u32 word, int lane) {
  return machine().block.exchange(2, {word})[static_cast<size_t>(lane)][0];
}
inline float loadNumber(u32 address) { return machine().cta().number(address); }
inline float2 loadTwoNumbers(u32 address) { return {loadNumber(address), loadNumber(address + 4)}; }

template <int Stages>
struct RingPosition {
  int stage = 0;
  u32 phase = 0;
  void advance() {
    if (++stage < Stages) return;
    stage = 0, phase ^= 1;
  }
};
