// How `mma.sync ... block_scale` sums, bit for bit: the model of arXiv 2511.10909
// (microsoft/MMA-Sim, "RTX Blackwell").
//
// Every summand is aligned to the largest exponent among them and C, which is at least -126, and
// cut off toward zero behind a number of fractional bits; the sum of what is left is exact, and is
// itself cut off to float32. In kind::mxf8f6f4 each of 32 products is a summand, with 25 fractional
// bits; in kind::mxf4 and mxf4nvf4 it is each exact sum of 16 products, with 35. A product counts
// with the sum of its factors' exponents, a sum of 16 with those of its scales; a subnormal number
// has the exponent of the smallest normal one. The paper has no fp6 and no fp4 in kind::mxf8f6f4:
// the same rule stands in for them.
#pragma once

#include "common/blockScale/form.cuh"
#include "common/blockScale/number.cuh"

namespace blockscale {

// mantissa x 2^(exponent - fraction bits).
struct Summand {
  int mantissa, exponent;
};

constexpr int kLeastExponent = -126;

// `summand` in units of 2^(top - kept), cut off toward zero.
LANE_CODE inline long long aligned(Summand summand, int fraction, int top, int kept) {
  // The exponent of a zero may lie above `top`.
  if (summand.mantissa == 0) return 0;
  const int shift = summand.exponent - top + kept - fraction;
  if (shift >= 0) return (long long)summand.mantissa << shift;
  if (shift < -31) return 0;
  const int magnitude = (summand.mantissa < 0 ? -summand.mantissa : summand.mantissa) >> -shift;
  return summand.mantissa < 0 ? -magnitude : magnitude;
}

// Bits of the float32 next to sum x 2^exponent toward zero; beyond the largest: infinite.
LANE_CODE inline u32 truncatedBits(long long sum, int exponent) {
  const u32 sign = sum < 0 ? 0x80000000u : 0;
  u64 magnitude = sum < 0 ? (u64)-sum : (u64)sum;
  if (magnitude == 0) return 0;
  int highest = 0;
  for (u64 rest = magnitude; rest >>= 1;) highest++;
  int field = highest + exponent + 127;
  // Units of the last place: 2^(field - 150), of subnormal numbers 2^-149.
  if (field < 1) field = 0;
  const int shift = exponent + 150 - (field == 0 ? 1 : field);
  magnitude = shift >= 0 ? magnitude << shift : shift < -63 ? 0 : magnitude >> -shift;
  if (field >= 255) return sign | 0x7f800000u;
  return sign | (field == 0 ? (u32)magnitude : (u32)(field << 23) | ((u32)magnitude & 0x7fffffu));
}

constexpr u32 kNanBits = 0x7fffffffu, kInfiniteBits = 0x7f800000u;

// What is infinite or no number among the summands decides alone.
struct Special {
  bool nan = false, plus = false, minus = false;
  LANE_CODE void meet(Kind kind, bool negative) {
    nan |= kind == Kind::kNan;
    (negative ? minus : plus) |= kind == Kind::kInfinite;
  }
  LANE_CODE bool any() const { return nan || plus || minus; }
  LANE_CODE u32 bits() const {
    return nan || (plus && minus) ? kNanBits : kInfiniteBits | (minus ? 0x80000000u : 0);
  }
};

LANE_CODE inline Summand summandOfFloat(u32 bits) {
  const int field = (int)(bits >> 23 & 255),
            mantissa = (int)(bits & 0x7fffffu) | (field ? 0x800000 : 0);
  return {bits >> 31 ? -mantissa : mantissa, field ? field - 127 : kLeastExponent};
}

// A product's or 16 products' summand in one register: 22 bits of mantissa, 10 of exponent.
LANE_CODE inline int packedSummand(Summand summand) {
  return summand.mantissa * 1024 + (summand.exponent + 512);
}
LANE_CODE inline Summand unpackedSummand(int packed) {
  return {packed >> 10, (packed & 1023) - 512};
}

// One element of D, as bits of a float32, from its row of A and column of B: operands.a(k),
// operands.b(k) are codes, operands.scaleA(block), operands.scaleB(block) scales, `c` the bits of
// C's element.
template <class Operands>
LANE_CODE inline u32 sumOf(Form form, const Operands& operands, u32 c) {
  const bool isFp4 = form.depth() == 64;
  // A summand is a product, or the exact sum of 16.
  const int together = isFp4 ? 16 : 1, count = form.depth() / together, kept = isFp4 ? 35 : 25;
  const int fraction = fractionBits(form.a) + fractionBits(form.b) + 2 * fractionBits(form.scale);
  Special special;
  const u32 magnitude = c & 0x7fffffffu;
  special.meet(magnitude > kInfiniteBits    ? Kind::kNan
               : magnitude == kInfiniteBits ? Kind::kInfinite
                                            : Kind::kFinite,
               c >> 31);

  int summands[32];
  UNROLL
  for (int i = 0; i < count; i++) {
    const int k = i * together, block = k / form.block();
    const Number scaleA = numberOf(form.scale, operands.scaleA(block)),
                 scaleB = numberOf(form.scale, operands.scaleB(block));
    special.nan |= scaleA.kind == Kind::kNan || scaleB.kind == Kind::kNan;
    Summand summand = {0, scaleA.exponent + scaleB.exponent};
    if (isFp4) {
      UNROLL
      for (int j = 0; j < 16; j++) {
        const Number a = numberOf(0, operands.a(k + j)), b = numberOf(0, operands.b(k + j));
        summand.mantissa += a.mantissa * b.mantissa << (a.exponent + b.exponent);
      }
    } else {
      const Number a = numberOf(form.a, operands.a(k)), b = numberOf(form.b, operands.b(k));
      const bool infinite = a.kind == Kind::kInfinite || b.kind == Kind::kInfinite;
      const bool zero = (a.mantissa == 0 && a.kind == Kind::kFinite) ||
                        (b.mantissa == 0 && b.kind == Kind::kFinite);
      special.nan |= a.kind == Kind::kNan || b.kind == Kind::kNan || (infinite && zero);
      special.meet(infinite ? Kind::kInfinite : Kind::kFinite,
                   (a.mantissa < 0) != (b.mantissa < 0));
      summand.mantissa = a.mantissa * b.mantissa;
      summand.exponent += a.exponent + b.exponent;
    }
    summand.mantissa *= scaleA.mantissa * scaleB.mantissa;
    summands[i] = packedSummand(summand);
  }
  if (special.any()) return special.bits();

  const Summand before = summandOfFloat(c);
  int top = before.mantissa == 0 ? kLeastExponent : before.exponent;
  UNROLL
  for (int i = 0; i < count; i++) {
    const Summand summand = unpackedSummand(summands[i]);
    if (summand.mantissa != 0 && summand.exponent > top) top = summand.exponent;
  }
  long long sum = aligned(before, 23, top, kept);
  UNROLL
  for (int i = 0; i < count; i++) sum += aligned(unpackedSummand(summands[i]), fraction, top, kept);
  return truncatedBits(sum, top - kept);
}

}  // namespace blockscale
