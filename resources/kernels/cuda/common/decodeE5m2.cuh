// What operands of decode.cuh that multiply fp4 in e5m2 have alike: how codes become e5m2, and how
// threads divide A's rows where each CTA makes A ready for itself.
#pragma once

#include "common/decode.cuh"

namespace decode {

// Eight codes to two words of e5m2: even elements, odd elements.
__device__ inline void spreadCodes(u32 codes, u32& even, u32& odd) {
  odd = (codes & 0x80808080) | (codes >> 3 & 0x0e0e0e0e);
  even = (codes << 4 & 0x80808080) | (codes << 1 & 0x0e0e0e0e);
}

// What an instruction takes of B, 32 elements of a warp's 16 rows: `ofStage` counts them from a
// stage's first. `packed` has the codes of two, an even one and the next.
__device__ inline void loadAndSpread(u32 (&a)[4], u32 (&packed)[4], u32 codes, int ofStage,
                                     bool isEven, int warp, int lane) {
  if (isEven) {
    // Matrices: rows 0-7 and 8-15 of one instruction, then of the next; 128-byte swizzle: chunk c
    // of row r lies at c ^ (r % 8).
    const int chunk = (ofStage % 8 + lane / 16) ^ (lane % 8);
    loadMatrices(packed,
                 codes + ofStage / 8 * kCodeBoxBytes + (warp * 16 + lane % 16) * 128 + chunk * 16);
  }
  spreadCodes(packed[isEven ? 0 : 2], a[0], a[2]);
  spreadCodes(packed[isEven ? 1 : 3], a[1], a[3]);
}

// A's rows among the threads that multiply, where these make A ready: a row is for 2^log of them,
// as many as each of 1, 2, 4, 8 or 16 may have, and a thread has pieces of it 2^log apart.
struct OwnRows {
  int log;
  static_assert(kGroups * 128 == 1 << 9, "threads that multiply");
  __device__ explicit OwnRows(int M) : log(M == 1 ? 9 : M == 2 ? 8 : M <= 4 ? 7 : M <= 8 ? 6 : 5) {}
  __device__ int count() const { return 1 << 9 - log; }
  __device__ int rowOf(int thread) const { return thread >> log; }
  __device__ int pieceOf(int thread, int i) const { return (thread & (1 << log) - 1) + (i << log); }
  // How many of `all` pieces of a row a thread has.
  __device__ int countOf(int thread, int all) const {
    return all + (1 << log) - 1 - pieceOf(thread, 0) >> log;
  }
};

}  // namespace decode
