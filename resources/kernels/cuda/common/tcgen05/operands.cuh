// `tcgen05.mma ... block_scale` as software reads its operands: descriptors taken apart, the places
// of codes in shared memory. Written from the PTX ISA (descriptors.cuh names the sections) and not
// from what writes descriptors; kernels of another compiler hold it (native/test/thirdPartyPtx).
#pragma once

#include "common/blockScale/sum.cuh"
#include "common/tcgen05/descriptors.cuh"

namespace tcgen05 {

struct Instruction {
  Form form;
  int m, n, idA, idB;
  // What no kernel here asks for.
  bool isPlain;
};

// A number in the descriptor that stands for no type gives -1.
LANE_CODE inline int formatOf(bool isFp4Kind, u32 number) {
  if (isFp4Kind) return number == 1 ? 0 : -1;
  return number == 0   ? 3
         : number == 1 ? 4
         : number == 3 ? 1
         : number == 4 ? 2
         : number == 5 ? 0
                       : -1;
}

// `vector` is the instruction's own: which kind, and how many scales along K.
LANE_CODE inline Instruction decodedInstruction(int vector, u32 bits) {
  const bool isFp4Kind = vector != 1;
  return {{formatOf(isFp4Kind, bits >> 7 & 7), formatOf(isFp4Kind, bits >> 10 & 7),
           bits >> 23 & 1 ? 5 : 6, vector},
          (int)(bits >> 24 & 31) * 16,
          (int)(bits >> 17 & 63) * 8,
          (int)(bits >> 29 & 3),
          (int)(bits >> 4 & 3),
          (bits & 0x8001e04fu) == 0};
}

struct SharedTile {
  u32 address, leading, stride;
  int version, baseOffset;
  u32 swizzle;
  bool isPlain;
};

LANE_CODE inline SharedTile decodedTile(u64 bits) {
  return {(u32)(bits & 0x3fff) << 4,
          (u32)(bits >> 16 & 0x3fff) << 4,
          (u32)(bits >> 32 & 0x3fff) << 4,
          (int)(bits >> 46 & 3),
          (int)(bits >> 49 & 7),
          (u32)(bits >> 61),
          (bits & 0x1ff1'0000'c000'c000ull) == 0};
}

// Shared address of 16-byte piece `piece`, 0 or 1, of row `row` of a K-major operand.
LANE_CODE inline u32 pieceOf(const SharedTile& tile, int row, int piece) {
  const u32 group = tile.address + (u32)(row / 8) * tile.stride;
  if (tile.swizzle == 0) return group + (u32)(row % 8) * 16 + (u32)piece * tile.leading;
  const int width = tile.swizzle == 2 ? 8 : tile.swizzle == 4 ? 4 : 2;  // pieces of a row
  const u32 linear = group + (u32)(row % 8 * width + piece) * 16;
  return linear ^ ((linear >> 7 & (u32)(width - 1)) << 4);
}

// How a tile is written: where byte `byte` of row `row` of a swizzled tile lies that begins at
// `address`, a multiple of eight rows.
LANE_CODE constexpr u32 swizzled(Swizzle swizzle, u32 address, int row, int byte) {
  const u32 linear = address + (u32)(row * rowBytes(swizzle) + byte);
  return linear ^ ((linear >> 7 << 4) & (u32)(rowBytes(swizzle) - 16));
}

// Code `k` of a row's 32 bytes, which are eight words: packed fp4, or 16 codes without gaps at the
// start of each 16 bytes.
LANE_CODE inline u32 codeOf(Form form, int format, const u32 (&words)[8], int k) {
  if (form.depth() == 64) return words[k / 8] >> (k % 8 * 4) & 15;
  if (format >= 3) return words[k / 4] >> (k % 4 * 8) & 255;
  const int bits = format == 0 ? 4 : 6, first = k % 16 * bits, at = k / 16 * 4 + first / 32;
  const u32 high = first % 32 + bits > 32 ? words[at + 1] : 0;
  return (u32)((words[at] | (u64)high << 32) >> (first % 32)) & ((1u << bits) - 1);
}

}  // namespace tcgen05
