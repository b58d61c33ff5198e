// Operands that a large product widens itself, beside its tiles: by the three warps of its loading
// warpgroup that load nothing. Only what the first turn of tiles needs is widened before (`widen`
// in wgmma.cu), while the tensor cores have nothing to do.
//
//   tiles of a turn      | first      | second     | third      | ...
//   rows that are there  | A0 B0      | B1         | B2 A1      | ...
//   widened meanwhile    | B1         | B2 A1      | ...
//
// Rows come in the order in which tiles need them (tileOrder.cuh): those of B, all of which the
// first band of tiles has, then those of A. A warp takes the next that nobody has, so whoever runs
// goes on with what is missing, and CTAs that have not started keep nobody waiting. A slab is as
// many rows of either as a tile has; who loads a tile waits until its two slabs are done.
#pragma once

#include "common/betweenCtas.cuh"
#include "common/gemmTile.cuh"
#include "common/widen.cuh"

namespace gemm {

// Words of memory, zero before the operation: 4, and one for each slab.
struct WidenProgress {
  u32* words;
  // Whether a scale was beyond bf16's range: before the product, and beside it. Apart, so that all
  // CTAs of the product read the same of the first.
  __device__ u32* beyond() const { return words; }
  __device__ u32* beyondBeside() const { return words + 1; }
  __device__ u32* nextRow() const { return words + 2; }
  // Rows of a slab that are done.
  __device__ u32* done(int slab) const { return words + 4 + slab; }
};

struct WidenOperands {
  // (M, K) and (N, K): packed codes, linear scales, bf16.
  const u8 *aCodes, *bCodes, *aScales, *bScales;
  u16 *aWide, *bWide;
  WidenProgress progress;
  // Rows of A and B that are widened before; whole slabs, but for the last.
  int aBefore, bBefore;
};

// What a CTA does of it, and what its loading thread asks for (see gemm::NoGuide).
template <class T>
struct WidenBeside {
  static constexpr int kRowsA = T::kTileM * T::kCluster, kRowsB = T::kTileN;
  WidenOperands of;
  int M, N, K;
  __device__ int slabsOfB() const { return ceilDiv(max(N - of.bBefore, 0), kRowsB); }

  // Pieces of a lane that are on their way at once: as registers allow, which hold the words of
  // each, and where formats differ the code for the other operand has some.
  __device__ static constexpr int atOnce(int words) {
    if (A_FORMAT == B_FORMAT) return words == 1 ? 8 : words == 2 ? 6 : 3;
    return words == 3 ? 2 : words == 2 ? 3 : 4;
  }

  // A row, from its first code on, by a warp.
  template <int Format>
  __device__ void widenRow(const u8* codes, const u8* scales, u16* wide) const {
    using Piece = PieceToWiden<Format>;
    constexpr int kOfWarp = 32 * Piece::kCount;  // elements of a piece for each lane
    constexpr int kCount = atOnce(Piece::kWords);
    static_assert(kOfWarp % SCALE_BLOCK == 0, "whole scale blocks");
    const int lane = hidden(threadIdx.x % 32);
    codes += lane * Piece::kWords * 4, scales += lane * Piece::kCount / SCALE_BLOCK;
    wide += lane * Piece::kCount;
    for (int left = K / Piece::kCount - lane; left > 0; left -= 32 * kCount) {
      Piece pieces[kCount];
      bool areSpecial = false;
#pragma unroll
      for (int i = 0; i < kCount; i++)
        if (left > 32 * i)
          pieces[i].load(codes + i * 32 * Piece::kWords * 4, scales + i * kOfWarp / SCALE_BLOCK);
#pragma unroll
      for (int i = 0; i < kCount; i++)
        if (left > 32 * i) {
          pieces[i].store(wide + i * kOfWarp, of.progress.beyondBeside());
          areSpecial |= pieces[i].isSpecial();
        }
      if (areSpecial) widenAgain<Format>(codes, scales, wide, left);
      codes += kCount * 32 * Piece::kWords * 4, scales += kCount * kOfWarp / SCALE_BLOCK;
      wide += kCount * kOfWarp;
    }
  }
  // Pieces that have NaN or infinity among them.
  template <int Format>
  __device__ void widenAgain(const u8* codes, const u8* scales, u16* wide, int left) const {
    using Piece = PieceToWiden<Format>;
#pragma unroll 1
    for (int i = 0; i < atOnce(Piece::kWords) && left > 32 * i; i++) {
      Piece piece;
      piece.load(codes + i * 32 * Piece::kWords * 4, scales + i * 32 * Piece::kCount / SCALE_BLOCK);
      if (piece.isSpecial()) piece.storeSpecial(wide + i * 32 * Piece::kCount);
    }
  }

  // By whole warps, a row at a time.
  __device__ void run() const {
    const int rowsOfB = max(N - of.bBefore, 0), rows = rowsOfB + max(M - of.aBefore, 0);
    if (rows == 0) return;
    const bool isFirst = threadIdx.x % 32 == 0;
    for (int taken = isFirst ? takeNumber(of.progress.nextRow()) : 0;;) {
      const int next = __shfl_sync(~0u, taken, 0);
      if (next >= rows) return;
      if (isFirst) taken = takeNumber(of.progress.nextRow());
      const bool isOfA = next >= rowsOfB;
      const int inside = isOfA ? next - rowsOfB : next;
      const long long first = (long long)((isOfA ? of.aBefore : of.bBefore) + inside) * K;
      const u8* scales = (isOfA ? of.aScales : of.bScales) + first / SCALE_BLOCK;
      u16* wide = (isOfA ? of.aWide : of.bWide) + first;
      if (A_FORMAT == B_FORMAT || !isOfA)
        widenRow<B_FORMAT>((isOfA ? of.aCodes : of.bCodes) + first * kBits(B_FORMAT) / 8, scales,
                           wide);
      else widenRow<A_FORMAT>(of.aCodes + first * kBits(A_FORMAT) / 8, scales, wide);
      publishToCopyEngines();
      __syncwarp();
      if (isFirst)
        addReleasing(of.progress.done(isOfA ? slabsOfB() + inside / kRowsA : inside / kRowsB));
    }
  }

  // By who loads: until a tile's rows are there.
  static constexpr bool kLooksAhead = true;
  bool isThere = false;  // the next tile's
  __device__ void startTile(const Place& place) {
    if (!isThere)
      forSlabs(place, [](const u32* done, u32 rows) {
        waitToReach(done, rows);
        return true;
      });
    isThere = false;
  }
  // Whether the next tile's are, asked in the middle of one: what is loaded already hides how long
  // the answer takes.
  template <class TilesOf>
  __device__ void lookAhead(const TilesOf& shape, int tile, u32 rank) {
    if (tile < shape.tiles())
      isThere = forSlabs(shape.place(tile, rank),
                         [](const u32* done, u32 rows) { return hasReached(done, rows); });
  }
  // Of B, then of A, while `see` says that they are there; the copy engine may load them then.
  template <class See>
  __device__ bool forSlabs(const Place& place, See see) const {
    const int ofB = place.rowB - of.bBefore, ofA = place.row - of.aBefore, slab = ofA / kRowsA;
    if (ofB >= 0 && !see(of.progress.done(ofB / kRowsB), min(kRowsB, N - place.rowB))) return false;
    if (ofA >= 0 && place.row < M &&
        !see(of.progress.done(slabsOfB() + slab), min(kRowsA, M - of.aBefore - slab * kRowsA)))
      return false;
    publishToCopyEngines();
    return true;
  }
  __device__ u32 wordOf(int) { return 0; }
  __device__ void endTile(const Place&) {}
};

// How a stage is filled: as it lies (gemm.cuh), by one thread, once it is there.
template <class T>
struct AsWidened {
  static constexpr int kArrivals = 1;
  const TensorMap *aMap, *bMap;
  WidenBeside<T> beside;
  template <class TilesOf>
  __device__ void load(TilesOf shape, Shared<T> shared) const {
    if (threadIdx.x >= 32) return beside.run();
    if (electOne()) gemm::load<T>(aMap, bMap, shape, shared, beside);
  }
};

}  // namespace gemm
