// Sums that decode.cuh computes again, and those that it need not.
#pragma once

#include "common/formats.cuh"
#include "common/pipeline.cuh"

namespace decode {

// Element (token, row) of C in float64, by one warp: for what the fast way does not represent.
__device__ inline double exactSum(const u8* aCodes, const u8* aScales, const u8* bCodes,
                                  const u8* bScales, int token, int row, int K) {
  double sum = 0;
  for (int k = threadIdx.x % 32; k < K; k += 32) {
    const long long a = (long long)token * K + k, b = (long long)row * K + k;
    const double left = (double)decodeElement<A_FORMAT>(packedCode<A_FORMAT>(aCodes, a)) *
                        (double)scaleOf<A_FORMAT>(aScales, a / SCALE_BLOCK);
    const double right = (double)decodeElement<B_FORMAT>(packedCode<B_FORMAT>(bCodes, b)) *
                         (double)scaleOf<B_FORMAT>(bScales, b / SCALE_BLOCK);
    sum += left * right;
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  return sum;
}

// Sums of products of numbers that are 2^kSureExponent or more lose nothing by underflow, however
// small they are.
constexpr int kSureExponent = -40, kAllZero = 1 << 20;

// Float16 has nothing as small, and scales of ue4m3 are 2^-9 or more.
constexpr bool kMayUnderflow =
    OUTPUT_TYPE != 0 && !(kIsScaled(A_FORMAT) && kIsScaled(B_FORMAT) && SCALE_FORMAT == 6);

// Of an element that is not zero, under the scale 1.
template <int Format>
constexpr int kLeastOfElement = Format == 0   ? -1
                                : Format == 3 ? -9
                                              : -16;

// An exponent that no number of a row is below by its scales alone, by one warp: a block of zeros
// may have a smaller one than any number. Without scales nothing is known.
template <int Format>
__device__ inline int leastByScales(const u8* scales, int row, int K) {
  if constexpr (!kIsScaled(Format)) return -kAllZero;
  if constexpr (SCALE_FORMAT == 6) return kLeastOfElement<Format> - 9;
  const int blocks = K / SCALE_BLOCK;
  int least = 255;
#pragma unroll 8
  for (int block = threadIdx.x % 32; block < blocks; block += 32)
    least = min(least, (int)scales[(long long)row * blocks + block]);
  return __reduce_min_sync(0xffffffff, least) - 127 + kLeastOfElement<Format>;
}

// The same by elements too, zeros aside; kAllZero where there are no others.
template <int Format>
__device__ inline int leastExponent(const u8* codes, const u8* scales, int row, int K) {
  constexpr int kBitsEach = kBits(Format), kWords = SCALE_BLOCK * kBitsEach / 32;
  const int byScales = leastByScales<Format>(scales, row, K);
  if (byScales >= kSureExponent || (kIsScaled(Format) && SCALE_FORMAT == 6)) return byScales;
  const u32* words = reinterpret_cast<const u32*>(codes + (long long)row * K / 8 * kBitsEach);
  const int blocks = K / SCALE_BLOCK;
  int least = kAllZero;
#pragma unroll(16 / kWords)
  for (int block = threadIdx.x % 32; block < blocks; block += 32) {
    if constexpr (kIsScaled(Format)) {
      const int exponent =
          (int)scales[(long long)row * blocks + block] - 127 + kLeastOfElement<Format>;
      u32 magnitudes = 0;
#pragma unroll
      for (int i = 0; i < kWords; i++)
        magnitudes |= words[block * kWords + i] & (kBitsEach == 4 ? 0x77777777 : 0x7f7f7f7f);
      if (magnitudes != 0) least = min(least, exponent);
    } else {
#pragma unroll
      for (int i = 0; i < kWords * 2; i++) {
        const u32 magnitude = words[block * kWords + i / 2] >> i % 2 * 16 & 0x7fff;
        if (magnitude != 0)
          least = min(least, magnitude < 128 ? -133 : (int)(magnitude >> 7) - 127);
      }
    }
  }
  return __reduce_min_sync(0xffffffff, least);
}

// What is outside of what was multiplied, in either operand, makes NaN or infinity.
__device__ inline bool isUnknown(float sum) { return !(fabsf(sum) < __int_as_float(0x7f800000)); }

// What a sum is computed again from.
struct Codes {
  const u8 *aCodes, *bCodes, *aScales, *bScales;
};

// Sums of one token and a row of B for each lane again, by a warp for all its lanes, where they are
// unknown, or small and not known to have lost nothing. `write`: takes the exact one, on its lane.
template <class Write>
__device__ inline void sumsAgain(const Codes& of, int token, int rowOfLane, int K, bool unknown,
                                 bool isSmall, Write write) {
  const u32 allUnknown = __ballot_sync(0xffffffff, unknown);
  u32 small = __ballot_sync(0xffffffff, isSmall);
  const int ofToken =
      small == 0 ? kAllZero : leastExponent<A_FORMAT>(of.aCodes, of.aScales, token, hidden(K));
  if (ofToken == kAllZero) small = 0;
  for (u32 left = allUnknown | small; left != 0; left &= left - 1) {
    const int lane = __ffs(left) - 1, row = __shfl_sync(0xffffffff, rowOfLane, lane),
              length = hidden(K);
    if ((small >> lane & 1) != 0 && ofToken >= kSureExponent &&
        leastExponent<B_FORMAT>(of.bCodes, of.bScales, row, length) >= kSureExponent)
      continue;
    const double exact = exactSum(of.aCodes, of.aScales, of.bCodes, of.bScales, token, row, length);
    if (threadIdx.x % 32 == lane) write(exact);
  }
}

}  // namespace decode
