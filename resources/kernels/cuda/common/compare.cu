// C against its float64 reference, on the GPU: the figures of native/core/compare.h's RowFigures
// for rows all of whose elements pass. A row with others is told by `suspects` and judged on the
// CPU, which knows the operands.

#include "judgedBits.cuh"

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr int kThreads = 256, kUlpBins = 13;
// Output types by number, as OutputType has them.
enum { kF16, kBf16, kF32, kE4m3, kE5m2 };

struct Row {
  i64 suspects, nonFinite, nonZero, finite, aboveTolerance, withinRounding, pairs;
  double maxAbs, maxRel, squaredError, squaredReference, referenceSquares;
  double maxToleranceShare, maxUlpsAbove, sumUlpsAbove;
  u64 ulps[kUlpBins];
};

__device__ double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }
__device__ bool isNan(double value) { return value != value; }
__device__ bool isFinite(double value) { return fabs(value) < infinity(); }

template <int Type>
__device__ u32 bitsOf(double value) {
  const float narrow = (float)value;
  u16 half;
  if (Type == kF16) {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(narrow));
    return half;
  }
  if (Type == kBf16) {
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(narrow));
    return half;
  }
  return Type == kF32 ? __float_as_uint(narrow) : toEightBits(eightBits(Type == kE4m3), narrow);
}

template <int Type>
__device__ double valueOf(u32 bits) {
  float value;
  if (Type == kF16)
    asm("{ .reg .f16 h; mov.b16 h, %1; cvt.f32.f16 %0, h; }" : "=f"(value) : "h"((u16)bits));
  else if (Type == kBf16) value = __uint_as_float(bits << 16);
  else value = Type == kF32 ? __uint_as_float(bits) : fromEightBits(eightBits(Type == kE4m3), bits);
  return value;
}

template <int Type>
__device__ u32 loadBits(const u8* output, i64 index) {
  if (Type == kF32) return ((const u32*)output)[index];
  return Type >= kE4m3 ? output[index] : ((const u16*)output)[index];
}

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

template <int Type>
__device__ Judged judge(double got, double reference, double allowed, bool allowances) {
  if (isNan(reference)) return {isNan(got) ? 0.0 : infinity(), isNan(got), false};
  if (isNan(got)) return {infinity(), false, false};
  if (got == reference) return {0.0, true, false};
  const double difference = fabs(got - reference);
  const double error = isNan(difference) ? infinity() : difference;
  if (error <= allowed && isFinite(error)) return {error, true, false};
  const double room = isFinite(reference) ? allowed : 0.0;
  const bool isRounding = allowances && got >= valueOf<Type>(bitsOf<Type>(reference - room)) &&
                          got <= valueOf<Type>(bitsOf<Type>(reference + room));
  return {isRounding && !isFinite(error) ? 0.0 : error, isRounding, isRounding};
}

// Over the block's threads, in an order that is always the same. All threads get the result.
template <typename T, typename Combine>
__device__ T reduceBlock(T value, Combine combine) {
  __shared__ T part[kThreads];
  __syncthreads();
  part[threadIdx.x] = value;
  for (int step = kThreads / 2; step > 0; step /= 2) {
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

// One block a row. Dynamic shared memory: one float per tile of the error map.
template <int Type>
__device__ void compareRow(const u8* output, const double* reference, Row* rows, float* ratios,
                           i64 N, int tileColumns, int tiles, double atol, double rtol,
                           bool allowances) {
  extern __shared__ u32 tileRatios[];
  __shared__ u32 bins[kUlpBins];
  for (int i = threadIdx.x; i < tiles; i += kThreads) tileRatios[i] = 0;
  if (threadIdx.x < kUlpBins) bins[threadIdx.x] = 0;
  __syncthreads();
  const i64 first = (i64)blockIdx.x * N;
  Row own = {};
  for (i64 col = threadIdx.x; col < N; col += kThreads) {
    const double expected = reference[first + col];
    const u32 gotBits = loadBits<Type>(output, first + col), expectedBits = bitsOf<Type>(expected);
    const double got = valueOf<Type>(gotBits), rounded = valueOf<Type>(expectedBits);
    const double allowed = __dadd_rn(atol, __dmul_rn(rtol, fabs(expected)));
    own.nonZero += rounded != 0;
    own.finite += isFinite(rounded);
    own.aboveTolerance += fabs(expected) > allowed;
    if (isFinite(expected)) own.referenceSquares += expected * expected;
    const Judged judged = judge<Type>(got, expected, allowed, allowances);
    own.suspects += !judged.passed;
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
    // Magnitudes compare as their bits do; rows with larger ratios are judged on the CPU.
    if (ratio > 0)
      atomicMax(&tileRatios[col / tileColumns], __float_as_uint((float)(ratio < 1 ? ratio : 1)));
  }
  own.suspects = sumOfBlock(own.suspects);
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
  for (int i = threadIdx.x; i < tiles; i += kThreads)
    ratios[(i64)blockIdx.x * tiles + i] = __uint_as_float(tileRatios[i]);
  if (threadIdx.x != 0) return;
  for (int bin = 0; bin < kUlpBins; bin++) own.ulps[bin] = bins[bin];
  rows[blockIdx.x] = own;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    compareRows(const u8* output, const double* reference, Row* rows, float* ratios, i64 N,
                int outputType, int tileColumns, int tiles, double atol, double rtol,
                int allowances) {
  switch (outputType) {
    case kF16:
      return compareRow<kF16>(output, reference, rows, ratios, N, tileColumns, tiles, atol, rtol,
                              allowances != 0);
    case kBf16:
      return compareRow<kBf16>(output, reference, rows, ratios, N, tileColumns, tiles, atol, rtol,
                               allowances != 0);
    case kF32:
      return compareRow<kF32>(output, reference, rows, ratios, N, tileColumns, tiles, atol, rtol,
                              allowances != 0);
    case kE4m3:
      return compareRow<kE4m3>(output, reference, rows, ratios, N, tileColumns, tiles, atol, rtol,
                               allowances != 0);
    default:
      return compareRow<kE5m2>(output, reference, rows, ratios, N, tileColumns, tiles, atol, rtol,
                               allowances != 0);
  }
}
