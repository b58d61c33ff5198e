// MXFP4 rows as e5m2: each row's scales are taken out against one power of two, the rest goes into
// the elements' exponents.
//
// An element x 2^(scale - r) is exact in e5m2 for scale - r in -15..13. A row's reference r lies as
// high as its smallest scale allows, since small exponents cost the tensor cores less power: r =
// max(largest - 13, smallest + 13) over blocks that are not zero. So a row's scales may spread over
// 29 values. Sums of at most 2^17 products, times 2^(r - 127) for r within 52..202, stay inside
// float32's normal range.
#pragma once

#include "common/formats.cuh"

constexpr int kEncodeThreads = ENCODE_THREADS, kLargestExact = 13, kSmallestNormal = -13,
              kSmallestExact = -15;
constexpr int kSmallestReference = 127 - 75, kLargestReference = 127 + 75;

// e5m2 codes of 0, .5, 1, 1.5 | 2, 3, 4, 6 times 2^s, one a byte.
__device__ inline uint2 codeTable(int s) {
  // One step of s is one step of the exponent field, 4 in the code; zero stays zero.
  const uint2 normal = make_uint2(0x3e3c3800 + s * 0x04040400, 0x46444240 + s * 0x04040404);
  return make_uint2(s == -15   ? 0x03020100
                    : s == -14 ? 0x06040200
                               : normal.x,
                    s == -15   ? 0x0a080604
                    : s == -14 ? 0x0e0c0a08
                               : normal.y);
}

// Eight fp4 codes, low nibble first, to eight e5m2 bytes.
__device__ inline uint2 encodeEight(u32 codes, uint2 table) {
  const u32 magnitudes = codes & 0x77777777, oddSigns = codes & 0x80808080,
            evenSigns = codes << 4 & 0x80808080;
  return make_uint2(
      __byte_perm(table.x, table.y, magnitudes) | __byte_perm(evenSigns, oddSigns, 0x5140),
      __byte_perm(table.x, table.y, magnitudes >> 16) | __byte_perm(evenSigns, oddSigns, 0x7362));
}

struct Range {
  int smallest, largest;
  __device__ Range ofWarp() const {
    return {__reduce_min_sync(0xffffffff, smallest), __reduce_max_sync(0xffffffff, largest)};
  }
};

// Over the block of kEncodeThreads threads.
__device__ inline Range rangeOfBlock(Range range) {
  __shared__ Range ofWarps[kEncodeThreads / 32];
  range = range.ofWarp();
  if (threadIdx.x % 32 == 0) ofWarps[threadIdx.x / 32] = range;
  __syncthreads();
  return ofWarps[threadIdx.x % 32 % (kEncodeThreads / 32)].ofWarp();
}

// The smallest and the largest scale of a row's blocks that are not zero.
struct ScaleRange : Range {
  __device__ ScaleRange(Range of = {255, -1}) : Range(of) {}
  // Half a block: a NaN scale makes NaN of zeros too, and is outside of any window.
  __device__ void see(uint2 codes, int scale) {
    const bool isSeen = ((codes.x | codes.y) & 0x77777777) != 0 || scale == 255;
    smallest = min(smallest, scale == 255 ? -1024 : isSeen ? scale : 255);
    largest = max(largest, isSeen ? scale : -1);
  }
  // A row of zeros has none.
  __device__ int reference() const {
    return largest < 0 ? 127 : max(largest - kLargestExact, smallest - kSmallestNormal);
  }
  __device__ bool isOutside() const {
    return largest >= 0 && (smallest - reference() < kSmallestExact ||
                            reference() < kSmallestReference || reference() > kLargestReference);
  }
  __device__ float factor() const { return __int_as_float(min(max(reference(), 1), 254) << 23); }
};

// Half a block in e5m2, in its order. Zeros have any table: its first byte is always 0.
__device__ inline uint4 encodeSixteen(uint2 codes, int exponent) {
  const uint2 table = codeTable(min(max(exponent, kSmallestExact), kLargestExact));
  const uint2 first = encodeEight(codes.x, table), second = encodeEight(codes.y, table);
  return make_uint4(first.x, first.y, second.x, second.y);
}

// The same with its even elements before its odd ones, where signs lie as they come.
struct EvenAndOdd {
  u32 even[2], odd[2];
  __device__ EvenAndOdd(uint2 codes, int exponent) {
    const uint2 table = codeTable(min(max(exponent, kSmallestExact), kLargestExact));
    const u32 packed[2] = {codes.x, codes.y};
    UNROLL
    for (int i = 0; i < 2; i++) {
      const u32 magnitudes = packed[i] & 0x77777777,
                first = __byte_perm(table.x, table.y, magnitudes),
                second = __byte_perm(table.x, table.y, magnitudes >> 16);
      even[i] = __byte_perm(first, second, 0x6420) | (packed[i] << 4 & 0x80808080);
      odd[i] = __byte_perm(first, second, 0x7531) | (packed[i] & 0x80808080);
    }
  }
};

// The order of a block's 32 elements in the encoded row.
enum class Order { kAsPacked, kEvenThenOdd };

constexpr int kHeld = 4;

struct SeesNothing {
  __device__ void operator()(int, uint2, int) const {}
  __device__ void conclude(int, int) const {}
};

// One row: K / 2 bytes of codes, K / 32 scales. A thread takes 16 elements, half a scale block, at
// a time; the first kHeld of them stay in registers between the two passes. True, for some thread,
// where the row needs more than the window. `seen` is shown every piece with its scale, zeros
// beyond the row, and concludes after each kHeld of a thread, then after each.
template <Order ElementOrder, class Seen = SeesNothing>
__device__ inline bool reencodeRow(const u8* codes, const u8* scales, u8* encoded, float* factor,
                                   int K, Seen seen = {}) {
  static_assert(SCALE_BLOCK == 32, "a scale block is 16 bytes of fp4");
  constexpr int kHeld = kEncodeThreads >= 128 ? 4 : 512 / kEncodeThreads;
  const uint2* packed = reinterpret_cast<const uint2*>(codes);
  const int pieces = K / 16;
  uint2 held[kHeld];
  int heldScale[kHeld];
  ScaleRange range;
  UNROLL
  for (int i = 0; i < kHeld; i++) {
    const int piece = threadIdx.x + i * kEncodeThreads;
    held[i] = piece < pieces ? packed[piece] : make_uint2(0, 0);
    heldScale[i] = piece < pieces ? scales[piece / 2] : 127;
  }
  UNROLL
  for (int i = 0; i < kHeld; i++) range.see(held[i], heldScale[i]);
  for (int piece = threadIdx.x + kHeld * kEncodeThreads; piece < pieces; piece += kEncodeThreads)
    range.see(packed[piece], scales[piece / 2]);
  range = rangeOfBlock(range);
  const int reference = range.reference();
  if (threadIdx.x == 0) *factor = range.factor();
  auto encode = [&](int piece, uint2 words, int scale) {
    if (ElementOrder == Order::kAsPacked) {
      storeStreaming(encoded + piece * 16, encodeSixteen(words, scale - reference));
    } else {
      const EvenAndOdd out(words, scale - reference);
      uint2* block = reinterpret_cast<uint2*>(encoded + piece / 2 * 32 + piece % 2 * 8);
      block[0] = make_uint2(out.even[0], out.even[1]);
      block[2] = make_uint2(out.odd[0], out.odd[1]);
    }
  };
  auto take = [&](int piece, uint2 words, int scale) {
    if (piece < pieces) encode(piece, words, scale);
    seen(piece, words, scale);
  };
  UNROLL
  for (int i = 0; i < kHeld; i++) take(threadIdx.x + i * kEncodeThreads, held[i], heldScale[i]);
  seen.conclude(0, kHeld);
  for (int first = kHeld * kEncodeThreads; first < pieces; first += kEncodeThreads) {
    const int piece = first + threadIdx.x;
    const bool isInside = piece < pieces;
    take(piece, isInside ? packed[piece] : make_uint2(0, 0), isInside ? scales[piece / 2] : 127);
    seen.conclude(first, 1);
  }
  return range.isOutside();
}
