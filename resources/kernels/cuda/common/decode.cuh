// C (M, N) = A (M, K) x B (N, K)^T for few rows of A on sm_90a: bound by reading B, which goes from
// packed codes to the tensor cores through registers, once for at most 64 rows.
//
//                  A^T, kTokens columns
//                +----------------------+   One CTA a multiprocessor, tile after tile. A thread
//    64 rows of  |  warpgroup 0: sums   |   loads B's codes and scales and A, ready to multiply,
//    B           |  warpgroup 1: sums   |   512 elements of K a stage, far ahead. Each of four
//                |  ...                 |   warpgroups multiplies its own 128 of them.
//                +----------------------+
//
// At the end of a tile the four sums are added in shared memory, always in the same order.
// Where tiles are few, or a little more than whole turns of all CTAs, they are split along K, too:
// every CTA has as many stages, from one tile into the next, and the one that comes last to a tile
// adds the parts, in their order.
//
// With more than 8 columns every CTA would bring several bytes of A from L2 for each of B's. Where
// there are enough tiles, it takes two at a time by the same A, two warpgroups each; its last one,
// if their number is odd, has all four, two to every other stage. Else two CTAs, with tiles that
// are neighbours, are a cluster and bring half of A's columns each for both.
//
// More than 64 rows are blocks of 64. A tile's blocks are taken one beside the other, so that all
// but one read its B from L2.
#pragma once

#include "common/decodeAgain.cuh"
#include "common/decodeItems.cuh"
#include "common/decodePrepare.cuh"
#include "common/groups.cuh"
#include "common/pipeline.cuh"
#include "common/wgmma.cuh"

namespace decode {

// THREADS and SHARED_BYTES are constants of the manifest's row.
constexpr int kThreads = THREADS, kGroups = kThreads / 128 - 1;
constexpr int kSharedBytes = SHARED_BYTES;
static_assert(kRows == 64 && kGroups == 4,
              "a warpgroup multiplies 64 rows; registers are divided for four");
// Tiles of B that a CTA takes at a time where it can, CTAs that share A, elements of K a stage.
__host__ __device__ constexpr int mostTilesFor(int tokens) {
  return GROUPED || tokens <= 8 || (tokens <= 16 && kBits(B_FORMAT) > 4) ? 1 : 2;
}
__host__ __device__ constexpr int clusterFor(int tokens, int tiles) {
  return tokens <= 8 || tiles > 1 ? 1 : 2;
}
__host__ __device__ constexpr int stageFor(int tokens, int tiles) {
  return tiles > 1 && (tokens > 32 || kBits(B_FORMAT) > 4) ? kStageK / 2 : kStageK;
}
// Registers of a loading and of a multiplying thread.
constexpr int kLoadRegisters = 32, kMultiplyRegisters = 112;

// Rows of 128 bytes of a tile's codes.
constexpr int kCodeBoxBytes = kRows * 128;

// Bytes of a row of scales that come for a stage: the copy engine takes no fewer than 16, nor from
// other places than every sixteenth.
__host__ __device__ constexpr int scaleBytesFor(int stageK) {
  return stageK / SCALE_BLOCK < 16 ? 16 : stageK / SCALE_BLOCK;
}

// Where rows of B's scales are not a multiple of 16 bytes, as the copy engine would have them,
// eight rows' are: a row of the tensor map. Each of the eight then has a box of its own, from the
// last sixteenth byte before its scales on.
constexpr int kEight = 8;
// Bytes of a row of scales in shared memory.
__host__ __device__ constexpr int scalePitchFor(int stageK, bool ofEight) {
  return scaleBytesFor(stageK) + (ofEight ? 16 : 0);
}

// Where in a tile's scales of a stage those of a lane's two rows are: warp * 16 + lane / 4, and
// eight more.
template <int StageK, bool OfEight>
struct LaneScales {
  static constexpr int kPitch = scalePitchFor(StageK, OfEight),
                       kApart = OfEight ? kPitch : 8 * kPitch;
  u32 first;  // bytes, to those of the first row, which of eight may begin between two words
  __device__ LaneScales(int ofRow, int warp, int lane) {
    const int row = lane / 4;
    first = warp * 2 * kApart + row * (OfEight ? kRows / kEight : 1) * kPitch;
    if (OfEight) first += row * ofRow % 16;
  }
  // Of row `half`, as words, those that begin at `from`.
  template <int Words>
  __device__ void load(u32 (&words)[Words], u32 from, int half) const {
    const u32 place = from + first + half * kApart, aligned = OfEight ? place & ~3 : place;
    const bool isBetween = OfEight && (place & 2) != 0;
#pragma unroll
    for (int i = 0; i < Words; i++) words[i] = loadWord(aligned + i * 4);
    if (!OfEight) return;
    const u32 behind = isBetween ? loadWord(aligned + Words * 4) : 0;
#pragma unroll
    for (int i = 0; i < Words; i++)
      words[i] =
          __byte_perm(words[i], i + 1 < Words ? words[i + 1] : behind, isBetween ? 0x5432 : 0x3210);
  }
};

// Operand: how codes become matrix operands, and what a thread adds. It has kTokens; kCluster, how
// many CTAs share A; kTiles, how many tiles a stage has room for, kStageK, its elements of K, and
// kShareK, those of a warpgroup;
// the boxes of a tile's codes and of tokens (kCodeBoxes, kTokenBoxes of kTokenBoxK elements, rows
// of 128 bytes); kByWarp, whether its warps multiply by themselves; total[], the sums of multiply()
// over a warpgroup's shares of stages; end(), which marks those that are not right by NaN; kUnit,
// what they lack; kSmallest, below which they may have lost bits; kOfEight, whether scales come by
// kEight rows, and Scales, a lane's. kOwnBytes: of A where the CTA itself makes it ready, all of K
// before its first stage (Own: what a thread of those that multiply has of it); 0 where a kernel
// before this one does.
template <class Operand>
struct Ring {
  static constexpr int kTiles = Operand::kTiles;
  static constexpr int kBytesCodes = Operand::kCodeBoxes * kCodeBoxBytes;  // of a tile
  static constexpr int kScaleBytes = scaleBytesFor(Operand::kStageK);      // of a row
  static constexpr int kBytesScales = kRows * scalePitchFor(Operand::kStageK, Operand::kOfEight);
  static constexpr int kBytesTile = kBytesCodes + kBytesScales;
  static constexpr int kBytesTokens = Operand::kTokenBoxes * 128 * Operand::kTokens;
  static constexpr int kBytesStage = kTiles * kBytesTile + kBytesTokens;
  // Sums are added for so many tokens at a time. A row of them: banks of neighbouring tokens are
  // apart.
  static constexpr int kSumTokens =
      Operand::kTokens <= 64 / kTiles ? Operand::kTokens : 64 / kTiles;
  static constexpr int kPitch = kTiles * kRows + 4;
  // Of few tokens each warpgroup's have a place, and are added where they are read: one barrier
  // instead of one for each.
  static constexpr int kPlaces = kTiles == 1 && Operand::kTokens <= 16 ? kGroups : 1,
                       kPlace = kSumTokens * kPitch;
  static constexpr int kBytesSums = kPlaces * kPlace * 4, kBytesOther = 1024 + 1024;
  // Few tokens: as many as keep the memory busy. More of them wait behind those of other CTAs, and
  // the last CTA to have its own ends later.
  static constexpr bool kIsShort = kTiles == 1 && Operand::kTokens <= 16 && kBits(B_FORMAT) == 4;
  static constexpr int kFit = (kSharedBytes - kBytesSums - kBytesOther - Operand::kOwnBytes) /
                              kBytesStage,
                       kStages = kIsShort && kFit > 4 ? 4 : kFit;
  static constexpr int kBytesBarriers = kStages * 16 + 4 + Operand::kTokens * 4;
  static_assert(kStages >= 2 && kBytesBarriers <= 1024 && kBytesStage % 1024 == 0,
                "room for a ring");
  u32 barriers, tiles;
  __device__ explicit Ring(u32 start)
      : barriers(start), tiles((start + kBytesBarriers + 1023) & ~1023u) {}
  __device__ u32 full(int i) const { return barriers + i * 8; }
  __device__ u32 empty(int i) const { return barriers + (kStages + i) * 8; }
  __device__ u32 order() const { return barriers + kStages * 16; }
  __device__ u32 factors() const { return order() + 4; }
  __device__ u32 codes(int i, int tile) const {
    return tiles + i * kBytesStage + tile * kBytesCodes;
  }
  __device__ u32 tokens(int i) const { return codes(i, kTiles); }
  __device__ u32 scales(int i, int tile) const {
    return tokens(i) + kBytesTokens + tile * kBytesScales;
  }
  // Where in what came for stage `step` of K its scales begin.
  __device__ static int firstScale(int step) {
    return step * (Operand::kStageK / SCALE_BLOCK) % kScaleBytes;
  }
  __device__ u32 own() const { return tiles + kStages * kBytesStage; }
  __device__ u32 sums() const { return own() + Operand::kOwnBytes; }
};

// One lane of each of the four loading warps; they share a stage's boxes. What the kernel before
// this one makes (A, and B's scales where they are copied) is not there at first: the codes of the
// first stages go ahead of it. Not of all: what is asked for later waits behind them.
template <class Operand>
__device__ inline void load(const TensorMap* codesMap, const TensorMap* scalesMap,
                            const TensorMap* tokensMap, Problem problem, Ring<Operand> ring,
                            bool scalesAreMade) {
  constexpr int kStages = Ring<Operand>::kStages, kCluster = Operand::kCluster,
                kTiles = Operand::kTiles;
  const int warp = threadIdx.x / 32;
  auto loadScales = [&](int stage, const Cursor& at) {
    const int from = at.k() / SCALE_BLOCK - ring.firstScale(at.step), tile = 3 - warp;
    if constexpr (Operand::kOfEight) {
      static_assert(kTiles == 1, "one tile's");
#pragma unroll
      for (int first = 0; first < kEight; first += 4) {
        const int row = first + tile;
        loadBox(ring.scales(stage, 0) + row * (Ring<Operand>::kBytesScales / kEight), scalesMap,
                row * (problem.K / SCALE_BLOCK) + from & ~15, at.rowOfAll / kEight,
                ring.full(stage));
      }
    } else if (tile < kTiles && tile < at.tiles) {
      loadBox(ring.scales(stage, tile), scalesMap, from, at.rowOfAll + tile * kRows,
              ring.full(stage));
    }
  };
  auto loadGiven = [&](int stage, const Cursor& at) {
    if (warp == 0)
      expectBytes(ring.full(stage),
                  Ring<Operand>::kBytesStage - (kTiles - at.tiles) * Ring<Operand>::kBytesTile);
#pragma unroll
    for (int first = 0; first < kTiles * Operand::kCodeBoxes; first += 4) {
      const int box = first + warp, tile = box / Operand::kCodeBoxes,
                byte = at.k() * kBits(B_FORMAT) / 8 + box % Operand::kCodeBoxes * 128;
      if (tile < kTiles && tile < at.tiles)
        loadBox(ring.codes(stage, 0) + box * kCodeBoxBytes, codesMap, byte,
                at.rowOfAll + tile * kRows, ring.full(stage));
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
  Cursor ahead(problem);
  RingPosition<kStages> place;
  if constexpr (Operand::kOwnBytes > 0) {
    for (; !ahead.done(); place.advance(), ahead.next()) {
      waitFor(ring.empty(place.stage), place.phase ^ 1);
      loadGiven(place.stage, ahead);
    }
    return;
  }
  constexpr int kAhead = kStages < 3 ? kStages : 3;
  Cursor behind = ahead;
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
  float* parts;          // (most parts of a tile, M, N) when K is split
  u32* arrived;          // per tile and block
  Output* c;
  float tensorScale;
};

// Barriers of some of the threads, by number.
constexpr int kMultiplying = 1, kLoadersAreThere = 2, kBarriersAreThere = 3;
__device__ inline void syncMultiplying() { syncSome<kGroups * 128>(kMultiplying); }

// A's rows among the threads that multiply, where these make A ready: a row is for 2^log of them,
// as many as each of 1, 2, 4 or 8 may have, and a thread has pieces of it 2^log apart.
struct OwnRows {
  int log;
  static_assert(kGroups * 128 == 1 << 9, "threads that multiply");
  __device__ explicit OwnRows(int M) : log(M == 1 ? 9 : M == 2 ? 8 : M <= 4 ? 7 : 6) {}
  __device__ int count() const { return 1 << 9 - log; }
  __device__ int rowOf(int thread) const { return thread >> log; }
  __device__ int pieceOf(int thread, int i) const { return (thread & (1 << log) - 1) + (i << log); }
};

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
  const int ofToken =
      small == 0 ? kAllZero
                 : leastExponent<A_FORMAT>(given.aCodes, given.aScales, token, hidden(problem.K));
  if (ofToken == kAllZero) small = 0;
  for (u32 left = unknown | small; left != 0; left &= left - 1) {
    const int lane = __ffs(left) - 1, rowOfLane = __shfl_sync(0xffffffff, rowOfAll, lane),
              K = hidden(problem.K);
    if ((small >> lane & 1) != 0 && ofToken >= kSureExponent &&
        leastExponent<B_FORMAT>(given.bCodes, given.bScales, rowOfLane, K) >= kSureExponent)
      continue;
    const double exact =
        exactSum(given.aCodes, given.aScales, given.bCodes, given.bScales, token, rowOfLane, K);
    if (threadIdx.x % 32 == lane) value = toOutput((float)(exact * given.tensorScale));
  }
  if (inside) given.c[(long long)token * problem.N + row] = value;
}

// Each sum in shared memory of an item's tokens from `firstToken` on: token, row of its matrix,
// sum. `areAdded`: those of all warpgroups are in the first place.
template <class Operand, class Function>
__device__ inline void forSums(const Item& item, const float* sums, bool areAdded, int firstToken,
                               int thread, Function function) {
  constexpr int kPlaces = Ring<Operand>::kPlaces, kPlace = Ring<Operand>::kPlace;
  // As many at a time as need no register more than the products. Their number is known where a
  // CTA takes one tile: what finish() does stands no more often than it is run.
  [[maybe_unused]] constexpr int kUnroll = GROUPED ? 1 : Operand::kByWarp ? 4 : 2;
  const int rows = (Operand::kTiles == 1 ? 1 : item.tiles) * kRows;
#pragma unroll kUnroll
  for (int first = 0; first < rows * Ring<Operand>::kSumTokens; first += kGroups * 128) {
    const int i = first + thread, token = rows == kRows ? i / kRows : i / (2 * kRows),
              row = i - token * rows;
    const float* at = sums + token * Ring<Operand>::kPitch + row;
    float sum = *at;
    if (kPlaces > 1 && !areAdded) {
      float others = at[(kPlaces - 1) * kPlace];
#pragma unroll
      for (int of = kPlaces - 2; of > 0; of--) others = at[of * kPlace] + others;
      sum += others;
    }
    function(firstToken + token, item.row + row, sum);
  }
}

// The sums of a tile whose K is split, in shared memory, from all parts in their order: each thread
// those that it takes to C, all of a part at a time.
template <class Operand>
__device__ inline void addParts(const Problem& problem, const Given& given, const Item& item,
                                int parts, float* sums, int firstToken, int thread) {
  constexpr int kEach = kRows * Ring<Operand>::kSumTokens / (kGroups * 128),
                kTokensApart = kGroups * 128 / kRows;
  const int first = thread / kRows, row = thread % kRows;
  float total[kEach] = {};
  for (int part = 0; part < parts; part++) {
    const float* from = given.parts + (long long)part * problem.M * problem.N;
#pragma unroll
    for (int i = 0; i < kEach; i++) {
      const int token = firstToken + first + i * kTokensApart;
      const bool isInside = token < item.tokens && item.row + row < problem.N;
      const long long place = (long long)(item.firstToken + token) * problem.N + item.row + row;
      total[i] += __ldcg(from + (isInside ? place : 0));
    }
  }
#pragma unroll
  for (int i = 0; i < kEach; i++)
    sums[(first + i * kTokensApart) * Ring<Operand>::kPitch + row] = total[i];
}

// C, or a part of it where K is split, of an item's tokens from `firstToken` on, whose sums over
// the CTA are in shared memory.
template <class Operand>
__device__ inline void storeSums(const Problem& problem, const Given& given, const Item& item,
                                 float* sums, u32& order, int firstToken, int thread) {
  const Parts parts = Operand::kTiles == 1 ? problem.partsOf(item) : Parts{0, 1};
  if (parts.all > 1) {
    forSums<Operand>(item, sums, false, firstToken, thread, [&](int token, int row, float sum) {
      if (token < item.tokens && row < problem.N)
        given
            .parts[((long long)parts.own * problem.M + item.firstToken + token) * problem.N + row] =
            sum;
    });
    syncMultiplying();
    if (thread == 0) {
      order = countIn(given.arrived + item.place);
      // For the next product; the manifest's row has them zero before the first.
      if (order == parts.all - 1) given.arrived[item.place] = 0;
    }
    syncMultiplying();
    if (order != parts.all - 1) return;
    addParts<Operand>(problem, given, item, parts.all, sums, firstToken, thread);
  }
  const bool areAdded = parts.all > 1;
  forSums<Operand>(item, sums, areAdded, firstToken, thread, [&](int token, int row, float sum) {
    finish<Operand>(problem, given, item, token, row, sum);
  });
}

template <class Operand>
__device__ inline void multiplyAndStore(Problem problem, Given given, Ring<Operand> ring) {
  constexpr int kTiles = Operand::kTiles, kShares = kGroups / kTiles,
                kSumTokens = Ring<Operand>::kSumTokens, kPlaces = Ring<Operand>::kPlaces;
  // A warpgroup's number is one lane's, so that uniform registers tell its instructions what to
  // read.
  const int thread = threadIdx.x - 128, warp = thread / 32 % 4, lane = thread % 32,
            group = Operand::kByWarp ? thread / 128 : __shfl_sync(0xffffffff, thread / 128, 0);
  const typename Operand::Scales laneScales(problem.K / SCALE_BLOCK, warp, lane);
  RingPosition<Ring<Operand>::kStages> place;
  float* sums = reinterpret_cast<float*>(__cvta_shared_to_generic(ring.sums()));
  u32& order = *reinterpret_cast<u32*>(__cvta_shared_to_generic(ring.order()));
  if constexpr (Operand::kOwnBytes > 0) {
    typename Operand::Own own(problem.M);
    own.askFor(problem, given, thread);
    syncSome<kThreads>(kBarriersAreThere);
    own.make(ring, problem, thread);
    if (Operand::kFactors)
      given.factors = reinterpret_cast<const float*>(__cvta_shared_to_generic(ring.factors()));
    syncMultiplying();
  }
  auto tokensOf = [&](int step, int stage, int share) {
    if constexpr (Operand::kOwnBytes > 0)
      return Operand::ownTokensOf(ring, problem, step, share, lane);
    else return ring.tokens(stage);
  };
  for (Items items(problem); !items.done(); items.next()) {
    const Item item = items.item();
    Operand operand;
    // A tile is for the warpgroups that share a stage; the only one for all, who take turns.
    const bool isFull = kTiles == 1 || item.tiles == kTiles;
    const int share = kTiles == 1 ? group : group % kShares,
              pair = kTiles == 1 ? 0 : group / kShares, tile = isFull ? pair : 0;
    for (int step = item.step; step < item.end; step++, place.advance()) {
      waitFor(ring.full(place.stage), place.phase);
      if (isFull || step % kTiles == pair)
        operand.multiply(ring.codes(place.stage, tile),
                         ring.scales(place.stage, tile) + ring.firstScale(step), laneScales,
                         tokensOf(step, place.stage, share), share, warp, lane);
      if (Operand::kCluster > 1) releaseStage<Operand::kCluster>(ring.empty(place.stage));
      else if (lane == 0) arriveHere(ring.empty(place.stage));
    }
    operand.end();
    // Sums of one tile are added by their warpgroups in this order.
    const int rank = isFull ? share : group, ranks = isFull ? kShares : kGroups;
#pragma unroll
    for (int firstToken = 0; firstToken < Operand::kTokens; firstToken += kSumTokens) {
      // Sum 4 j + e of a thread is that of row warp * 16 + lane / 4 + 8 * (e / 2) of B and token 8
      // j + 2 * (lane % 4) + e % 2.
      auto sumAt = [&](int i) -> float& {
        const int token = i / 4 * 8 + lane % 4 * 2 + i % 2,
                  row = tile * kRows + warp * 16 + lane / 4 + i % 4 / 2 * 8;
        return sums[(kPlaces > 1 ? group : 0) * Ring<Operand>::kPlace +
                    token * Ring<Operand>::kPitch + row];
      };
      if constexpr (kPlaces > 1) {
#pragma unroll
        for (int i = 0; i < kSumTokens / 2; i++) sumAt(i) = operand.total[i];
        syncMultiplying();
      } else {
        for (int from = ranks - 1; from >= 0; from--) {
          if (rank == from)
#pragma unroll
            for (int i = 0; i < kSumTokens / 2; i++)
              sumAt(i) = operand.total[firstToken / 2 + i] + (from < ranks - 1 ? sumAt(i) : 0.0f);
          syncMultiplying();
        }
      }
      waitForPredecessor();
      storeSums<Operand>(problem, given, item, sums, order, firstToken, thread);
      syncMultiplying();
    }
  }
}

// The kernel's body.
template <class Operand>
__device__ inline void runTiles(const TensorMap* codesMap, const TensorMap* scalesMap,
                                const TensorMap* tokensMap, Problem problem, const Given& given,
                                bool scalesAreMade) {
  // An address that is not computed from the place in the cluster again in every stage.
  const Ring<Operand> ring(__shfl_sync(0xffffffff, dynamicSharedStart(), 0));
  problem.cluster = Operand::kCluster, problem.stageK = Operand::kStageK;
  problem.columns = Operand::kTokens;
  // K is split where tiles are too few to take two.
  if (Operand::kTiles > 1) problem.splits = 1, problem.share = 0, problem.takePairs();
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
    if (Operand::kOwnBytes == 0) fetchMap(tokensMap);
  }
  // What a CTA of a cluster brings goes to the others' rings too: those must be there, and stay.
  // Where the CTA makes A ready, it asks for A and for B at once: what is asked for later waits
  // behind what is asked for before.
  constexpr bool kAtOnce = Operand::kOwnBytes > 0;
  if (Operand::kCluster > 1) meetCluster();
  else if (!kAtOnce) __syncthreads();
  if (threadIdx.x < 128) {
    giveRegistersBack<kLoadRegisters>();
    if (kAtOnce) {
      syncSome<128>(kLoadersAreThere);
      arriveAtSome<kThreads>(kBarriersAreThere);
    }
    if (electOne()) load<Operand>(codesMap, scalesMap, tokensMap, problem, ring, scalesAreMade);
  } else {
    takeRegisters<kMultiplyRegisters>();
    multiplyAndStore<Operand>(problem, given, ring);
  }
  if (Operand::kCluster > 1) syncCluster();
}

// `tiles`: how many a CTA takes at a time, where it can.
template <template <int, int> class Operand, int Tokens>
__device__ inline void run(const TensorMap* codesMap, const TensorMap* scalesMap,
                           const TensorMap* tokensMap, const Problem& problem, const Given& given,
                           bool scalesAreMade, int tiles) {
  constexpr int kMost = mostTilesFor(Tokens);
  if (kMost > 1 && tiles > 1)
    runTiles<Operand<Tokens, kMost>>(codesMap, scalesMap, tokensMap, problem, given, scalesAreMade);
  else runTiles<Operand<Tokens, 1>>(codesMap, scalesMap, tokensMap, problem, given, scalesAreMade);
}

}  // namespace decode
