// What decode's preparing kernel does beside A: B's scales at a pitch that the copy engine takes.
#pragma once

#include "common/decodeItems.cuh"

namespace decode {

// The first `count` of sixteen bytes, zeros behind them; they begin anywhere, and `left` bytes may
// be read from there on. Loads are of whole words, funnel shifts bring bytes to their places.
__device__ inline uint4 sixteenBytes(const u8* from, int count, long long left) {
  int shift = (int)((u64)from % 4);
  u32 words[5] = {}, moved[4];
  if (20 - shift <= left) {
#pragma unroll
    for (int i = 0; i < 5; i++) words[i] = *reinterpret_cast<const u32*>(from - shift + i * 4);
  } else {
    shift = 0;
#pragma unroll
    for (int i = 0; i < 16; i++)
      if (i < count) words[i / 4] |= (u32)from[i] << i % 4 * 8;
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const u32 word = (u32)(((u64)words[i + 1] << 32 | words[i]) >> 8 * shift);
    const int bytes = min(max(count - 4 * i, 0), 4);
    moved[i] = word & (u32)((1ull << 8 * bytes) - 1);
  }
  return make_uint4(moved[0], moved[1], moved[2], moved[3]);
}

// What the multiplying kernel needs beside A: B's scales in rows of `pitch` bytes where their own
// are not what the copy engine takes. The blocks from `block` 0 on copy, each thread 16 bytes at a
// time; there are none when there is nothing to copy. `groupRows`: rows of A of each group, whose
// matrix of B has N rows; an empty one's are not read.
__device__ inline void prepareScales(const u8* bScales, u8* pitched, int block, int blocks, int N,
                                     int columns, int pitch, const int* groupRows, int groups) {
  if (block < 0) return;
  const int ofRow = pitch / 16, rows = N * (GROUPED ? groups : 1), all = rows * ofRow;
  const long long bytes = (long long)rows * columns;
#pragma unroll 2
  for (int i = block * (int)blockDim.x + (int)threadIdx.x; i < all; i += blocks * (int)blockDim.x) {
    const int row = i / ofRow, column = (i - row * ofRow) * 16;
    if (GROUPED && groupRows[row / N] == 0) continue;
    const long long first = (long long)row * columns + column;
    reinterpret_cast<uint4*>(pitched)[i] =
        sixteenBytes(bScales + first, columns - column, bytes - first);
  }
}

}  // namespace decode
