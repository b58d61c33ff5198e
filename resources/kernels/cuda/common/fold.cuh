// MX elements as fp8 that the tensor cores multiply as it is: scales go into the elements'
// exponents, against a reference for each row, or for each kChunk elements of a row.
//
// x of a block with scale 2^s becomes x 2^(s - r), rounded to nearest: e4m3 and e5m2 keep their
// type, e2m1 becomes e5m2. The reference r gives the largest element the type's largest exponent.
// So a number is rounded only where it becomes subnormal, by 2^-10 (e4m3) at most, while the
// largest is 2^8 and more. In a block whose largest element lies d binades below, that is 2^(d -
// 18) of its own largest: kSpread, the most that d may be, keeps it to 2^-10. e5m2 has 2^-17 beside
// 2^15: as good at d = 22. e2m1 is exact as far as kSpread goes; its r is as low as the smallest
// block lets it be, since small exponents cost the tensor cores less power.
//
// r lies in 52..202 as in common/reencode.cuh, whose reasons hold here too.
#pragma once

#include "common/halves.cuh"
#include "common/reencode.cuh"

constexpr int kChunk = A_CHUNK;
static_assert(kChunk == 128, "a step of the product");

template <int Format>
struct Folded {
  static_assert(Format == 0 || Format == 3 || Format == 4, "elements that e4m3 or e5m2 holds");
  static constexpr bool kIsE4m3 = Format == 3;
  // Exponent of the largest number; binades between the largest elements of blocks.
  static constexpr int kTop = kIsE4m3 ? 8 : 15, kSpread = kIsE4m3 ? 8 : Format == 4 ? 22 : 28;
  // e2m1: the smallest element, at most three binades below its block's largest, is normal.
  static constexpr int kLow = -11;
  // Elements that are multiplied.
  static constexpr int kFormat = kIsE4m3 ? 3 : 4;
};

// 16 elements, half a scale block, as four words of fp8 in their block's scale.
struct Piece {
  u32 words[4];
  int scale;
};

template <int Format>
__device__ inline Piece loadPiece(const u8* codes, const u8* scales, int piece, int pieces) {
  if (piece >= pieces) return {{0, 0, 0, 0}, 127};
  const int scale = scales[piece / 2];
  if constexpr (kBits(Format) == 4) {
    const uint2 nibbles = reinterpret_cast<const uint2*>(codes)[piece], table = codeTable(0);
    const uint2 first = encodeEight(nibbles.x, table), second = encodeEight(nibbles.y, table);
    return {{first.x, first.y, second.x, second.y}, scale};
  } else {
    const uint4 words = reinterpret_cast<const uint4*>(codes)[piece];
    return {{words.x, words.y, words.z, words.w}, scale};
  }
}

// Four fp8 numbers as float16, which holds all of them, and back, rounded to nearest.
template <int Format>
__device__ inline void toHalves(u32 word, u32 (&halves)[2]) {
  if constexpr (Folded<Format>::kIsE4m3) {
    halvesOfE4m3(word, halves);
  } else {
    halves[0] = __byte_perm(word, 0, 0x1404);
    halves[1] = __byte_perm(word, 0, 0x3424);
  }
}
template <int Format>
__device__ inline u32 fromHalves(const u32 (&halves)[2]) {
  return Folded<Format>::kIsE4m3 ? halvesToE4m3(halves) : halvesToE5m2(halves);
}

// 2^exponent in both halves, exponent -24..15.
__device__ inline u32 powersOfTwo(int exponent) {
  return (exponent < -14 ? 1u << (exponent + 24) : (u32)(exponent + 15) << 10) * 0x10001;
}

// Binades of the largest elements of blocks that are not zero, in units of the scale's code.
// `isSpecial`: NaN, or infinite.
struct Binades {
  int smallest = 1 << 20, largest = -(1 << 20);
  bool isSpecial = false;

  // The block of this lane's piece and its neighbour's.
  template <int Format>
  __device__ void see(const Piece& piece) {
    // Magnitudes are in the order of their codes; bytes above others in 16 bits decide.
    u32 upper = 0, lower = 0;
    UNROLL
    for (int word = 0; word < 4; word++) {
      upper = largerHalves(upper, piece.words[word] & 0x7f7f7f7f);
      lower = largerHalves(lower, piece.words[word] & 0x007f007f);
    }
    u32 code = largerHalves(upper >> 8 & 0x007f007f, lower);
    code = largerHalves(code, code >> 16);
    code = largerHalves(code, __shfl_xor_sync(0xffffffff, code, 1)) & 0x7f;
    u32 halves[2];
    toHalves<Format>(code, halves);
    const u32 most = halves[0] & 0xffff;
    // A NaN scale makes NaN of zeros too.
    isSpecial |= most >= 0x7c00 || piece.scale == 255;
    if (most == 0) return;
    const int binade = piece.scale + (int)(most >> 10) - 15;
    smallest = min(smallest, binade);
    largest = max(largest, binade);
  }
  __device__ bool isEmpty() const { return largest < smallest; }
  template <int Format>
  __device__ int reference() const {
    if (isEmpty()) return 127;
    const int high = largest - Folded<Format>::kTop;
    return Format == 0 ? max(high, smallest - Folded<Format>::kLow) : high;
  }
  template <int Format>
  __device__ bool isTooWide() const {
    return largest - smallest > Folded<Format>::kSpread;
  }
  template <int Format>
  __device__ bool isOutside(int reference) const {
    return isSpecial || (!isEmpty() && (isTooWide<Format>() || reference < kSmallestReference ||
                                        reference > kLargestReference));
  }
};

template <int Format>
__device__ inline void storeFolded(u8* folded, int at, const Piece& piece, int reference) {
  // Numbers that are not zero stay within; blocks of zeros have any scale.
  const int exponent = min(max(piece.scale - reference, -24), 30);
  const u32 power = powersOfTwo(min(exponent, 15));
  u32 out[4];
  UNROLL
  for (int word = 0; word < 4; word++) {
    u32 halves[2];
    toHalves<Format>(piece.words[word], halves);
    UNROLL
    for (int pair = 0; pair < 2; pair++) {
      halves[pair] = multiplyHalves(halves[pair], power);
      // Where a block's largest element is small.
      if (exponent > 15) halves[pair] = multiplyHalves(halves[pair], powersOfTwo(exponent - 15));
    }
    out[word] = fromHalves<Format>(halves);
  }
  storeStreaming(folded + at * 16, make_uint4(out[0], out[1], out[2], out[3]));
}

constexpr int kHeldPieces = 4;  // of a thread at a time

// A row whose chunks have references of their own: exponents[chunk * rows]. True, for some thread,
// where a chunk needs more.
template <int Format>
__device__ inline bool foldChunks(const u8* codes, const u8* scales, u8* folded, u8* exponents,
                                  int rows, int K) {
  constexpr int kLanes = kChunk / 16;  // of a chunk
  const int pieces = K / 16;
  bool isOutside = false;
  // Few rows: one piece at a time costs least registers. Whole warps go through it together.
  DO_NOT_UNROLL
  for (int first = 0; first < pieces; first += kEncodeThreads) {
    const int at = first + (int)threadIdx.x;
    const Piece piece = loadPiece<Format>(codes, scales, at, pieces);
    Binades binades;
    binades.see<Format>(piece);
    UNROLL
    for (int lanes = 2; lanes < kLanes; lanes *= 2) {
      binades.smallest =
          min(binades.smallest, __shfl_xor_sync(0xffffffff, binades.smallest, lanes));
      binades.largest = max(binades.largest, __shfl_xor_sync(0xffffffff, binades.largest, lanes));
    }
    const int reference = binades.reference<Format>();
    isOutside |= binades.isOutside<Format>(reference);
    if (at >= pieces) continue;
    storeFolded<Format>(folded, at, piece, reference);
    if (threadIdx.x % kLanes == 0) exponents[(long long)(at / kLanes) * rows] = (u8)reference;
  }
  return isOutside;
}

// Where references of chunks go: `of` is the row's in the first chunk, `rows` lie between one chunk
// and the next, `used` is set once some row has more than one.
struct ChunkExponents {
  u8* of;
  int rows;
  u32* used;
};

// A row with one reference; with HasChunks, where that does not hold it, with one for each chunk.
// True, for some thread, where it needs more. Elements that do not fit registers are read twice.
template <int Format, bool HasChunks>
__device__ inline bool foldRow(const u8* codes, const u8* scales, u8* folded, float* factor,
                               ChunkExponents exponents, int K) {
  const int pieces = K / 16;
  auto load = [&](int i) {
    return loadPiece<Format>(codes, scales, i * kEncodeThreads + (int)threadIdx.x, pieces);
  };
  // Whole warps: neighbours look at a block together.
  const int turns = (pieces + kEncodeThreads - 1) / kEncodeThreads;
  Piece held[kHeldPieces];
  Binades binades;
  UNROLL
  for (int i = 0; i < kHeldPieces; i++) held[i] = load(i);
  UNROLL
  for (int i = 0; i < kHeldPieces; i++) binades.see<Format>(held[i]);
  for (int i = kHeldPieces; i < turns; i++) binades.see<Format>(load(i));
  const Range range = rangeOfBlock({binades.smallest, binades.largest});
  binades.smallest = range.smallest, binades.largest = range.largest;
  if (HasChunks && binades.isTooWide<Format>()) {
    if (threadIdx.x == 0) *exponents.used = 1;
    return foldChunks<Format>(codes, scales, folded, exponents.of, exponents.rows, K);
  }
  const int reference = binades.reference<Format>();
  if (threadIdx.x == 0) *factor = __int_as_float(min(max(reference, 1), 254) << 23);
  if (HasChunks)
    for (int chunk = threadIdx.x; chunk * kChunk < K; chunk += kEncodeThreads)
      exponents.of[(long long)chunk * exponents.rows] = (u8)reference;
  auto store = [&](int i, const Piece& piece) {
    const int at = i * kEncodeThreads + (int)threadIdx.x;
    if (at < pieces) storeFolded<Format>(folded, at, piece, reference);
  };
  UNROLL
  for (int i = 0; i < kHeldPieces; i++) store(i, held[i]);
  for (int i = kHeldPieces; i < turns; i++) store(i, load(i));
  return binades.isOutside<Format>(reference);
}
