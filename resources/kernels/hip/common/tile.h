// The numbers of the block-scaled MFMA kernel: tiles, what a stage of LDS holds, and in which order
// blocks take tiles.
#pragma once

#include "form.h"

namespace mfma {

// A_FORMAT and B_FORMAT by number; `Edge` of the instruction; `Shuffled`: scales lie as
// cdna4_mfma16 or cdna4_mfma32, by the edge, have them, else linear. The manifest's row has the
// same as constants: the grid follows from these.
template <int A, int B, int Edge, bool Shuffled, int TileM, int TileN, int TileK>
struct Tile {
  static constexpr int kA = A, kB = B, kEdge = Edge, kTileM = TileM, kTileN = TileN, kTileK = TileK;
  static constexpr bool kShuffled = Shuffled;
  // Four waves, 2 x 2, of a quarter of the tile each.
  static constexpr int kWaves = 4, kThreads = kWaves * kLanes, kWaveM = TileM / 2,
                       kWaveN = TileN / 2;
  // B's columns are the instruction's first operand and A's rows its second: so a lane's sums are
  // runs of four neighbours of a row of C.
  LANE_CODE static constexpr Form form() { return {B, A, Edge}; }
  static constexpr int kStepsM = kWaveM / Edge, kStepsN = kWaveN / Edge,
                       kSteps = TileK / form().depth();
  static_assert(isForm(Form{B, A, Edge}), "there is an instruction for the formats");
  static_assert(kWaveM % 32 == 0 && kWaveN % 32 == 0, "a wave has whole words of scales");

  // A lane's word of scales serves 32 rows and kScaleSpan elements along K: four instructions.
  static constexpr int kScaleSpan = 256, kWordsM = kWaveM / 32, kWordsN = kWaveN / 32;
  static_assert(TileK == 128 || TileK == 256, "a stage has half or all of a word's scales");

  static constexpr int kRowBytesA = TileK * bitsOf(A) / 8, kRowBytesB = TileK * bitsOf(B) / 8;
  static constexpr int kBytesA = TileM * kRowBytesA, kBytesB = TileN * kRowBytesB,
                       kBytesStage = kBytesA + kBytesB;
  static constexpr int kStages = 2, kBytes = kStages * kBytesStage;
  static_assert(kBytes <= 160 * 1024, "fits the LDS of a CU of gfx950");
};

// How rows of a format lie in LDS. A copy puts 64 pieces in a row of bytes, so what is exchanged
// against bank conflicts is which piece a lane brings.
template <int Format, int RowBytes>
struct Rows {
  // 6 bits: 32 codes are 24 bytes, and rows no multiples of 16.
  static constexpr int kPiece = bitsOf(Format) == 6 ? 4 : 16, kPieces = RowBytes / kPiece;
  // Where piece `piece` of row `row` lies, in pieces; its own inverse in `piece`.
  LANE_CODE static constexpr int swizzled(int row, int piece) {
    return kPiece == 4    ? piece
           : kPieces == 8 ? piece ^ (row % 8)
           : kPieces == 4 ? piece ^ (row / 2 % 4)
                          : piece ^ (row % 16);
  }
  LANE_CODE static constexpr u32 place(int row, int piece) {
    return (u32)(row * RowBytes + swizzled(row, piece) * kPiece);
  }
};

// The tile that block `block` of `tiles` takes. Blocks go to the eight XCDs in turn, each of which
// has an L2 of its own (CDNA4 white paper): an XCD gets neighbours.
LANE_CODE constexpr int tileOfBlock(int block, int tiles) {
  constexpr int kXcds = 8;
  const int xcd = block % kXcds, more = tiles % kXcds;
  return xcd * (tiles / kXcds) + (xcd < more ? xcd : more) + block / kXcds;
}

}  // namespace mfma
