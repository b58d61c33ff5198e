// What a CTA of decode has in shared memory: a ring of stages of K, A where it makes it ready
// itself, and sums; and how its threads divide it (see decode.cuh).
#pragma once

#include "common/decodeItems.cuh"
#include "common/pipeline.cuh"

namespace decode {

// THREADS and SHARED_BYTES are constants of the manifest's row.
constexpr int kThreads = THREADS, kGroups = kThreads / 128 - 1;
constexpr int kSharedBytes = SHARED_BYTES;
static_assert(kRows == 64 && kGroups == 4,
              "a warpgroup multiplies 64 rows; registers are divided for four");
// CTAs that may divide a tile's K.
constexpr int kMostAcross = GROUPED ? 1 : 8;
// Elements of K a stage, at which warpgroups take turns or not.
__host__ __device__ constexpr int stageFor(int tokens, int tiles, int turns) {
  const bool isHalf = turns > 1 || (tiles > 1 && (tokens > 32 || kBits(B_FORMAT) > 4));
  return isHalf ? kStageK / 2 : kStageK;
}

// Rows of 128 bytes of a tile's codes.
constexpr int kCodeBoxBytes = kRows * 128;

// Bytes of a row of scales that come for a stage: the copy engine takes no fewer than 16, nor from
// other places than every sixteenth.
__host__ __device__ constexpr int scaleBytesFor(int stageK) {
  return stageK / SCALE_BLOCK < 16 ? 16 : stageK / SCALE_BLOCK;
}

// Where rows of B's scales are not a multiple of 16 bytes, as the copy engine would have them,
// eight rows' are: a row of the tensor map. Each of the eight then has a box of its own, from the
// last sixteenth byte before its scales on.
constexpr int kEight = 8;
// Bytes of a row of scales in shared memory.
__host__ __device__ constexpr int scalePitchFor(int stageK, bool ofEight) {
  return scaleBytesFor(stageK) + (ofEight ? 16 : 0);
}

// Where in a tile's scales of a stage those of a lane's two rows are: warp * 16 + lane / 4, and
// eight more.
template <int StageK, bool OfEight>
struct LaneScales {
  static constexpr int kPitch = scalePitchFor(StageK, OfEight),
                       kApart = OfEight ? kPitch : 8 * kPitch;
  u32 first;  // bytes, to those of the first row, which of eight may begin between two words
  __device__ LaneScales(int ofRow, int warp, int lane) {
    const int row = lane / 4;
    first = warp * 2 * kApart + row * (OfEight ? kRows / kEight : 1) * kPitch;
    if (OfEight) first += row * ofRow % 16;
  }
  // Of row `half`, that at `from`, by a load of its own: taking it out of a word costs the pipe of
  // logic, which is what warps that multiply by themselves wait for.
  __device__ u32 at(u32 from, int half) const { return loadByte(from + first + half * kApart); }
  // Of row `half`, as words, those that begin at `from`.
  template <int Words>
  __device__ void load(u32 (&words)[Words], u32 from, int half) const {
    const u32 place = from + first + half * kApart, aligned = OfEight ? place & ~3 : place;
    const bool isBetween = OfEight && (place & 2) != 0;
#pragma unroll
    for (int i = 0; i < Words; i++) words[i] = loadWord(aligned + i * 4);
    if (!OfEight) return;
    const u32 behind = isBetween ? loadWord(aligned + Words * 4) : 0;
#pragma unroll
    for (int i = 0; i < Words; i++)
      words[i] =
          __byte_perm(words[i], i + 1 < Words ? words[i + 1] : behind, isBetween ? 0x5432 : 0x3210);
  }
};

// A scale of e8m0 as a power of two; 2^-127, which has no exponent field, as 0: what it adds is
// nothing beside a sum that is not computed again.
__device__ inline float powerOf(u32 scale) { return __int_as_float(scale << 23); }
// Scale `index` of words of four.
template <int Words>
__device__ inline float powerAt(const u32 (&words)[Words], int index) {
  return powerOf(words[index / 4] >> index % 4 * 8 & 255);
}

// Of a part of K: zero, but something may have been lost. Of all parts they are below 512 times it.
constexpr float kMark = 0x1p-149f;

// Operand: how codes become matrix operands, and what a thread adds. It has kTokens; kTiles, how
// many tiles a stage has room for; kTurns, in how many parts warpgroups take turns at stages;
// kStageK, a stage's elements of K, and kShareK, those of a warpgroup; the boxes of a tile's codes
// and of tokens (kCodeBoxes, kTokenBoxes of kTokenBoxK elements, rows of 128 bytes); kByWarp,
// whether its warps multiply by themselves; kIsHalves, whether a token has two columns; total[],
// the sums of multiply() over a warpgroup's shares of stages; end(), which marks those that are not
// right by NaN; kUnit, what they lack; kSmallest, below which they may have lost bits; kMarksZeros,
// whether those of zero that may have are kMark; kOfEight, whether scales come by kEight rows, and
// Scales, a lane's. kOwnBytes: of A where the CTA itself makes it ready, all of K before its first
// stage (Own: what a thread of those that multiply has of it); else 0, and a kernel before this one
// does, or, where kTokensAsTheyAre, A's codes and scales come in stages like B's.
template <class Operand>
struct Ring {
  static constexpr int kTiles = Operand::kTiles;
  static constexpr int kBytesCodes = Operand::kCodeBoxes * kCodeBoxBytes;  // of a tile
  static constexpr int kScaleBytes = scaleBytesFor(Operand::kStageK);      // of a row
  static constexpr int kBytesScales = kRows * scalePitchFor(Operand::kStageK, Operand::kOfEight);
  static constexpr int kBytesTile = kBytesCodes + kBytesScales;
  static constexpr int kBytesTokenCodes = Operand::kTokenBoxes * 128 * Operand::kTokens,
                       kBytesTokenScales =
                           Operand::kTokensAsTheyAre ? Operand::kTokens * kScaleBytes : 0;
  static constexpr int kBytesTokens = kBytesTokenCodes + (kBytesTokenScales + 1023) / 1024 * 1024;
  static constexpr int kBytesStage = kTiles * kBytesTile + kBytesTokens;
  // Sums are added for so many tokens at a time. A row of them: banks of neighbouring tokens are
  // apart.
  static constexpr int kSumTokens =
      Operand::kTokens <= 64 / kTiles ? Operand::kTokens : 64 / kTiles;
  static constexpr int kPitch = kTiles * kRows + 4;
  // Of few tokens each warpgroup's have a place, and are added where they are read: one barrier
  // instead of one for each.
  static constexpr int kPlaces = kTiles == 1 && Operand::kTokens <= 16 ? kGroups : 1,
                       kPlace = kSumTokens * kPitch;
  // Where CTAs of a cluster divide K, sums come from all, each a part of the tokens'. A CTA
  // has one item then, its warpgroups' sums lie in places of their own, and if these are stages the
  // one that would go round is free.
  static constexpr int kBytesReceived =
      kTiles == 1 && kPlaces > 1 && kMostAcross > 1 ? Operand::kTokens * kRows * 4 : 0;
  static constexpr int kBytesOther = 1024 + 1024;
  // Else one goes round, or two where they take no stage's room, of tiles that come first in parts.
  __device__ static constexpr int roomOf(int places) {
    return kSharedBytes - places * kPlace * 4 - kBytesReceived - kBytesOther - Operand::kOwnBytes;
  }
  __device__ static constexpr int stagesIn(int bytes) {
    return bytes / kBytesStage / Operand::kTurns * Operand::kTurns;
  }
  static constexpr int kAround =
      kTiles == 1 && kPlaces == 1 && stagesIn(roomOf(2)) == stagesIn(roomOf(1)) ? 2 : 1;
  static constexpr int kBytesSums = kPlaces * kAround * kPlace * 4 + kBytesReceived;
  // Few tokens: as many as keep the memory busy, with 4 bits more where A is half of them, and up
  // to 8 tokens of scale blocks of 32 as many as the launch says, for memory of this speed. Yet
  // more wait behind those of other CTAs, and the last CTA to have its own ends later. Of turns a
  // whole number: a warpgroup has stages of its own, whose barriers it sees in every phase.
  static constexpr bool kIsShort =
      kTiles == 1 && Operand::kTokens <= 16 && (kBits(B_FORMAT) == 4 || Operand::kTokensAsTheyAre);
  static constexpr int kFit = stagesIn(roomOf(kPlaces)),
                       kEnough = Operand::kTokensAsTheyAre                            ? 3
                                 : kBytesTokens < kBytesCodes && Operand::kTokens > 8 ? 4
                                                                                      : 6,
                       kStages = kIsShort && kFit > kEnough ? kEnough : kFit;
  static constexpr int kBytesBarriers = kStages * 16 + 16 + Operand::kTokens * 4;
  static_assert(kStages >= 2 && kBytesBarriers <= 1024 && kBytesStage % 1024 == 0,
                "room for a ring");
  static_assert(kStages % Operand::kTurns == 0, "a warpgroup has stages of its own");
  static constexpr bool kIsTold = kIsShort && Operand::kTokens == 8 && !Operand::kTokensAsTheyAre;
  // Those that a launch uses.
  __device__ static int stagesOf(const Problem& problem) {
    return kIsTold ? min(problem.depth, kStages) : kStages;
  }
  u32 barriers, tiles;
  __device__ explicit Ring(u32 start)
      : barriers(start), tiles((start + kBytesBarriers + 1023) & ~1023u) {}
  __device__ u32 full(int i) const { return barriers + i * 8; }
  __device__ u32 empty(int i) const { return barriers + (kStages + i) * 8; }
  // Of the sums that others send.
  __device__ u32 cameIn() const { return barriers + kStages * 16; }
  __device__ u32 factors() const { return cameIn() + 16; }
  __device__ u32 codes(int i, int tile) const {
    return tiles + i * kBytesStage + tile * kBytesCodes;
  }
  __device__ u32 tokens(int i) const { return codes(i, kTiles); }
  __device__ u32 tokenScales(int i) const { return tokens(i) + kBytesTokenCodes; }
  __device__ u32 scales(int i, int tile) const {
    return tokens(i) + kBytesTokens + tile * kBytesScales;
  }
  // Where in what came for stage `step` of K its scales begin.
  __device__ static int firstScale(int step) {
    return (u32)step * (Operand::kStageK / SCALE_BLOCK) % kScaleBytes;
  }
  __device__ u32 own() const { return tiles + kStages * kBytesStage; }
  __device__ u32 sums() const { return own() + Operand::kOwnBytes; }
  // Where warpgroups' sums have a place each: there, or, when all stages have been read, in theirs.
  __device__ u32 placesOfSums() const { return kPlaces > 1 ? sums() : tiles; }
  __device__ u32 received() const { return kPlaces > 1 ? sums() + kPlaces * kPlace * 4 : sums(); }
};

// Barriers of some of the threads, by number.
constexpr int kMultiplying = 1, kLoadersAreThere = 2, kBarriersAreThere = 3;
__device__ inline void syncMultiplying() { syncSome<kGroups * 128>(kMultiplying); }

// Of an operand whose A a kernel before makes ready.
struct NoOwn {
  __device__ explicit NoOwn(int) {}
};

}  // namespace decode
