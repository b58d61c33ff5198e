// In place of resources/kernels/cuda/common/wgmma.cuh for the CPU: a product is what its operands
// are when it is waited for, its sums are not rounded in between.
#pragma once

#include "common/pipeline.cuh"

inline u64 tileDescriptor(u32 address) { return address >> 4; }
constexpr u64 kDescriptorStep = 2;
inline void wgmmaFence() {}
inline void wgmmaCommit() { machine().commit(); }
template <int Pending>
void wgmmaWait() {
  machine().waitForProducts(Pending);
}
template <int Count>
void holdRegisters(float (&)[Count]) {}

template <int Count>
void multiplyEightBits(float (&d)[Count], u64 a, u64 b, bool accumulate, const float* ofA,
                       const float* ofB) {
  machine().multiply({d, Count, a << 4, b << 4, accumulate, ofA, ofB});
}
inline void multiplyE5m2(float (&d)[96], u64 a, u64 b, bool accumulate) {
  multiplyEightBits(d, a, b, accumulate, hopper::e5m2(), hopper::e5m2());
}
inline void multiplyE4m3(float (&d)[96], u64 a, u64 b, bool accumulate) {
  multiplyEightBits(d, a, b, accumulate, hopper::e4m3(), hopper::e4m3());
}
inline void multiplyE4m3E5m2(float (&d)[96], u64 a, u64 b, bool accumulate) {
  multiplyEightBits(d, a, b, accumulate, hopper::e4m3(), hopper::e5m2());
}
inline void multiplyE5m2E4m3(float (&d)[96], u64 a, u64 b, bool accumulate) {
  multiplyEightBits(d, a, b, accumulate, hopper::e5m2(), hopper::e4m3());
}
