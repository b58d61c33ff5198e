// The loading warpgroup of a product of B's codes: A and codes by the copy engine, scales beside
// them by its threads (see gemm_codes.cuh).
#pragma once

#include "common/gemm_codesTiles.cuh"

namespace bf16gemm {

template <class T>
struct CodesOfB {
  static_assert(T::kCluster == 2 && T::kTileM == 128,
                "half of A for each CTA, a row of B for each thread");
  static constexpr int kWarps = 4, kArrivals = 1 + kWarps;
  // A row's scales of a stage are one load where rows have those of whole stages; else each is one,
  // or two are where rows of them begin at even places. The thread that brings a stage is among
  // those that load: every instruction here delays it.
  static constexpr int kLoads = 2, kOfLoad = T::kScales / kLoads;
  static_assert(kOfLoad == 1 || kOfLoad == 2, "scales of 32 or 16 elements");

  const TensorMap *aMap, *codesMap;
  const u8* scales;  // of all rows of B
  int rowsB, K;

  // A stage of a tile, and where this thread's row has its scales.
  template <class TilesOf>
  struct StageOf {
    typename TilesOf::Turns turn;
    int step;
    gemm::Place place;
    const u8* scales = nullptr;  // null beyond B
    __device__ StageOf(const TilesOf& shape, const CodesOfB& of, u32 rank) : turn(shape) {
      enter(shape, of, rank);
    }
    __device__ void enter(const TilesOf& shape, const CodesOfB& of, u32 rank) {
      step = turn.begin;
      if (!turn.isLeft(shape)) return;
      place = shape.place(turn.tile, rank);
      const int row = place.rowB + (int)threadIdx.x;
      scales = row < of.rowsB
                   ? of.scales + (long long)row * (of.K / SCALE_BLOCK) + step * T::kScales
                   : nullptr;
    }
    __device__ void advance(const TilesOf& shape, const CodesOfB& of, u32 rank) {
      if (scales) scales += T::kScales;
      if (++step < turn.end) return;
      turn.next(shape);
      enter(shape, of, rank);
    }
  };

  // Scale codes of this thread's row; 0 beyond B, where codes are zeros.
  template <class Stage>
  __device__ void loadScales(u32 (&codes)[kLoads], const Stage& stage) const {
    const u8* at = stage.scales;
#pragma unroll
    for (int i = 0; i < kLoads; i++) codes[i] = 0;
    if (!at) return;
    if (K % T::kElements == 0) {
      codes[0] =
          T::kScales == 4 ? *reinterpret_cast<const u32*>(at) : *reinterpret_cast<const u16*>(at);
      return;
    }
#pragma unroll
    for (int i = 0; i < kLoads; i++)
      if (stage.step * T::kScales + i * kOfLoad < K / SCALE_BLOCK)
        codes[i] = kOfLoad == 2 ? reinterpret_cast<const u16*>(at)[i] : at[i];
  }
  __device__ static void storeScales(u32 to, const u32 (&codes)[kLoads]) {
    const u32 all = codes[0] | codes[1] << kOfLoad * 8;
#pragma unroll
    for (int i = 0; i < T::kScales; i++) {
      const u32 code = all >> 8 * i & 255;
      storeWord(to + T::placeOfScale(i) * 4, SCALE_FORMAT == 5
                                                 ? code * 0x00800080
                                                 : bothHalves(decodeScale<SCALE_FORMAT>(code)));
    }
  }

  template <class TilesOf>
  __device__ void load(TilesOf shape, gemm::Shared<T> shared) const {
    const Team<T> team;
    const u32 rank = team.rank;
    const bool isElected = electOne(), isLoading = isElected && threadIdx.x / 32 == 0;
    RingPosition<T::kStages> ring;
    StageOf<TilesOf> stage(shape, *this, rank);
    u32 codes[kLoads] = {};
    if (stage.turn.isLeft(shape)) loadScales(codes, stage);
#pragma unroll 1
    while (stage.turn.isLeft(shape)) {
      StageOf<TilesOf> next = stage;
      next.advance(shape, *this, rank);
      u32 coming[kLoads] = {};
      if (next.turn.isLeft(shape)) loadScales(coming, next);
      const u32 full = shared.full(ring.stage), a = shared.stage(ring.stage),
                beside = shared.beside(ring.stage);
      waitFor(shared.empty(ring.stage), ring.phase ^ 1);
      if (isLoading) {
        expectBytes(full, T::kBytesStage + T::kBytesOfCodes);
        loadBoxMulticast(a + rank * (T::kBytesStage / 2), aMap, stage.step * T::kElements,
                         stage.place.row + rank * (T::kTileN / 2), full, team.mask());
#pragma unroll
        for (int box = 0; box < T::kBoxes; box++)
          loadBox(beside + box * T::kBytesBox, codesMap, stage.step * T::kRowBytes + box * 32,
                  stage.place.rowB, full);
      }
      storeScales(beside + T::kBytesOfCodes + threadIdx.x * T::kRowFactors, codes);
      __syncwarp();
      if (isElected) arriveHere(full);
      ring.advance();
      stage = next;
#pragma unroll
      for (int i = 0; i < kLoads; i++) codes[i] = coming[i];
    }
    // Until the other CTA has arrived at this one's barriers for the last time: a meeting of the
    // cluster that says so is a fence of the device.
#pragma unroll 1
    for (int i = 0; i < T::kStages; i++, ring.advance())
      waitFor(shared.empty(ring.stage), ring.phase ^ 1);
    shape.endLoading();
  }
};

}  // namespace bf16gemm
