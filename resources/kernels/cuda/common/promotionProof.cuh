// What proves an interval of promotion exact, and which one a tile takes (docs/kernels.md, "Proving
// longer intervals"; src-shared/formats/promotionProof.ts is the same, written independently).
//
// For each kLongestInterval elements of K, the largest N = 4 |row|^2 / 4^(min s) over a tile's
// rows, and over the intervals of 256, 128 or 64 in it. N is a whole number, exact in float32 below
// 2^24, where it matters; rounding keeps what is above there.
#pragma once

#include "common/reencode.cuh"

constexpr int kLongestInterval = 256;
constexpr float kMostOfEach = 1 << 24, kMostOfBoth = 1 << 28;

// The numbers of 256, 128 and 64 of a tile's rows, as bits of float32: larger ones are larger
// integers.
struct alignas(16) Proof {
  u32 of[4];
};

__device__ inline float powerOfFour(int exponent) {
  return __int_as_float((127 + 2 * min(exponent, 60)) << 23);
}

// Sum of (2 x)^2 of 16 fp4 codes.
__device__ inline u32 sumOfSquares(uint2 words) {
  u32 sum = 0;
  UNROLL
  for (int i = 0; i < 4; i++) {
    const u32 four = (i < 2 ? words.x : words.y) >> i % 2 * 16 & 0x7777;
    // Of 0, .5, 1, 1.5 | 2, 3, 4, 6.
    sum = __dp4a(__byte_perm(0x09040100, 0x90402410, four), 0x01010101u, sum);
  }
  return sum;
}

// |blocks|^2 in units of 4^smallest; of zeros smallest is 255.
struct SquaredNorm {
  float sum;
  int smallest;
};
__device__ inline SquaredNorm joined(SquaredNorm a, SquaredNorm b) {
  const int smallest = min(a.smallest, b.smallest);
  return {a.sum * powerOfFour(a.smallest - smallest) + b.sum * powerOfFour(b.smallest - smallest),
          smallest};
}

// Of a row while it is encoded: threads leave the squares of their pieces, 16 elements, in shared
// memory with their scales; then each takes an interval of 64, and four lanes have one of
// kLongestInterval.
struct RowProof {
  Proof* ofTile;  // one for each kLongestInterval elements
  int count;
  static constexpr int kPieces = kHeld * kEncodeThreads;

  // Four pieces, an interval of 64, to an element.
  __device__ static uint4* intervals() {
    __shared__ uint4 all[kPieces / 4];
    return all;
  }
  __device__ void operator()(int piece, uint2 words, int scale) const {
    reinterpret_cast<u32*>(intervals())[piece % kPieces] = sumOfSquares(words) | scale << 16;
  }
  __device__ static SquaredNorm ofBlock(u32 left, u32 right) {
    const u32 squares = (left + right) & 0xffff, scale = left >> 16;
    // A NaN scale makes NaN of zeros too.
    if (scale == 255) return {__int_as_float(0x7f800000), 255};
    return {(float)squares, squares == 0 ? 255 : (int)scale};
  }
  __device__ static SquaredNorm ofLane(SquaredNorm own, int lanes) {
    return {__shfl_xor_sync(0xffffffff, own.sum, lanes),
            __shfl_xor_sync(0xffffffff, own.smallest, lanes)};
  }
  // Of `held` pieces a thread, from piece `first` on.
  __device__ void conclude(int first, int held) const {
    __syncthreads();
    if ((int)threadIdx.x < held * kEncodeThreads / 4) {
      const uint4 four = intervals()[first % kPieces / 4 + threadIdx.x];
      const SquaredNorm of64 = joined(ofBlock(four.x, four.y), ofBlock(four.z, four.w));
      const SquaredNorm next64 = ofLane(of64, 1), of128 = joined(of64, next64),
                        next128 = ofLane(of128, 2);
      const float most64 = fmaxf(of64.sum, next64.sum);
      const int which = threadIdx.x % 4, place = (first / 4 + threadIdx.x) / 4;
      const float of[3] = {joined(of128, next128).sum, fmaxf(of128.sum, next128.sum),
                           fmaxf(most64, __shfl_xor_sync(0xffffffff, most64, 2))};
      const float own = which == 0 ? of[0] : which == 1 ? of[1] : of[2];
      if (which < 3 && place < count && own > 0)
        atomicMax(&ofTile[place].of[which], __float_as_uint(own));
    }
    __syncthreads();
  }
};

// Proofs of all tiles, rows of A's and then columns of B's, each with `count` of them along K.
struct Proofs {
  Proof* of;
  int tilesOfA, count;
  __device__ Proofs(Proof* all, int M, int K)
      : of(all),
        tilesOfA((M + TILE_M * CLUSTER - 1) / (TILE_M * CLUSTER) * CLUSTER),
        count((K + kLongestInterval - 1) / kLongestInterval) {}
  __device__ int ofRow(int row) const { return row / TILE_M * count; }
  __device__ int ofColumn(int column) const { return (tilesOfA + column / TILE_N) * count; }
};

// Number of the longest interval, of 256, 128, 64 and 32, at which N_A N_B <= 2^28 for both sides'
// largest N, each below 2^24. 32 needs no proof. All numbers are on their way at once.
__device__ inline int longestProved(const Proof& ofA, const Proof& ofB) {
  const Proof a = ofA, b = ofB;
  int longest = 3;
  UNROLL
  for (int i = 2; i >= 0; i--) {
    const float left = __uint_as_float(a.of[i]), right = __uint_as_float(b.of[i]);
    if ((fmaxf(left, right) < kMostOfEach) & (__fmul_ru(left, right) <= kMostOfBoth)) longest = i;
  }
  return longest;
}

// What a tile's intervals are proved for, and how many have which number.
struct ProvedIntervals {
  static constexpr bool kLooksAhead = false;
  Proofs proofs;
  u32* counters;
  int a, b, longest;
  u64 seen;  // in the tile, 16 bits each: the loading thread has few registers
  __device__ ProvedIntervals(Proofs all, u32* to) : proofs(all), counters(to) {}
  template <class Place>
  __device__ void startTile(const Place& place) {
    a = proofs.ofRow(place.row), b = proofs.ofColumn(place.rowB), seen = 0;
  }
  __device__ u32 wordOf(int step) {
    if (step % (kLongestInterval / 128) == 0) {
      longest = longestProved(proofs.of[a++], proofs.of[b++]);
      seen += 1ull << 16 * longest;
    }
    return longest;
  }
  template <class Place>
  __device__ void endTile(const Place& place) const {
    if (place.row >= place.endRow) return;
    UNROLL
    for (int i = 0; i < 4; i++) atomicAdd(counters + i, (u32)(seen >> 16 * i) & 0xffff);
  }
};
