// C (M, N) = A (M, K) x B (N, K)^T on block-scaled matrix instructions of a warp (`mma.sync ...
// block_scale`), K-major operands, scales in nvidia_32_4_4: all of the kernel but the machine's own
// instructions.
//
//                      B^T, 128 columns
//                   +---+---+---+---+
//       A, 128 rows | 0 | 1 | 2 | 3 |      two warpgroups multiply, a warp 64 x 32 sums
//                   +---+---+---+---+
//                   | 4 | 5 | 6 | 7 |
//                   +---+---+---+---+
//
// Persistent blocks of three warpgroups: the third fills a ring of stages (loaders.cuh), those of
// the next tile too while the sums of this one are stored. mbarriers say which stages are full, and
// which empty.
//
// Machine gives what is not arithmetic: threads, mbarriers, copies to shared memory, matrices out
// of it, the product, stores. On sm_120a it is PTX (machine.cuh), elsewhere the product and the
// unpacking of narrow codes are emulated lane by lane, and native/test has one whose threads are
// fibers of a CPU.
#pragma once

#include "common/blockScale/loaders.cuh"

namespace blockscale {

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

// The third warpgroup: fills the ring.
template <class T, class Machine, class Loader>
LANE_CODE inline void load(const Machine& machine, const Loader& loader, const Problem& of,
                           Ring<T> ring) {
  DO_NOT_UNROLL
  for (Cursor<T> at(of, machine.block()); at.isInside(of); at.advance(of, machine.blocks())) {
    machine.wait(ring.empty(), ring.phase ^ 1);
    loader.fill(machine, ring, of, at);
    ring.advance();
  }
}

// The other two: empty it into sums, and store those of every tile times `factor`.
template <class T, class Machine>
LANE_CODE inline void multiply(const Machine& machine, const Problem& of, Ring<T> ring,
                               float factor, typename Machine::Output* c) {
  const int warp = machine.thread() / 32, warpRow = warp / 4 * T::kWarpM,
            warpColumn = warp % 4 * T::kWarpN;
  Cursor<T> at(of, machine.block());
  while (at.isInside(of)) {
    const int row0 = at.row + warpRow, column0 = at.column + warpColumn;
    Sums sums = {};
    do {
      machine.wait(ring.full(), ring.phase);
      multiplyStage<T>(machine, ring.codes(), warpRow, warpColumn, sums);
      // All lanes have read: one says so for the warp.
      machine.syncWarp();
      // Behind sums that all it has loaded goes into.
      const float last[4] = {sums.d[0][0][0], sums.d[1][1][0], sums.d[2][2][0], sums.d[3][3][0]};
      if (machine.thread() % 32 == 0) machine.arriveBehind(ring.empty(), last);
      ring.advance();
      at.advance(of, machine.blocks());
    } while (at.step != 0);
    store<T>(machine, sums, factor, c, of.M, of.N, row0, column0);
  }
}

// The kernel's body.
template <class T, class Machine, class Loader>
LANE_CODE inline void run(const Machine& machine, const Loader& loader, const Problem& of,
                          float factor, typename Machine::Output* c) {
  Ring<T> ring(machine.sharedStart());
  const bool multiplies = machine.thread() / 32 < T::kMultiplyingWarps;
  if (machine.thread() == T::kMultiplyingWarps * 32) {
    for (Ring<T> each = ring; each.phase == 0; each.advance()) {
      machine.initBarrier(each.full(), Loader::kArrivals);
      machine.initBarrier(each.empty(), T::kMultiplyingWarps);
    }
    machine.publishBarriers();
  }
  machine.sync();
  if (multiplies) {
    machine.template takeRegisters<T::kMultiplyingRegisters>();
    multiply<T>(machine, of, ring, factor, c);
  } else {
    machine.template giveRegistersBack<T::kLoadingRegisters>();
    if (loader.takesPart(machine)) load<T>(machine, loader, of, ring);
  }
}

}  // namespace blockscale
