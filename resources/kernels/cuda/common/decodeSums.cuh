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
                                   int tokenOfItem, int row, float sum) {
  const bool inside = tokenOfItem < item.tokens && row < problem.N;
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

// Each sum in shared memory of an item's tokens from `firstToken` on: token, row of its matrix,
// sum. `areAdded`: those of all warpgroups are in the first place. So many at a time.
template <class Operand, int AtATime, class Function>
__device__ inline void forSums(const Item& item, const float* sums, bool areAdded, int firstToken,
                               int thread, Function function) {
  constexpr int kPlaces = Ring<Operand>::kPlaces, kPlace = Ring<Operand>::kPlace;
  const int rows = (Operand::kTiles == 1 ? 1 : item.tiles) * kRows;
#pragma unroll AtATime
  for (int first = 0; first < rows * Ring<Operand>::kSumTokens; first += kGroups * 128) {
    const int i = first + thread, token = rows == kRows ? i / kRows : i / (2 * kRows),
              row = i - token * rows;
    const float* at = sums + token * Ring<Operand>::kPitch + row;
    float sum = *at;
    if (kPlaces > 1 && !areAdded) {
      float others = at[(kPlaces - 1) * kPlace];
#pragma unroll
      for (int of = kPlaces - 2; of > 0; of--) others = at[of * kPlace] + others;
      sum += others;
    }
    function(firstToken + token, item.row + row, sum);
  }
}

// The sums of a tile whose K is split, in shared memory, from all parts in their order: each thread
// those that it takes to C, all of a part at a time.
template <class Operand>
__device__ inline void addParts(const Problem& problem, const Given& given, const Item& item,
                                int parts, float* sums, int firstToken, int thread) {
  constexpr int kEach = kRows * Ring<Operand>::kSumTokens / (kGroups * 128),
                kTokensApart = kGroups * 128 / kRows;
  const int first = thread / kRows, row = thread % kRows;
  float total[kEach] = {};
  for (int part = 0; part < parts; part++) {
    const float* from = given.parts + (long long)part * problem.M * problem.N;
#pragma unroll
    for (int i = 0; i < kEach; i++) {
      const int token = firstToken + first + i * kTokensApart;
      const bool isInside = token < item.tokens && item.row + row < problem.N;
      const long long place = (long long)(item.firstToken + token) * problem.N + item.row + row;
      total[i] += __ldcg(from + (isInside ? place : 0));
    }
  }
#pragma unroll
  for (int i = 0; i < kEach; i++)
    sums[(first + i * kTokensApart) * Ring<Operand>::kPitch + row] = total[i];
}

// C, or a part of it where K is split, of an item's tokens from `firstToken` on, whose sums over
// the CTA are in shared memory.
template <class Operand>
__device__ inline void storeSums(const Problem& problem, const Given& given, const Item& item,
                                 float* sums, u32& order, int firstToken, int thread) {
  const Parts parts = Operand::kTiles == 1 ? problem.partsOf(item) : Parts{0, 1};
  constexpr int kAtATime = 4;
  if (parts.all > 1) {
    forSums<Operand, kAtATime>(
        item, sums, false, firstToken, thread, [&](int token, int row, float sum) {
          const long long of = (long long)parts.own * problem.M + item.firstToken + token;
          if (token < item.tokens && row < problem.N) given.parts[of * problem.N + row] = sum;
        });
    syncMultiplying();
    if (thread == 0) {
      order = countIn(given.arrived + item.place);
      // For the next product; the manifest's row has them zero before the first.
      if (order == parts.all - 1) given.arrived[item.place] = 0;
    }
    syncMultiplying();
    if (order != parts.all - 1) return;
    addParts<Operand>(problem, given, item, parts.all, sums, firstToken, thread);
  }
  const bool areAdded = parts.all > 1;
  bool mayHaveLost = false;
  forSums<Operand, kAtATime>(
      item, sums, areAdded, firstToken, thread, [&](int token, int row, float sum) {
        if (token >= item.tokens || row >= problem.N) return;
        given.c[(long long)(item.firstToken + token) * problem.N + row] =
            outputOf<Operand>(given, token, sum);
        mayHaveLost |= isUnknown(sum) || isSmall<Operand>(sum);
      });
  if (!__any_sync(0xffffffff, mayHaveLost)) return;
  forSums<Operand, 1>(item, sums, areAdded, firstToken, thread, [&](int token, int row, float sum) {
    finishAgain<Operand>(problem, given, item, token, row, sum);
  });
}

}  // namespace decode
