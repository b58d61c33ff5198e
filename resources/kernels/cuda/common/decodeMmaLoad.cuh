// What a lane of decode-mma loads (see decode_mma.cuh): how, what the sides of it have alike, and
// B's side.
#pragma once

#include "common/halves.cuh"
#include "common/pipeline.cuh"
#include "common/scaledElements.cuh"

namespace decode {

// A lane's elements of K, those of a warp, and the lane's scales; its pieces of 16 bytes of A.
constexpr int kOfLane = 128 / kBits(B_FORMAT), kOfWarp = 4 * kOfLane,
              kScalesOfLane = kOfLane > SCALE_BLOCK ? kOfLane / SCALE_BLOCK : 1,
              kPiecesOfA = kOfLane * kBits(A_FORMAT) / 128;
// Pairs of elements in a word of B's codes, and in a lane's four words.
constexpr int kPairsOfWord = kFp4 ? 4 : 2, kPairsOfLane = 4 * kPairsOfWord;
static_assert(kPiecesOfA > 0, "a lane has at least 16 bytes of A");

// What no thread of the kernel writes, from a multiple of as many bytes: 16 that are read once, and
// 16, 8 or 4 that are read again soon.
#ifdef __CUDACC__
#define BS_LOAD_SIXTEEN(NAME, HINTS)                                          \
  __device__ inline uint4 NAME(const u8* from) {                              \
    uint4 words;                                                              \
    asm volatile("ld.global.nc" HINTS ".v4.u32 {%0, %1, %2, %3}, [%4];"       \
                 : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w) \
                 : "l"(from));                                                \
    return words;                                                             \
  }
__device__ inline u32 loadOftenWord(const u8* from) {
  u32 word;
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(word) : "l"(from));
  return word;
}
__device__ inline uint2 loadOftenTwoWords(const u8* from) {
  uint2 words;
  asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(words.x), "=r"(words.y) : "l"(from));
  return words;
}
#else
#define BS_LOAD_SIXTEEN(NAME, HINTS) \
  inline uint4 NAME(const u8* from) { return *reinterpret_cast<const uint4*>(from); }
inline u32 loadOftenWord(const u8* from) { return *reinterpret_cast<const u32*>(from); }
inline uint2 loadOftenTwoWords(const u8* from) { return *reinterpret_cast<const uint2*>(from); }
#endif
BS_LOAD_SIXTEEN(loadOnce, ".L1::no_allocate.L2::128B")
BS_LOAD_SIXTEEN(loadOften, "")
#undef BS_LOAD_SIXTEEN

// A place in a CTA's shared memory, by its address there: of a pointer compilers make it anew in
// every turn.
#ifdef __CUDACC__
using SharedPlace = u32;
__device__ inline SharedPlace placeOf(const void* shared) { return sharedAddress(shared); }
__device__ inline SharedPlace hiddenPlace(SharedPlace place) { return (u32)hidden((int)place); }
#else
using SharedPlace = uintptr_t;
inline SharedPlace placeOf(const void* shared) { return reinterpret_cast<uintptr_t>(shared); }
inline SharedPlace hiddenPlace(SharedPlace place) { return place; }
inline uint4 loadSixteen(SharedPlace place) { return *reinterpret_cast<const uint4*>(place); }
inline void storeWord(SharedPlace place, u32 word) { *reinterpret_cast<u32*>(place) = word; }
inline void storeTwoWords(SharedPlace place, uint2 words) {
  *reinterpret_cast<uint2*>(place) = words;
}
#endif

// One or two scales, in the low bytes.
template <int Count>
__device__ inline u32 loadScales(const u8* from) {
  static_assert(Count == 1 || Count == 2, "of a lane");
#ifdef __CUDACC__
  u32 scales;
  if (Count == 2) {
    u16 both;
    asm volatile("ld.global.nc.u16 %0, [%1];" : "=h"(both) : "l"(from));
    scales = both;
  } else {
    asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(scales) : "l"(from));
  }
  return scales;
#else
  return Count == 2 ? *reinterpret_cast<const u16*>(from) : *from;
#endif
}

__device__ inline u32 wordOf(const uint4& words, int i) {
  return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
}

constexpr int kRowsOfTile = 16;  // of B

// Where a lane's elements, from `first` on, and their scales are in a row, by one multiplication
// each (`hidden`: else the compiler adds what rows have in common to each again): instructions
// before a CTA's first loads are some of a small product's time. So these are numbers of 32 bits,
// which packedRowBytes' are not.
template <int Format>
struct PlacesInRows {
  const u8 *codes, *scales;  // of row 0
  u32 bytes, blocks;         // from one row to the next
  __device__ PlacesInRows(const u8* allCodes, const u8* allScales, int K, int first)
      : codes(hidden(allCodes + (u32)first / 8 * kBits(Format))),
        scales(hidden(allScales + (u32)first / SCALE_BLOCK)),
        bytes((u32)K / 8 * kBits(Format)),
        blocks((u32)K / SCALE_BLOCK) {}
  __device__ const u8* codesOf(u32 row) const { return codes + (u64)row * bytes; }
  __device__ const u8* scalesOf(u32 row) const { return scales + (u64)row * blocks; }
};

// A warp's codes and scales of a CTA's tiles of B, 64 bytes of each row a turn.
template <int Tiles, int Warps>
struct CodesOfWarp {
  static constexpr int kRowsOfCta = Tiles * kRowsOfTile,
                       kStep = Warps * kOfWarp;  // elements from a warp's turn to its next
  static constexpr int kRows = 2 * Tiles;        // of B, of a lane: lane / 4 and every eighth on
  struct Weights {
    uint4 codes[kRows];
    u32 scales[kRows];
    // That of the lane's scale block `i`.
    __device__ u32 scale(int row, int i) const {
      return kScalesOfLane == 1 ? scales[row] : scales[row] >> 8 * i & 255;
    }
  };
  // Of this lane's next turn.
  const u8 *codes[kRows], *scales[kRows];
  int k;  // where its elements begin

  // Rows `row` and on of N; what stands behind the last is multiplied as that one.
  __device__ CodesOfWarp(const u8* allCodes, const u8* allScales, int row, int N, int K)
      : k(threadIdx.x / 32 * kOfWarp + threadIdx.x % 4 * kOfLane) {
    const PlacesInRows<B_FORMAT> of(allCodes, allScales, K, k);
#pragma unroll
    for (int i = 0; i < kRows; i++) {
      const u32 ofLane = min(row + i * 8 + (int)(threadIdx.x % 32) / 4, N - 1);
      codes[i] = of.codesOf(ofLane), scales[i] = of.scalesOf(ofLane);
    }
  }
  __device__ void askFor(Weights& weights) const {
#pragma unroll
    for (int row = 0; row < kRows; row++) {
      weights.codes[row] = loadOnce(codes[row]);
      weights.scales[row] = loadScales<kScalesOfLane>(scales[row]);
    }
  }
  // Adds to each tile's sums the products of its rows' pairs `i` and i + 1 and A's two, of bf16 or
  // of float16.
  template <bool AreHalves, class Sums>
  __device__ static void addTiles(const u32 (&pairs)[kRows][kPairsOfWord], int i, const u32* ofA,
                                  const Sums& sums) {
#pragma unroll
    for (int tile = 0; tile < Tiles; tile++) {
      const auto &low = pairs[2 * tile], &high = pairs[2 * tile + 1];
      const u32 rows[4] = {low[i], high[i], low[i + 1], high[i + 1]};
      if constexpr (AreHalves) addHalves(sums(tile), rows, ofA[0], ofA[1]);
      else addPairs(sums(tile), rows, ofA[0], ofA[1]);
    }
  }
  __device__ void advance() {
    k += kStep;
#pragma unroll
    for (int row = 0; row < kRows; row++)
      codes[row] += kStep * kBits(B_FORMAT) / 8, scales[row] += kStep / SCALE_BLOCK;
  }
};

}  // namespace decode
