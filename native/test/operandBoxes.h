// Boxes of a block-scaled operand, as the tensor maps of kernels have them.
#pragma once

#include <stdexcept>

#include "copyEngine.h"
#include "scaledMatrix.h"

namespace fibers {

// A box of a matrix from byte `x` of a row on.
struct OperandBox {
  Matrix of;
  Box box;
  int64_t x;
};

// `rows` rows of `bytes` of shared memory from code `k` on: packed fp4 as it is, other codes 16 to
// a chunk of 16 bytes, padding behind narrow ones.
inline OperandBox boxOfCodes(const ScaledMatrix& of, bool isPacked, int bytes, int rows, int k) {
  const int bits = numberFormatOf(of.format.element).storageBits, perPiece = isPacked ? 32 : 16,
            pieceBytes = perPiece * bits / 8, rowBytes = of.k * bits / 8;
  // The driver refuses other maps: strides of 16 bytes, of 32 where it pads 128 codes of a row.
  const bool pads = !isPacked && bits < 8;
  if (rowBytes % (pads ? 32 : 16) != 0 || (pads && (of.k % 128 != 0 || bytes != 128)))
    throw std::runtime_error("no such tensor map");
  return {{of.packed.data(), rowBytes, of.rows},
          {bytes, rows, true, pieceBytes},
          k / perPiece * pieceBytes};
}

// Of scales in nvidia_32_4_4: `groups` of four along K, 512 bytes each, of `blocks` times 128 rows.
inline OperandBox boxOfScales(const ScaledMatrix& of, int groups, int blocks, int group) {
  constexpr int kBytes = 512;
  const int all = (of.k / of.format.scaleBlock + 3) / 4;
  return {{of.placed.data(), all * kBytes, (of.rows + 127) / 128},
          {groups * kBytes, blocks, false},
          group * kBytes};
}

}  // namespace fibers
