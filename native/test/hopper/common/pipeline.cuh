// In place of resources/kernels/cuda/common/pipeline.cuh for the CPU: the same functions over
// hopperMachine.h.
#pragma once

#include "../../hopperMachine.h"
#include "common/formats.cuh"
#include "common/ringPosition.cuh"
#include "common/tileOrder.cuh"

using hopper::machine;
using hopper::TensorMap;

inline u32 dynamicSharedStart() { return hopper::kSharedStart; }
inline u32 dynamicSharedBytes() { return machine().sharedBytes(); }
inline void trap() { hopper::fail("a trap"); }
// Every lane of the warp is here.
inline bool electOne() {
  machine().block.exchange(22, {});
  return machine().lane() == 0;
}
inline u32 clusterRank() { return machine().rank(); }
inline int clusterIndex() { return static_cast<int>(blockIdx.x) / machine().size(); }
inline int clusterCount() { return static_cast<int>(gridDim.x) / machine().size(); }
inline void syncCluster() { machine().syncCluster(); }
inline void meetCluster() { machine().syncCluster(); }
inline void arriveAtCluster() { machine().arriveAtCluster(); }
inline void waitForCluster() { machine().waitForCluster(); }
template <int Count>
void sendNumbers(bool ifSo, u32 address, u32 barrier, const float (&numbers)[Count]) {
  if (ifSo) machine().send(address, barrier, numbers, sizeof numbers);
}
template <int Threads>
void syncSome(int barrier) {
  machine().block.syncSome(barrier, Threads);
}
template <int Threads>
void arriveAtSome(int barrier) {
  machine().block.arriveAtSome(barrier, Threads);
}
inline int hidden(int number) { return number; }
inline const u8* hidden(const u8* place) { return place; }
inline void fetchMap(const TensorMap*) {}
inline void letDependentsStart() {}
inline void waitForPredecessor() { machine().waitForPredecessor(); }
template <int>
void giveRegistersBack() {}
template <int>
void takeRegisters() {}

inline void initBarrier(u32 barrier, u32 arrivals) {
  machine().cta().barriers.init(barrier, static_cast<int>(arrivals));
}
inline void publishBarriers() {}
inline void expectBytes(u32 barrier, u32 bytes) { machine().cta().barriers.arrive(barrier, bytes); }
inline u32 behind(u32) { return 0; }
inline u32 atCta(u32 address, u32 rank) {
  return fibers::mappedAddress(address, static_cast<int>(rank));
}
inline void arriveThere(u32 barrier) { machine().arrive(barrier); }
inline void arriveAt(u32 barrier, u32 rank) { arriveThere(atCta(barrier, rank)); }
inline void arriveHere(u32 barrier) { machine().cta().barriers.arrive(barrier); }
inline void waitFor(u32 barrier, u32 parity) { machine().wait(barrier, parity); }
template <int Cluster>
void releaseStage(u32 emptyBarrier, u32 first = 0) {
  const auto lane = static_cast<u32>(machine().lane());
  if (lane < Cluster) arriveAt(emptyBarrier, first + lane);
}

inline void loadBoxMulticast(u32 to, const TensorMap* map, int x, int y, u32 barrier, u16 mask) {
  machine().load(to, *map, x, y, barrier, mask);
}
inline void loadBox(u32 to, const TensorMap* map, int x, int y, u32 barrier) {
  machine().load(to, *map, x, y, barrier, static_cast<u16>(1u << clusterRank()));
}
// Of what L2 keeps there is nothing to emulate.
inline u64 evictFirst() { return 0; }
inline u64 evictInTurn() { return 0; }
inline void loadBox(u32 to, const TensorMap* map, int x, int y, u32 barrier, u64) {
  loadBox(to, map, x, y, barrier);
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
inline void publishToCopyEngine() { machine().publish(); }
inline void storeMatrices(u32 address, u32 m0, u32 m1, u32 m2, u32 m3) {
  machine().storeMatrices(address, {m0, m1, m2, m3});
}
inline void storeTurnedMatrices(u32 address, u32 m0, u32 m1, u32 m2, u32 m3) {
  machine().storeTurnedMatrices(address, {m0, m1, m2, m3});
}
inline void storeHalf(u32 address, u32 low) {
  const u16 bits = static_cast<u16>(low);
  machine().storeForCopy(address, &bits, 2);
}
inline void storeWord(u32 address, u32 word) { machine().cta().write(address, &word, 4); }
// Unlike a word of these a product or the copy engine may read.
inline void storeTwoWords(u32 address, uint2 words) { machine().storeForCopy(address, &words, 8); }
inline void storeSixteen(u32 address, uint4 words) { machine().storeForCopy(address, &words, 16); }
inline u32 loadByte(u32 address) {
  return machine().cta().word(address & ~3u) >> address % 4 * 8 & 255;
}
inline u32 loadWord(u32 address) { return machine().cta().word(address); }
inline float loadNumber(u32 address) { return __uint_as_float(loadWord(address)); }
inline float2 loadTwoNumbers(u32 address) { return {loadNumber(address), loadNumber(address + 4)}; }
template <int Count>
void loadNumbers(float (&numbers)[Count], u32 address) {
  for (int i = 0; i < Count; i++) numbers[i] = loadNumber(address + i * 4);
}
// PTX ISA, "ldmatrix".
inline void loadMatrices(u32 (&words)[4], u32 address) {
  if (machine().mistake == hopper::Mistake::kOtherChunk && machine().lane() < 16) address ^= 16;
  const auto& rows = machine().block.exchange(2, {address});
  const auto lane = static_cast<u32>(machine().lane());
  for (u32 matrix = 0; matrix < 4; matrix++)
    words[matrix] = loadWord(rows[matrix * 8 + lane / 4][0] + lane % 4 * 4);
}
