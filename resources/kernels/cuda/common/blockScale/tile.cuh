// The numbers of the block-scaled product of warps (gemm.cuh), and where in C and in shared memory
// things are.
#pragma once

#include "common/blockScale/form.cuh"
#include "common/ringPosition.cuh"
#include "common/tileOrder.cuh"

namespace blockscale {

LANE_CODE constexpr int storageBits(int format) { return format == 0 ? 4 : format <= 2 ? 6 : 8; }
LANE_CODE constexpr int ceilDiv(int a, int b) { return (a + b - 1) / b; }

// The numbers of a kernel. Its manifest row has the same as constants: grid, shared memory and
// boxes of the tensor maps follow from these.
template <int A, int B, int Scale, int ScaleBlock, int TileK, int Stages>
struct Tile {
  static constexpr int kA = A, kB = B, kScaleBlock = ScaleBlock, kTileK = TileK, kStages = Stages;
  static constexpr int kTileM = 128, kTileN = 128, kWarpM = 64, kWarpN = 32;
  // Two warpgroups that multiply, one that fills stages, and registers of their threads: what the
  // one gives back the others take.
  static constexpr int kMultiplyingWarps = 8, kLoadingThreads = 128,
                       kThreads = kMultiplyingWarps * 32 + kLoadingThreads, kLoadingRegisters = 56,
                       kMultiplyingRegisters = 224;
  static_assert(mayDivideRegisters(kLoadingRegisters, kMultiplyingRegisters, 2), "registers");
  LANE_CODE static constexpr Form form() { return formOf(A, B, Scale, ScaleBlock); }
  static_assert(isForm(formOf(A, B, Scale, ScaleBlock)), "there is an instruction for the format");

  static constexpr int kDepth = form().depth();
  // Of K in 16 bytes of shared memory: packed fp4 where the instruction takes it so, else a code to
  // a byte.
  static constexpr int kCodesPerChunk = kDepth == 64 ? 32 : 16;
  static constexpr int kChunks = TileK / kCodesPerChunk, kRowBytes = kChunks * 16,
                       kSteps = TileK / kDepth;
  static_assert(kRowBytes == 64 || kRowBytes == 128, "rows that swizzled() knows");
  // Scales of 128 rows and four blocks of K lie together, 512 bytes.
  static constexpr int kScaleGroups = TileK / ScaleBlock / 4, kGroupBytes = 512;
  static constexpr int kBytesA = kTileM * kRowBytes, kBytesB = kTileN * kRowBytes,
                       kBytesScales = kScaleGroups * kGroupBytes;
  static_assert(kScaleGroups >= 1 && Stages >= 2, "a stage holds whole groups of scales");

  // A stage: A, B, scales of A, scales of B. Behind all stages their mbarriers; before them what
  // aligns them, since a swizzle's pattern begins at multiples of 1024 bytes.
  static constexpr int kBytesStage = kBytesA + kBytesB + 2 * kBytesScales;
  static_assert(kBytesStage % 1024 == 0, "every stage begins where the swizzle does");
  static constexpr int kBarriersAt = Stages * kBytesStage,
                       kBytes = 1024 + kBarriersAt + Stages * 16;
  static_assert(kBytes <= 99 * 1024, "fits the shared memory of a block of sm_120");

  // Bytes that TMA says it brought of 128 rows: narrow codes count without the padding that it
  // makes (NVIDIA/cutlass, sm120_blockscaled_mma_tma.hpp, TmaTransactionBytesMK).
  LANE_CODE static constexpr int bytesOf(int format) {
    return 128 * (kDepth == 64 ? kRowBytes : kRowBytes * storageBits(format) / 8);
  }
  static constexpr int kArriving = bytesOf(A) + bytesOf(B) + 2 * kBytesScales;

  // Where 16-byte chunk `chunk` of row `row` lies, as TMA swizzles rows of 64 and 128 bytes: eight
  // rows' equal chunks fall into different banks.
  LANE_CODE static constexpr u32 swizzled(int row, int chunk) {
    return (u32)(row * kRowBytes + (chunk ^ (kRowBytes == 128 ? row % 8 : row / 2 % 4)) * 16);
  }
};

struct Problem {
  int M, N, K;
};

// Which tile of C a block is at, where that lies, and the step of K.
template <class T>
struct Cursor {
  int tile, step, row, column;
  LANE_CODE Cursor(const Problem& of, int first) : tile(first), step(0) { place(of); }
  LANE_CODE static int tiles(const Problem& of) {
    return ceilDiv(of.M, T::kTileM) * ceilDiv(of.N, T::kTileN);
  }
  LANE_CODE static int steps(const Problem& of) { return ceilDiv(of.K, T::kTileK); }
  // False once the last tile is done.
  LANE_CODE bool isInside(const Problem& of) const { return tile < tiles(of); }
  LANE_CODE void advance(const Problem& of, int blocks) {
    if (++step < steps(of)) return;
    step = 0;
    tile += blocks;
    place(of);
  }

 private:
  LANE_CODE void place(const Problem& of) {
    const TilePlace at = tilePlace(tile, ceilDiv(of.M, T::kTileM), ceilDiv(of.N, T::kTileN));
    row = at.row * T::kTileM, column = at.col * T::kTileN;
  }
};

// A position in the ring of stages, by shared addresses.
template <class T>
struct Ring : RingPosition<T::kStages> {
  u32 start;
  LANE_CODE explicit Ring(u32 at) : start(at) {}
  LANE_CODE u32 codes() const { return start + (u32)(this->stage * T::kBytesStage); }
  LANE_CODE u32 full() const { return start + (u32)(T::kBarriersAt + this->stage * 8); }
  LANE_CODE u32 empty() const { return full() + T::kStages * 8; }
};

}  // namespace blockscale
