// The warps of decode that load: B's codes and scales, and A where a kernel before has made it
// ready (see decode.cuh).
#pragma once

#include "common/decodeItems.cuh"
#include "common/decodeRing.cuh"
#include "common/pipeline.cuh"

namespace decode {

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

}  // namespace decode
