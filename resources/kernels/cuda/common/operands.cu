// Operands on the GPU: generated as docs/operands.md defines them to the bit, and put into the
// forms that kernels read.
//
// Independent of native/core/operands.cpp, which makes the same bytes. Floats are used where that
// page says so, each operation rounded once: the _rn intrinsics keep the compiler from fusing them.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// OCP Microscaling Formats v1.0 section 5.3, and NVFP4's ue4m3; by number as everywhere in
// blockscope's device code.
struct NumberFormat {
  int exponentBits, mantissaBits, bias;
  u32 largestFinite;      // magnitude code
  u32 nanFrom, infinity;  // magnitude codes; 256: none
  u32 signBit;            // 0: unsigned
};
constexpr u32 kNone = 256;
__constant__ NumberFormat kFormats[8] = {
    {2, 1, 1, 7, kNone, kNone, 8},   {2, 3, 1, 31, kNone, kNone, 32},
    {3, 2, 3, 31, kNone, kNone, 32}, {4, 3, 7, 126, 127, kNone, 128},
    {5, 2, 15, 123, 125, 124, 128},  {8, 0, 127, 254, 255, kNone, 0},
    {4, 3, 7, 126, 127, kNone, 0},   {8, 7, 127, 0x7f7f, 0x7f81, 0x7f80, 0x8000}};
constexpr int kE2m1 = 0, kE4m3 = 3, kUe4m3 = 6, kBf16 = 7;

__device__ double powerOfTwo(int exponent) {
  return __longlong_as_double((long long)(exponent + 1023) << 52);
}

// floor(log2 |value|) of a normal number.
__device__ int exponentOf(double value) {
  return (int)(__double_as_longlong(value) >> 52 & 2047) - 1023;
}

// Nearest code, ties to even, beyond the range the largest finite one. Every float is a normal
// double, or zero.
__device__ u32 encode(const NumberFormat& format, double value) {
  const bool negative = __double_as_longlong(value) < 0;
  if (negative && format.signBit == 0) return 0;
  const double magnitude = fabs(value);
  const int smallest = 1 - format.bias;
  const int exponent = magnitude == 0 ? smallest : max(smallest, exponentOf(magnitude));
  const double units = rint(magnitude * powerOfTwo(format.mantissaBits - exponent));
  const int field = min(exponent + format.bias - 1, 1 << format.exponentBits);
  const u32 code = min((u32)((field << format.mantissaBits) + (int)units), format.largestFinite);
  return code | (negative ? format.signBit : 0);
}

__device__ double decode(const NumberFormat& format, u32 code) {
  const u32 magnitude = code & ((1u << (format.exponentBits + format.mantissaBits)) - 1);
  if (magnitude == format.infinity)
    return (code & format.signBit ? -1 : 1) * __longlong_as_double(0x7ff0000000000000ll);
  if (magnitude >= format.nanFrom) return __longlong_as_double(0x7ff8000000000000ll);
  if (format.mantissaBits == 0) return powerOfTwo((int)magnitude - format.bias);
  const int field = magnitude >> format.mantissaBits,
            fraction = magnitude & ((1 << format.mantissaBits) - 1);
  const double value = field == 0 ? fraction * powerOfTwo(1 - format.bias - format.mantissaBits)
                                  : (fraction + (1 << format.mantissaBits)) *
                                        powerOfTwo(field - format.bias - format.mantissaBits);
  return code & format.signBit ? -value : value;
}

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC11).
struct Words {
  u32 word[4];
};
__device__ Words randomWords(u64 seed, u32 stream, u64 index) {
  u32 c0 = (u32)index, c1 = (u32)(index >> 32), c2 = stream, c3 = 0;
  u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
  for (int round = 0; round < 10; round++) {
    const u32 high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
    const u32 high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}
__device__ u32 randomWord(u64 seed, u32 stream, u64 element) {
  return randomWords(seed, stream, element / 4).word[element % 4];
}

struct Side {
  NumberFormat element, scale;
  bool isE2m1, isUe4m3;
  int V;
  u64 seed;
  u32 codeStream, scaleStream;

  __device__ u32 codeWord(u64 block, int i) const {
    return randomWord(seed, codeStream, block * V + i);
  }
  __device__ u32 scaleWord(u64 block) const { return randomWord(seed, scaleStream, block); }
  __device__ u32 finiteCode(u32 word) const {
    const u32 magnitude = (u32)((u64)(word & 0x7fffffff) * (element.largestFinite + 1) >> 31);
    return magnitude | (word >> 31 ? element.signBit : 0);
  }
  // floor(log2 of the largest element).
  __device__ int emax() const { return exponentOf(decode(element, element.largestFinite)); }
};

__device__ u32 tutorialBlock(const Side& side, u64 block, u8* codes) {
  for (int i = 0; i < side.V; i++) {
    const u32 code = side.codeWord(block, i) >> 28;
    codes[i] = (u8)(side.isE2m1 ? code : encode(side.element, decode(kFormats[kE2m1], code)));
  }
  const u32 u = side.scaleWord(block) >> 8;
  if (side.isUe4m3) return encode(side.scale, __fadd_rn(__fmul_rn((float)u, 0x1p-24f), 1e-8f));
  return 127 + (u == 0 ? -27 : 31 - __clz(u) - 24);
}

__device__ u32 uniformBlock(const Side& side, u64 block, u8* codes) {
  for (int i = 0; i < side.V; i++) codes[i] = (u8)side.finiteCode(side.codeWord(block, i));
  const u64 word = side.scaleWord(block);
  return (u32)(side.isUe4m3 ? 1 + (word * 126 >> 32) : 124 + (word * 7 >> 32));
}

__device__ float normalNumber(u64 seed, u32 stream, u64 element) {
  const Words words = randomWords(seed, stream, element);
  int sum = 0;
  for (int i = 0; i < 4; i++) sum += (int)(words.word[i] & 0xffff) + (int)(words.word[i] >> 16);
  return __fmul_rn((float)(sum - 262140), 0x1.3988e2p-16f);
}

__device__ u32 quantizedBlock(const Side& side, u64 block, bool positive, u8* codes) {
  float values[32];
  float largest = 0;
  for (int i = 0; i < side.V; i++) {
    values[i] = normalNumber(side.seed, side.codeStream, block * side.V + i);
    largest = fmaxf(largest, fabsf(values[i]));
    if (positive) values[i] = fabsf(values[i]);
  }
  if (side.isUe4m3) {
    const u32 scale = encode(side.scale, __fdiv_rn(largest, 6.0f));
    const float step = (float)decode(side.scale, scale);
    for (int i = 0; i < side.V; i++)
      codes[i] = (u8)(step == 0 ? 0 : encode(side.element, __fdiv_rn(values[i], step)));
    return scale;
  }
  const int exponent = largest == 0 ? -127 : min(max(exponentOf(largest) - side.emax(), -127), 127);
  for (int i = 0; i < side.V; i++)
    codes[i] = (u8)encode(side.element, values[i] * powerOfTwo(-exponent));
  return (u32)(exponent + 127);
}

__device__ u32 wideScalesBlock(const Side& side, u64 block, u8* codes) {
  const u32 scale = quantizedBlock(side, block, false, codes);
  const int shift = (int)((u64)side.scaleWord(block) * 13 >> 32) - 6;
  if (side.isUe4m3) return encode(side.scale, decode(side.scale, scale) * powerOfTwo(shift / 2));
  return (u32)min(max((int)scale + shift, 0), 254);
}

__device__ u32 adversarialBlock(const Side& side, u64 block, u8* codes) {
  for (int i = 0; i < side.V; i++) {
    const u32 word = side.codeWord(block, i), sign = word & 0x100 ? side.element.signBit : 0;
    const u32 kind = word & 7;
    u32 code = side.finiteCode(word);
    if (kind == 0) code = side.element.largestFinite | sign;
    if (kind == 1) code = 1 | sign;
    if (kind == 2) code = sign;
    if ((kind == 3 || kind == 4) && i > 0) code = codes[i - 1] ^ side.element.signBit;
    codes[i] = (u8)code;
  }
  const u32 word = side.scaleWord(block);
  const bool extreme = (word & 31) == 0;
  if (!side.isUe4m3)
    return extreme ? word >> 5 & 7 : (u32)(127 - side.emax() - 6) + (word >> 8) % 8;
  const u32 end = word >> 5 & 3;
  if (extreme) return end == 0 ? 1 : end == 1 ? 7 : end == 2 ? 8 : 0x7e;
  return 0x20 + (word >> 8 & 31);
}

__device__ u32 zeroBlock(const Side& side, u8* codes) {
  for (int i = 0; i < side.V; i++) codes[i] = 0;
  return side.isUe4m3 ? 0x38 : 127;
}

// bf16 elements, which have no scales: what a block's scale does elsewhere is in the elements.
__device__ void unscaledBlock(const Side& side, u64 block, int distribution, u16* codes) {
  const int shift = distribution == 2 ? (int)((u64)side.scaleWord(block) * 13 >> 32) - 6 : 0;
  for (int i = 0; i < side.V; i++) {
    const u32 word = side.codeWord(block, i);
    // Binades 2^-3 to 2^3, any fraction.
    const u32 uniform = ((124u << 7) + (u32)((u64)(word & 0x7fffffff) * (7u << 7) >> 31)) |
                        (word >> 31 ? side.element.signBit : 0);
    u32 code = 0;
    if (distribution <= 2) {
      const float value = normalNumber(side.seed, side.codeStream, block * side.V + i);
      code = encode(side.element, (distribution == 1 ? fabsf(value) : value) * powerOfTwo(shift));
    } else if (distribution == 3) {
      code = encode(side.element, decode(kFormats[kE2m1], word >> 28));
    } else if (distribution == 4) {
      code = uniform;
    } else if (distribution == 5) {
      const u32 kind = word & 7, sign = word & 0x100 ? side.element.signBit : 0;
      code = kind == 0            ? 0x407f | sign
             : kind == 1          ? 1 | sign
             : kind == 2          ? sign
             : kind <= 4 && i > 0 ? codes[i - 1] ^ side.element.signBit
                                  : uniform;
    }
    codes[i] = (u16)code;
  }
}

// One thread a block: V codes, one to a byte, and their scale; or V codes of 16 bits. Distributions
// by number as deviceOperands.cpp lists them.
extern "C" __global__ void generate(u8* codes, u8* scales, long long blocks, int distribution,
                                    int elementFormat, int scaleFormat, int V, u64 seed,
                                    int codeStream, int scaleStream) {
  const u64 block = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (block >= (u64)blocks) return;
  const Side side = {kFormats[elementFormat],
                     kFormats[scaleFormat],
                     elementFormat == kE2m1,
                     scaleFormat == kUe4m3,
                     V,
                     seed,
                     (u32)codeStream,
                     (u32)scaleStream};
  if (elementFormat == kBf16)
    return unscaledBlock(side, block, distribution, reinterpret_cast<u16*>(codes) + block * V);
  u8* own = codes + block * V;
  u32 scale = 0;
  switch (distribution) {
    case 0:
      scale = quantizedBlock(side, block, false, own);
      break;
    case 1:
      scale = quantizedBlock(side, block, true, own);
      break;
    case 2:
      scale = wideScalesBlock(side, block, own);
      break;
    case 3:
      scale = tutorialBlock(side, block, own);
      break;
    case 4:
      scale = uniformBlock(side, block, own);
      break;
    case 5:
      scale = adversarialBlock(side, block, own);
      break;
    default:
      scale = zeroBlock(side, own);
  }
  scales[block] = (u8)scale;
}

// The accumulator of docs/operands.md: N(0, 1) times 2^exponent, its magnitude for `positive` (1),
// zero for `zeros` (6).
extern "C" __global__ void generateAccumulator(float* values, long long count, int exponent,
                                               int distribution, u64 seed, int stream) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float value = (float)(normalNumber(seed, (u32)stream, (u64)i) * powerOfTwo(exponent));
  values[i] = distribution == 6 ? 0.0f : distribution == 1 ? fabsf(value) : value;
}

// Matrices of rows x columns codes, one a byte, as columns x rows packed along the rows: B as (K,
// N). A thread makes the codes of whole bytes.
extern "C" __global__ void turnCodes(const u8* codes, u8* turned, long long matrices,
                                     long long rows, long long columns, int bits) {
  const int count = bits == 4 ? 2 : bits == 6 ? 4 : 1;
  const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long groups = rows / count;  // of one line of the result
  if (index >= matrices * columns * groups) return;
  const long long row = index % groups * count, line = index / groups, column = line % columns,
                  matrix = line / columns;
  u32 word = 0;
  for (int i = 0; i < count; i++)
    word |= (u32)codes[(matrix * rows + row + i) * columns + column] << (i * bits);
  u8* own = turned + (line * rows + row) * bits / 8;
  for (int i = 0; i < count * bits / 8; i++) own[i] = (u8)(word >> (8 * i));
}

// fp4: two codes in a byte, the even index in the low nibble. fp6: four codes in three bytes,
// little-endian.
extern "C" __global__ void packCodes(const u8* codes, u8* packed, long long groups, int bits) {
  const long long group = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (group >= groups) return;
  const u8* own = codes + group * 4;
  const u32 word = own[0] | own[1] << bits | own[2] << 2 * bits | own[3] << 3 * bits;
  for (int i = 0; i < bits / 2; i++) packed[group * (bits / 2) + i] = (u8)(word >> 8 * i);
}

// Scale (row, column) to byte rowPart[row] + columnPart[column]: any layout made of digits of the
// row and of the column.
extern "C" __global__ void packScales(const u8* linear, u8* packed, const long long* rowPart,
                                      const long long* columnPart, long long rows,
                                      long long columns) {
  const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= rows * columns) return;
  packed[rowPart[index / columns] + columnPart[index % columns]] = linear[index];
}

__device__ float scaledValue(const u8* codes, const u8* scales, long long index, int elementFormat,
                             int scaleFormat, int V) {
  if (elementFormat == kBf16)
    return __uint_as_float((u32) reinterpret_cast<const u16*>(codes)[index] << 16);
  return __fmul_rn((float)decode(kFormats[elementFormat], codes[index]),
                   (float)decode(kFormats[scaleFormat], scales[index / V]));
}

// Element times scale, rounded to bf16.
extern "C" __global__ void widen(const u8* codes, const u8* scales, u16* wide, long long count,
                                 int elementFormat, int scaleFormat, int V) {
  const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= count) return;
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;"
      : "=h"(bits)
      : "f"(scaledValue(codes, scales, index, elementFormat, scaleFormat, V)));
  wide[index] = bits;
}

// *largest, 0 before, becomes the largest |element times scale|; magnitudes compare as their bits
// do.
extern "C" __global__ void largestMagnitude(const u8* codes, const u8* scales, u32* largest,
                                            long long count, int elementFormat, int scaleFormat,
                                            int V) {
  const long long step = (long long)gridDim.x * blockDim.x;
  u32 own = 0;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const float value = fabsf(scaledValue(codes, scales, i, elementFormat, scaleFormat, V));
    if (value == value) own = max(own, __float_as_uint(value));
  }
  own = __reduce_max_sync(0xffffffff, own);
  if (threadIdx.x % 32 == 0) atomicMax(largest, own);
}

// e4m3 codes of value / *scale, where *scale puts the largest magnitude on 448; 1 when all is zero.
extern "C" __global__ void oneScale(const u8* codes, const u8* scales, u8* rounded, float* scale,
                                    const u32* largest, long long count, int elementFormat,
                                    int scaleFormat, int V) {
  const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= count) return;
  const float step = *largest == 0 ? 1.0f : __fdiv_rn(__uint_as_float(*largest), 448.0f);
  if (index == 0) *scale = step;
  const float value =
      __fdiv_rn(scaledValue(codes, scales, index, elementFormat, scaleFormat, V), step);
  rounded[index] = (u8)(value == value ? encode(kFormats[kE4m3], value) : 127);
}
