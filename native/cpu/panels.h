// Operands rearranged for register tiles (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication").
//
// K is cut into chunks that stay in the L1 cache. A keeps its rows inside a chunk, from which a micro-kernel broadcasts;
// B goes into panels of kNr columns, depth outermost, which it reads straight through. What lies beyond M and N is zero.
#pragma once

#include <cstdint>

#include "../core/formats.h"
#include "kernel.h"

namespace blockscope {

// One side of one matrix of the batch, as it lies in packed memory.
struct Side {
  const NumberFormat* element;
  NumberFormatId scale;
  int scaleBlockSize;
  const uint8_t* codes;
  const uint8_t* scales;
  int64_t rows, k;

  int64_t blocks() const { return k / scaleBlockSize; }
  const uint8_t* codesAt(int64_t row, int64_t k0) const { return codes + (row * k + k0) * element->storageBits / 8; }
  const uint8_t* scalesAt(int64_t row, int64_t k0) const { return scales + row * blocks() + k0 / scaleBlockSize; }
};
Side sideA(const Problem&, const PackedOperands&, int64_t batch);
Side sideB(const Problem&, const PackedOperands&, int64_t batch);

// The geometry a micro-kernel wants.
struct TileShape {
  int rows, columns;  // of a register tile
  int chunk;          // depth of a chunk of K, a multiple of 32
};

// Between rows of A in a chunk: rows a power of two apart would fall into the same cache sets.
constexpr int kRowPaddingBytes = 64;

// element * scale as numbers. A: [chunk][row][chunk depth + padding]; B: [panel][K / group][columns][group], where a
// group is what one instruction takes along K: two for bfloat16, one for the others.
template <typename Number>
struct NumberPanels {
  const Number* a;
  const Number* b;
  int64_t rows;  // of A, rounded up

  static constexpr int kPadding = kRowPaddingBytes / sizeof(Number);
};
// Writes `count` numbers of a row from k0 on; both multiples of 16, or of 32 where the scale block is.
template <typename Number>
using DecodeNumbers = void (*)(const Side&, int64_t row, int64_t k0, int64_t count, Number* out);

template <typename Number>
NumberPanels<Number> packNumberPanels(const Side& a, const Side& b, const TileShape&, DecodeNumbers<Number>, Workspace&,
                                      const CancelFlag&);

template <typename Number>
void decodeNumbers(const Side&, int64_t row, int64_t k0, int64_t count, Number* out);

// fp4 x fp4 as integers: 2 * e2m1 is an integer in -12..12, so a block's dot product is exact in int32. vpdpbusd wants
// one side unsigned: B is kept as 2 * e2m1 + 12, and A's sums take the 12 back.
struct IntegerPanels {
  const int8_t* a;       // as NumberPanels
  const uint8_t* b;      // as NumberPanels, groups of four
  const int32_t* aBias;  // [row panel][block][rows]: -12 * sum of the block
  // [row panel][block][rows] and [panel][block][columns]. B's are divided by 4 for the two doublings. Where the product
  // of two scales is computed by adding exponents, A's are not the float but (code - 127) << 23.
  const int32_t* aScaleBits;
  const float* bScales;
  int64_t rows;

  static constexpr int kPadding = kRowPaddingBytes;
};
// Bytes 2 * e2m1 + offset of `count` codes, a multiple of 16.
using ExpandE2m1 = void (*)(const uint8_t* packed, int64_t count, int offset, uint8_t* out);
enum class ScaleProduct { kMultiplied, kExponentsAdded };

IntegerPanels packIntegerPanels(const Side& a, const Side& b, const TileShape&, ScaleProduct, ExpandE2m1, Workspace&,
                                const CancelFlag&);

// Whether float32 and bfloat16 hold every element * scale and every product, with room for sums, as normal numbers.
enum class ScaleSafety {
  kSafe,
  kSafeBesidesZeroBlocks,  // some scales are too small, but only those of blocks whose elements are all zero
  kNeedsFloat64,           // or a scale is NaN
};
ScaleSafety scaleSafety(const Problem&, const PackedOperands&);

inline bool isIntegerFormat(const BlockFormat& format) {
  return format.a == NumberFormatId::kE2m1 && format.b == NumberFormatId::kE2m1;
}

}  // namespace blockscope
