// C against its float64 reference, on the GPU: the figures of native/core/compare.h's RowFigures,
// by the same rules.

#include "judgedBits.cuh"
#include "operandValues.cuh"

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr int kThreads = 256, kUlpBins = 13;
constexpr int kCancellationChecksPerRow = 64;
// Output types by number, as OutputType has them.
enum { kF16, kBf16, kF32, kE4m3, kE5m2 };

struct Row {
  i64 outside, withinCancellation, nonFinite, nonZero, finite, aboveTolerance, withinRounding,
      pairs;
  double maxAbs, maxRel, squaredError, squaredReference, referenceSquares;
  double maxToleranceShare, maxUlpsAbove, sumUlpsAbove;
  u64 ulps[kUlpBins];
};

// What an element of C is made of; `accumulator`: as C, or nullptr.
struct Operands {
  OperandValues a, b;
  const float* accumulator;
  double tensorScale, outputScale;
};

// Rows of A and of B (its first) that a row of C is made of; a < 0: padding of groups.
struct Place {
  i64 a, b;
};

struct Request {
  int tileColumns, tiles;
  double atol, rtol;
  bool allowances;
};

__device__ double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }
__device__ bool isNan(double value) { return value != value; }
__device__ bool isFinite(double value) { return fabs(value) < infinity(); }

__device__ u32 toF16(float value) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
__device__ u32 toBf16(float value) {
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
__device__ float fromF16(u16 bits) {
  float value;
  asm("{ .reg .f16 h; mov.b16 h, %1; cvt.f32.f16 %0, h; }" : "=f"(value) : "h"(bits));
  return value;
}

template <int Type>
__device__ u32 bitsOf(double value) {
  const float narrow = (float)value;
  if (Type == kF16) return toF16(narrow);
  if (Type == kBf16) return toBf16(narrow);
  return Type == kF32 ? __float_as_uint(narrow) : toEightBits(eightBits(Type == kE4m3), narrow);
}

template <int Type>
__device__ double valueOf(u32 bits) {
  if (Type == kF16) return fromF16((u16)bits);
  if (Type == kBf16) return __uint_as_float(bits << 16);
  return Type == kF32 ? __uint_as_float(bits) : fromEightBits(eightBits(Type == kE4m3), bits);
}

template <int Type>
__device__ u32 loadBits(const u8* output, i64 index) {
  if (Type == kF32) return ((const u32*)output)[index];
  return Type >= kE4m3 ? output[index] : ((const u16*)output)[index];
}

// Dynamic shared memory: one float per tile of the error map.
extern __shared__ u32 tileRatios[];

// Position among all values of the type, both zeros at 0.
template <int Type>
__device__ i64 rankOf(u32 bits) {
  const u32 sign = Type == kF32 ? 1u << 31 : Type >= kE4m3 ? 128 : 32768;
  const i64 magnitude = bits & (sign - 1);
  return bits & sign ? -magnitude : magnitude;
}

// Distance of neighbouring numbers of the type at `value`; below the smallest normal number that of
// the subnormal ones.
template <int Type>
__device__ double ulpSize(double value) {
  const int smallestNormal = Type == kF16    ? -14
                             : Type >= kE4m3 ? eightBits(Type == kE4m3).smallest
                                             : -126;
  const int fractionBits = Type == kF16    ? 10
                           : Type == kBf16 ? 7
                           : Type == kF32  ? 23
                                           : eightBits(Type == kE4m3).fractionBits;
  const int exponent = value == 0 ? smallestNormal : ilogb(value);
  return ldexp(1.0, max(exponent, smallestNormal) - fractionBits);
}

__device__ int ulpBin(i64 distance) {
  if (distance <= 2) return (int)distance;
  int bin = 3;
  for (i64 top = 4; distance > top && bin < kUlpBins - 1; top *= 2) bin++;
  return bin;
}

struct Judged {
  double error;
  bool passed, byRounding;
};

// What is there in C, and what a number becomes there.
__device__ double numberAt(const u8* output, int type, i64 index) {
  switch (type) {
    case kF16:
      return valueOf<kF16>(loadBits<kF16>(output, index));
    case kBf16:
      return valueOf<kBf16>(loadBits<kBf16>(output, index));
    case kF32:
      return valueOf<kF32>(loadBits<kF32>(output, index));
    case kE4m3:
      return valueOf<kE4m3>(loadBits<kE4m3>(output, index));
    default:
      return valueOf<kE5m2>(loadBits<kE5m2>(output, index));
  }
}
__device__ double roundedTo(int type, double value) {
  switch (type) {
    case kF16:
      return valueOf<kF16>(bitsOf<kF16>(value));
    case kBf16:
      return valueOf<kBf16>(bitsOf<kBf16>(value));
    case kF32:
      return valueOf<kF32>(bitsOf<kF32>(value));
    case kE4m3:
      return valueOf<kE4m3>(bitsOf<kE4m3>(value));
    default:
      return valueOf<kE5m2>(bitsOf<kE5m2>(value));
  }
}

// As native/core/compare.cpp has it.
__device__ bool mayRoundTo(int type, double got, double reference, double room) {
  return roundedTo(type, fmin(fmax(got, reference - room), reference + room)) == got;
}

__device__ Judged judge(int type, double got, double reference, double allowed, bool allowances) {
  if (isNan(reference)) return {isNan(got) ? 0.0 : infinity(), isNan(got), false};
  if (isNan(got)) return {infinity(), false, false};
  if (got == reference) return {0.0, true, false};
  const double difference = fabs(got - reference);
  const double error = isNan(difference) ? infinity() : difference;
  if (error <= allowed && isFinite(error)) return {error, true, false};
  const double room = isFinite(reference) ? allowed : 0.0;
  const bool isRounding = allowances && mayRoundTo(type, got, reference, room);
  return {isRounding && !isFinite(error) ? 0.0 : error, isRounding, isRounding};
}

// Over the block's threads, in an order that is always the same. All threads get the result.
template <typename T, typename Combine>
__device__ T reduceBlock(T value, Combine combine) {
  __shared__ T part[kThreads];
  __syncthreads();
  part[threadIdx.x] = value;
  for (u32 step = kThreads / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step)
      part[threadIdx.x] = combine(part[threadIdx.x], part[threadIdx.x + step]);
  }
  __syncthreads();
  return part[0];
}
template <typename T>
__device__ T sumOfBlock(T value) {
  return reduceBlock(value, [](T a, T b) { return a + b; });
}
__device__ double largestOfBlock(double value) {
  return reduceBlock(value, [](double a, double b) { return a > b ? a : b; });
}

__device__ double allowedError(const Request& request, double reference) {
  return __dadd_rn(request.atol, __dmul_rn(request.rtol, fabs(reference)));
}

// Magnitudes compare as their bits do.
__device__ void raise(u32* cell, double ratio) {
  if (ratio > 0) atomicMax(cell, __float_as_uint((float)ratio));
}

// One block a row.
template <int Type>
__device__ void compareRow(const u8* output, const double* reference, Row* rows, float* ratios,
                           bool isPadding, i64 N, const Request& request) {
  __shared__ u32 bins[kUlpBins];
  for (int i = threadIdx.x; i < request.tiles; i += kThreads) tileRatios[i] = 0;
  if (threadIdx.x < kUlpBins) bins[threadIdx.x] = 0;
  __syncthreads();
  const i64 first = (i64)blockIdx.x * N;
  Row own = {};
  for (i64 col = threadIdx.x; col < N && !isPadding; col += kThreads) {
    const double expected = reference[first + col];
    const u32 gotBits = loadBits<Type>(output, first + col), expectedBits = bitsOf<Type>(expected);
    const double got = valueOf<Type>(gotBits), rounded = valueOf<Type>(expectedBits);
    const double allowed = allowedError(request, expected);
    own.nonZero += rounded != 0;
    own.finite += isFinite(rounded);
    own.aboveTolerance += fabs(expected) > allowed;
    if (isFinite(expected)) own.referenceSquares += expected * expected;
    const Judged judged = judge(Type, got, expected, allowed, request.allowances);
    own.outside += !judged.passed;
    own.withinRounding += judged.byRounding;
    own.nonFinite += !isFinite(got);
    own.maxAbs = judged.error > own.maxAbs ? judged.error : own.maxAbs;
    const double relative = expected != 0 ? judged.error / fabs(expected) : 0.0;
    own.maxRel = relative > own.maxRel ? relative : own.maxRel;
    if (isFinite(expected) && isFinite(got)) {
      own.squaredError += judged.error * judged.error;
      own.squaredReference += expected * expected;
      own.pairs++;
      const double above =
          got == rounded ? 0.0 : fabs(got - expected) / ulpSize<Type>(expected) - 0.5;
      own.maxUlpsAbove = above > own.maxUlpsAbove ? above : own.maxUlpsAbove;
      own.sumUlpsAbove += above > 0 ? above : 0.0;
    }
    const bool noDistance = isNan(got) || isNan(expected);
    const i64 distance = rankOf<Type>(gotBits) - rankOf<Type>(expectedBits);
    atomicAdd(&bins[noDistance ? (isNan(got) && isNan(expected) ? 0 : kUlpBins - 1)
                               : ulpBin(distance < 0 ? -distance : distance)],
              1);
    const double ratio = judged.error == 0 ? 0 : judged.error / allowed;
    own.maxToleranceShare = ratio > own.maxToleranceShare ? ratio : own.maxToleranceShare;
    if (judged.passed) raise(&tileRatios[col / request.tileColumns], ratio > 1 ? 1 : ratio);
  }
  own.outside = sumOfBlock(own.outside);
  own.nonFinite = sumOfBlock(own.nonFinite);
  own.nonZero = sumOfBlock(own.nonZero);
  own.finite = sumOfBlock(own.finite);
  own.aboveTolerance = sumOfBlock(own.aboveTolerance);
  own.withinRounding = sumOfBlock(own.withinRounding);
  own.pairs = sumOfBlock(own.pairs);
  own.maxToleranceShare = largestOfBlock(own.maxToleranceShare);
  own.maxUlpsAbove = largestOfBlock(own.maxUlpsAbove);
  own.sumUlpsAbove = sumOfBlock(own.sumUlpsAbove);
  own.maxAbs = largestOfBlock(own.maxAbs);
  own.maxRel = largestOfBlock(own.maxRel);
  own.squaredError = sumOfBlock(own.squaredError);
  own.squaredReference = sumOfBlock(own.squaredReference);
  own.referenceSquares = sumOfBlock(own.referenceSquares);
  for (int i = threadIdx.x; i < request.tiles; i += kThreads)
    ratios[(i64)blockIdx.x * request.tiles + i] = __uint_as_float(tileRatios[i]);
  if (threadIdx.x != 0) return;
  for (int bin = 0; bin < kUlpBins; bin++) own.ulps[bin] = bins[bin];
  rows[blockIdx.x] = own;
}

// Rows with elements outside count all of them here; judgeFailing looks at them again.
extern "C" __global__ void __launch_bounds__(kThreads)
    compareRows(const u8* output, const double* reference, Row* rows, float* ratios,
                const Place* places, i64 N, int outputType, int tileColumns, int tiles, double atol,
                double rtol, int allowances) {
  const Request request = {tileColumns, tiles, atol, rtol, allowances != 0};
  const bool isPadding = places[blockIdx.x].a < 0;
  switch (outputType) {
    case kF16:
      return compareRow<kF16>(output, reference, rows, ratios, isPadding, N, request);
    case kBf16:
      return compareRow<kBf16>(output, reference, rows, ratios, isPadding, N, request);
    case kF32:
      return compareRow<kF32>(output, reference, rows, ratios, isPadding, N, request);
    case kE4m3:
      return compareRow<kE4m3>(output, reference, rows, ratios, isPadding, N, request);
    default:
      return compareRow<kE5m2>(output, reference, rows, ratios, isPadding, N, request);
  }
}

// Sum over k of |A B|, and |accumulator|, for the element `at` of C. All threads get it.
__device__ double magnitudeOf(const Operands& operands, Place place, int col, i64 at) {
  double own = 0;
  for (u32 k = threadIdx.x; k < operands.a.K; k += kThreads)
    own += fabs(operands.a.at(place.a, k) * operands.b.at(place.b + col, k));
  double sum = sumOfBlock(own) * fabs(operands.tensorScale);
  if (operands.accumulator) sum += fabs((double)operands.accumulator[at]);
  return sum * operands.outputScale;
}

// After compareRows, of the same grid: of a row some of whose elements are beyond tolerance and
// rounding, which of them pass for cancellation, in the order of their columns. The first
// `described` that fail go to `failing`. `tables`, aScales, accumulator: as in oracle.cu.
extern "C" __global__ void __launch_bounds__(kThreads)
    judgeFailingRows(const u8* output, const double* reference, Row* rows, float* ratios,
                     int* failing, const Place* places, const u8* aCodes, const u8* bCodes,
                     const u8* aScales, const u8* bScales, const float* accumulator,
                     const double* tables, i64 N, i64 K, int V, double tensorScale,
                     double outputScale, int outputType, int tileColumns, int tiles, int described,
                     double atol, double rtol, double cancellationShare, int allowances) {
  constexpr int kWords = kThreads / 32;
  __shared__ u32 failed[kWords], cancelled[kWords];  // a bit for each thread's column
  __shared__ float shares[kThreads];                 // of the tolerance
  Row* row = rows + blockIdx.x;
  if (row->outside == 0) return;
  const Operands operands = {{aCodes, aScales, tables, tables + 512, (u32)K, (u32)V},
                             {bCodes, bScales, tables + 256, tables + 512, (u32)K, (u32)V},
                             accumulator,
                             tensorScale,
                             outputScale};
  const Request request = {tileColumns, tiles, atol, rtol, allowances != 0};
  u32* ownRatios = reinterpret_cast<u32*>(ratios) + (i64)blockIdx.x * tiles;
  const i64 first = (i64)blockIdx.x * N;
  int outside = 0, passed = 0;
  for (int base = 0; base < (int)N; base += kThreads) {
    __syncthreads();
    if (threadIdx.x < kWords) failed[threadIdx.x] = cancelled[threadIdx.x] = 0;
    __syncthreads();
    const int mine = base + threadIdx.x;
    if (mine < (int)N) {
      const double expected = reference[first + mine];
      const double allowed = allowedError(request, expected);
      const Judged judged = judge(outputType, numberAt(output, outputType, first + mine), expected,
                                  allowed, request.allowances);
      shares[threadIdx.x] = (float)(judged.error / allowed);
      if (!judged.passed) atomicOr(&failed[threadIdx.x / 32], 1u << threadIdx.x % 32);
    }
    __syncthreads();
    for (int word = 0; word < kWords; word++)
      for (u32 bits = failed[word]; bits != 0; bits &= bits - 1) {
        const int lane = __ffs(bits) - 1;
        const int col = base + word * 32 + lane;
        bool passes = false;
        if (request.allowances && outside < kCancellationChecksPerRow) {
          const double left = cancellationShare *
                              magnitudeOf(operands, places[blockIdx.x], col, first + col),
                       got = numberAt(output, outputType, first + col),
                       expected = reference[first + col];
          passes = isFinite(got - expected) && mayRoundTo(outputType, got, expected, left);
        }
        if (threadIdx.x == 0 && passes) cancelled[word] |= 1u << lane;
        if (threadIdx.x == 0 && !passes && outside < described)
          failing[(i64)blockIdx.x * described + outside] = col;
        passed += passes;
        outside += !passes;
      }
    __syncthreads();
    const u32 bit = 1u << threadIdx.x % 32;
    if (!(failed[threadIdx.x / 32] & bit)) continue;
    const float share = shares[threadIdx.x];
    raise(&ownRatios[mine / tileColumns],
          (cancelled[threadIdx.x / 32] & bit) && share > 1 ? 1 : share);
  }
  if (threadIdx.x == 0) row->outside = outside, row->withinCancellation = passed;
}
