// C (M, N) = A (M, K) x B (N, K)^T for few rows of A on sm_90a: bound by reading B, which goes from
// packed codes to the tensor cores through registers, once for at most 64 rows.
//
//                  A^T, kTokens columns
//                +----------------------+   One CTA a multiprocessor, tile after tile. A thread
//    64 rows of  |  warpgroup 0: sums   |   loads B's codes and scales and A, ready to multiply,
//    B           |  warpgroup 1: sums   |   512 elements of K a stage, far ahead. Each of four
//                |  ...                 |   warpgroups multiplies its own 128 of them.
//                +----------------------+   (fp8 by fp8 up to 16 rows: A as it is.)
//
// At the end of a tile the four sums are added in shared memory, always in the same order.
// Where tiles are few, a cluster's CTAs divide the K of one, send one another their sums and take a
// part of the tokens each to C. Where tiles are a little more than whole turns of all CTAs, every
// CTA has as many stages, from one tile into the next, and the one that begins a tile adds the
// others' parts, in their order. Or, with more than 8 tokens, those that are more than whole turns
// come first, in parts, and CTAs without a part add them when they have done all else.
//
// With more than 8 columns a CTA brings several bytes of A from L2 for each of B's. Where there are
// enough tiles, it takes two at a time by the same A, two warpgroups each; its last one, if their
// number is odd, has all four, two to every other stage.
//
// More than 64 rows are blocks of 64. A tile's blocks are taken one beside the other, so that all
// but one read its B from L2.
#pragma once

#include "common/decodeItems.cuh"
#include "common/decodeLoad.cuh"
#include "common/decodePrepare.cuh"
#include "common/decodeRing.cuh"
#include "common/decodeSums.cuh"
#include "common/groups.cuh"
#include "common/pipeline.cuh"
#include "common/wgmma.cuh"

namespace decode {

// Registers of a loading and of a multiplying thread.
constexpr int kLoadRegisters = 32, kMultiplyRegisters = 112;
static_assert(mayDivideRegisters(kLoadRegisters, kMultiplyRegisters, kGroups), "registers");

// Who loads does not wait for the barriers. Where CTAs divide K, sums wait for the others'
// (storeSums).
__device__ inline void meetAll(const Problem& problem, bool isLoading) {
  if (problem.across() > 1) arriveAtCluster();
  if (isLoading) arriveAtSome<kThreads>(kBarriersAreThere);
  else syncSome<kThreads>(kBarriersAreThere);
}

// Whether threads go on with the next item while others still read sums: all wait before they write
// sums again, not behind where they have read them.
template <class Operand, bool kRest>
constexpr bool kMayGoOn =
    kRest || (!GROUPED && Operand::kTiles == 1 && Operand::kTokens <= 8 && kBits(B_FORMAT) == 4);

// Bits of sums that all that a thread loaded of a stage goes into: of both rows of B that it has,
// and, where it loads scales of its tokens, of all of these.
template <class Operand>
__device__ inline u32 ofAllLoaded(const Operand& operand) {
  if (!Operand::kTokensAsTheyAre)
    return __float_as_uint(operand.total[0]) | __float_as_uint(operand.total[2]);
  u32 bits = 0;
#pragma unroll
  for (int i = 0; i < Operand::kTokens / 2; i += 4)
    bits |= __float_as_uint(operand.total[i]) | __float_as_uint(operand.total[i + 3]);
  return bits;
}

template <class Operand, bool kRest>
__device__ inline void multiplyAndStore(Problem problem, Given given, Ring<Operand> ring,
                                        const typename Operand::Own& own) {
  constexpr int kTiles = Operand::kTiles, kTurns = Operand::kTurns,
                kShares = kGroups / (kTiles * kTurns), kSumTokens = Ring<Operand>::kSumTokens,
                kPlaces = Ring<Operand>::kPlaces;
  constexpr bool kGoOn = kMayGoOn<Operand, kRest>;
  constexpr int kAround = kRest ? Ring<Operand>::kAround : 1;
  // Parts of K: threads' own sums, and how many slots of them are asked for at once.
  constexpr int kSums = Operand::kTokens / 2, kAtOnce = GROUPED && kSums < 16 ? 16 / kSums : 1;
  constexpr bool kGiveOwn = kTiles == 1 && !kPartsMeet<Operand, kRest>,
                 kAsksEarly = kGiveOwn && !GROUPED && kSums <= 8;
  // A warpgroup's number is one lane's, so that uniform registers tell its instructions what to
  // read.
  const int thread = threadIdx.x - 128, warp = thread / 32 % 4, lane = thread % 32,
            group = Operand::kByWarp ? thread / 128 : __shfl_sync(0xffffffff, thread / 128, 0);
  const typename Operand::Scales laneScales(problem.K / SCALE_BLOCK, warp, lane);
  RingPosition<Ring<Operand>::kStages> place;
  const int stages = Ring<Operand>::stagesOf(problem);
  // Where warpgroups take turns: which of an item's stages is this one's first. Places of the ring
  // are its own or others'.
  int firstOwn = 0;
  if (kTurns > 1) firstOwn = place.stage = group / kShares;
  Items items(problem);
  items.begin();
  meetAll(problem, false);
  if constexpr (Operand::kOwnBytes > 0) {
    own.make(ring, problem, thread);
    syncMultiplying();
  } else if (!Operand::kTokensAsTheyAre) {
    waitForPredecessor();
  }
  const float* factors = given.factors;
  if (Operand::kFactors)
    given.factors = reinterpret_cast<const float*>(__cvta_shared_to_generic(ring.factors()));
  auto tokensOf = [&](int step, int stage) {
    if constexpr (Operand::kOwnBytes > 0) return Operand::ownTokensOf(ring, step);
    else return ring.tokens(stage);
  };
  // Whether others may still read sums, of an item before, or, where a rest's lie in their place,
  // stages.
  bool hasStored = kRest;
  for (; !items.done(); items.next()) {
    const Item item = items.item();
    Operand operand;
    [[maybe_unused]] const Parts parts = kGiveOwn ? problem.partsOf(item) : Parts{0, 1, 0};
    SumsOfParts<kSums, kAtOnce> ofParts(given.parts, thread);
    // The others have written theirs, most often.
    if (kAsksEarly && parts.all > 1 && parts.own == 0)
      ofParts.ask(parts.slot + 1, parts.slot + parts.all);
    // Not when they are needed: by then each would wait for L2.
    if (Operand::kFactors && Operand::kOwnBytes == 0) {
      // All have read the others; most often these are the same.
      if (kGoOn && problem.blocks(0) > 1) syncMultiplying();
      if (thread < item.tokens)
        copyFour(ring.factors() + thread * 4, factors + item.firstToken + thread);
    }
    // Warpgroups that share a stage are a part: the only one, or one with a tile of its own, or one
    // of two that take turns, at places of the ring or, where two tiles would fit but there is one,
    // at stages of K.
    const bool hasOwnTile = kTiles > 1 && item.tiles == kTiles;
    constexpr bool kOnePart = kShares == kGroups;
    const int share = kOnePart ? group : group % kShares, part = kOnePart ? 0 : group / kShares,
              tile = hasOwnTile ? part : 0;
    int step = item.step + firstOwn;
    for (; step < item.end; step += kTurns, place.template advance<kTurns>(stages)) {
      waitFor(ring.full(place.stage), place.phase);
      if (kTurns > 1 || hasOwnTile || (u32)step % kTiles == part)
        operand.multiply(ring.codes(place.stage, tile),
                         ring.scales(place.stage, tile) + ring.firstScale(step), laneScales,
                         tokensOf(step, place.stage), share, warp, lane);
      // A warp that has read a stage says so behind sums that all that it loaded goes into.
      const u32 empty = ring.empty(place.stage) + behind(ofAllLoaded(operand));
      if (lane == 0) arriveHere(empty);
    }
    if (kTurns > 1) firstOwn = step - item.end;
    const bool hadLast = hasOwnTile || (item.end - 1) % kTiles == part;
    const int last = kTurns > 1 ? step - kTurns : item.end - 1 - (hadLast ? 0 : 1);
    if (!kRest || !item.isAdded()) operand.end(problem.K - last * Operand::kStageK, share);
    if (Operand::kFactors && Operand::kOwnBytes == 0) waitForCopies();
    if constexpr (kGiveOwn) {
      const auto sum = [&](int i) -> float& { return operand.total[i]; };
      if (parts.own > 0) {
        ofParts.give(parts.slot + parts.own, sum);
        continue;
      }
      if (parts.all > 1) {
        const int first = parts.slot + 1, end = parts.slot + parts.all;
        if (!kAsksEarly) ofParts.ask(first, end);
        ofParts.addTo(sum, first, end);
      }
    }
    const int rank = hasOwnTile ? share : group, ranks = hasOwnTile ? kShares : kGroups;
    // Each has a place of its own where there is room: that of few tokens, or of stages that all
    // have read. Else one place goes round.
    const bool haveRoom = kPlaces > 1 || (kTiles == 1 && !GROUPED && items.isLast());
    float* sums = reinterpret_cast<float*>(
        __cvta_shared_to_generic(haveRoom ? ring.placesOfSums() : ring.sums()));
#pragma unroll
    for (int firstToken = 0; firstToken < Operand::kTokens; firstToken += kSumTokens) {
      // Sum 4 j + e of a thread is that of row warp * 16 + lane / 4 + 8 * (e / 2) of B and token 8
      // j + 2 * (lane % 4) + e % 2, or, where two columns are a token's, 8 j + lane % 4 + 4 * (e %
      // 2).
      auto sumAt = [&](int i) -> float& {
        const int token = i / 4 * 8 +
                          (Operand::kIsHalves ? lane % 4 + i % 2 * 4 : lane % 4 * 2 + i % 2),
                  row = tile * kRows + warp * 16 + lane / 4 + i % 4 / 2 * 8;
        return sums[(haveRoom ? group : group % kAround) * Ring<Operand>::kPlace +
                    token * Ring<Operand>::kPitch + row];
      };
      if (kGoOn && hasStored) syncMultiplying();
      hasStored = true;
      if (kRest && item.isAdded()) {
        // In memory (storeSums).
      } else if (haveRoom) {
        if (kPlaces == 1 && !kGoOn) syncMultiplying();
#pragma unroll
        for (int i = 0; i < kSumTokens / 2; i++) sumAt(i) = operand.total[firstToken / 2 + i];
        syncMultiplying();
      } else {
        for (int from = ranks / kAround - 1; from >= 0; from--) {
          if (rank / kAround == from)
#pragma unroll
            for (int i = 0; i < kSumTokens / 2; i++)
              sumAt(i) = operand.total[firstToken / 2 + i] +
                         (from < ranks / kAround - 1 ? sumAt(i) : 0.0f);
          syncMultiplying();
        }
      }
      storeSums<Operand, kRest>(problem, given, item, ring, sums, haveRoom, firstToken, thread);
      if (!kGoOn) syncMultiplying();
    }
  }
}

// The body of a kernel. That of one tile at a time, that of two and that of tiles in parts first
// (kRest) are kernels of their own: what waits, which ptxas puts at a kernel's far end, is nearer
// to its main loop, and code that others have no use for costs them up to a microsecond.
template <class Operand, bool kRest = false>
__device__ inline void runTiles(const Maps& maps, Problem problem, const Given& given,
                                bool scalesAreMade) {
  // An address that is not computed from the place in the cluster again in every stage.
  const Ring<Operand> ring(__shfl_sync(0xffffffff, dynamicSharedStart(), 0));
  problem.stageK = Operand::kStageK;
  problem.columns = Operand::kTokens;
  // K is split where tiles are too few to take two.
  if (Operand::kTiles > 1) problem.splits = 1, problem.share = 0, problem.takePairs();
  typename Operand::Own own(problem.M);
  // Before B, behind which it would wait.
  if constexpr (Operand::kOwnBytes > 0)
    if (threadIdx.x >= 128) own.askFor(problem, given, (int)threadIdx.x - 128);
  Loader<Operand> loader(maps, problem, ring, scalesAreMade);
  // Barriers, which loading warps wait for, are made by a warp that has nothing else to do: one
  // that multiplies, or, where those make A ready, one that loads no codes. The warp behind it
  // fetches the maps. Other kernels' main loops were slower by it, and a start is little of their
  // time.
  constexpr bool kStartIsMuch = Operand::kTiles == 1 && !kRest;
  constexpr int kInit = !kStartIsMuch ? 0 : Operand::kOwnBytes == 0 ? 4 : 2;
  static_assert(kInit != 2 || Operand::kTiles * Operand::kCodeBoxes <= 2, "warp 2 loads no codes");
  if (kInit >= 4 || threadIdx.x < 128) {
    if (threadIdx.x == kInit * 32) {
      for (int i = 0; i < Ring<Operand>::kStages; i++) {
        initBarrier(ring.full(i), 1);
        initBarrier(ring.empty(i), kGroups * 4 / Operand::kTurns);
      }
      if (problem.across() > 1) {
        initBarrier(ring.cameIn(), 1);
        expectBytes(ring.cameIn(), OwnSums<Operand>::bytesReceived(problem));
      }
      publishBarriers();
    }
    if (kInit > 0 && threadIdx.x / 32 == kInit) {
      __syncwarp();
      arriveAtSome<Loader<Operand>::template kMeeting<kInit>>(kLoadersAreThere);
    }
    if (threadIdx.x == kInit * 32 + 32) {
      fetchMap(maps.codes);
      fetchMap(maps.scales);
      if (Operand::kOwnBytes == 0) fetchMap(maps.tokens);
      if (Operand::kTokensAsTheyAre) fetchMap(maps.tokenScales);
    }
    if (threadIdx.x < 128) {
      loader.template begin<kInit>();
      __syncwarp();
    }
  }
  // Asked in a way that the compiler does not see through: so what is first in time is first in the
  // machine code, too. Instructions that no cache has are what a CTA waits for at its start.
  if (hidden((int)threadIdx.x) < 128) {
    giveRegistersBack<kLoadRegisters>();
    meetAll(problem, true);
    loader.goOn();
    if (problem.across() > 1) waitForCluster();
  } else {
    takeRegisters<kMultiplyRegisters>();
    multiplyAndStore<Operand, kRest>(problem, given, ring, own);
  }
}

}  // namespace decode
