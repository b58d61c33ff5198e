// Tiles of large products: their numbers, which a cluster takes and in which order, and where they
// lie in shared memory (see gemm.cuh).
#pragma once

#include "common/groups.cuh"
#include "common/pipeline.cuh"

namespace gemm {

// The numbers of a kernel, as its manifest row has them, too: boxes, grid and shared memory there
// follow from these.
template <int TileM, int TileN, int Stages, int StoreBuffers, bool Factors>
struct Tile {
  static constexpr int kTileM = TileM, kTileN = TileN, kStages = Stages, kCluster = CLUSTER;
  static constexpr int kGroups = TileM / 64, kThreads = 128 * (1 + kGroups),
                       kConsumerWarps = 4 * kGroups;
  static constexpr int kSums = TileN / 2;  // of one thread
  static constexpr int kStepBytes = 128;   // of a row
  static constexpr int kBytesA = TileM * kStepBytes, kBytesB = TileN * kStepBytes,
                       kBytesStage = kBytesA + kBytesB;
  // Registers of a loading and of a multiplying thread.
  static constexpr int kLoadRegisters = 40, kMultiplyRegisters = 232;

  // Rows of a piece are 64 bytes, swizzled for the copy engine: elements of 16 bits or 8. Buffers
  // are taken in turn, the same in every tile.
  static constexpr int kPieceColumns = sizeof(Output) == 1 ? 64 : 32,
                       kPieces = TileN / kPieceColumns;
  static constexpr int kStoreBuffers = kPieces % StoreBuffers == 0 ? StoreBuffers : 1;
  static constexpr int kBytesPiece = 16 * 64,
                       kBytesStore = kConsumerWarps * StoreBuffers * kBytesPiece;
  // Row and column factors of a warpgroup's part of the tile, for products that have them.
  static constexpr int kBytesFactors = Factors ? (64 + TileN) * 4 : 0;
  // 4 for products that are told a word beside each stage.
  static constexpr int kBytesOfStageWord = 0;
  // Beside each stage of products whose B comes as codes, and whether their sums are C's columns
  // (gemm_codes.cuh).
  static constexpr int kBytesBeside = 0;
  static constexpr bool kIsTurned = false;

  static_assert(kGroups == 2, "the register file is divided for two multiplying warpgroups");
  static_assert(mayDivideRegisters(kLoadRegisters, kMultiplyRegisters, kGroups), "registers");
  static_assert(TileN % kPieceColumns == 0, "whole pieces");
};

// A CTA's part of a cluster's tile: its first row of A and C, and the row of C at which it ends at
// the latest; its first column of C, and the row of all B that is its column.
struct Place {
  int row, endRow, col, rowB;
};

// Four numbers as the words that a load or a store of 16 bytes has.
__device__ inline uint4 wordsOf(const float (&four)[4]) {
  return make_uint4(__float_as_uint(four[0]), __float_as_uint(four[1]), __float_as_uint(four[2]),
                    __float_as_uint(four[3]));
}

__device__ constexpr int ceilDiv(int a, int b) { return (a + b - 1) / b; }

// What a cluster multiplies, one after the other: here tiles, each over all of K.
template <class T>
struct WholeTiles {
  int tile = blockIdx.x / T::kCluster, begin = 0, end;  // which, and its stages
  template <class TilesOf>
  __device__ explicit WholeTiles(const TilesOf& shape) : end(shape.steps) {}
  template <class TilesOf>
  __device__ bool isLeft(const TilesOf& shape) const {
    return tile < shape.tiles();
  }
  template <class TilesOf>
  __device__ void next(const TilesOf&) {
    tile += gridDim.x / T::kCluster;
  }
};

template <class T>
struct Shape {
  using Turns = WholeTiles<T>;
  // Rows beyond M are outside of C's tensor map too.
  static constexpr bool kEndsInside = false;
  int M, N, steps;
  __device__ int tileRows() const { return ceilDiv(M, T::kTileM * T::kCluster); }
  __device__ int tileCols() const { return ceilDiv(N, T::kTileN); }
  __device__ int tiles() const { return tileRows() * tileCols(); }
  __device__ Place place(int tile, u32 rank) const {
    const TilePlace in = tilePlace(tile, tileRows(), tileCols());
    const int col = in.col * T::kTileN;
    return {(int)(in.row * T::kCluster + rank) * T::kTileM, M, col, col};
  }
};

// Groups of rows, each with a matrix of B of its own, behind one another in one tensor map; tile
// rows are those of clusters, whose CTAs are one above the other, or, where C comes turned, one
// beside the other.
template <class T>
struct GroupedShape {
  using Turns = WholeTiles<T>;
  static constexpr bool kEndsInside = true;
  static constexpr int kOfCluster = T::kTileM * T::kCluster,
                       kClusterRows = T::kIsTurned ? T::kTileN : kOfCluster,
                       kClusterColumns = T::kIsTurned ? kOfCluster : T::kTileN;
  GroupTables of;
  int N, steps;
  __device__ int tileCols() const { return ceilDiv(N, kClusterColumns); }
  __device__ int tiles() const { return of.tileRows() * tileCols(); }
  __device__ Place place(int tile, u32 rank) const {
    // In the order of the dense product within each group.
    const int group = groupOfTileRow(of, tile / tileCols()),
              first = group > 0 ? of.tileEnds[group - 1] : 0;
    const TilePlace in =
        tilePlace(tile - first * tileCols(), of.tileEnds[group] - first, tileCols());
    const int start = of.starts[group], ofRank = (int)rank * T::kTileM,
              row = in.row * kClusterRows + (T::kIsTurned ? 0 : ofRank),
              col = in.col * kClusterColumns + (T::kIsTurned ? ofRank : 0);
    return {start + row, start + of.rows[group], col, group * N + col};
  }
};

// Where things lie in dynamic shared memory.
template <class T>
struct Shared {
  static constexpr u32 kStore = T::kStages * T::kBytesStage, kFactors = kStore + T::kBytesStore;
  static constexpr u32 kBeside = kFactors + T::kGroups * T::kBytesFactors;
  static constexpr u32 kCameIn = T::kStages * (16 + T::kBytesOfStageWord),
                       kBarriers = kCameIn + (T::kIsTurned ? 8 : 0);
  // With what aligns the tiles to their swizzle's 1024 bytes.
  static constexpr u32 kBytes = kBeside + T::kStages * T::kBytesBeside + kBarriers + 1024;
  static_assert(kBytes <= 227 * 1024, "fits shared memory");
  u32 barriers, tiles;
  __device__ explicit Shared(u32 start)
      : barriers(start), tiles((start + kBarriers + 1023) & ~1023u) {}
  __device__ u32 full(int i) const { return barriers + i * 8; }
  __device__ u32 empty(int i) const { return barriers + (T::kStages + i) * 8; }
  __device__ u32 word(int i) const { return barriers + T::kStages * 16 + i * T::kBytesOfStageWord; }
  // Of turned products: where sums of other CTAs count in.
  __device__ u32 cameIn() const { return barriers + kCameIn; }
  __device__ u32 stage(int i) const { return tiles + i * T::kBytesStage; }
  __device__ u32 store(int warp) const {
    return tiles + kStore + warp * (T::kBytesStore / T::kConsumerWarps);
  }
  __device__ u32 factors(int group) const { return tiles + kFactors + group * T::kBytesFactors; }
  __device__ u32 beside(int i) const { return tiles + kBeside + i * T::kBytesBeside; }
};

}  // namespace gemm
