// Elements of fp4 and fp8 times their scales in bf16 or float16, exactly, as the kernels for few
// rows of A multiply them.
//
// The bits of a code at the places of bf16's sign, lowest exponent and highest mantissa bits are
// its number times 2^(bias - 127) (smallPairOf); one bf16x2 multiplication makes element x scale of
// it, but for 2^-kShift. A has 2^kTokenShift.
//
// Where A is made ready once for all (MadeBefore), by two multiplications, neither side leaves
// bf16's range, and sums have their own:
//
//   B's element    kShift   A below   exact for scales of elements
//   e2m1, e8m0       63       2^65     2^-63..2^64
//   e4m3, e8m0       60       2^68     2^-63..2^64
//   e5m2, e8m0       52       2^76     2^-63..2^64
//   e2m1, ue4m3     119       2^28     all; A has 2^116 and the result 2^3
//                                      (bf16 activations: 2^100, 2^19)
//
// Where every warp makes it again (MadeInTurns) it takes one, and bf16 activations none, for which
// sums are smaller than they should be:
//
//   e8m0             16  A's scales up to 2^(16 + bias), B's from 2^(bias - 111) to 2^(16 + bias)
//   bf16 x ue4m3      8  all; two scales take a second multiplication
//
// NVFP4 on both sides is float16 where a GPU makes two scales float16 by one instruction, NaN among
// them (sm_89 and later): products have at most six significant bits and are 0 or from 2^-10 to
// 2688. A code's bits at float16's places are its number times 2^-14, and so the product stays.
#pragma once

#include "common/halves.cuh"
#include "common/widen.cuh"

namespace decode {

constexpr bool kFp4 = kBits(B_FORMAT) == 4, kLinearScale = SCALE_FORMAT == 6;
struct MadeBefore {
  static constexpr int kShift = kLinearScale    ? 119
                                : B_FORMAT == 0 ? 63
                                : B_FORMAT == 3 ? 60
                                                : 52,
                       kTokenShift = !kLinearScale         ? kShift
                                     : kIsScaled(A_FORMAT) ? 116
                                                           : 100;
  static constexpr bool kByOne = false;  // multiplication
  static constexpr u32 kLeastScale = 64;
};
struct MadeInTurns {
  static constexpr bool kByOne = !kLinearScale;
  static constexpr int kShift = kByOne                ? 16
                                : kIsScaled(A_FORMAT) ? MadeBefore::kShift
                                                      : 8,
                       kTokenShift = !kIsScaled(A_FORMAT) ? 0
                                     : kByOne             ? -kShift
                                                          : MadeBefore::kTokenShift;
  static constexpr u32 kLeastScale = kShift + kBias(B_FORMAT);
};
// Scales of B, powers of two, whose elements are exact: kLeastScale and so many more.
constexpr u32 kMoreScales = 127;
static_assert(kBits(B_FORMAT) != 6 && (!kLinearScale || B_FORMAT == 0),
              "formats whose codes fall apart into pairs");

// Whether fp8 may become float16, and elements times their scales are float16.
#if (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890) || defined(WITHOUT_HALVES)
constexpr bool kMayBeHalves = false;
#else
constexpr bool kMayBeHalves = true;
#endif
constexpr bool kScaledAreHalves = kMayBeHalves && kLinearScale && kIsScaled(A_FORMAT);

// What sums of scaled elements lack, and below which they may have lost something.
template <class Made>
constexpr float kUnitOfElements =
    kScaledAreHalves ? 0x1p28f : (float)(1ull << (Made::kShift - Made::kTokenShift));
constexpr float kSmallestOfElements = 0x1p-80f;

// 2^exponent, whole numbers -126..127.
__device__ inline float powerOfTwo(int exponent) { return __int_as_float((127 + exponent) << 23); }
// The same in both halves of a word, as bf16: in a register, or in the instruction that takes it,
// whichever the machine code of who asks is shorter by.
template <bool InRegister>
__device__ inline u32 powerPair(int exponent) {
  return InRegister ? bothHalves(powerOfTwo(exponent)) : (127 + exponent) * 0x00800080u;
}

// Magnitudes of A's elements lie below 2^kLargestOfA. What exponents of its scales lack of their
// multiplier's, where they are powers of two, and the largest that is represented.
constexpr int kLargestOfA = A_FORMAT == 0 ? 3 : A_FORMAT == 3 ? 9 : 16;
template <class Made>
constexpr int kOfTokenScale = Made::kTokenShift + (Made::kByOne ? 127 - kBias(A_FORMAT) : 0);
template <class Made>
constexpr int kLargestTokenScale = 254 - (Made::kByOne ? 0 : kLargestOfA) - kOfTokenScale<Made>;

// A scale's byte in the low half of both halves of a word, from four scales.
__device__ inline u32 bothOf(u32 four, int index) {
  return __byte_perm(four, 0, 0x4040 + index * 0x0101);
}
// Multipliers of B's elements in bf16, 2^(127 - bias) x scale x 2^-kShift, by the scales in either
// half of a word; 2^-120 of a linear one are its bits in a bf16.
template <class Made>
__device__ inline u32 multiplierOf(u32 halves) {
  constexpr int kMost = 126 - Made::kShift;
  if (!kLinearScale) return halves * 128 + (127 - kBias(B_FORMAT) - Made::kShift) * 0x00800080u;
  const u32 multiplier = multiplyBf16Pair(halves * 16, powerPair<true>(127));
  return kMost == 7 ? multiplier : multiplyBf16Pair(multiplier, powerPair<true>(kMost - 7));
}

// What smallPairOf makes of B's codes where elements are not scaled. Of fp4 by one operation less
// of the pipe of logic and one more of that of products, which is slower where those scale
// elements. Exponent and mantissa are put at the places of a mask, the sign comes from the highest
// bits of bytes, of which the mask hides those of the low ones.
__device__ inline u32 unscaledPairOf(u32 codes, int i) {
  if (!kFp4) return smallPairOf<B_FORMAT>(codes, i);
  const u32 magnitude = i < 2 ? codes << (i == 0 ? 6 : 2) : codes >> (i == 2 ? 2 : 6),
            signs = onlyBits<0x80808080>(i % 2 == 0 ? codes << 4 : codes);
  return selectBits<0x01c001c0>(magnitude, i < 2 ? signs << 8 : signs);
}

// Codes i and i + 4 of eight of fp4, in the highest bits of bytes, below bytes of their signs.
__device__ inline u32 besideSignsOf(u32 codes, int i) {
  const u32 high = i % 2 == 0 ? codes << 4 : codes;
  return besideSigns(high, high, i / 2, i / 2 + 2);
}
// What smallPairOf makes of them, which with 32 rows of A takes 0.98 to 0.99 of the time.
__device__ inline u32 smallPairBySigns(u32 codes, int i) {
  return besideSignsOf(codes, i) << 2 & 0x81c081c0;
}
// As float16, 2^-14 of their numbers.
__device__ inline u32 smallHalvesOf(u32 codes, int i) {
  return besideSignsOf(codes, i) << 5 & 0x8e008e00;
}
// A pair of either side before its scale, and times its scale.
template <int Format>
__device__ inline u32 smallElements(u32 codes, int i) {
  if constexpr (kScaledAreHalves) return smallHalvesOf(codes, i);
  else return smallPairOf<Format>(codes, i);
}
__device__ inline u32 timesScale(u32 pair, u32 multiplier) {
  return kScaledAreHalves ? multiplyHalves(pair, multiplier) : multiplyBf16Pair(pair, multiplier);
}
// Multipliers of B's elements, one to a half, by the two lowest of a word's scales, or by scales
// `index` and `index` + Apart of four.
template <class Made>
__device__ inline u32 multipliersOfTwo(u32 scales) {
  if constexpr (kScaledAreHalves) {
    u32 multipliers[2];
    halvesOfE4m3(scales, multipliers);
    return multipliers[0];
  }
  return multiplierOf<Made>(__byte_perm(scales, 0, 0x4140));
}
template <class Made, int Apart>
__device__ inline u32 multipliersAt(u32 four, int index) {
  if (kScaledAreHalves)
    return multipliersOfTwo<Made>(__byte_perm(four, 0, index * 0x0011 + Apart * 0x0010));
  return multiplierOf<Made>(__byte_perm(four, 0, 0x4040 + index * 0x0101 + Apart * 0x0100));
}

constexpr u32 kNanPair = 0x7fff7fff;
// What takes elements of A to element x scale x 2^kTokenShift, their bias put right where that is
// not one multiplication.
template <class Made>
__device__ inline u32 multiplierOfTokens(u32 scale) {
  if (!kIsScaled(A_FORMAT)) return powerPair<true>(Made::kTokenShift);
  if (kScaledAreHalves) return bothOfHalf(multipliersOfTwo<Made>(scale & 127), 0);
  if (!kLinearScale)
    return scale <= kLargestTokenScale<Made> ? (scale + kOfTokenScale<Made>)*0x00800080u : kNanPair;
  // 2^-120 of it are its bits in a bf16.
  const u32 magnitude = scale & 127,
            itself = multiplyBf16Pair(magnitude * 16 * 0x00010001u, powerPair<true>(120));
  return magnitude == 127 ? kNanPair : multiplyBf16Pair(itself, powerPair<true>(Made::kTokenShift));
}

// A pair of A's elements as smallPairOf has it, or of bf16, by that multiplier: what is multiplied.
template <class Made>
__device__ inline u32 readyPair(u32 pair, u32 multiplier) {
  constexpr bool kInRegister = A_FORMAT != 0 || kLinearScale;
  if (Made::kTokenShift == 0) return pair;
  if (kIsScaled(A_FORMAT) && !Made::kByOne)
    pair = multiplyBf16Pair(pair, powerPair<kInRegister>(127 - kBias(A_FORMAT)));
  return multiplyBf16Pair(pair, multiplier);
}
// The same where elements have their scales.
template <class Made>
__device__ inline u32 readyElements(u32 pair, u32 multiplier) {
  return kScaledAreHalves ? multiplyHalves(pair, multiplier) : readyPair<Made>(pair, multiplier);
}

// A scale of B, or two linear ones, marked where it is outside of what is exact.
constexpr u32 kMarksOfOutside = kLinearScale ? 0x8080 : ~kMoreScales;
template <class Made>
__device__ inline u32 markedOutside(u32 scale) {
  return kLinearScale ? (scale & 0x7f7f) + 0x0101 : scale - Made::kLeastScale;
}

// Whether elements of a row of B with this scale and these codes are not what the multiplication
// makes of them; zeros may have any scale but NaN.
template <class Made>
__device__ inline bool isSpoiledScaled(u32 scale, u32 codes) {
  if (kLinearScale) return (scale & 127) == 127;
  const bool nonZero = (codes & (kFp4 ? 0x77777777 : 0x7f7f7f7f)) != 0;
  return scale == 255 || (nonZero && scale - Made::kLeastScale > kMoreScales) ||
         holdsSpecial<B_FORMAT>(codes);
}

}  // namespace decode
