// C (M, N) = A (M, K) x B (N, K)^T for at most 64 rows of A on sm_90a: bound by reading B, which
// goes from packed codes to the tensor cores through registers, once.
//
//                  A^T, kTokens columns
//                +----------------------+   One CTA a multiprocessor, tile after tile. A thread
//    64 rows of  |  warpgroup 0: sums   |   loads B's codes and scales and A, ready to multiply,
//    B           |  warpgroup 1: sums   |   512 elements of K a stage, far ahead. Each of four
//                |  ...                 |   warpgroups multiplies its own 128 of them.
//                +----------------------+
//
// At the end of a tile the four sums are added in shared memory, always in the same order.
// Few tiles are split along K, too: the CTA that comes last to a tile adds the parts, in their
// order. With more than 8 columns every CTA would bring several bytes of A from L2 for each of B's:
// two CTAs, with tiles that are neighbours, are a cluster and bring half of A's columns each for
// both.
#pragma once

#include "common/decodeAgain.cuh"
#include "common/groups.cuh"
#include "common/pipeline.cuh"
#include "common/wgmma.cuh"

namespace decode {

// ROWS, STAGE_K, THREADS and SHARED_BYTES are constants of the manifest's row.
constexpr int kRows = ROWS, kStageK = STAGE_K, kThreads = THREADS, kGroups = kThreads / 128 - 1,
              kGroupK = kStageK / kGroups;
constexpr int kSharedBytes = SHARED_BYTES;
static_assert(kRows == 64 && kGroups == 4,
              "a warpgroup multiplies 64 rows; registers are divided for four");
// CTAs that share A where there are so many columns of it.
__host__ __device__ constexpr int clusterFor(int tokens) { return tokens <= 8 ? 1 : 2; }
// Registers of a loading and of a multiplying thread.
constexpr int kLoadRegisters = 32, kMultiplyRegisters = 112;
// A row of sums in shared memory: banks of neighbouring tokens are apart.
constexpr int kPitch = kRows + 4;

// What a CTA multiplies at a time: 64 rows of B, those of a matrix's end and on, by the tokens of
// one product, over part of K.
struct Item {
  int tile;                // counted through all matrices of B
  int row, rowOfAll;       // of B, first of 64: of its matrix, of all of them
  int firstToken, tokens;  // rows of A; none: there is nothing to do
  int split, step, end;    // part of K, its stages
};

// Items are parts of a cluster's tiles, one for each of its CTAs; `starts` and `rows` of groups,
// where there are any.
struct Problem {
  int M, N, K, splits;
  const int *starts, *rows;
  int groups;
  int cluster = 1;  // CTAs
  __device__ int tiles() const { return (N + kRows * cluster - 1) / (kRows * cluster); }
  __device__ int items() const { return tiles() * (GROUPED ? groups : 1) * splits; }
  __device__ int firstItem() const { return blockIdx.x / cluster; }
  __device__ int nextItem(int item) const { return item + gridDim.x / cluster; }
  __device__ int stages() const { return (K + kStageK - 1) / kStageK; }
  __device__ Item at(int number) const {
    Item item;
    const int tile = number / splits, matrix = GROUPED ? tile / tiles() : 0,
              each = (stages() + splits - 1) / splits;
    item.tile = tile * cluster + (int)blockIdx.x % cluster;
    item.row = (item.tile - matrix * tiles() * cluster) * kRows;
    item.rowOfAll = matrix * N + item.row;
    item.firstToken = GROUPED ? starts[matrix] : 0;
    item.tokens = GROUPED ? rows[matrix] : M;
    item.split = number % splits;
    item.step = min(item.split * each, stages());
    item.end = min((item.split + 1) * each, stages());
    return item;
  }
};

// Rows of 128 bytes of a tile's codes.
constexpr int kCodeBoxBytes = kRows * 128;

// Operand: how codes become matrix operands, and what a thread adds. It has kTokens; kCluster, how
// many CTAs share A; the boxes of a stage's codes and tokens (kCodeBoxes, kTokenBoxes of kTokenBoxK
// elements, rows of 128 bytes); total[], the sums of multiply() over a warpgroup's shares of
// stages; end(), which marks those that are not right by NaN; kUnit, what they lack; kSmallest,
// below which they may have lost bits.
template <class Operand>
struct Ring {
  static constexpr int kBytesCodes = Operand::kCodeBoxes * kCodeBoxBytes;
  static constexpr int kBytesTokens = Operand::kTokenBoxes * 128 * Operand::kTokens;
  static constexpr int kBytesStage = kBytesCodes + kBytesTokens + kRows * kStageK / SCALE_BLOCK;
  static constexpr int kBytesSums = Operand::kTokens * kPitch * 4, kBytesOther = 1024 + 1024;
  static constexpr int kStages = (kSharedBytes - kBytesSums - kBytesOther) / kBytesStage;
  static_assert(kStages >= 2 && kStages * 16 + 4 <= 1024 && kBytesStage % 1024 == 0,
                "room for a ring");
  u32 barriers, tiles;
  __device__ explicit Ring(u32 start)
      : barriers(start), tiles((start + kStages * 16 + 4 + 1023) & ~1023u) {}
  __device__ u32 full(int i) const { return barriers + i * 8; }
  __device__ u32 empty(int i) const { return barriers + (kStages + i) * 8; }
  __device__ u32 order() const { return barriers + kStages * 16; }
  __device__ u32 codes(int i) const { return tiles + i * kBytesStage; }
  __device__ u32 tokens(int i) const { return codes(i) + kBytesCodes; }
  __device__ u32 scales(int i) const { return tokens(i) + kBytesTokens; }
  __device__ u32 sums() const { return tiles + kStages * kBytesStage; }
};

// The stages of a CTA's items, one after the other.
struct Cursor {
  const Problem problem;
  int number, rowOfAll = 0, firstToken = 0, step = 0, end = 0;
  __device__ explicit Cursor(const Problem& of) : problem(of), number(of.firstItem()) { enter(); }
  __device__ bool done() const { return number >= problem.items(); }
  __device__ int k() const { return step * kStageK; }
  // To the first stage of this item or a later one: parts of a short K may have none.
  __device__ void enter() {
    for (; !done(); number = problem.nextItem(number)) {
      const Item item = problem.at(number);
      rowOfAll = item.rowOfAll, firstToken = item.firstToken, step = item.step, end = item.end;
      if (step < end && item.tokens > 0) return;
    }
  }
  __device__ void next() {
    if (++step < end) return;
    number = problem.nextItem(number);
    enter();
  }
};

// One lane of each of the four loading warps; they share a stage's boxes. What the kernel before
// this one makes (A, and B's scales where they are copied) is not there at first: the codes of the
// first stages go ahead of it. Not of all: what is asked for later waits behind them.
template <class Operand>
__device__ inline void load(const TensorMap* codesMap, const TensorMap* scalesMap,
                            const TensorMap* tokensMap, Problem problem, Ring<Operand> ring,
                            bool scalesAreMade) {
  constexpr int kStages = Ring<Operand>::kStages, kCluster = Operand::kCluster;
  const int warp = threadIdx.x / 32;
  auto loadScales = [&](int stage, const Cursor& at) {
    if (warp == 3)
      loadBox(ring.scales(stage), scalesMap, at.k() / SCALE_BLOCK, at.rowOfAll, ring.full(stage));
  };
  auto loadGiven = [&](int stage, const Cursor& at) {
    if (warp == 0) expectBytes(ring.full(stage), Ring<Operand>::kBytesStage);
#pragma unroll
    for (int first = 0; first < Operand::kCodeBoxes; first += 4) {
      const int box = first + warp, byte = at.k() * kBits(B_FORMAT) / 8 + box * 128;
      if (box < Operand::kCodeBoxes)
        loadBox(ring.codes(stage) + box * kCodeBoxBytes, codesMap, byte, at.rowOfAll,
                ring.full(stage));
    }
    if (!scalesAreMade) loadScales(stage, at);
  };
  auto loadMade = [&](int stage, const Cursor& at) {
#pragma unroll
    for (int first = 0; first < Operand::kTokenBoxes; first += 4 * kCluster) {
      const int box = first + (3 - warp) * kCluster + (int)blockIdx.x % kCluster,
                k = at.k() + box * Operand::kTokenBoxK;
      const u32 place = ring.tokens(stage) + box * Operand::kTokens * 128;
      if (Operand::kTokenBoxes % (4 * kCluster) != 0 && box >= Operand::kTokenBoxes) continue;
      if (kCluster == 1) loadBox(place, tokensMap, k, at.firstToken, ring.full(stage));
      else
        loadBoxMulticast(place, tokensMap, k, at.firstToken, ring.full(stage), (1 << kCluster) - 1);
    }
    if (scalesAreMade) loadScales(stage, at);
  };
  constexpr int kAhead = kStages < 3 ? kStages : 3;
  Cursor ahead(problem), behind(problem);
  RingPosition<kStages> place;
  for (; place.stage + place.phase * kStages < kAhead && !ahead.done();
       place.advance(), ahead.next())
    loadGiven(place.stage, ahead);
  waitForPredecessor();
  for (int stage = 0; stage < kAhead && !behind.done(); stage++, behind.next())
    loadMade(stage, behind);
  for (; !ahead.done(); place.advance(), ahead.next()) {
    waitFor(ring.empty(place.stage), place.phase ^ 1);
    loadGiven(place.stage, ahead);
    loadMade(place.stage, ahead);
  }
}

struct Given {
  const u8 *aCodes, *bCodes, *aScales, *bScales;
  const float* factors;  // of A's rows, where the operand has them
  float* parts;          // (splits, M, N) when K is split
  u32* arrived;          // per tile
  Output* c;
  float tensorScale;
};

__device__ inline void syncMultiplying() { syncSome<kGroups * 128>(1); }

// C from sums, of a token of the item and a row of its matrix; those that may have lost something
// are computed again.
template <class Operand>
__device__ inline void finish(Problem problem, const Given& given, const Item& item,
                              int tokenOfItem, int row, float sum) {
  const bool inside = tokenOfItem < item.tokens && row < problem.N;
  const int token = item.firstToken + tokenOfItem, rowOfAll = item.rowOfAll - item.row + row;
  const float factor = Operand::kUnit * given.tensorScale;
  Output value =
      toOutput(Operand::kFactors && inside ? sum * given.factors[token] * factor : sum * factor);
  // Rows that were not represented and NaN scales make NaN or infinity. What underflows on the way
  // is far below float16's range, not below float32's; but small sums are most often sums of zeros,
  // or of numbers that are far from underflow and cancel.
  const u32 unknown =
      __ballot_sync(0xffffffff, inside && !(fabsf(sum) < __int_as_float(0x7f800000)));
  u32 small =
      OUTPUT_TYPE == 0 ? 0 : __ballot_sync(0xffffffff, inside && fabsf(sum) < Operand::kSmallest);
  // A warp's sums are of one token.
  const int ofToken = small == 0
                          ? kAllZero
                          : leastExponent<A_FORMAT>(given.aCodes, given.aScales, token, problem.K);
  if (ofToken == kAllZero) small = 0;
  for (u32 left = unknown | small; left != 0; left &= left - 1) {
    const int lane = __ffs(left) - 1, rowOfLane = __shfl_sync(0xffffffff, rowOfAll, lane);
    if ((small >> lane & 1) != 0 && ofToken >= kSureExponent &&
        leastExponent<B_FORMAT>(given.bCodes, given.bScales, rowOfLane, problem.K) >= kSureExponent)
      continue;
    const double exact = exactSum(given.aCodes, given.aScales, given.bCodes, given.bScales, token,
                                  rowOfLane, problem.K);
    if (threadIdx.x % 32 == lane) value = toOutput((float)(exact * given.tensorScale));
  }
  if (inside) given.c[(long long)token * problem.N + row] = value;
}

template <class Operand>
__device__ inline void multiplyAndStore(Problem problem, const Given& given, Ring<Operand> ring) {
  constexpr int kTokens = Operand::kTokens;
  const int thread = threadIdx.x - 128, group = thread / 128, warp = thread / 32 % 4,
            lane = thread % 32;
  RingPosition<Ring<Operand>::kStages> place;
  float* sums = reinterpret_cast<float*>(__cvta_shared_to_generic(ring.sums()));
  u32& order = *reinterpret_cast<u32*>(__cvta_shared_to_generic(ring.order()));
  for (int number = problem.firstItem(); number < problem.items();
       number = problem.nextItem(number)) {
    const Item item = problem.at(number);
    if (GROUPED && item.tokens == 0) continue;
    Operand operand;
    for (int step = item.step; step < item.end; step++, place.advance()) {
      waitFor(ring.full(place.stage), place.phase);
      operand.multiply(ring.codes(place.stage), ring.scales(place.stage), ring.tokens(place.stage),
                       group, warp, lane);
      if (Operand::kCluster > 1) releaseStage<Operand::kCluster>(ring.empty(place.stage));
      else if (lane == 0) arriveHere(ring.empty(place.stage));
    }
    operand.end();
    // Sum 4 j + e of a thread is that of row warp * 16 + lane / 4 + 8 * (e / 2) of B and token 8 j
    // + 2 * (lane % 4) + e % 2.
    auto sumAt = [&](int i) -> float& {
      const int token = i / 4 * 8 + lane % 4 * 2 + i % 2,
                row = warp * 16 + lane / 4 + i % 4 / 2 * 8;
      return sums[token * kPitch + row];
    };
    for (int from = kGroups - 1; from >= 0; from--) {
      if (group == from)
#pragma unroll
        for (int i = 0; i < kTokens / 2; i++)
          sumAt(i) = operand.total[i] + (from < kGroups - 1 ? sumAt(i) : 0.0f);
      syncMultiplying();
    }
    waitForPredecessor();
    bool last = true;
    auto sumOf = [&](int token, int row) { return sums[token * kPitch + row]; };
    const long long partSize = (long long)problem.M * problem.N;
    if (problem.splits > 1) {
      for (int i = thread; i < kRows * kTokens; i += kGroups * 128) {
        const int token = i / kRows, row = item.row + i % kRows;
        if (token < item.tokens && row < problem.N)
          given.parts[item.split * partSize + (long long)(item.firstToken + token) * problem.N +
                      row] = sumOf(token, i % kRows);
      }
      __threadfence();
      syncMultiplying();
      if (thread == 0) order = atomicAdd(given.arrived + item.tile, 1);
      syncMultiplying();
      last = order == problem.splits - 1;
      __threadfence();
    }
    for (int i = thread; i < kRows * kTokens && last; i += kGroups * 128) {
      const int token = i / kRows, row = item.row + i % kRows;
      float sum = 0;
      if (problem.splits == 1) {
        sum = sumOf(token, i % kRows);
      } else if (token < item.tokens && row < problem.N) {
        for (int part = 0; part < problem.splits; part++)
          sum += __ldcg(given.parts + part * partSize +
                        (long long)(item.firstToken + token) * problem.N + row);
      }
      finish<Operand>(problem, given, item, token, row, sum);
    }
    syncMultiplying();
  }
}

// What the multiplying kernel needs beside A: no CTA has arrived at a tile, and B's scales in rows
// of `pitch` bytes where their own are not what the copy engine takes: every thread of the blocks
// from 0 on copies four. There are none when there is nothing to copy. `groupRows`: rows of A of
// each group, whose matrix of B has N rows; an empty one's are not read.
__device__ inline void prepareRest(const u8* bScales, u8* pitched, u32* arrived, int block, int N,
                                   int columns, int pitch, int tiles, const int* groupRows,
                                   int groups) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < tiles; i += gridDim.x * blockDim.x)
    arrived[i] = 0;
  const int word = block * (int)blockDim.x + (int)threadIdx.x, words = pitch / 4;
  if (block < 0 || word >= N * words * (GROUPED ? groups : 1)) return;
  if (GROUPED && groupRows[word / words / N] == 0) return;
  const u8* row = bScales + (long long)(word / words) * columns;
  u32 four = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int column = word % words * 4 + i;
    if (column < columns) four |= (u32)row[column] << 8 * i;
  }
  reinterpret_cast<u32*>(pitched)[word] = four;
}

// The kernel's body.
template <class Operand>
__device__ inline void run(const TensorMap* codesMap, const TensorMap* scalesMap,
                           const TensorMap* tokensMap, Problem problem, const Given& given,
                           bool scalesAreMade) {
  const Ring<Operand> ring(dynamicSharedStart());
  problem.cluster = Operand::kCluster;
  if (threadIdx.x == 0) {
    for (int i = 0; i < Ring<Operand>::kStages; i++) {
      initBarrier(ring.full(i), 1);
      initBarrier(ring.empty(i), kGroups * 4 * Operand::kCluster);
    }
    publishBarriers();
  }
  if (threadIdx.x == 32) {
    fetchMap(codesMap);
    fetchMap(scalesMap);
    fetchMap(tokensMap);
  }
  // What a CTA of a cluster brings goes to the others' rings too: those must be there, and stay.
  if (Operand::kCluster > 1) syncCluster();
  else __syncthreads();
  if (threadIdx.x < 128) {
    giveRegistersBack<kLoadRegisters>();
    if (electOne()) load<Operand>(codesMap, scalesMap, tokensMap, problem, ring, scalesAreMade);
  } else {
    takeRegisters<kMultiplyRegisters>();
    multiplyAndStore<Operand>(problem, given, ring);
  }
  if (Operand::kCluster > 1) syncCluster();
}

}  // namespace decode
