// Operands rearranged for register tiles (Goto and van de Geijn, "Anatomy of High-Performance
// Matrix Multiplication").
//
// K is cut into chunks that stay in the L1 cache. A keeps its rows inside a chunk, from which a
// micro-kernel broadcasts; B goes into panels as wide as a register tile, depth outermost, which it
// reads straight through. What lies beyond M and N is zero.
#pragma once

#include <cstdint>

#include "../core/formats.h"
#include "kernel.h"

namespace blockscope {

// One side of one product, as it lies in packed memory.
struct Side {
  const NumberFormat* element;
  NumberFormatId scale;
  int scaleBlockSize;
  const uint8_t* codes;
  const uint8_t* scales;  // nullptr: elements of 16 bits, which have none
  int64_t rows, k;

  int64_t blocks() const { return k / scaleBlockSize; }
  const uint8_t* codesAt(int64_t row, int64_t k0) const {
    return codes + (row * k + k0) * element->storageBits / 8;
  }
  const uint8_t* scalesAt(int64_t row, int64_t k0) const {
    return !scales ? nullptr : scales + row * blocks() + k0 / scaleBlockSize;
  }
};
Side sideA(const Problem&, const KernelOperands&, const Product&);
Side sideB(const Problem&, const KernelOperands&, const Product&);

// The geometry a micro-kernel wants.
struct TileShape {
  int rows, columns;  // of a register tile
  int chunk;          // depth of a chunk of K, a multiple of 32
};

// Between rows of A in a chunk: rows a power of two apart would fall into the same cache sets.
constexpr int kRowPaddingBytes = 64;

// element * scale as numbers. A group is what one instruction takes along K: two for bfloat16, one
// for the others.
template <typename Number>
struct NumberPanels {
  const Number* a;  // [chunk][row][chunk depth + padding]
  const Number* b;  // [panel][K / group][columns][group]
  int64_t rows;     // of A, rounded up

  static constexpr int kPadding = kRowPaddingBytes / sizeof(Number);
};

// Writes `count` numbers of a row from k0 on; both are multiples of the scale block size.
template <typename Number>
using DecodeNumbers = void (*)(const Side&, int64_t row, int64_t k0, int64_t count, Number* out);

template <typename Number>
NumberPanels<Number> packNumberPanels(const Side& a, const Side& b, const TileShape&,
                                      DecodeNumbers<Number>, Workspace&, const CancelFlag&);

template <typename Number>
void decodeNumbers(const Side&, int64_t row, int64_t k0, int64_t count, Number* out);

// How the product of a scale of A and one of B is made. The multipliers are what limits the fp4
// kernels, and the two other ways leave them to the dot products. The 32-bit words that stand for
// the scales depend on it, and B's are divided by 4 for the two doublings of e2m1.
enum class ScaleProduct {
  kMultiplied,      // words are float32
  kExponentsAdded,  // e8m0: the words' sum is the product's float32; A's are (code - 127) << 23
  // e4m3: B's scale is l * 2^e with l in 0..15; its word is (e << 23) + l. A's word is 16 * code,
  // the place of a table row with the float32 bits of (A's scale * i) - i for i in 0..15. Entry l
  // of the row plus B's word is the product.
  kLookedUp,
};

// fp4 x fp4 as integers: 2 * e2m1 is an integer in -12..12, so a block's dot product is exact in
// int32. vpdpbusd wants one side unsigned: B is 2 * e2m1 + 12, and A's sums take the 12 back.
struct IntegerPanels {
  const int8_t* a;            // as NumberPanels
  const uint8_t* b;           // as NumberPanels, groups of four
  const int32_t* aBias;       // [row panel][block][rows]: -12 * sum of the block
  const int32_t* aScaleBits;  // [row panel][block][rows]
  const int32_t* bScaleBits;  // [panel][block][columns]
  int64_t rows;               // of A, rounded up

  static constexpr int kPadding = kRowPaddingBytes;
};

struct IntegerPacking {
  ScaleProduct scaleProduct;
  // Bytes 2 * e2m1 + offset of `count` codes, a multiple of 16.
  void (*expand)(const uint8_t* packed, int64_t count, int offset, uint8_t* out);
  // Sums of `blocks` runs of `size` bytes, 16 or 32.
  void (*sumBlocks)(const int8_t* numbers, int64_t blocks, int size, int32_t* sums);
};

IntegerPanels packIntegerPanels(const Side& a, const Side& b, const TileShape&,
                                const IntegerPacking&, Workspace&, const CancelFlag&);

// The words of the two sides' scales, by scale code; kLookedUp's table.
int32_t scaleBitsA(NumberFormatId scale, uint8_t code, ScaleProduct);
int32_t scaleBitsB(NumberFormatId scale, uint8_t code, ScaleProduct);
const int32_t* scaleProductTable();

// Which arithmetic holds every element * scale and every product of a problem, with room for sums.
enum class ScaleSafety {
  kSafe,  // float32 and bfloat16, as normal numbers
  // The same, but some scales are zero, NaN or tiny, and may not be taken for exponents.
  kSafeIfMultiplied,
  kNeedsFloat64,
};
ScaleSafety scaleSafety(const Problem&, const KernelOperands&);

inline bool isIntegerFormat(const BlockFormat& format) {
  return format.a == NumberFormatId::kE2m1 && format.b == NumberFormatId::kE2m1;
}

}  // namespace blockscope
