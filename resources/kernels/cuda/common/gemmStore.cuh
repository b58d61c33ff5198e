// Sums of large products on their way to C: factors, accumulator, output scale, rounding (see
// gemm.cuh).
#pragma once

#include "common/pipeline.cuh"
#include "common/wgmma.cuh"

namespace gemm {

__device__ inline void storePair(float* c, float left, float right) {
  *reinterpret_cast<float2*>(c) = make_float2(left, right);
}
__device__ inline void storePair(u16* c, float left, float right) {
  *reinterpret_cast<u32*>(c) = toOutputPair(left, right);
}
__device__ inline void storePair(u8* c, float left, float right) {
  *reinterpret_cast<u16*>(c) = toOutputPair(left, right);
}

// What is done with a sum before it is rounded to C, beside its factors. `accumulator`: as C lies;
// read where ACCUMULATE is 1.
struct Finish {
  const float* accumulator;
  float outputScale;
};

// The accumulator's numbers of a thread's sums: two rows, a pair in each of `Groups` groups of
// eight columns. They are on their way while the sums of kAhead groups before them become C: as
// many as registers allow without a spill.
template <int Groups, int Ahead>
struct Accumulated {
  static constexpr int kAhead = Ahead;
  const float* rows[2];
  int columns;  // from the pair of group 0 on
  bool isInside[2];
  float2 held[kAhead][2];
  __device__ Accumulated(const float* accumulator, int row, int col, int M, int N)
      : columns(N - col) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      rows[half] = accumulator + (long long)(row + 8 * half) * N + col;
      isInside[half] = row + 8 * half < M;
    }
#pragma unroll
    for (int group = 0; group < kAhead; group++) load(group);
  }
  // Pairs are whole: N is even.
  __device__ void load(int group) {
#if ACCUMULATE
    if (group >= Groups) return;
#pragma unroll
    for (int half = 0; half < 2; half++)
      if (isInside[half] && group * 8 < columns)
        held[group % kAhead][half] = loadStreaming(rows[half] + group * 8);
#endif
  }
  // Group after group, each once.
  __device__ void take(int group, float2& upper, float2& lower) {
    upper = held[group % kAhead][0], lower = held[group % kAhead][1];
    load(group + kAhead);
  }
};

// Sums d of a warpgroup, rows row0.. and columns col0.. of C, times factors. Sum 4 j + e of a
// thread lies at row warp * 16 + lane / 4 + 8 * (e / 2), column 8 j + 2 * (lane % 4) + e % 2 (PTX
// ISA, wgmma D fragment). Two multiplications: the product of the factors alone could leave
// float32's range.
template <class T, class Factors>
__device__ inline void storeByEngine(const float (&d)[T::kSums], const TensorMap* cMap, int M,
                                     int N, int row0, int col0, u32 buffers, Factors factors,
                                     Finish finish) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, quad = lane % 4;
  const float upper = factors.row(warp * 16 + lane / 4),
              lower = factors.row(warp * 16 + lane / 4 + 8);
  // As a source of stmatrix: lane 8 i + r addresses row r of matrix i; 0 and 1 are the rows 0-7 and
  // 8-15 of one group of eight columns, 2 and 3 those of the next.
  const int sourceRow = lane % 16, next = lane / 16;
  const bool isCopying = electOne();
  Accumulated<T::kSums / 4, T::kAhead> accumulated(finish.accumulator, row0 + warp * 16 + lane / 4,
                                                   col0 + quad * 2, M, N);
  auto words = [&](int group, u32(&pair)[2]) {
    const float2 column = factors.columns(group * 8 + quad * 2);
    float2 above, below;
    accumulated.take(group, above, below);
    auto finished = [&](float sum, float added) {
      return finishedSum(sum, added, finish.outputScale);
    };
    pair[0] = toOutputPair(finished(d[4 * group] * upper * column.x, above.x),
                           finished(d[4 * group + 1] * upper * column.y, above.y));
    pair[1] = toOutputPair(finished(d[4 * group + 2] * lower * column.x, below.x),
                           finished(d[4 * group + 3] * lower * column.y, below.y));
  };
#pragma unroll
  for (int piece = 0; piece < T::kPieces; piece++) {
    const u32 buffer = buffers + piece % T::kStoreBuffers * T::kBytesPiece;
    if (isCopying) waitForStoreReads<T::kStoreBuffers - 1>();
    __syncwarp();
    // 64-byte swizzle: 16-byte chunk c of row r lies at chunk c ^ (r / 2 % 4).
#pragma unroll
    for (int group = 0; group < T::kPieceColumns / 8; group += 2) {
      u32 left[2], right[2];
      words(piece * T::kPieceColumns / 8 + group, left);
      words(piece * T::kPieceColumns / 8 + group + 1, right);
      if constexpr (sizeof(Output) == 1) {
        // Both groups are of one chunk; the two rows are swizzled alike.
        const u32 at = buffer + lane / 4 * 64 + (group / 2 ^ lane / 8) * 16 + quad * 2;
        storeHalf(at, left[0]), storeHalf(at + 8, right[0]);
        storeHalf(at + 8 * 64, left[1]), storeHalf(at + 8 * 64 + 8, right[1]);
      } else {
        const int chunk = (group + next) ^ (sourceRow / 2 % 4);
        storeMatrices(buffer + sourceRow * 64 + chunk * 16, left[0], left[1], right[0], right[1]);
      }
    }
    publishToCopyEngine();
    __syncwarp();
    if (isCopying) {
      // The map's elements are 16 bits.
      storeBox(cMap, (col0 + piece * T::kPieceColumns) * (int)sizeof(Output) / 2, row0 + warp * 16,
               buffer);
      commitStores();
    }
  }
}

template <class T, class Factors>
__device__ inline void storeByThreads(const float (&d)[T::kSums], Output* c, int M, int N, int row0,
                                      int col0, Factors factors, Finish finish) {
  constexpr int kTogether =
      T::kAhead < 4 ? 4 : 8;  // groups of columns whose accumulated numbers are loaded at once
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, quad = lane % 4;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int inside = warp * 16 + lane / 4 + half * 8;
    const float byRow = factors.row(inside);
    const long long first = (long long)(row0 + inside) * N + col0;
    Output* row = c + first;
    if (row0 + inside >= M) continue;
#pragma unroll
    for (int from = 0; from < T::kSums / 4; from += kTogether) {
      float2 added[kTogether];
#if ACCUMULATE
#pragma unroll
      for (int i = 0; i < kTogether; i++)
        if (N % 2 == 0 && col0 + (from + i) * 8 + quad * 2 < N)
          added[i] = loadStreaming(finish.accumulator + first + (from + i) * 8 + quad * 2);
#endif
#pragma unroll
      for (int i = 0; i < kTogether; i++) {
        const int group = from + i, col = group * 8 + quad * 2;
        const float2 byColumn = factors.columns(col);
        const float left = d[4 * group + 2 * half] * byRow * byColumn.x,
                    right = d[4 * group + 2 * half + 1] * byRow * byColumn.y;
        if (col0 + col + 1 < N && N % 2 == 0) {
          storePair(row + col, finishedSum(left, added[i].x, finish.outputScale),
                    finishedSum(right, added[i].y, finish.outputScale));
        } else {
          const float* accumulator = finish.accumulator + first + col;
          if (col0 + col < N) row[col] = finished(left, accumulator, 0, finish.outputScale);
          if (col0 + col + 1 < N)
            row[col + 1] = finished(right, accumulator, 1, finish.outputScale);
        }
      }
    }
  }
}

}  // namespace gemm
