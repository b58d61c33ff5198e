// C (M, N) = A (M, K) x B (N, K)^T on block-scaled matrix instructions of a warp (`mma.sync ...
// block_scale`), K-major operands, scales in nvidia_32_4_4: all of the kernel but the machine's own
// instructions.
//
//                      B^T, 128 columns
//                   +---------------------+     8 warps, 2 x 4, of 64 x 32 sums each. Persistent: a
//                   block takes tile after
//       A, 128 rows | 0 | 1 | 2 | 3 |           tile, and copies of the next tile begin while the
//       last sums of this one are
//                   | 4 | 5 | 6 | 7 |           made: every warp copies and multiplies.
//                   +---------------------+
//
// Machine gives what is not arithmetic: threads, copies to shared memory, matrices out of it, the
// product, stores. On sm_120a it is PTX (machine.cuh), elsewhere the product and the unpacking of
// narrow codes are emulated lane by lane, and native/test has one whose threads are fibers of a
// CPU.
#pragma once

#include "common/blockScale/form.cuh"
#include "common/tileOrder.cuh"

namespace blockscale {

LANE_CODE constexpr int storageBits(int format) { return format == 0 ? 4 : format <= 2 ? 6 : 8; }
LANE_CODE constexpr int ceilDiv(int a, int b) { return (a + b - 1) / b; }

// The numbers of a kernel. Its manifest row has the same as constants: grid and shared memory
// follow from these.
template <int A, int B, int Scale, int ScaleBlock, int TileK, int Stages>
struct Tile {
  static constexpr int kA = A, kB = B, kScaleBlock = ScaleBlock, kTileK = TileK, kStages = Stages;
  static constexpr int kTileM = 128, kTileN = 128, kWarpM = 64, kWarpN = 32, kThreads = 256;
  LANE_CODE static constexpr Form form() { return formOf(A, B, Scale, ScaleBlock); }
  static_assert(isForm(formOf(A, B, Scale, ScaleBlock)), "there is an instruction for the format");

  static constexpr int kDepth = form().depth();
  // Of K in 16 bytes of shared memory: packed fp4 where the instruction takes it so, else a code to
  // a byte.
  static constexpr int kCodesPerChunk = kDepth == 64 ? 32 : 16;
  static constexpr int kChunks = TileK / kCodesPerChunk, kRowBytes = kChunks * 16,
                       kSteps = TileK / kDepth;
  static_assert(kRowBytes == 64 || kRowBytes == 128, "rows that swizzled() knows");
  // Scales of 128 rows and four blocks of K lie together, 512 bytes.
  static constexpr int kScaleGroups = TileK / ScaleBlock / 4, kGroupBytes = 512;
  static constexpr int kBytesA = kTileM * kRowBytes, kBytesB = kTileN * kRowBytes,
                       kBytesScales = kScaleGroups * kGroupBytes;
  static constexpr int kBytesStage = kBytesA + kBytesB + 2 * kBytesScales;
  static constexpr int kBytes = Stages * kBytesStage;
  static_assert(kScaleGroups >= 1 && Stages >= 2, "a stage holds whole groups of scales");
  static_assert(kBytes <= 99 * 1024, "fits the shared memory of a block of sm_120");

  // Where 16-byte chunk `chunk` of row `row` lies: eight rows' equal chunks fall into different
  // banks.
  LANE_CODE static constexpr u32 swizzled(int row, int chunk) {
    return (u32)(row * kRowBytes + (chunk ^ (kRowBytes == 128 ? row % 8 : row / 2 % 4)) * 16);
  }
};

struct Problem {
  const u8 *aCodes, *bCodes, *aScales, *bScales;
  int M, N, K;
};

// Which tile of C a block is at, where that lies, and the step of K.
template <class T>
struct Cursor {
  int tile, step, row, column;
  LANE_CODE Cursor(const Problem& of, int first) : tile(first), step(0) { place(of); }
  LANE_CODE static int tiles(const Problem& of) {
    return ceilDiv(of.M, T::kTileM) * ceilDiv(of.N, T::kTileN);
  }
  LANE_CODE static int steps(const Problem& of) { return ceilDiv(of.K, T::kTileK); }
  // False once the last tile is done.
  LANE_CODE bool isInside(const Problem& of) const { return tile < tiles(of); }
  LANE_CODE void advance(const Problem& of, int blocks) {
    if (++step < steps(of)) return;
    step = 0;
    tile += blocks;
    place(of);
  }

 private:
  LANE_CODE void place(const Problem& of) {
    const TilePlace at = tilePlace(tile, ceilDiv(of.M, T::kTileM), ceilDiv(of.N, T::kTileN));
    row = at.row * T::kTileM, column = at.col * T::kTileN;
  }
};

// Brings 128 rows from `row0` and kTileK codes from `k0` to shared memory; zeros beyond the matrix.
// Narrow codes that the instruction takes a byte each go 16 to a chunk, without gaps, and padding
// behind (PTX ISA, ldmatrix .b4x16_p64, .b6x16_p32).
template <class T, int Format, class Machine>
LANE_CODE inline void copyCodes(const Machine& machine, u32 to, const u8* codes, int rows, int K,
                                int row0, int k0) {
  constexpr int kBytes =
      T::kCodesPerChunk * storageBits(Format) / 8;  // of a chunk in global memory
  const int rowBytes = K * storageBits(Format) / 8, offset0 = k0 / T::kCodesPerChunk * kBytes;
  static_assert(128 * T::kChunks % T::kThreads == 0, "every thread copies as many chunks");
  UNROLL
  for (int pass = 0; pass < 128 * T::kChunks / T::kThreads; pass++) {
    const int i = pass * T::kThreads + machine.thread(), row = i / T::kChunks,
              chunk = i % T::kChunks, offset = offset0 + chunk * kBytes;
    int valid = rowBytes - offset;
    valid = row0 + row >= rows || valid < 0 ? 0 : valid > kBytes ? kBytes : valid;
    const u8* from = valid > 0 ? codes + (long long)(row0 + row) * rowBytes + offset : codes;
    const u32 place = to + T::swizzled(row, chunk);
    if (kBytes == 16 && (T::kScaleBlock == 32 || K % 32 == 0)) {
      machine.template copy<16>(place, from, valid);
      continue;
    }
    // Rows of fp6, and of fp4 under 16, are no multiples of 16 bytes.
    constexpr int kPiece = kBytes == 12 ? 4 : 8;
    UNROLL
    for (int piece = 0; piece < kBytes; piece += kPiece) {
      const int left = valid - piece;
      machine.template copy<kPiece>(place + piece, left > 0 ? from + piece : from,
                                    left < 0        ? 0
                                    : left > kPiece ? kPiece
                                                    : left);
    }
  }
}

// Brings the scales of both operands' rows and of a step of K; zeros beyond K. Rows are padded to
// 128 in global memory.
template <class T, class Machine>
LANE_CODE inline void copyScales(const Machine& machine, u32 to, const Problem& of,
                                 const Cursor<T>& at) {
  constexpr int kPerGroup = T::kGroupBytes / 16,
                kPieces = T::kScaleGroups * kPerGroup;  // of 16 bytes
  static_assert(2 * kPieces <= T::kThreads, "one piece a thread");
  const int i = machine.thread(), piece = i % kPieces,
            group = at.step * T::kScaleGroups + piece / kPerGroup;
  if (i >= 2 * kPieces) return;
  const int groups = ceilDiv(of.K / T::kScaleBlock, 4);
  const u8* scales = i < kPieces ? of.aScales : of.bScales;
  const long long offset =
      ((long long)((i < kPieces ? at.row : at.column) / 128) * groups + group) * T::kGroupBytes;
  const bool isInside = group < groups;
  machine.template copy<16>(
      to + i * 16, isInside ? scales + offset + piece % kPerGroup * 16 : scales, isInside ? 16 : 0);
}

template <class T, class Machine>
LANE_CODE inline void copyStage(const Machine& machine, u32 stage, const Problem& of,
                                const Cursor<T>& at) {
  copyCodes<T, T::kA>(machine, stage, of.aCodes, of.M, of.K, at.row, at.step * T::kTileK);
  copyCodes<T, T::kB>(machine, stage + T::kBytesA, of.bCodes, of.N, of.K, at.column,
                      at.step * T::kTileK);
  copyScales<T>(machine, stage + T::kBytesA + T::kBytesB, of, at);
}

// Sums of a thread: [i][j] are those of the 16 x 8 at rows 16 i and columns 8 j of its warp.
struct Sums {
  float d[4][4][4];
};

// Four matrices of 8 rows x 16 bytes as the instruction takes them.
template <class T, int Format, class Machine>
LANE_CODE inline void loadFragments(const Machine& machine, u32 (&words)[4], u32 address) {
  machine.template loadMatrices<T::kDepth == 64 ? 8 : storageBits(Format)>(words, address);
  // fp4 lies in bits 2 to 5 of its byte.
  if (T::kDepth == 32 && Format == 0) {
    UNROLL
    for (int i = 0; i < 4; i++) words[i] <<= 2;
  }
}

// Adds a stage's products.
template <class T, class Machine>
LANE_CODE inline void multiplyStage(const Machine& machine, u32 stage, int warpRow, int warpColumn,
                                    Sums& sums) {
  const int lane = machine.thread() % 32;
  const u32 a = stage, b = a + T::kBytesA, scalesA = b + T::kBytesB,
            scalesB = scalesA + T::kBytesScales;
  constexpr int kPerGroup =
      4 / T::form().vector;  // instructions along K that a word of scales serves
  u32 scaleA[4], scaleB[4];
  UNROLL_BY(Machine::kStepsAtOnce)
  for (int step = 0; step < T::kSteps; step++) {
    if (step % kPerGroup == 0) {
      const u32 group = step / kPerGroup * T::kGroupBytes;
      // Word r / 32 of 16-byte row r % 32 has the scales of row r. Lanes 0 and 1 of a quad supply
      // rows g and g + 8 of A.
      UNROLL
      for (int i = 0; i < 2; i++) {
        const int row = i * 16 + lane % 2 * 8 + lane / 4;
        machine.loadPair(scaleA[i], scaleA[i + 2], scalesA + group + row * 16 + warpRow / 32 * 4);
      }
      UNROLL
      for (int j = 0; j < 4; j++)
        scaleB[j] =
            machine.loadWord(scalesB + group + (j * 8 + lane / 4) * 16 + warpColumn / 32 * 4);
    }
    u32 fragmentA[4][4], fragmentB[2][4];
    // Matrices: rows 0-7 and 8-15 of the lower 16 bytes, then of the upper ones.
    UNROLL
    for (int i = 0; i < 4; i++)
      loadFragments<T, T::kA>(machine, fragmentA[i],
                              a + T::swizzled(warpRow + i * 16 + lane % 16, step * 2 + lane / 16));
    // Columns 0-7: lower and upper 16 bytes, then columns 8-15.
    UNROLL
    for (int j = 0; j < 2; j++)
      loadFragments<T, T::kB>(
          machine, fragmentB[j],
          b + T::swizzled(warpColumn + j * 16 + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2));
    // The instruction reads the lowest bytes: all selectors are 0, as every compiler and library
    // writes them.
    const int shift = step % kPerGroup * T::form().vector * 8;
    UNROLL
    for (int i = 0; i < 4; i++) UNROLL
    for (int j = 0; j < 4; j++)
      machine.template multiplyAdd<T>(sums.d[i][j], fragmentA[i], fragmentB[j / 2][j % 2 * 2],
                                      fragmentB[j / 2][j % 2 * 2 + 1], scaleA[i] >> shift,
                                      scaleB[j] >> shift);
  }
}

// Stores a warp's sums times a factor at (row0, column0) of C. Sum e of (i, j) lies at row lane / 4
// + 8 (e / 2), column 2 (lane % 4) + e % 2 (heldC).
template <class T, class Machine>
LANE_CODE inline void store(const Machine& machine, const Sums& sums, float factor,
                            typename Machine::Output* c, int M, int N, int row0, int column0) {
  const int lane = machine.thread() % 32, quad = lane % 4;
  UNROLL
  for (int i = 0; i < 4; i++) UNROLL
  for (int half = 0; half < 2; half++) {
    const int row = row0 + i * 16 + half * 8 + lane / 4;
    typename Machine::Output* at = c + (long long)row * N + column0;
    if (sizeof(typename Machine::Output) == 2 && N % 8 == 0) {
      // Lanes of a quad exchange pairs, so that lane q has the eight columns of group q: rows of 64
      // bytes.
      u32 pairs[4], mine[4];
      UNROLL
      for (int j = 0; j < 4; j++)
        pairs[j] =
            machine.toPair(sums.d[i][j][half * 2] * factor, sums.d[i][j][half * 2 + 1] * factor);
      UNROLL
      for (int turn = 0; turn < 4; turn++) {
        const int other = quad ^ turn;
        const u32 given = other == 0   ? pairs[0]
                          : other == 1 ? pairs[1]
                          : other == 2 ? pairs[2]
                                       : pairs[3];
        const u32 taken = turn == 0 ? given : machine.fromLane(given, turn);
        UNROLL
        for (int j = 0; j < 4; j++)
          if (other == j) mine[j] = taken;
      }
      if (row < M && column0 + quad * 8 < N) machine.storeFour(at + quad * 8, mine);
      continue;
    }
    if (row >= M) continue;
    UNROLL
    for (int j = 0; j < 4; j++) {
      const int column = j * 8 + quad * 2;
      const float left = sums.d[i][j][half * 2] * factor,
                  right = sums.d[i][j][half * 2 + 1] * factor;
      if (column0 + column + 1 < N && N % 2 == 0) {
        machine.storeTwo(at + column, left, right);
      } else {
        if (column0 + column < N) at[column] = machine.toOutput(left);
        if (column0 + column + 1 < N) at[column + 1] = machine.toOutput(right);
      }
    }
  }
}

// The kernel's body; `factor` multiplies every sum.
template <class T, class Machine>
LANE_CODE inline void run(const Machine& machine, const Problem& of, float factor,
                          typename Machine::Output* c) {
  const u32 shared = machine.sharedStart();
  const int warp = machine.thread() / 32, warpRow = warp / 4 * T::kWarpM,
            warpColumn = warp % 4 * T::kWarpN;
  Cursor<T> ahead(of, machine.block()), here = ahead;
  auto copyNext = [&](int stage) {
    if (ahead.isInside(of)) {
      copyStage<T>(machine, shared + stage * T::kBytesStage, of, ahead);
      ahead.advance(of, machine.blocks());
    }
    // Empty groups at the end keep the count that waitForCopies() goes by.
    machine.commitCopies();
  };
  DO_NOT_UNROLL
  for (int stage = 0; stage < T::kStages - 1; stage++) copyNext(stage);
  int stage = 0;
  while (here.isInside(of)) {
    const int row0 = here.row + warpRow, column0 = here.column + warpColumn;
    Sums sums = {};
    do {
      machine.template waitForCopies<T::kStages - 2>();
      // This stage is there for every warp, and every warp is done with the one before, which is
      // written next.
      machine.sync();
      copyNext(stage == 0 ? T::kStages - 1 : stage - 1);
      multiplyStage<T>(machine, shared + stage * T::kBytesStage, warpRow, warpColumn, sums);
      stage = stage + 1 == T::kStages ? 0 : stage + 1;
      here.advance(of, machine.blocks());
    } while (here.step != 0);
    store<T>(machine, sums, factor, c, of.M, of.N, row0, column0);
  }
}

}  // namespace blockscale
