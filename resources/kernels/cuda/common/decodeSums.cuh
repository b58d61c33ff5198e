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
  return toOutput(sum * (Operand::kFactors ? given.factors[tokenOfItem] * factor : factor));
}

// What underflows on the way is far below float16's range, not below float32's; but small sums are
// most often sums of zeros, or of numbers that are far from underflow and cancel.
// All is asked, without a jump.
template <class Operand>
__device__ inline bool isSmall(float sum) {
  return kMayUnderflow & fabsf(sum) < Operand::kSmallest & !(Operand::kMarksZeros & sum == 0);
}
// Whether it is zero, of parts that were marked.
template <class Operand>
__device__ inline bool isMarkedZero(float sum) {
  return Operand::kMarksZeros && sum != 0 && fabsf(sum) < kMark * 512;
}

// The sum of a token of the item and a row of its matrix again, if it may have lost something, for
// all lanes of a warp.
template <class Operand>
__device__ inline void finishAgain(const Problem& problem, const Given& given, const Item& item,
                                   int tokenOfItem, int row, float sum, bool inside) {
  const int token = item.firstToken + tokenOfItem, rowOfAll = item.rowOfAll - item.row + row;
  if (inside && isMarkedZero<Operand>(sum))
    given.c[(long long)token * problem.N + row] = toOutput(0.0f);
  // A warp's sums are of one token.
  sumsAgain({given.aCodes, given.bCodes, given.aScales, given.bScales}, token, rowOfAll, problem.K,
            inside && isUnknown(sum), inside && isSmall<Operand>(sum), [&](double exact) {
              given.c[(long long)token * problem.N + row] =
                  toOutput((float)(exact * given.tensorScale));
            });
}

// The sums of an item that a thread takes to C, of those in shared memory of kSumTokens tokens: of
// one row, and of tokens as far apart as all threads have rows.
template <class Operand>
struct OwnSums {
  static constexpr int kThreads = kGroups * 128, kPitch = Ring<Operand>::kPitch,
                       kPlace = Ring<Operand>::kPlace, kSumTokens = Ring<Operand>::kSumTokens,
                       kEach = Operand::kTiles * kRows * kSumTokens / kThreads;
  const int rows, apart, firstOfThread, row;
  // Which tokens this CTA takes to C: a part, where CTAs divide K.
  int first = 0, tokens = kSumTokens;
  long long inC;         // of the first sum
  const long long step;  // from one sum to the next, in C
  float sums[kEach];

  __device__ OwnSums(const Problem& problem, const Item& item, int firstToken, int thread)
      : rows((Operand::kTiles == 1 ? 1 : item.tiles) * kRows),
        apart(rows == kRows ? kThreads / kRows : kThreads / (2 * kRows)),
        firstOfThread(rows == kRows ? thread / kRows : thread / (2 * kRows)),
        row(thread & rows - 1),
        inC((long long)(item.firstToken + firstToken + firstOfThread) * problem.N + item.row + row),
        step((long long)apart * problem.N) {
    tokens = min(tokens, item.tokens - firstToken);
    if (item.row + row >= problem.N) tokens = 0;
  }

  // Of sum i, among the tokens in shared memory.
  __device__ int token(int i) const { return firstOfThread + i * apart; }
  __device__ bool isInside(int i) const {
    return (u32)(token(i) - first) < (u32)max(tokens - first, 0);
  }

  // From one place, or those of all warpgroups.
  __device__ void read(const float* from, bool ofAll) {
#pragma unroll
    for (int i = 0; i < kEach; i++) {
      // Of one tile there are half as many as of two: no more than that are inside.
      const int there = Operand::kTiles > 1 ? min(token(i), kSumTokens - 1) : token(i);
      const float* own = from + there * kPitch + row;
      sums[i] = own[0];
      if (!ofAll) continue;
      float others = own[(kGroups - 1) * kPlace];
#pragma unroll
      for (int group = kGroups - 2; group > 0; group--) others = own[group * kPlace] + others;
      sums[i] += others;
    }
  }

  // CTAs that divide K, a power of two, send one another their sums; each has a part of the tokens'
  // in the end. Nothing here is jumped over, not even what a CTA sends to itself: behind a jump in
  // code that runs once a warp waits for instructions.
  static constexpr u32 kBytesReceived = kRows * kSumTokens * 4;
  __device__ void exchange(const Problem& problem, const Ring<Operand>& ring) {
    const int log = __ffs(kSumTokens) - __ffs(problem.across()), each = 1 << log,
              rank = (int)clusterRank();
    // Where an owner has what a CTA sent it of a token of its.
    const auto placeFrom = [&](int of, int token) {
      return ring.received() + ((of << log | token & each - 1) * kRows + row) * 4;
    };
    waitForCluster();
#pragma unroll
    for (int i = 0; i < kEach; i++) {
      const int owner = token(i) >> log;
      sendNumber(atCta(placeFrom(rank, token(i)), owner), atCta(ring.cameIn(), owner), sums[i]);
    }
    first = rank * each, tokens = min(tokens, first + each);
    waitFor(ring.cameIn(), 0);
#pragma unroll
    for (int i = 0; i < kEach; i++) sums[i] = 0;
#pragma unroll 1
    for (int of = 0; of < problem.across(); of++)
#pragma unroll
      for (int i = 0; i < kEach; i++) sums[i] += loadNumber(placeFrom(of, token(i)));
  }

  // Parts of K, each float32 of (M, N), all in their order. One after the other takes groups' last
  // registers.
  static constexpr int kPartsAtOnce = GROUPED ? 4 : 1;
  __device__ void writePart(float* part) const {
#pragma unroll
    for (int i = 0; i < kEach; i++)
      if (isInside(i)) part[inC + i * step] = sums[i];
  }
  __device__ void addParts(const float* parts, int count, long long each) {
#pragma unroll
    for (int i = 0; i < kEach; i++) sums[i] = 0;
#pragma unroll(kPartsAtOnce)
    for (int part = 0; part < count; part++)
#pragma unroll
      for (int i = 0; i < kEach; i++)
        sums[i] += __ldcg(parts + part * each + (isInside(i) ? inC + i * step : 0));
  }

  __device__ float sum(int i) const {
    float found = sums[0];
#pragma unroll
    for (int j = 1; j < kEach; j++) found = i == j ? sums[j] : found;
    return found;
  }
};

// C, or a part of it where K is split, of an item's tokens from `firstToken` on, whose sums over
// the CTA are in shared memory: in a place, or in one of each warpgroup.
template <class Operand>
__device__ inline void storeSums(const Problem& problem, const Given& given, const Item& item,
                                 const Ring<Operand>& ring, const float* sums, bool ofAll,
                                 int firstToken, int thread) {
  const Parts parts = Operand::kTiles == 1 ? problem.partsOf(item) : Parts{0, 1};
  OwnSums<Operand> own(problem, item, firstToken, thread);
  own.read(sums, ofAll);
  if (Operand::kTiles == 1 && problem.across() > 1) own.exchange(problem, ring);
  if (parts.all > 1) {
    const long long ofPart = (long long)problem.M * problem.N;
    own.writePart(given.parts + parts.own * ofPart);
    syncMultiplying();
    u32& order = *reinterpret_cast<u32*>(__cvta_shared_to_generic(ring.order()));
    if (thread == 0) {
      order = countIn(given.arrived + item.place);
      // For the next product; the manifest's row has them zero before the first.
      if (order == parts.all - 1) given.arrived[item.place] = 0;
    }
    syncMultiplying();
    if (order != parts.all - 1) return;
    own.addParts(given.parts, parts.all, ofPart);
  }
  bool mayHaveLost = false;
#pragma unroll
  for (int i = 0; i < own.kEach; i++) {
    const Output number = outputOf<Operand>(given, firstToken + own.token(i), own.sums[i]);
    if (own.isInside(i)) given.c[own.inC + i * own.step] = number;
    mayHaveLost |= own.isInside(i) & (isUnknown(own.sums[i]) | isSmall<Operand>(own.sums[i]));
  }
  if (!__any_sync(0xffffffff, mayHaveLost)) return;
#pragma unroll 1
  for (int of = 0; of < own.kEach; of++) {
    const int i = hidden(of);
    finishAgain<Operand>(problem, given, item, firstToken + own.token(i), item.row + own.row,
                         own.sum(i), own.isInside(i));
  }
}

}  // namespace decode
