// Who fills the stages of the block-scaled product of warps (gemm.cuh): one thread by the copy
// engine, or a warpgroup piece by piece where the engine does not take the operands' rows. A loader
// says how many arrivals make a stage full.
#pragma once

#include "common/blockScale/tile.cuh"

namespace blockscale {

// By boxes of tensor maps, which the copy engine swizzles and fills with zeros beyond the matrix.
// Maps has the four of them, of codes at (k, row) and of scales at (group of four along K, 128
// rows).
template <class T, class Maps>
struct BoxLoader {
  static constexpr int kArrivals = 1;
  Maps maps;

  template <class Machine>
  LANE_CODE static bool takesPart(const Machine& machine) {
    return machine.thread() / 32 == T::kMultiplyingWarps && machine.isLeader();
  }
  template <class Machine>
  LANE_CODE void fill(const Machine& machine, const Ring<T>& ring, const Problem&,
                      const Cursor<T>& at) const {
    const u32 a = ring.codes(), b = a + T::kBytesA, scales = b + T::kBytesB;
    machine.expect(ring.full(), T::kArriving);
    maps.template loadA<T>(a, at.step * T::kTileK, at.row, ring.full());
    maps.template loadB<T>(b, at.step * T::kTileK, at.column, ring.full());
    maps.template loadScalesA<T>(scales, at.step * T::kScaleGroups, at.row / 128, ring.full());
    maps.template loadScalesB<T>(scales + T::kBytesScales, at.step * T::kScaleGroups,
                                 at.column / 128, ring.full());
  }
};

// By copies of up to 16 bytes, for every K. Every thread arrives when its own are there.
template <class T>
struct PieceLoader {
  static constexpr int kArrivals = T::kLoadingThreads;
  const u8 *aCodes, *bCodes, *aScales, *bScales;

  template <class Machine>
  LANE_CODE static bool takesPart(const Machine&) {
    return true;
  }
  template <class Machine>
  LANE_CODE void fill(const Machine& machine, const Ring<T>& ring, const Problem& of,
                      const Cursor<T>& at) const {
    const u32 a = ring.codes(), b = a + T::kBytesA;
    copyCodes<T::kA>(machine, a, aCodes, of.M, of.K, at.row, at.step * T::kTileK);
    copyCodes<T::kB>(machine, b, bCodes, of.N, of.K, at.column, at.step * T::kTileK);
    copyScales(machine, b + T::kBytesB, of, at);
    machine.arriveWhenCopied(ring.full());
  }

 private:
  template <class Machine>
  LANE_CODE static int number(const Machine& machine) {
    return machine.thread() - T::kMultiplyingWarps * 32;
  }

  // Brings 128 rows from `row0` and kTileK codes from `k0` to shared memory; zeros beyond the
  // matrix. Narrow codes that the instruction takes a byte each go 16 to a chunk, without gaps, and
  // padding behind (PTX ISA, ldmatrix .b4x16_p64, .b6x16_p32).
  template <int Format, class Machine>
  LANE_CODE static void copyCodes(const Machine& machine, u32 to, const u8* codes, int rows, int K,
                                  int row0, int k0) {
    constexpr int kBytes =
        T::kCodesPerChunk * storageBits(Format) / 8;  // of a chunk in global memory
    const int rowBytes = K * storageBits(Format) / 8, offset0 = k0 / T::kCodesPerChunk * kBytes;
    static_assert(128 * T::kChunks % T::kLoadingThreads == 0, "every thread copies as many chunks");
    UNROLL
    for (int pass = 0; pass < 128 * T::kChunks / T::kLoadingThreads; pass++) {
      const int i = pass * T::kLoadingThreads + number(machine), row = i / T::kChunks,
                chunk = i % T::kChunks, offset = offset0 + chunk * kBytes;
      int valid = rowBytes - offset;
      valid = row0 + row >= rows || valid < 0 ? 0 : valid > kBytes ? kBytes : valid;
      const u8* from = valid > 0 ? codes + (long long)(row0 + row) * rowBytes + offset : codes;
      const u32 place = to + T::swizzled(row, chunk);
      if (kBytes == 16 && (T::kScaleBlock == 32 || K % 32 == 0)) {
        machine.template copy<16>(place, from, valid);
        continue;
      }
      // Rows of fp6, and of fp4 under 16, are no multiples of 16 bytes.
      constexpr int kPiece = kBytes == 12 ? 4 : 8;
      UNROLL
      for (int piece = 0; piece < kBytes; piece += kPiece) {
        const int left = valid - piece;
        machine.template copy<kPiece>(place + piece, left > 0 ? from + piece : from,
                                      left < 0        ? 0
                                      : left > kPiece ? kPiece
                                                      : left);
      }
    }
  }

  // Brings the scales of both operands' rows and of a step of K; zeros beyond K. Rows are padded to
  // 128 in global memory.
  template <class Machine>
  LANE_CODE void copyScales(const Machine& machine, u32 to, const Problem& of,
                            const Cursor<T>& at) const {
    constexpr int kPerGroup = T::kGroupBytes / 16,
                  kPieces = T::kScaleGroups * kPerGroup;  // of 16 bytes
    static_assert(2 * kPieces <= T::kLoadingThreads, "one piece a thread");
    const int i = number(machine), piece = i % kPieces,
              group = at.step * T::kScaleGroups + piece / kPerGroup;
    if (i >= 2 * kPieces) return;
    const int groups = ceilDiv(of.K / T::kScaleBlock, 4);
    const u8* scales = i < kPieces ? aScales : bScales;
    const long long offset =
        ((long long)((i < kPieces ? at.row : at.column) / 128) * groups + group) * T::kGroupBytes;
    const bool isInside = group < groups;
    machine.template copy<16>(to + i * 16,
                              isInside ? scales + offset + piece % kPerGroup * 16 : scales,
                              isInside ? 16 : 0);
  }
};

}  // namespace blockscale
