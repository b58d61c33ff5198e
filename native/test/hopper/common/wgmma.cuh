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
inline void holdOperand(u32 (&)[4]) {}

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
// bf16: without tables.
inline void multiplyBf16(float (&d)[128], u64 a, u64 b, bool accumulate) {
  multiplyEightBits(d, a, b, accumulate, nullptr, nullptr);
}

// A in registers, waited for like the others.
template <int Count>
void multiplyLater(float (&d)[Count], const u32 (&a)[4], u64 b, bool accumulate) {
  machine().multiplyFromRegisters({d, Count, 0, b << 4, accumulate, nullptr, nullptr}, a);
}
inline void multiplyBf16(float (&d)[64], const u32 (&a)[4], u64 b, bool accumulate) {
  multiplyLater(d, a, b, accumulate);
}
inline void multiplyBf16(float (&d)[96], const u32 (&a)[4], u64 b, bool accumulate) {
  multiplyLater(d, a, b, accumulate);
}
inline void multiplyBf16(float (&d)[128], const u32 (&a)[4], u64 b, bool accumulate) {
  multiplyLater(d, a, b, accumulate);
}

// At once. PTX ISA, "Register Fragments for wgmma": 16 rows a warp, 32 bytes of K. `Decode` gives
// number i of those bytes.
template <int Count, int Numbers, typename Decode>
void multiplyFromRegisters(float (&d)[Count], const u32 (&a)[4], u64 b, bool accumulate,
                           Decode decode) {
  const int lane = machine().lane();
  const auto& ofA = machine().block.exchange(3, {a[0], a[1], a[2], a[3]});
  double rows[2][Numbers];
  for (int half = 0; half < 2; half++)
    for (int i = 0; i < Numbers; i++) {
      const int byte = i * 32 / Numbers;
      const u32 word = ofA[lane / 4 * 4 + byte % 16 / 4][half + byte / 16 * 2];
      rows[half][i] = decode(word >> byte % 4 * 8);
    }
  for (int column = 0; column < Count * 2; column++) {
    if (column % 8 / 2 != lane % 4) continue;
    double numbers[Numbers];
    for (int i = 0; i < Numbers; i++) {
      const int byte = i * 32 / Numbers;
      u32 at = static_cast<u32>(b << 4) + column / 8 * 1024 + column % 8 * 128 + byte / 4 * 4;
      at ^= (at >> 7 & 7) << 4;
      u32 word;
      std::memcpy(&word, machine().cta().readAsync(at & ~15u) + at % 16, 4);
      numbers[i] = decode(word >> byte % 4 * 8);
    }
    for (int half = 0; half < 2; half++) {
      float& sum = d[column / 8 * 4 + half * 2 + column % 2];
      double total = accumulate ? sum : 0;
      for (int i = 0; i < Numbers; i++) total += rows[half][i] * numbers[i];
      sum = static_cast<float>(total);
    }
  }
}
template <int Count>
void multiplyE5m2(float (&d)[Count], const u32 (&a)[4], u64 b, bool accumulate) {
  multiplyFromRegisters<Count, 32>(d, a, b, accumulate, [](u32 word) {
    return double{blockscope::halfToFloat(static_cast<u16>((word & 255) << 8))};
  });
}
template <int Count>
void multiplyBf16(float (&d)[Count], const u32 (&a)[4], u64 b, bool accumulate) {
  multiplyFromRegisters<Count, 16>(d, a, b, accumulate,
                                   [](u32 word) { return double{__uint_as_float(word << 16)}; });
}
template <int Count>
void multiplyF16(float (&d)[Count], const u32 (&a)[4], u64 b, bool accumulate) {
  multiplyFromRegisters<Count, 16>(d, a, b, accumulate, [](u32 word) {
    return double{blockscope::halfToFloat(static_cast<u16>(word))};
  });
}
