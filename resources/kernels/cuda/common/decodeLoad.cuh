// The warps of decode that load: B's codes and scales, and A where a kernel before has made it
// ready (see decode.cuh).
#pragma once

#include "common/decodeItems.cuh"
#include "common/decodeRing.cuh"
#include "common/pipeline.cuh"

namespace decode {

// Of B, and of A where the CTA does not make it ready itself; of A's scales where both come as they
// are.
struct Maps {
  const TensorMap *codes, *scales, *tokens = nullptr, *tokenScales = nullptr;
};

// The four loading warps, one lane of each; they share a stage's boxes. What the kernel before
// this one makes (A, and B's scales where they are copied) is not there at first: B's codes of the
// first stage go ahead of it. More of them would keep memory from what that kernel reads.
template <class Operand>
struct Loader {
  static constexpr int kStages = Ring<Operand>::kStages, kTiles = Operand::kTiles;
  static constexpr bool kTokensAsTheyAre = Operand::kTokensAsTheyAre,
                        kTokensAreMade = Operand::kOwnBytes == 0 && !kTokensAsTheyAre;
  const Maps maps;
  const Ring<Operand> ring;
  const bool scalesAreMade;
  const int warp = threadIdx.x / 32;
  Cursor at;
  const int places;   // of the ring
  const u64 ofCodes;  // what L2 does with them
  bool areScalesReadOnce = false;
  int begun = 0;  // stages

  __device__ Loader(const Maps& maps, const Problem& problem, const Ring<Operand>& ring,
                    bool scalesAreMade)
      : maps(maps),
        ring(ring),
        scalesAreMade(scalesAreMade),
        at(problem),
        places(Ring<Operand>::stagesOf(problem)),
        ofCodes(areReadOnce(problem) ? evictFirst() : evictInTurn()) {}

  // Threads that meet when warp `Init` has made this CTA's barriers.
  template <int Init>
  static constexpr int kMeeting = 128 + (Init < 4 ? 0 : 32);
  // The first stages of the first item, before threads have met: as soon as the barriers are there.
  template <int Init>
  __device__ void begin() {
    at.begin();
    if (Init == 0 || warp != Init) syncSome<kMeeting<Init>>(kLoadersAreThere);
    if (!electOne()) return;
    const int stages = at.end - at.step;
    const bool hasRest = at.items.problem.hasWhole();
    begun = min(kTokensAreMade ? min(Operand::aheadOf(stages, hasRest), places) : places, stages);
#pragma unroll 1
    for (int stage = 0; stage < begun; stage++) loadGiven(stage, at.step + stage);
  }
  // Once the CTA's barriers are there.
  __device__ void goOn() {
    if (!electOne()) return;
    if (kTokensAreMade) {
      waitForPredecessor();
#pragma unroll 1
      for (int stage = 0; stage < begun; stage++) loadMade(stage, at.step + stage);
    }
    // Behind the first stages: in front of them a policy for scales takes small matrices longer.
    const Problem& problem = at.items.problem;
    areScalesReadOnce = SCALE_BLOCK == 16 && areReadOnce(problem) && isLarge(problem);
    RingPosition<kStages> place;
    for (int stage = 0; stage < begun; stage++) place.advance(places);
    for (at.next(begun); !at.done(); place.advance(places), at.next(1)) {
      waitFor(ring.empty(place.stage), place.phase ^ 1);
      loadGiven(place.stage, at.step);
      if (kTokensAreMade) loadMade(place.stage, at.step);
    }
  }

 private:
  // B's codes, or twice, by CTAs side by side. L2 lets go of them first, and keeps what launches
  // have in common, which they would wait for, and scales, whose lines have those of stages to
  // come.
  __device__ static bool areReadOnce(const Problem& problem) {
    return GROUPED || problem.M <= 2 * kMostTokens;
  }
  // Whether B is more than L2 holds: then scales of 16 elements, which are twice as many, are let
  // go of as well.
  __device__ static bool isLarge(const Problem& problem) {
    return (long long)problem.N * problem.K > 1 << 27;
  }
  __device__ void loadGiven(int stage, int step) const {
    if (warp == 0)
      expectBytes(ring.full(stage), at.tiles * Ring<Operand>::kBytesTile +
                                        Ring<Operand>::kBytesTokenCodes +
                                        Ring<Operand>::kBytesTokenScales);
#pragma unroll
    for (int first = 0; first < kTiles * Operand::kCodeBoxes; first += 4) {
      const int box = first + warp, tile = box / Operand::kCodeBoxes,
                byte = at.k(step) * kBits(B_FORMAT) / 8 + box % Operand::kCodeBoxes * 128;
      if (tile < kTiles && tile < at.tiles)
        loadBox(ring.codes(stage, 0) + box * kCodeBoxBytes, maps.codes, byte,
                at.rowOfAll + tile * kRows, ring.full(stage), ofCodes);
    }
    if (!scalesAreMade) loadScales(stage, step);
    if (kTokensAsTheyAre) {
      loadTokens(stage, step);
      if (warp == 0)
        loadBox(ring.tokenScales(stage), maps.tokenScales, at.k(step) / SCALE_BLOCK, at.firstToken,
                ring.full(stage));
    }
  }
  __device__ void loadMade(int stage, int step) const {
    loadTokens(stage, step);
    if (scalesAreMade) loadScales(stage, step);
  }
  __device__ void loadTokens(int stage, int step) const {
#pragma unroll
    for (int i = 0; i < Operand::kTokenBoxes; i += 4) {
      const int box = i + 3 - warp;
      if (box < Operand::kTokenBoxes)
        loadBox(ring.tokens(stage) + box * Operand::kTokens * 128, maps.tokens,
                at.k(step) + box * Operand::kTokenBoxK, at.firstToken, ring.full(stage));
    }
  }
  __device__ void loadScales(int stage, int step) const {
    const int from = at.k(step) / SCALE_BLOCK - ring.firstScale(step), tile = 3 - warp;
    if constexpr (Operand::kOfEight) {
      static_assert(kTiles == 1, "one tile's");
#pragma unroll
      for (int first = 0; first < kEight; first += 4) {
        const int row = first + tile;
        loadBox(ring.scales(stage, 0) + row * (Ring<Operand>::kBytesScales / kEight), maps.scales,
                row * (at.items.problem.K / SCALE_BLOCK) + from & ~15, at.rowOfAll / kEight,
                ring.full(stage));
      }
    } else if (tile < kTiles && tile < at.tiles) {
      const int row = at.rowOfAll + tile * kRows;
      if (areScalesReadOnce)
        loadBox(ring.scales(stage, tile), maps.scales, from, row, ring.full(stage), ofCodes);
      else loadBox(ring.scales(stage, tile), maps.scales, from, row, ring.full(stage));
    }
  }
};

}  // namespace decode
