// Packed codes and scales to bf16 numbers: element x scale x 2^-kWideShift, exact (at most 8
// significant bits) while the scale lies within 2^(kWideShift - 117)..2^117. Numbers around 2
// change every bit of the exponent from one to the next; smaller ones cost the tensor cores less
// power. The product takes 2^(2 kWideShift) back.
#pragma once

#include "common/formats.cuh"
#include "common/groups.cuh"

constexpr int kWideShift = WIDE_SHIFT;

// True for a scale with which some element x scale is not exact in bf16, or overflows it.
__device__ inline bool beyondBf16(u32 scale) {
  return SCALE_FORMAT == 5 && (scale < 127 - 117 + kWideShift || scale > 127 + 117);
}

constexpr int kWidenThreads = WIDEN_THREADS;
// Elements a thread widens: 16 bytes of bf16, or whole words of fp6.
__host__ __device__ constexpr int kWidened(int format) { return kBits(format) == 6 ? 16 : 8; }
static_assert(SCALE_BLOCK % 16 == 0, "a thread's elements share one scale");

__host__ __device__ constexpr int kMantissaBits(int format) {
  return format == 0 ? 1 : format == 1 ? 3 : format == 2 ? 2 : format == 3 ? 3 : 2;
}
__host__ __device__ constexpr int kBias(int format) {
  return format <= 1 ? 1 : format == 2 ? 3 : format == 3 ? 7 : 15;
}

// Two codes, one in the low bits of each half of a word, as bf16 numbers times 2^(bias - 127): sign
// and exponent move to their places in bf16, whose subnormals take the elements' own.
template <int Format>
__device__ inline u32 asSmallBf16(u32 codes) {
  constexpr int kSign = kBits(Format) - 1, kShift = 7 - kMantissaBits(Format);
  constexpr u32 kMagnitude = ((1u << kSign) - 1) * 0x10001 << kShift;
  return (codes << (15 - kSign) & 0x80008000) | (codes << kShift & kMagnitude);
}

// Pair `i` of a word of fp4 (4 pairs: codes i and i + 4) or fp8 (2 pairs: codes i and i + 2), as
// asSmallBf16 has them: pairs that fall apart without being gathered.
template <int Format>
__device__ inline u32 smallPairOf(u32 codes, int i) {
  if constexpr (kBits(Format) == 8) {
    // The signs of both pairs are the highest bits of bytes, of which the mask hides the low ones'.
    constexpr int kShift = 7 - kMantissaBits(Format);
    constexpr u32 kMagnitudes = 0x007f007fu << kShift;
    const u32 signs = onlyBits<0x80808080>(codes);
    return i == 0 ? selectBits<kMagnitudes>(codes << kShift, signs << 8)
                  : selectBits<kMagnitudes>(codes >> (8 - kShift), signs);
  }
  codes >>= 8 * (i / 2);
  return i % 2 == 0 ? (codes & 0x000f000f) * 4160 & 0x81c081c0
                    : (codes & 0x00f000f0) * 260 & 0x81c081c0;
}

// Two of eight codes of 8 bits in two words, as asSmallBf16 has them: a shift takes magnitudes and
// signs to their places.
template <int Format>
__device__ inline u32 smallPairOfBytes(u32 low, u32 high, int first, int second) {
  constexpr int kUp = 7 - kMantissaBits(Format);
  return besideSigns(low, high, first, second) << kUp & (0x8000 + (0x7f << kUp)) * 0x10001u;
}

// What takes asSmallBf16's numbers to elements x 2^-kWideShift.
template <int Format>
__device__ constexpr u32 unbiasOf() {
  return (127 + 127 - kBias(Format) - kWideShift << 7) * 0x10001u;
}

// Four 8-bit codes with their highest bits set where one is NaN or infinite, and not else: what is
// added to a magnitude carries into the sign's place from the first special code on. Beside B of 8
// bits signs are those that smallPairOf has of the same words.
template <int Format>
__device__ inline u32 markedSpecial(u32 codes) {
  const u32 magnitudes =
      kBits(B_FORMAT) == 8 ? codes - onlyBits<0x80808080>(codes) : codes & 0x7f7f7f7f;
  return magnitudes + (Format == 3 ? 0x01010101 : 0x04040404);
}
constexpr u32 kMarksOfSpecial = 0x80808080;
// Whether one of four 8-bit codes is NaN or infinite.
template <int Format>
__device__ inline bool holdsSpecial(u32 codes) {
  return kBits(Format) == 8 && (markedSpecial<Format>(codes) & kMarksOfSpecial) != 0;
}

// Two bf16 numbers, which have no scales; shifted they are exact within the range of scales, and
// zero.
__device__ inline u32 shiftedPair(u32 pair, bool& isBeyond) {
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const u32 magnitude = pair >> (16 * half) & 0x7fff, exponent = magnitude >> 7;
    isBeyond |= magnitude != 0 && (exponent < 127 - 117 + kWideShift || exponent > 127 + 117);
  }
  return multiplyBf16Pair(pair, bothHalves(__int_as_float((127 - kWideShift) << 23)));
}
// The pairs of a word of fp4 (four) or fp8 (two) in their order, as asSmallBf16 has them.
template <int Format>
__device__ inline void smallPairsOf(u32 codes, u32* pairs) {
  if constexpr (kBits(Format) == 4) {
    u32 apart[4];  // codes i and i + 4
#pragma unroll
    for (int i = 0; i < 4; i++) apart[i] = smallPairOf<Format>(codes, i);
#pragma unroll
    for (int i = 0; i < 4; i++)
      pairs[i] = __byte_perm(apart[i % 2 * 2], apart[i % 2 * 2 + 1], i < 2 ? 0x5410 : 0x7632);
  } else {
#pragma unroll
    for (int i = 0; i < 2; i++) pairs[i] = smallPairOfBytes<Format>(codes, 0, 2 * i, 2 * i + 1);
  }
}

// Two codes, any, as bf16 numbers.
template <int Format>
__device__ inline u32 decodedPair(u32 low, u32 high, float scale) {
  const float shifted = scale * (1.0f / (1 << kWideShift));
  return toBf16Pair(decodeElement<Format>(low) * shifted, decodeElement<Format>(high) * shifted);
}

// Words of codes from `from` on, where so many lie behind one another.
template <int Count>
__device__ inline void loadWords(u32 (&words)[Count], const u8* from) {
#pragma unroll
  for (int i = 0; i < Count;) {
    if (Count % 4 == 0) {
      const uint4 four = *reinterpret_cast<const uint4*>(from + i * 4);
      words[i++] = four.x, words[i++] = four.y, words[i++] = four.z, words[i++] = four.w;
    } else if (Count == 2) {
      const uint2 two = *reinterpret_cast<const uint2*>(from);
      words[i++] = two.x, words[i++] = two.y;
    } else {
      words[i] = *reinterpret_cast<const u32*>(from + i * 4), i++;
    }
  }
}
// Bits `first` to `first` + 32 of some words, as far as they go.
template <int Count>
__device__ inline u32 bitsOf(const u32 (&words)[Count], int first) {
  const int word = first / 32, shift = first % 32;
  if (shift == 0 || word + 1 == Count) return words[word] >> shift;
  return words[word] >> shift | words[word + 1] << 32 - shift;
}

// Neighbouring elements that one thread widens, which share a scale: loaded first, so that others'
// can be on their way, and then widened.
template <int Format>
struct PieceToWiden {
  static constexpr int kCount = kWidened(Format), kWords = kCount * kBits(Format) / 32;
  u32 words[kWords], scaleCode;

  __device__ void load(const u8* codes, const u8* scale) {
    if constexpr (kIsScaled(Format)) scaleCode = *scale;
    loadWords(words, codes);
  }

  // Sets *beyond where they are not what bf16 holds.
  __device__ void store(u16* wide, u32* beyond) const {
    u32 pairs[kCount / 2];
    if (widen(pairs)) *beyond = 1;
    storePairs(wide, pairs);
  }

  // Whether some of them are NaN or infinite, which `store` does not know.
  __device__ bool isSpecial() const {
    bool is = false;
    if (kBits(Format) == 8)
#pragma unroll
      for (int word = 0; word < kWords; word++) is |= holdsSpecial<Format>(words[word]);
    return is;
  }
  __device__ void storeSpecial(u16* wide) const {
    u32 pairs[kCount / 2];
    const float scale = decodeScale<SCALE_FORMAT>(scaleCode);
#pragma unroll
    for (int pair = 0; pair < kCount / 2; pair++) {
      const u32 both = words[pair / 2 % kWords] >> (pair % 2 * 16);
      pairs[pair] = decodedPair<Format>(both & 255, both >> 8 & 255, scale);
    }
    storePairs(wide, pairs);
  }

 private:
  __device__ static void storePairs(u16* wide, const u32 (&pairs)[kCount / 2]) {
    uint4* out = reinterpret_cast<uint4*>(wide);
#pragma unroll
    for (int part = 0; part < kCount / 8; part++)
      storeStreaming(out + part, make_uint4(pairs[4 * part], pairs[4 * part + 1],
                                            pairs[4 * part + 2], pairs[4 * part + 3]));
  }

  __device__ bool widen(u32 (&pairs)[kCount / 2]) const {
    bool isBeyond = false;
    if constexpr (!kIsScaled(Format)) {
#pragma unroll
      for (int word = 0; word < kWords; word++) pairs[word] = shiftedPair(words[word], isBeyond);
      return isBeyond;
    } else {
      if constexpr (kBits(Format) == 6) {
#pragma unroll
        for (int pair = 0; pair < kCount / 2; pair++) {
          const u32 bits = bitsOf(words, pair * 12);
          pairs[pair] = asSmallBf16<Format>((bits & 0x3f) | (bits << 10 & 0x3f0000));
        }
      } else {
#pragma unroll
        for (int word = 0; word < kWords; word++)
          smallPairsOf<Format>(words[word], pairs + word * (32 / kBits(Format) / 2));
      }
      // A power of two beyond bf16's range need not be right.
      const u32 unbias = unbiasOf<Format>(),
                scales = SCALE_FORMAT == 5 ? scaleCode * 0x00800080
                                           : bothHalves(decodeScale<SCALE_FORMAT>(scaleCode));
#pragma unroll
      for (int pair = 0; pair < kCount / 2; pair++)
        pairs[pair] = multiplyBf16Pair(multiplyBf16Pair(pairs[pair], unbias), scales);
      return beyondBf16(scaleCode);
    }
  }
};

// Elements [n i, n i + n), n = kWidened(Format), of a matrix whose rows are whole scale blocks.
template <int Format>
__device__ inline void widenAt(const u8* codes, const u8* scales, u16* wide, long long i,
                               u32* beyond) {
  using Piece = PieceToWiden<Format>;
  Piece piece;
  piece.load(codes + i * Piece::kWords * 4, scales + i * Piece::kCount / SCALE_BLOCK);
  piece.store(wide + i * Piece::kCount, beyond);
  if (piece.isSpecial()) piece.storeSpecial(wide + i * Piece::kCount);
}

// As widenBoth, of groups: piece i of A (rows of all groups, K) without its padding, and then of B,
// one matrix (N, K) for each group that has rows. False: there is no such piece.
__device__ inline bool widenOfGroups(u32 i, const u8* aCodes, const u8* bCodes, const u8* aScales,
                                     const u8* bScales, u16* aWide, u16* bWide,
                                     const int* groupStarts, const int* groupRows, int groups,
                                     int M, int N, int K, u32* beyond) {
  // Fewer than 2^32 pieces: the manifest row requires it.
  const u32 aOfRow = K / kWidened(A_FORMAT), bOfMatrix = (u32)N * (K / kWidened(B_FORMAT));
  const u32 aPieces = M * aOfRow, pieces = aPieces + groups * bOfMatrix;
  if (i >= pieces) return false;
  if (i < aPieces) {
    if (groupOfRow(groupStarts, groupRows, groups, (int)(i / aOfRow)) >= 0)
      widenAt<A_FORMAT>(aCodes, aScales, aWide, i, beyond);
  } else if (groupRows[(i - aPieces) / bOfMatrix] > 0) {
    widenAt<B_FORMAT>(bCodes, bScales, bWide, i - aPieces, beyond);
  }
  return true;
}

// Both operands in one launch, kWidened elements a thread: threads beyond A's take B's. Sets
// *beyond when a scale lies outside the range.
__device__ inline void widenBoth(const u8* aCodes, const u8* bCodes, const u8* aScales,
                                 const u8* bScales, u16* aWide, u16* bWide, long long aCount,
                                 long long bCount, u32* beyond) {
  const long long aPieces = aCount / kWidened(A_FORMAT), bPieces = bCount / kWidened(B_FORMAT);
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < aPieces + bPieces;
       i += (long long)gridDim.x * blockDim.x) {
    if (i < aPieces) widenAt<A_FORMAT>(aCodes, aScales, aWide, i, beyond);
    else widenAt<B_FORMAT>(bCodes, bScales, bWide, i - aPieces, beyond);
  }
}
