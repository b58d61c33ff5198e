// What becomes of decode's sums: parts of K are added, and those that may have lost something are
// computed again, on their way to C (see decode.cuh).
#pragma once

#include "common/decodeAgain.cuh"
#include "common/decodeItems.cuh"
#include "common/decodeRing.cuh"

namespace decode {

struct Given {
  const u8 *aCodes, *bCodes, *aScales, *bScales;
  const float* factors;  // of A's rows, where the operand has them; of an item's, in shared memory
  float* parts;          // (most parts of a tile, M, N) when K is split
  u32* arrived;          // per tile and block
  Output* c;
  float tensorScale;
};

// A number of C from a sum of an item's token.
template <class Operand>
__device__ inline Output outputOf(const Given& given, int tokenOfItem, float sum) {
  const float factor = Operand::kUnit * given.tensorScale;
  return toOutput(Operand::kFactors ? sum * given.factors[tokenOfItem] * factor : sum * factor);
}

// Rows that were not represented and NaN scales make NaN or infinity.
__device__ inline bool isUnknown(float sum) { return !(fabsf(sum) < __int_as_float(0x7f800000)); }
// What underflows on the way is far below float16's range, not below float32's; but small sums are
// most often sums of zeros, or of numbers that are far from underflow and cancel.
template <class Operand>
__device__ inline bool isSmall(float sum) {
  return OUTPUT_TYPE != 0 && fabsf(sum) < Operand::kSmallest;
}

// The sum of a token of the item and a row of its matrix again, if it may have lost something, for
// all lanes of a warp.
template <class Operand>
__device__ inline void finishAgain(const Problem& problem, const Given& given, const Item& item,
                                   int tokenOfItem, int row, float sum, bool inside) {
  const int token = item.firstToken + tokenOfItem, rowOfAll = item.rowOfAll - item.row + row;
  const u32 unknown = __ballot_sync(0xffffffff, inside && isUnknown(sum));
  u32 small = __ballot_sync(0xffffffff, inside && isSmall<Operand>(sum));
  // A warp's sums are of one token.
  const int ofToken =
      small == 0 ? kAllZero
                 : leastExponent<A_FORMAT>(given.aCodes, given.aScales, token, hidden(problem.K));
  if (ofToken == kAllZero) small = 0;
  for (u32 left = unknown | small; left != 0; left &= left - 1) {
    const int lane = __ffs(left) - 1, rowOfLane = __shfl_sync(0xffffffff, rowOfAll, lane),
              K = hidden(problem.K);
    if ((small >> lane & 1) != 0 && ofToken >= kSureExponent &&
        leastExponent<B_FORMAT>(given.bCodes, given.bScales, rowOfLane, K) >= kSureExponent)
      continue;
    const double exact =
        exactSum(given.aCodes, given.aScales, given.bCodes, given.bScales, token, rowOfLane, K);
    if (threadIdx.x % 32 == lane)
      given.c[(long long)token * problem.N + row] = toOutput((float)(exact * given.tensorScale));
  }
}

// The sums of an item that a thread takes to C, of those in shared memory of kSumTokens tokens.
template <class Operand>
struct OwnSums {
  static constexpr int kThreads = kGroups * 128, kPlaces = Ring<Operand>::kPlaces,
                       kPlace = Ring<Operand>::kPlace, kSumTokens = Ring<Operand>::kSumTokens,
                       kEach = Operand::kTiles * kRows * kSumTokens / kThreads;
  const Item& item;
  const int N, firstToken, thread, rows;
  // Where CTAs divide K, each takes its part of the tokens to C.
  const int tokens, firstOfCta;
  float sums[kEach] = {};

  __device__ OwnSums(const Problem& problem, const Item& item, int firstToken, int thread)
      : item(item),
        N(problem.N),
        firstToken(firstToken),
        thread(thread),
        rows((Operand::kTiles == 1 ? 1 : item.tiles) * kRows),
        tokens(tokensOf(problem)),
        firstOfCta(Operand::kTiles > 1 || problem.across() == 1 ? 0 : tokens * (int)clusterRank()) {}

  // CTAs that divide K are a power of two.
  __device__ static int tokensOf(const Problem& problem) {
    return Operand::kTiles > 1 ? kSumTokens : kSumTokens >> (__ffs(problem.across()) - 1);
  }
  // Of sum i: which there is of the tokens, token of the item, row of its matrix, what it lies on.
  __device__ int number(int i) const { return i * kThreads + thread; }
  __device__ int place(int i) const {
    return firstOfCta + (rows == kRows ? number(i) / kRows : number(i) / (2 * kRows));
  }
  __device__ int token(int i) const { return firstToken + place(i); }
  __device__ int row(int i) const { return item.row + (number(i) & rows - 1); }
  __device__ bool isInside(int i) const {
    return number(i) < rows * tokens && token(i) < item.tokens && row(i) < N;
  }
  // Where a thread has fewer than the most, its last ones are others', and read for nothing.
  __device__ int offset(int i) const {
    return min(place(i), kSumTokens - 1) * Ring<Operand>::kPitch + (number(i) & rows - 1);
  }
  __device__ float sum(int i) const {
    float found = sums[0];
#pragma unroll
    for (int j = 1; j < kEach; j++) found = i == j ? sums[j] : found;
    return found;
  }

  // Adds those of a CTA's warpgroups.
  __device__ void add(const float* of) {
#pragma unroll
    for (int i = 0; i < kEach; i++) {
      const float* at = of + offset(i);
      float sum = at[(kPlaces - 1) * kPlace];
#pragma unroll
      for (int place = kPlaces - 2; place >= 0; place--) sum = at[place * kPlace] + sum;
      sums[i] += sum;
    }
  }
  // Adds a part of K, float32 of (M, N).
  __device__ void addPart(const float* part) {
#pragma unroll
    for (int i = 0; i < kEach; i++)
      sums[i] += __ldcg(part + (isInside(i) ? inC(i) : 0));
  }
  __device__ long long inC(int i) const {
    return (long long)(item.firstToken + token(i)) * N + row(i);
  }
};

// C, or a part of it where K is split, of an item's tokens from `firstToken` on, whose sums over
// the CTA are in shared memory.
template <class Operand>
__device__ inline void storeSums(const Problem& problem, const Given& given, const Item& item,
                                 const Ring<Operand>& ring, int firstToken, int thread) {
  const Parts parts = Operand::kTiles == 1 ? problem.partsOf(item) : Parts{0, 1};
  const auto* sums = reinterpret_cast<const float*>(__cvta_shared_to_generic(ring.sums()));
  OwnSums<Operand> own(problem, item, firstToken, thread);
  constexpr int kEach = OwnSums<Operand>::kEach;
  if (Operand::kTiles == 1 && problem.across() > 1) {
    // Every CTA's are there, and stay until all have met again.
    syncCluster();
#pragma unroll 2
    for (int rank = 0; rank < problem.across(); rank++) own.add(ofCta(sums, rank));
  } else {
    own.add(sums);
  }
  if (parts.all > 1) {
    const long long ofPart = (long long)problem.M * problem.N;
#pragma unroll
    for (int i = 0; i < kEach; i++)
      if (own.isInside(i)) given.parts[parts.own * ofPart + own.inC(i)] = own.sums[i];
    syncMultiplying();
    u32& order = *reinterpret_cast<u32*>(__cvta_shared_to_generic(ring.order()));
    if (thread == 0) {
      order = countIn(given.arrived + item.place);
      // For the next product; the manifest's row has them zero before the first.
      if (order == parts.all - 1) given.arrived[item.place] = 0;
    }
    syncMultiplying();
    if (order != parts.all - 1) return;
    // All parts in their order, not in that of their coming.
#pragma unroll
    for (int i = 0; i < kEach; i++) own.sums[i] = 0;
    for (int part = 0; part < parts.all; part++) own.addPart(given.parts + part * ofPart);
  }
  bool mayHaveLost = false;
#pragma unroll
  for (int i = 0; i < kEach; i++) {
    if (!own.isInside(i)) continue;
    given.c[own.inC(i)] = outputOf<Operand>(given, own.token(i), own.sums[i]);
    mayHaveLost |= isUnknown(own.sums[i]) || isSmall<Operand>(own.sums[i]);
  }
  if (!__any_sync(0xffffffff, mayHaveLost)) return;
#pragma unroll 1
  for (int of = 0; of < kEach; of++) {
    const int i = hidden(of);
    finishAgain<Operand>(problem, given, item, own.token(i), own.row(i), own.sum(i),
                         own.isInside(i));
  }
}

}  // namespace decode
