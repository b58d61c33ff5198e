// A ready to multiply for decode_bf16.cuh: its codes times their scales (in bf16 2^kTokenShift
// times as much), in the order of elements along K in which B's codes fall apart.
//
// A thread has a block of 32 elements, which lie as four pieces of 16 bytes. fp4 codes of B:
// element 8 q + 4 e + 2 t + h of the block is number 2 q + e of piece 2 t + h; fp8: element 16 b +
// 4 q + 2 e + h is number 2 q + e of piece 2 b + h.
#pragma once

#include "common/decodeAgain.cuh"
#include "common/halves.cuh"
#include "common/scaledElements.cuh"

namespace decode {

// Where sums are scaled, A's numbers are from 2^kSmallestToken on, which takes products with B's
// smallest out of the subnormals, and below 2^kLargestToken: beside sums that are not computed
// again, products with the scale 2^-127, which counts as 0, are nothing.
constexpr int kSmallestToken = 3 - MadeBefore::kTokenShift, kLargestToken = 40;

// A block of A: its codes, and the one or two scales that are of it.
struct TokenBlock {
  static constexpr int kElements = 32, kBitsOfA = kBits(A_FORMAT), kWords = kBitsOfA,
                       kScales = kElements / SCALE_BLOCK;
  u32 words[kWords];
  u32 scales;  // a byte each
  static_assert(kScales == 1 || kScales == 2, "scale blocks of 32 elements or 16");

  // Those from element `first` on, a multiple of 32.
  __device__ void read(const u8* aCodes, const u8* aScales, long long first) {
    if (kIsScaled(A_FORMAT))
      scales = kScales == 1 ? aScales[first / SCALE_BLOCK]
                            : *reinterpret_cast<const u16*>(aScales + first / SCALE_BLOCK);
    const uint4* from = reinterpret_cast<const uint4*>(aCodes + first * kBitsOfA / 8);
#pragma unroll
    for (int i = 0; i < kWords / 4; i++) {
      const uint4 piece = from[i];
      words[4 * i] = piece.x, words[4 * i + 1] = piece.y;
      words[4 * i + 2] = piece.z, words[4 * i + 3] = piece.w;
    }
  }

  // Magnitudes of the elements that scale `of` is of, together: 0 where all are zero. Of bf16 the
  // largest two.
  __device__ u32 magnitudes(int of) const {
    constexpr int kEach = kWords / kScales;
    u32 found = 0;
#pragma unroll
    for (int i = 0; i < kWords; i++) {
      if (i / kEach != of && kIsScaled(A_FORMAT)) continue;
      const u32 word = words[i] & (kBitsOfA == 4   ? 0x77777777
                                   : kBitsOfA == 8 ? 0x7f7f7f7f
                                                   : 0x7fff7fff);
      found = kIsScaled(A_FORMAT) ? found | word : largerHalves(found, word);
    }
    return found;
  }

  // What takes elements of scale `of` to their numbers, twice. What may not be multiplied is NaN,
  // which makes every sum of its row NaN: where ScaleSums, also what is outside of what sums that
  // are scaled afterwards may have. Zeros are zero by any scale but NaN.
  template <bool ScaleSums>
  __device__ u32 multiplier(int of) const {
    const u32 magnitude = magnitudes(of);
    if constexpr (kIsScaled(A_FORMAT)) {
      const u32 code = scales >> 8 * of & 255;
      bool isBad = ScaleSums && ((int)code < 127 + kSmallestToken - kLeastOfElement<A_FORMAT> ||
                                 code > 127 + kLargestToken - kLargestOfA);
      constexpr int kEach = kWords / kScales;
#pragma unroll
      for (int i = 0; i < kEach; i++) isBad |= holdsSpecial<A_FORMAT>(words[of * kEach + i]);
      const u32 by = isBad ? kNanPair : multiplierOfTokens<MadeBefore>(code);
      return !kLinearScale && magnitude == 0 && code < 255 ? 0 : by;
    } else {
      // Elements have exponents of their own: those that vanish beside a block's largest may.
      const u32 largest = max(magnitude & 0xffff, magnitude >> 16);
      const bool isBad =
          ScaleSums && largest != 0 &&
          (largest < 127 + kSmallestToken + 24 << 7 || largest > 127 + kLargestToken << 7);
      return isBad ? kNanPair : multiplierOfTokens<MadeBefore>(0);
    }
  }

  // Numbers 2 q and 2 q + 1 of a piece, as smallPairOf() has them.
  __device__ u32 smallPair(int piece, int q) const {
    if constexpr (!kFp4) {
      return smallPairOf<A_FORMAT>(words[piece / 2 * 4 + q], piece % 2);
    } else if constexpr (kBitsOfA == 4) {
      return smallElements<A_FORMAT>(words[q], piece);
    } else if constexpr (kBitsOfA == 8) {
      return smallPairOfBytes<A_FORMAT>(words[2 * q], words[2 * q + 1], piece, 4 + piece);
    } else {
      const int first = 4 * q + piece / 2;
      return __byte_perm(words[first], words[first + 2], piece % 2 ? 0x7632 : 0x5410);
    }
  }

  // Calls put(piece, its words) for each of the four.
  template <bool ScaleSums, class Put>
  __device__ void make(const Put& put) const {
    u32 by[kScales];
#pragma unroll
    for (int i = 0; i < kScales; i++) by[i] = multiplier<ScaleSums>(i);
#pragma unroll
    for (int piece = 0; piece < 4; piece++) {
      u32 pairs[4];
#pragma unroll
      for (int q = 0; q < 4; q++) {
        // Scales of 16 elements are of a half each: of fp4 codes the first two q and the others.
        const int of = kScales == 1 ? 0 : kFp4 ? q / 2 : piece / 2;
        pairs[q] = readyElements<MadeBefore>(smallPair(piece, q), by[of]);
      }
      put(piece, make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]));
    }
  }
};

}  // namespace decode
