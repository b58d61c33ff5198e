// Number formats and block-scaled formats. OCP Microscaling Formats v1.0 sections 5 and 6; NVFP4's
// unsigned e4m3 scale; bfloat16, whose elements carry no scale.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace blockscope {

enum class NumberFormatId { kE2m1, kE2m3, kE3m2, kE4m3, kE5m2, kE8m0, kUe4m3, kBf16 };

struct NumberFormat {
  NumberFormatId id;
  std::string_view name;
  bool isSigned;
  int exponentBits;
  int mantissaBits;
  int bias;
  int nanFrom;      // lowest magnitude code that is NaN; 256: none
  int infinity;     // magnitude code of infinity; -1: none
  int storageBits;  // bits a code takes when packed

  int magnitudeBits() const { return exponentBits + mantissaBits; }
  int signBit() const { return isSigned ? 1 << magnitudeBits() : 0; }
  int codeCount() const { return 1 << (magnitudeBits() + (isSigned ? 1 : 0)); }
  // Largest magnitude code that is a finite number.
  int largestFinite() const;
  // Bytes of a code in canonical operands: little-endian where there are two.
  int codeBytes() const { return storageBits > 8 ? 2 : 1; }
  // Elements of 16 bits reach as far as a float32 does and are multiplied as they are.
  bool isScaled() const { return storageBits <= 8; }
};

const NumberFormat& numberFormat(NumberFormatId);
// nullptr when there is none of this name.
const NumberFormat* findNumberFormat(std::string_view name);

// Value of a code; e8m0 code 0 is 2^-127.
double decode(const NumberFormat&, uint16_t code);
// Code number `index` of canonical codes.
uint16_t codeAt(const NumberFormat&, const uint8_t* codes, int64_t index);
// Values of all 256 bytes, of a format of at most 8 bits; bytes beyond the format's codes repeat
// it.
const std::array<float, 256>& decodeTable(NumberFormatId);

enum class OverflowRule {
  kSaturate,  // to the largest finite value, as cvt.satfinite
  kMlDtypes,  // to NaN (e4m3) or infinity (e5m2), as ml_dtypes and torch
};

// Code nearest to a value, ties to even (e8m0: ties up).
uint16_t encode(const NumberFormat&, float value, OverflowRule = OverflowRule::kSaturate);

struct BlockFormat {
  std::string_view id;
  NumberFormatId a, b, scale;
  int scaleBlockSize;  // V: elements along K that share one scale

  // Scales of a row of an operand along K: none of an A that carries none. B always has its own.
  int64_t scalesOfRowA(int64_t k) const { return elementA().isScaled() ? k / scaleBlockSize : 0; }

  const NumberFormat& elementA() const { return numberFormat(a); }
  const NumberFormat& elementB() const { return numberFormat(b); }
  const NumberFormat& scaleFormat() const { return numberFormat(scale); }
};

// Those that have a short name.
const std::vector<BlockFormat>& blockFormats();
// And every other pair of element types under a scale that a definition allows: "e5m2xe2m1".
const std::vector<BlockFormat>& everyBlockFormat();
// Throws Error(kUsage) naming the known formats.
const BlockFormat& findBlockFormat(std::string_view id);

}  // namespace blockscope
