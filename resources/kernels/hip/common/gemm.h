// C (M, N) = A (M, K) x B (N, K)^T on block-scaled matrix instructions of a wave
// (`v_mfma_scale_f32_*_f8f6f4`), K-major operands: all of the kernel but the machine's own
// instructions.
//
// A block of four waves makes a tile of C, a quarter each. Two stages of LDS: while one is
// multiplied, every wave copies its share of the next from global memory, without registers. A
// lane's words of scales go straight to registers.
//
// Machine gives what is not arithmetic: threads, copies to LDS, loads, the product, stores. On
// gfx950 it is builtins (machine.h); native/test has one whose threads are fibers of a CPU.
#pragma once

// clang-format off
#include "tile.h"  // first: it brings the words that the other, of another folder, is made of
#include "../../cuda/common/tileOrder.cuh"
// clang-format on

namespace mfma {

struct Problem {
  const u8 *aCodes, *bCodes, *aScales, *bScales;
  int M, N, K;
};

LANE_CODE constexpr int ceilDiv(int a, int b) { return (a + b - 1) / b; }

// Brings `TileRows` rows from `row0` and RowBytes of each from code `k0` to LDS; zeros beyond the
// matrix.
template <class T, int Format, int TileRows, int RowBytes, class Machine>
LANE_CODE inline void copyCodes(const Machine& machine, u32 to, const u8* codes, int rows, int K,
                                int row0, int k0) {
  typedef Rows<Format, RowBytes> R;
  constexpr int kPasses = TileRows * R::kPieces / T::kThreads;
  static_assert(TileRows * R::kPieces % T::kThreads == 0, "every thread copies as many pieces");
  const u32 thread = machine.thread();
  const long long rowBytes = (long long)K * bitsOf(Format) / 8;
  to += machine.wave() * kLanes * R::kPiece;
  // K is a multiple of 32: no piece is half inside.
  auto copyOne = [&](int pass, bool isInside, const u8* from) {
    machine.template copy<R::kPiece>(to + pass * T::kThreads * R::kPiece,
                                     isInside ? from : machine.zeros());
  };
  if constexpr (T::kThreads % (R::kPieces * 16) == 0) {
    // A thread's pieces lie below one another.
    constexpr int kRowsOfPass = T::kThreads / R::kPieces;
    const int row = row0 + (int)(thread / R::kPieces),
              offset = k0 * bitsOf(Format) / 8 +
                       R::swizzled(thread / R::kPieces, thread % R::kPieces) * R::kPiece;
    const u8* from = codes + row * rowBytes + offset;
    const int rowsLeft = offset < rowBytes ? rows - row : 0;
    UNROLL
    for (int pass = 0; pass < kPasses; pass++)
      copyOne(pass, pass * kRowsOfPass < rowsLeft, from + pass * kRowsOfPass * rowBytes);
  } else {
    // One place in the code: unrolled, the addresses of all would be kept in registers.
    DO_NOT_UNROLL
    for (int pass = 0; pass < kPasses; pass++) {
      const u32 at = pass * T::kThreads + thread, row = at / R::kPieces;
      const int offset = k0 * bitsOf(Format) / 8 + R::swizzled(row, at % R::kPieces) * R::kPiece;
      copyOne(pass, row0 + (int)row < rows && offset < rowBytes,
              codes + (row0 + row) * rowBytes + offset);
    }
  }
}

template <class T, class Machine>
LANE_CODE inline void copyStage(const Machine& machine, u32 to, const Problem& of, int row0,
                                int column0, int k0) {
  copyCodes<T, T::kA, T::kTileM, T::kRowBytesA>(machine, to, of.aCodes, of.M, of.K, row0, k0);
  copyCodes<T, T::kB, T::kTileN, T::kRowBytesB>(machine, to + T::kBytesA, of.bCodes, of.N, of.K,
                                                column0, k0);
}

// The bytes of a lane's word, as both of CDNA4's layouts have them: with edge 16 rows 0..15 and
// 16..31, then those 128 elements on; with edge 32 four steps along K.
template <int Edge>
LANE_CODE constexpr int byteOfScale(int part, int step) {
  return Edge == 16 ? step % 2 * 2 + part % 2 : step % 4;
}

// What a stage needs of scales, as it was loaded: nothing is made of it before it is used, so that
// nothing waits for it before. Shuffled scales are whole words; of linear ones a lane has a byte
// for each instruction.
template <class T>
struct Scales {
  static constexpr int kParts = T::kShuffled ? 1 : T::kTileK / 64;
  u32 a[T::kWordsM][kParts], b[T::kWordsN][kParts];
};

LANE_CODE constexpr int smaller(int a, int b) { return a < b ? a : b; }

// This lane's scales for `Words` x 32 rows from `row0`, of the stage at `k0`. Beyond the matrix
// those of its edge: codes are zeros there, and rows are not stored.
template <class T, int Words, class Machine>
LANE_CODE inline void loadScales(const Machine& machine, u32 (&to)[Words][Scales<T>::kParts],
                                 const u8* scales, int rows, int K, int row0, int k0) {
  const int lane = machine.thread() % kLanes, blocks = K / kBlock;
  UNROLL
  for (int w = 0; w < Words; w++) {
    const int first = row0 + w * 32;
    if constexpr (T::kShuffled) {
      // Rows are padded to 32, blocks along K to 8: 256 bytes of neighbouring words.
      const int groups = ceilDiv(blocks, 8), group = smaller(k0 / T::kScaleSpan, groups - 1);
      const long long tile = smaller(first, rows - 1) / 32;
      to[w][0] = machine.loadWord(scales + (tile * groups + group) * 256 + lane * 4);
    } else {
      UNROLL
      for (int byte = 0; byte < Scales<T>::kParts; byte++) {
        const int row = first + (T::kEdge == 16 ? byte % 2 * 16 : 0) + lane % T::kEdge,
                  block =
                      k0 / kBlock + lane / T::kEdge + (T::kEdge == 16 ? byte / 2 * 4 : byte * 2);
        to[w][byte] = machine.loadByte(scales + (long long)smaller(row, rows - 1) * blocks +
                                       smaller(block, blocks - 1));
      }
    }
  }
}

template <class T, class Machine>
LANE_CODE inline Scales<T> loadStageScales(const Machine& machine, const Problem& of, int row0,
                                           int column0, int k0) {
  Scales<T> scales;
  loadScales<T, T::kWordsM>(machine, scales.a, of.aScales, of.M, of.K, row0, k0);
  loadScales<T, T::kWordsN>(machine, scales.b, of.bScales, of.N, of.K, column0, k0);
  return scales;
}

// The word whose bytes the steps of the stage at `k0` read, the first one from byte 0.
template <class T>
LANE_CODE inline u32 scaleWord(const u32 (&parts)[Scales<T>::kParts], int k0) {
  if (T::kShuffled) return parts[0] >> (k0 % T::kScaleSpan == 0 ? 0 : 16);
  u32 word = 0;
  UNROLL
  for (int byte = 0; byte < Scales<T>::kParts; byte++) word |= parts[byte] << (byte * 8);
  return word;
}

// Registers of an operand.
struct Fragment {
  u32 words[kMostWords];
};

// This lane's 32 codes of row `row` in instruction `step` along K (heldElement).
template <class T, int Format, int RowBytes, class Machine>
LANE_CODE inline Fragment loadFragment(const Machine& machine, u32 codes, int row, int step) {
  typedef Rows<Format, RowBytes> R;
  constexpr Form form = T::form();
  const int group = machine.thread() % kLanes / T::kEdge;
  Fragment to = {};
  if constexpr (bitsOf(Format) == 6) {
    UNROLL
    for (int pair = 0; pair < 3; pair++)
      machine.loadLds8(&to.words[pair * 2],
                       codes + R::place(row, (step * form.groups() + group) * 6 + pair * 2));
  } else if constexpr (bitsOf(Format) == 8) {
    UNROLL
    for (int half = 0; half < 2; half++)
      machine.loadLds16(&to.words[half * 4],
                        codes + R::place(row, (step * 2 + half) * form.groups() + group));
  } else {
    machine.loadLds16(&to.words[0], codes + R::place(row, step * form.groups() + group));
  }
  return to;
}

template <class T>
struct Sums {
  float d[T::kStepsN][T::kStepsM][T::form().sums()];
};

template <class T, class Machine>
LANE_CODE inline void multiplyStage(const Machine& machine, u32 stage, int waveRow, int waveColumn,
                                    const Scales<T>& scales, int k0, Sums<T>& sums) {
  const int line = machine.thread() % T::kEdge;
  u32 scalesA[T::kWordsM], scalesB[T::kWordsN];
  UNROLL
  for (int w = 0; w < T::kWordsM; w++) scalesA[w] = scaleWord<T>(scales.a[w], k0);
  UNROLL
  for (int w = 0; w < T::kWordsN; w++) scalesB[w] = scaleWord<T>(scales.b[w], k0);
  UNROLL
  for (int step = 0; step < T::kSteps; step++) {
    Fragment a[T::kStepsM];
    UNROLL
    for (int i = 0; i < T::kStepsM; i++)
      a[i] = loadFragment<T, T::kA, T::kRowBytesA>(machine, stage, waveRow + i * T::kEdge + line,
                                                   step);
    UNROLL
    for (int j = 0; j < T::kStepsN; j++) {
      const Fragment b = loadFragment<T, T::kB, T::kRowBytesB>(
          machine, stage + T::kBytesA, waveColumn + j * T::kEdge + line, step);
      UNROLL
      for (int i = 0; i < T::kStepsM; i++)
        machine.template multiplyAdd<T>(sums.d[j][i], b, a[i], byteOfScale<T::kEdge>(j, step),
                                        scalesB[j * T::kEdge / 32], byteOfScale<T::kEdge>(i, step),
                                        scalesA[i * T::kEdge / 32]);
    }
  }
}

// What C is beside the product: (accumulator + factor x sum), float32 (M, N) or null.
struct Finish {
  float factor;
  const float* accumulator;
};

template <class T, class Machine>
LANE_CODE inline void store(const Machine& machine, const Sums<T>& sums, Finish finish,
                            typename Machine::Output* c, int M, int N, int row0, int column0) {
  const int lane = machine.thread() % kLanes;
  UNROLL
  for (int i = 0; i < T::kStepsM; i++) {
    const int row = row0 + i * T::kEdge + lane % T::kEdge;
    if (row >= M) continue;
    UNROLL
    for (int j = 0; j < T::kStepsN; j++) UNROLL
    for (int run = 0; run < T::form().sums(); run += 4) {
      const int column = column0 + j * T::kEdge + rowOfSum(T::form(), lane, run);
      const long long at = (long long)row * N + column;
      float values[4];
      UNROLL
      for (int e = 0; e < 4; e++) {
        values[e] = sums.d[j][i][run + e] * finish.factor;
        if (finish.accumulator && column + e < N)
          values[e] += machine.loadFloat(finish.accumulator + at + e);
      }
      if (N % 4 == 0) {
        if (column < N) machine.storeFour(c + at, values);
        continue;
      }
      UNROLL
      for (int e = 0; e < 4; e++)
        if (column + e < N) machine.storeOne(c + at + e, values[e]);
    }
  }
}

// The kernel's body.
template <class T, class Machine>
LANE_CODE inline void run(const Machine& machine, const Problem& of, Finish finish,
                          typename Machine::Output* c) {
  const int tileRows = ceilDiv(of.M, T::kTileM), tileColumns = ceilDiv(of.N, T::kTileN);
  const TilePlace tile =
      tilePlace(tileOfBlock(machine.block(), tileRows * tileColumns), tileRows, tileColumns);
  const int row0 = tile.row * T::kTileM, column0 = tile.col * T::kTileN;
  const int waveRow = machine.wave() / 2 * T::kWaveM, waveColumn = machine.wave() % 2 * T::kWaveN;
  auto scalesAt = [&](int k0) {
    return loadStageScales<T>(machine, of, row0 + waveRow, column0 + waveColumn, k0);
  };

  Scales<T> scales = scalesAt(0);
  copyStage<T>(machine, 0, of, row0, column0, 0);
  machine.waitForCopies();
  machine.sync();
  Sums<T> sums = {};
  u32 stage = 0;
  DO_NOT_UNROLL
  for (int k0 = 0; k0 < of.K; k0 += T::kTileK) {
    const int next = k0 + T::kTileK;
    const Scales<T> nextScales = scalesAt(next);
    if (next < of.K) copyStage<T>(machine, T::kBytesStage - stage, of, row0, column0, next);
    multiplyStage<T>(machine, stage, waveRow, waveColumn, scales, k0, sums);
    // The other stage is there for every wave, and every wave is done with this one.
    machine.waitForCopies();
    machine.sync();
    stage = T::kBytesStage - stage;
    scales = nextScales;
  }
  store<T>(machine, sums, finish, c, of.M, of.N, row0 + waveRow, column0 + waveColumn);
}

}  // namespace mfma
