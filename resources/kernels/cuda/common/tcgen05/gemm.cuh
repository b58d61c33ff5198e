// C (M, N) = A (M, K) x B (N, K)^T on `tcgen05.mma ... block_scale`, K-major operands, scales in
// nvidia_32_4_4: all of the kernel but the machine's own instructions.
//
// Persistent CTAs of six warps. One thread of the fourth brings stages of 128 bytes of K to shared
// memory (TMA, 128-byte swizzle) and their scales, as they lie in global memory. One of the fifth
// has the scales copied into tensor memory and multiplies. The first four take sums out of tensor
// memory, a lane each, and store them, while the next tile is multiplied into the other half of the
// accumulators.
//
// Two CTAs may share a tile (cta_group::2): each has 128 rows of A and of the sums, and brings half
// of the columns of B, which the instruction reads from both. The first one's thread multiplies for
// both, so all that arrives is told to its barriers, and what it has done with to those of both.
//
// Machine gives what is not arithmetic. On sm_100a it is PTX (machine.cuh); native/test has one
// whose threads are fibers of a CPU, over a model of tensor memory.
#pragma once

#include "common/tcgen05/descriptors.cuh"
#include "common/tileOrder.cuh"

namespace tcgen05 {

LANE_CODE constexpr int ceilDiv(int a, int b) { return (a + b - 1) / b; }
LANE_CODE constexpr int roundUp(int a, int b) { return ceilDiv(a, b) * b; }
LANE_CODE constexpr int storageBits(int format) { return format == 0 ? 4 : format <= 2 ? 6 : 8; }

// The numbers of a kernel. Its manifest row has the same as constants: grid, shared memory and
// boxes of the tensor maps follow from these.
template <int A, int B, int Scale, int ScaleBlock, int TileN, int Stages, int Ctas>
struct Tile {
  static constexpr int kA = A, kB = B, kScaleBlock = ScaleBlock, kTileN = TileN, kStages = Stages;
  static_assert(Ctas == 1 || Ctas == 2, "a CTA by itself, or a pair");
  // Of a CTA: rows of A and of the sums, rows of B that it brings.
  static constexpr int kCtas = Ctas, kRowsA = kTensorLanes, kRowsB = TileN / Ctas;
  static constexpr u16 kAllCtas = (1 << Ctas) - 1;
  static constexpr int kTileM = Ctas * kRowsA, kThreads = 192, kStoringWarps = 4;
  LANE_CODE static constexpr Form form() { return blockscale::formOf(A, B, Scale, ScaleBlock); }
  static_assert(isTensorForm(blockscale::formOf(A, B, Scale, ScaleBlock)),
                "there is an instruction for the format");
  static_assert(TileN % 32 == 0 && TileN <= 256, "columns of an instruction, loaded 32 at a time");

  // A stage has 128 bytes of each row: packed fp4 beside fp4, else a byte to a code.
  static constexpr Swizzle kSwizzle = Swizzle::k128;
  static constexpr int kRowBytes = 128, kSteps = kRowBytes / kInstructionBytes,
                       kTileK = kSteps * form().depth();
  static constexpr int kGroups = kTileK / ScaleBlock / kScaleGroup;
  // Scales come for whole 128 columns of B; a tile of 192 begins in the middle of such every second
  // time.
  static constexpr int kScaledB = TileN % 128 == 0 ? TileN : roundUp(TileN + 64, 128);
  static_assert(TileN % 64 == 0 || TileN < 64, "tiles begin at a multiple of 64 columns");

  static constexpr int kBytesA = kRowsA * kRowBytes, kBytesB = kRowsB * kRowBytes,
                       kBytesCodes = kBytesA + kBytesB, kBytesScalesA = kGroups * kScaleGroupBytes,
                       kBytesScales = kBytesScalesA * (1 + kScaledB / 128);
  static_assert(kBytesCodes % 1024 == 0, "a swizzle's pattern begins at multiples of 1024 bytes");
  // Bytes that TMA says it brought a CTA: narrow codes count without the padding that it makes.
  LANE_CODE static constexpr int kBytesOf(int rows, int format) {
    return rows * (form().depth() == 64 ? kRowBytes : kRowBytes * storageBits(format) / 8);
  }
  static constexpr int kArriving = kBytesOf(kRowsA, A) + kBytesOf(kRowsB, B) + kBytesScales;

  // Shared memory: codes of all stages, scales of all stages, barriers, the address of tensor
  // memory; before them what aligns them.
  static constexpr int kScalesAt = Stages * kBytesCodes,
                       kBarriersAt = kScalesAt + Stages * kBytesScales,
                       kAddressAt = kBarriersAt + (2 * Stages + 4) * 8,
                       kBytes = 1024 + kAddressAt + 16;
  static_assert(kBytes <= 227 * 1024, "fits the shared memory of a block of sm_100");

  // Tensor memory: two accumulators, then scales of a stage.
  static constexpr int kColumnsA = kGroups * scaleColumns(kRowsA), kScalesColumnA = 2 * TileN,
                       kScalesColumnB = kScalesColumnA + kColumnsA, kColumns = kTensorColumns;
  static_assert(kScalesColumnB + kGroups * scaleColumns(kScaledB) <= kColumns,
                "accumulators and scales fit tensor memory");
};

struct Problem {
  int M, N, K;
};

// A tile of C, and which of a pair's tiles it is.
template <class T>
struct Place {
  int row, column, count;

  LANE_CODE static int tiles(const Problem& of) {
    return ceilDiv(of.M, T::kTileM) * ceilDiv(of.N, T::kTileN);
  }
  LANE_CODE Place(const Problem& of, int tile, int count) : count(count) {
    const TilePlace at = tilePlace(tile, ceilDiv(of.M, T::kTileM), ceilDiv(of.N, T::kTileN));
    row = at.row * T::kTileM, column = at.col * T::kTileN;
  }
  // Columns that are multiplied: whole loads of 32. Of a pair each CTA brings half of them.
  LANE_CODE int columns(const Problem& of) const {
    const int left = roundUp(of.N - column, 32);
    return left < T::kTileN ? left : T::kTileN;
  }
  // Each of the two accumulators serves every second tile.
  LANE_CODE int accumulator() const { return count % 2; }
  LANE_CODE u32 phase() const { return (u32)(count / 2 % 2); }
};

// Calls work(place) for every tile of this CTA, or pair.
template <class T, class Machine, class Work>
LANE_CODE inline void forEachTile(const Machine& machine, const Problem& of, Work work) {
  int count = 0;
  DO_NOT_UNROLL
  for (int tile = machine.group(); tile < Place<T>::tiles(of); tile += machine.groups())
    work(Place<T>(of, tile, count++));
}

// Where a CTA keeps what, by shared addresses, and a position in the ring of stages.
template <class T>
struct Ring {
  u32 start;
  int stage = 0;
  u32 phase = 0;

  LANE_CODE explicit Ring(u32 at) : start(at) {}
  LANE_CODE void advance() {
    if (++stage < T::kStages) return;
    stage = 0, phase ^= 1;
  }
  LANE_CODE u32 codes() const { return start + (u32)(stage * T::kBytesCodes); }
  LANE_CODE u32 scales() const { return start + (u32)(T::kScalesAt + stage * T::kBytesScales); }
  LANE_CODE u32 barrier(int number) const { return start + (u32)(T::kBarriersAt + number * 8); }
  LANE_CODE u32 full() const { return barrier(stage); }
  LANE_CODE u32 empty() const { return barrier(T::kStages + stage); }
  LANE_CODE u32 sumsFull(int accumulator) const { return barrier(2 * T::kStages + accumulator); }
  LANE_CODE u32 sumsEmpty(int accumulator) const {
    return barrier(2 * T::kStages + 2 + accumulator);
  }
};

// One thread: fills the ring.
template <class T, class Machine>
LANE_CODE inline void load(const Machine& machine, const Problem& of, Ring<T> ring) {
  const int rank = machine.rank();
  forEachTile<T>(machine, of, [&](const Place<T>& at) {
    const int rowA = at.row + rank * T::kRowsA,
              rowB = at.column + rank * (at.columns(of) / T::kCtas);
    DO_NOT_UNROLL
    for (int step = 0; step < ceilDiv(of.K, T::kTileK); step++, ring.advance()) {
      machine.wait(ring.empty(), ring.phase ^ 1);
      if (rank == 0) machine.expect(ring.full(), T::kCtas * T::kArriving);
      const u32 full = machine.ofFirst(ring.full());
      machine.loadA(ring.codes(), step * T::kTileK, rowA, full);
      machine.loadB(ring.codes() + T::kBytesA, step * T::kTileK, rowB, full);
      // All of B's columns: each CTA multiplies its rows by them.
      machine.loadScalesA(ring.scales(), step * T::kGroups, rowA / 128, full);
      machine.loadScalesB(ring.scales() + T::kBytesScalesA, step * T::kGroups, at.column / 128,
                          full);
    }
  });
  // Stages are given back by what another CTA issues: none may end before.
  for (int i = 0; i < T::kStages; i++, ring.advance()) machine.wait(ring.empty(), ring.phase ^ 1);
}

// One thread: empties it into an accumulator.
template <class T, class Machine>
LANE_CODE inline void multiply(const Machine& machine, const Problem& of, Ring<T> ring,
                               u32 tensor) {
  constexpr int kDepth = T::form().depth();
  const u32 scalesA = tensor + T::kScalesColumnA, scalesB = tensor + T::kScalesColumnB;
  forEachTile<T>(machine, of, [&](const Place<T>& at) {
    machine.wait(ring.sumsEmpty(at.accumulator()), at.phase() ^ 1);
    machine.fenceAfterSync();
    const u32 sums = tensor + (u32)(at.accumulator() * T::kTileN);
    const int n = at.columns(of);
    DO_NOT_UNROLL
    for (int step = 0; step < ceilDiv(of.K, T::kTileK); step++, ring.advance()) {
      machine.wait(ring.full(), ring.phase);
      machine.fenceAfterSync();
      UNROLL
      for (int group = 0; group < T::kGroups; group++) {
        const u32 from = ring.scales() + (u32)(group * kScaleGroupBytes);
        machine.copyScales(scalesA + (u32)(group * scaleColumns(T::kRowsA)),
                           scalesDescriptor(from));
        UNROLL
        for (int i = 0; i < T::kScaledB / 128; i++)
          machine.copyScales(scalesB + (u32)(group * scaleColumns(T::kScaledB) + i * 4),
                             scalesDescriptor(from + (u32)((1 + i) * T::kBytesScalesA)));
      }
      UNROLL
      for (int i = 0; i < T::kSteps; i++) {
        if (step * T::kTileK + i * kDepth >= of.K) continue;
        const u32 codes = ring.codes() + (u32)(i * kInstructionBytes);
        const ScaleOperand ofA = scaleOperand(T::form(), T::kRowsA, i),
                           ofB = scaleOperand(T::form(), T::kScaledB, i);
        machine.template multiplyAdd<T>(
            sums, tileDescriptor(T::kSwizzle, codes, T::kRowsA),
            tileDescriptor(T::kSwizzle, codes + T::kBytesA, T::kRowsB),
            instructionDescriptor(T::form(), T::kTileM, n, ofA.id, ofB.id),
            scalesA + (u32)ofA.column, scalesB + (u32)(ofB.column + at.column % 128 / 32),
            step > 0 || i > 0);
      }
      // Copies and products of one thread are done in order.
      machine.commit(ring.empty(), T::kAllCtas);
    }
    machine.commit(ring.sumsFull(at.accumulator()), T::kAllCtas);
  });
}

// Stores 32 columns of a row.
template <class Machine>
LANE_CODE inline void storeRow(const Machine& machine, const u32 (&sums)[32], float factor,
                               typename Machine::Output* to, int columns, bool isAligned) {
  constexpr int kPerStore = 16 / sizeof(typename Machine::Output);
  UNROLL
  for (int first = 0; first < 32; first += kPerStore) {
    if (isAligned && first + kPerStore <= columns) {
      u32 words[4];
      UNROLL
      for (int i = 0; i < 4; i++) {
        if constexpr (kPerStore == 4)
          words[i] = machine.bits(machine.number(sums[first + i]) * factor);
        else
          words[i] = machine.toPair(machine.number(sums[first + 2 * i]) * factor,
                                    machine.number(sums[first + 2 * i + 1]) * factor);
      }
      machine.storeFour(to + first, words);
      continue;
    }
    UNROLL
    for (int i = first; i < first + kPerStore; i++)
      if (i < columns) to[i] = machine.toOutput(machine.number(sums[i]) * factor);
  }
}

// Four warps: from the accumulators to C, a row a thread.
template <class T, class Machine>
LANE_CODE inline void store(const Machine& machine, const Problem& of, const Ring<T>& ring,
                            u32 tensor, float factor, typename Machine::Output* c) {
  const int warp = machine.thread() / 32;
  const bool isAligned = of.N % (16 / (int)sizeof(typename Machine::Output)) == 0;
  forEachTile<T>(machine, of, [&](const Place<T>& at) {
    machine.wait(ring.sumsFull(at.accumulator()), at.phase());
    machine.fenceAfterSync();
    const int n = at.columns(of), row = at.row + machine.rank() * T::kRowsA + machine.thread();
    DO_NOT_UNROLL
    for (int first = 0; first < n; first += 32) {
      u32 sums[32];
      machine.loadSums(sums,
                       tensor + tensorAddress(warp * 32, at.accumulator() * T::kTileN + first));
      machine.waitForLoads(sums);
      if (first + 32 == n) {
        machine.fenceBeforeSync();
        machine.arrive(machine.ofFirst(ring.sumsEmpty(at.accumulator())));
      }
      if (row < of.M)
        storeRow(machine, sums, factor, c + (long long)row * of.N + at.column + first,
                 of.N - at.column - first, isAligned);
    }
  });
}

// The kernel's body; `factor` multiplies every sum.
template <class T, class Machine>
LANE_CODE inline void run(const Machine& machine, const Problem& of, float factor,
                          typename Machine::Output* c) {
  const Ring<T> ring(machine.sharedStart());
  const u32 address = ring.start + T::kAddressAt;
  const int warp = machine.thread() / 32;
  if (warp == T::kStoringWarps) {
    if (machine.isLeader()) {
      for (int i = 0; i < 2 * T::kStages + 2; i++) machine.initBarrier(ring.barrier(i), 1);
      for (int i = 0; i < 2; i++)
        machine.initBarrier(ring.sumsEmpty(i), T::kCtas * T::kStoringWarps * 32);
      machine.publishBarriers();
    }
  } else if (warp == T::kStoringWarps + 1) {
    machine.template allocate<T::kColumns>(address);
  }
  machine.fenceBeforeSync();
  machine.syncAll();
  machine.fenceAfterSync();
  const u32 tensor = machine.loadWord(address);
  if (warp == T::kStoringWarps) {
    if (machine.isLeader()) load<T>(machine, of, ring);
  } else if (warp == T::kStoringWarps + 1) {
    if (machine.isLeader() && machine.rank() == 0) multiply<T>(machine, of, ring, tensor);
  } else {
    store<T>(machine, of, ring, tensor, factor, c);
  }
  machine.fenceBeforeSync();
  machine.syncAll();
  machine.fenceAfterSync();
  if (warp == T::kStoringWarps + 1) machine.template free<T::kColumns>(tensor);
}

}  // namespace tcgen05
