// What becomes of decode's sums: parts of K are added, and those that may have lost something are
// computed again, on their way to C (see decode.cuh).
#pragma once

#include "common/betweenCtas.cuh"
#include "common/decodeAgain.cuh"
#include "common/decodeItems.cuh"
#include "common/decodeRing.cuh"

namespace decode {

struct Given {
  const u8 *aCodes, *bCodes, *aScales, *bScales;
  const float* factors;  // of A's rows, where the operand has them; of an item's, in shared memory
  float* parts;          // of K, where it is split: slots of sums (SumsOfParts)
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

// Neighbours in memory that one instruction takes.
template <class T, int Count>
struct alignas(sizeof(T) * Count) Neighbours {
  T all[Count];
};

// Where a tile's K is in parts of several CTAs, Count of their sums go from each thread to the one
// with its number in the CTA that adds them, by way of memory, in a slot of each part. None tells
// of it: a number that is not +0 is there, for which +0 goes as -0, and who has added it makes it 0
// for the next product; the manifest's row has all 0 before the first. `sum` is number i of a
// thread's.
template <int Count, int AtOnce>
struct SumsOfParts {
  static constexpr int kThreads = kGroups * 128, kWide = Count < 4 ? Count : 4;
  float* const own;                           // this thread's first, of slot 0
  float asked[AtOnce][Count / kWide][kWide];  // of some slots, on their way
  __device__ SumsOfParts(float* parts, int thread) : own(parts + thread * kWide) {}
  // Of number `i` and those beside it.
  __device__ float* placeOf(int slot, int i) const {
    return own + (long long)(slot * Count + i) * kThreads;
  }
  template <class Sum>
  __device__ void give(int slot, const Sum& sum) const {
#pragma unroll
    for (int i = 0; i < Count; i += kWide) {
      float numbers[kWide];
#pragma unroll
      for (int j = 0; j < kWide; j++) numbers[j] = sum(i + j);
#pragma unroll
      for (float& number : numbers) number = number == 0 ? -0.0f : number;
      storeForAnother(placeOf(slot, i), numbers);
    }
  }
  // Those of slots from `first` to before `end`, or as many of them as are asked for at once.
  __device__ void ask(int first, int end) {
#pragma unroll
    for (int of = 0; of < AtOnce; of++)
#pragma unroll
      for (int i = 0; i < Count / kWide; i++)
        loadOfAnother(asked[of][i], placeOf(min(first + of, end - 1), i * kWide));
  }
  __device__ static bool areThere(const float (&numbers)[kWide]) {
    bool areThere = true;
#pragma unroll
    for (int i = 0; i < kWide; i++) areThere &= __float_as_uint(numbers[i]) != 0;
    return areThere;
  }
  __device__ bool areAllThere() const {
    bool areAll = true;
#pragma unroll
    for (int of = 0; of < AtOnce; of++)
#pragma unroll
      for (int i = 0; i < Count / kWide; i++) areAll &= areThere(asked[of][i]);
    return areAll;
  }
  // Those that were asked for and all up to `end`, in their order.
  template <class Sum>
  __device__ void addTo(const Sum& sum, int first, int end) {
#pragma unroll 1
    for (int slot = first; slot < end; slot += AtOnce) {
      if (slot > first) ask(slot, end);
      while (!areAllThere()) ask(slot, end);
#pragma unroll
      for (int of = 0; of < AtOnce; of++) {
        if (slot + of >= end) break;
#pragma unroll
        for (int i = 0; i < Count; i++) sum(i) += asked[of][i / kWide][i % kWide];
#pragma unroll
        for (int i = 0; i < Count; i += kWide)
          *reinterpret_cast<Neighbours<float, kWide>*>(placeOf(slot + of, i)) = {};
      }
    }
  }
};

// The sums of an item that a thread takes to C, of those in shared memory of kSumTokens tokens: of
// kWide neighbouring rows, and of kEach tokens as far apart as all threads have rows.
template <class Operand>
struct OwnSums {
  static constexpr int kThreads = kGroups * 128, kPitch = Ring<Operand>::kPitch,
                       kPlace = Ring<Operand>::kPlace, kSumTokens = Ring<Operand>::kSumTokens,
                       kAll = Operand::kTiles * kRows * kSumTokens / kThreads,
                       kWide = kAll < 4 ? kAll : 4, kEach = kAll / kWide,
                       kTokensOfWarp = kRows / kWide < 32 ? 32 * kWide / kRows : 1;
  using Sums = Neighbours<float, kWide>;
  const int threads, apart, firstOfThread, row;  // `threads`: that have a token
  // Which tokens this CTA takes to C: a part, where CTAs divide K.
  int first = 0, tokens = kSumTokens;
  const int there;       // of the rows, those that the matrix has
  const bool isAligned;  // kWide neighbours in C
  long long inC;         // of the first sum
  const long long step;  // from one token to the next, in C
  Sums sums[kEach];

  __device__ OwnSums(const Problem& problem, const Item& item, int firstToken, int thread)
      : threads((Operand::kTiles == 1 ? 1 : item.tiles) * (kRows / kWide)),
        apart(threads == kRows / kWide ? kThreads / (kRows / kWide)
                                       : kThreads / (2 * kRows / kWide)),
        firstOfThread(threads == kRows / kWide ? thread / (kRows / kWide)
                                               : thread / (2 * kRows / kWide)),
        row((thread & threads - 1) * kWide),
        there(problem.N - item.row - row),
        isAligned(kWide == 1 || problem.N % kWide == 0),
        inC((long long)(item.firstToken + firstToken + firstOfThread) * problem.N + item.row + row),
        step((long long)apart * problem.N) {
    tokens = there > 0 ? min(tokens, item.tokens - firstToken) : 0;
  }

  // Whether there is row j of the neighbours, where the first is.
  __device__ bool hasRow(int j) const { return kWide == 1 || j < there; }
  // Of sums i, among the tokens in shared memory.
  __device__ int token(int i) const { return firstOfThread + i * apart; }
  __device__ bool isInside(int i) const {
    return (u32)(token(i) - first) < (u32)max(tokens - first, 0);
  }

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < kEach; i++)
#pragma unroll
      for (int j = 0; j < kWide; j++) sums[i].all[j] = 0.0f;
  }
  // From those that went round, or those of all warpgroups.
  template <int Around>
  __device__ void read(const float* from, bool ofAll) {
#pragma unroll
    for (int i = 0; i < kEach; i++) {
      // Of one tile there are half as many as of two: no more than that are inside.
      const int at = Operand::kTiles > 1 ? min(token(i), kSumTokens - 1) : token(i);
      const auto placeOf = [&](int group) {
        return *reinterpret_cast<const Sums*>(from + group * kPlace + at * kPitch + row);
      };
      sums[i] = placeOf(0);
      if (!ofAll && Around > 1) {
        const Sums of = placeOf(1);
#pragma unroll
        for (int j = 0; j < kWide; j++) sums[i].all[j] += of.all[j];
      }
      if (!ofAll) continue;
      Sums others = placeOf(kGroups - 1);
#pragma unroll
      for (int group = kGroups - 2; group > 0; group--) {
        const Sums of = placeOf(group);
#pragma unroll
        for (int j = 0; j < kWide; j++) others.all[j] = of.all[j] + others.all[j];
      }
#pragma unroll
      for (int j = 0; j < kWide; j++) sums[i].all[j] += others.all[j];
    }
  }

  // CTAs that divide K, a power of two, send one another their sums; each has a part of the tokens'
  // in the end. Nothing here is jumped over: behind a jump in code that runs once a warp waits for
  // instructions.
  __device__ static u32 bytesReceived(const Problem& problem) {
    constexpr u32 kBytes = kRows * kSumTokens * 4;
    return kBytes - kBytes / problem.across();
  }
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
      sendNumbers(owner != rank, atCta(placeFrom(rank, token(i)), owner),
                  atCta(ring.cameIn(), owner), sums[i].all);
    }
    first = rank * each, tokens = min(tokens, first + each);
    waitFor(ring.cameIn(), 0);
#pragma unroll 1
    for (int other = 0; other < problem.across() - 1; other++)
#pragma unroll
      for (int i = 0; i < kEach; i++) {
        float part[kWide];
        loadNumbers(part, placeFrom(other + (other >= rank), token(i)));
#pragma unroll
        for (int j = 0; j < kWide; j++) sums[i].all[j] += part[j];
      }
  }

  // Numbers of sums i to where C, or a part of it, begins.
  template <class T>
  __device__ void write(T* to, int i, const Neighbours<T, kWide>& numbers) const {
    if (!isInside(i)) return;
    T* own = to + inC + i * step;
    if (isAligned) {
      *reinterpret_cast<Neighbours<T, kWide>*>(own) = numbers;
    } else {
#pragma unroll
      for (int j = 0; j < kWide; j++)
        if (hasRow(j)) own[j] = numbers.all[j];
    }
  }

  // Sum `number` of all.
  __device__ float sum(int number) const {
    float found = sums[0].all[0];
#pragma unroll
    for (int i = 1; i < kAll; i++) found = number == i ? sums[i / kWide].all[i % kWide] : found;
    return found;
  }
};

// The sum of a token of the item and a row of its matrix again, if it may have lost something, for
// all lanes of a warp.
template <class Operand>
__device__ inline void finishAgain(const Problem& problem, const Given& given, const Item& item,
                                   int tokenOfItem, int row, float sum, bool inside) {
  const int token = item.firstToken + tokenOfItem, rowOfAll = item.rowOfAll - item.row + row;
  if (inside && isMarkedZero<Operand>(sum))
    given.c[(long long)token * problem.N + row] = toOutput(0.0f);
  constexpr int kTokens = OwnSums<Operand>::kTokensOfWarp;
#pragma unroll 1
  for (int of = 0; of < kTokens; of++) {
    const bool isOfIt = inside && (kTokens == 1 || (int)threadIdx.x % 32 / (32 / kTokens) == of);
    sumsAgain({given.aCodes, given.bCodes, given.aScales, given.bScales},
              kTokens == 1 ? token : __shfl_sync(0xffffffff, token, of * (32 / kTokens)), rowOfAll,
              problem.K, isOfIt && isUnknown(sum), isOfIt && isSmall<Operand>(sum),
              [&](double exact) {
                given.c[(long long)token * problem.N + row] =
                    toOutput((float)(exact * given.tensorScale));
              });
  }
}

// Whether a CTA's warpgroups add their sums before they give them as a part: a quarter as much to
// write and to read. Else threads give what they have, and wait for none.
template <class Operand, bool kRest>
constexpr bool kPartsMeet = Operand::kTiles == 1 && (kRest || Operand::kTokens == 64);

// C of an item's tokens from `firstToken` on, whose sums over the CTA are in shared memory: in a
// place, or in one of each warpgroup.
template <class Operand, bool kRest>
__device__ inline void storeSums(const Problem& problem, const Given& given, const Item& item,
                                 const Ring<Operand>& ring, const float* sums, bool ofAll,
                                 int firstToken, int thread) {
  OwnSums<Operand> own(problem, item, firstToken, thread);
  const bool isAdded = kRest && item.isAdded();
  if (isAdded) own.clear();
  else own.template read<kRest ? Ring<Operand>::kAround : 1>(sums, ofAll);
  if constexpr (kPartsMeet<Operand, kRest>) {
    const Parts parts = problem.partsOf(item);
    SumsOfParts<OwnSums<Operand>::kAll, kRest || GROUPED ? 4 : 1> ofParts(given.parts, thread);
    const auto sum = [&](int i) -> float& { return own.sums[i / own.kWide].all[i % own.kWide]; };
    if (kRest ? parts.all > 1 && !isAdded : parts.own > 0) {
      ofParts.give(parts.slot + parts.own, sum);
      return;
    }
    if (parts.all > 1) {
      const int first = parts.slot + (kRest ? 0 : 1), end = parts.slot + parts.all;
      ofParts.ask(first, end);
      ofParts.addTo(sum, first, end);
    }
  }
  if (Operand::kTiles == 1 && !kRest && problem.across() > 1) own.exchange(problem, ring);
  constexpr int kWide = OwnSums<Operand>::kWide;
  bool mayHaveLost = false;
#pragma unroll
  for (int i = 0; i < own.kEach; i++) {
    Neighbours<Output, kWide> numbers;
#pragma unroll
    for (int j = 0; j < kWide; j++) {
      const float sum = own.sums[i].all[j];
      numbers.all[j] = outputOf<Operand>(given, firstToken + own.token(i), sum);
      mayHaveLost |= own.isInside(i) & own.hasRow(j) & (isUnknown(sum) | isSmall<Operand>(sum));
    }
    own.write(given.c, i, numbers);
  }
  if (!__any_sync(0xffffffff, mayHaveLost)) return;
#pragma unroll 1
  for (int of = 0; of < own.kAll; of++) {
    const int number = hidden(of), i = number / kWide, j = number % kWide;
    finishAgain<Operand>(problem, given, item, firstToken + own.token(i), item.row + own.row + j,
                         own.sum(number), own.isInside(i) && own.hasRow(j));
  }
}

}  // namespace decode
