// The bf16 product whose B comes as codes and becomes bf16 in shared memory: nothing of it is written to memory before.
//
//   codes of 128 columns --TMA--> ring of codes --warpgroup 0--> this CTA's half of the stage --bulk copy--> the other CTA's
//
// Warpgroup 0 widens: 64 bytes of a row's codes lie in a slot of a ring of their own (kSlotSteps stages of K), a thread takes 16
// of them at a time, and writes bf16 numbers where TMA would have swizzled them to. A comes as gemm.cuh has it, its elements along
// K in the order in which codes fall apart (orderPairs).
#pragma once

#include "common/gemm_bf16.cuh"
#include "common/widenRows.cuh"

namespace bf16gemm {

static_assert(kBits(B_FORMAT) == 4, "codes of 8 bits take longer to widen than to multiply");

struct ProductOfCodes : ProductOver<CODE_STORE_BUFFERS> {
  // Warpgroup 0 has scales and codes under way.
  static constexpr int kLoadRegisters = 56, kMultiplyRegisters = 224;
  static_assert(kLoadRegisters + kGroups * kMultiplyRegisters <= 504, "what a CTA of 384 threads begins with");
  static constexpr int kRows = kTileN / kCluster, kSlotRowBytes = CODE_SLOT_BYTES;
  static constexpr int kCodeSlots = CODE_SLOTS, kBytesCodeSlot = kRows * kSlotRowBytes;
};

template <class T>
struct CodesOfB {
  static_assert(T::kCluster == 2 && T::kRows == 128, "a half for each CTA, 32 rows of it for each warp");
  static constexpr int kWarps = 4, kArrivals = 1 + kWarps;
  static constexpr int kStepBytes = T::kElements * kBits(B_FORMAT) / 8, kSlotSteps = T::kSlotRowBytes / kStepBytes;
  // A unit is 16 bytes of codes; of a row of a stage, rows that a warp takes at once, how often.
  static constexpr int kUnitElements = 128 / kBits(B_FORMAT), kUnits = kStepBytes / 16, kRowsAtOnce = 32 / kUnits;
  static constexpr int kTimes = 32 / kRowsAtOnce, kScales = SCALE_BLOCK < kUnitElements ? kUnitElements / SCALE_BLOCK : 1;
  // Of a lane's units of a slot.
  static constexpr int kUnitsOfSlot = kSlotSteps * kTimes, kScaleWords = kUnitsOfSlot * kScales / 4;
  static constexpr int kBytesHalf = T::kBytesB / 2, kBytesOfWarp = kBytesHalf / kWarps;

  const TensorMap *aMap, *codesMap;
  const u8* scales;  // of all rows of B
  int rowsB, K;

  // What a slot holds: stages of a tile from `step` on.
  struct Slot {
    int tile, step;
    gemm::Place place;
  };

  __device__ void initBarriers(gemm::Shared<T> shared) const {
    for (int i = 0; i < T::kCodeSlots; i++) {
      initBarrier(shared.codesFull(i), 1);
      initBarrier(shared.codesEmpty(i), kWarps);
    }
  }

  template <class TilesOf>
  __device__ static void advance(Slot& slot, const TilesOf& shape, int tiles, u32 rank) {
    slot.step += kSlotSteps;
    if (slot.step < shape.steps) return;
    slot.step = 0, slot.tile += gridDim.x / T::kCluster;
    if (slot.tile < tiles) slot.place = shape.place(slot.tile, rank);
  }

  // The unit of a stage's row that this lane takes, and the first of its rows.
  __device__ static int unit() { return threadIdx.x % kUnits; }
  __device__ static int firstRow() { return threadIdx.x / 32 * 32 + threadIdx.x % 32 / kUnits; }

  // Scale codes of this lane's units of a slot; 0 beyond B, where codes are zeros.
  __device__ void loadScales(u32 (&codes)[kUnitsOfSlot], const Slot& slot, u32 rank) const {
    const int row0 = slot.place.rowB + (int)rank * T::kRows + firstRow(), k0 = slot.step * T::kElements + unit() * kUnitElements;
    // Fewer than 2^32 scales: the manifest row asks for it.
    const u32 ofRow = K / SCALE_BLOCK, first = row0 * ofRow + k0 / SCALE_BLOCK;
#pragma unroll
    for (int i = 0; i < kUnitsOfSlot; i++) {
      const int step = i / kTimes, rows = i % kTimes * kRowsAtOnce;
      const u8* at = scales + (first + rows * ofRow + step * (T::kElements / SCALE_BLOCK));
      codes[i] = 0;
      if (row0 + rows < rowsB && k0 + step * T::kElements < K) codes[i] = kScales == 2 ? *reinterpret_cast<const u16*>(at) : *at;
    }
  }
  // The same in as few registers as they need, and whether one is large.
  __device__ static bool pack(u32 (&words)[kScaleWords], const u32 (&codes)[kUnitsOfSlot]) {
    constexpr int kOfWord = 4 / kScales;
    bool areLarge = false;
#pragma unroll
    for (int word = 0; word < kScaleWords; word++) {
      words[word] = 0;
#pragma unroll
      for (int i = 0; i < kOfWord; i++) {
        words[word] |= codes[word * kOfWord + i] << 32 / kOfWord * i;
        areLarge |= isLarge(codes[word * kOfWord + i]);
      }
    }
    return areLarge;
  }
  // What takes pairs of small numbers to elements x scale x 2^-kWideShift, in both halves of a word.
  __device__ static u32 factorOf(u32 scaleCode) {
    const u32 scale = SCALE_FORMAT == 5 ? scaleCode * 0x00800080 : bothHalves(decodeScale<SCALE_FORMAT>(scaleCode));
    return multiplyBf16Pair(unbiasOf<B_FORMAT>(), scale);
  }
  // Whether one of a unit's factors is beyond bf16's range.
  __device__ static bool isLarge(u32 codes) {
    constexpr int kUnbias = 127 - kBias(B_FORMAT) - kWideShift;  // an exponent
    constexpr u32 kLimit = SCALE_FORMAT == 5 ? 254 - kUnbias : (127 - kUnbias + 7 << 3) + 7;
    bool any = false;
#pragma unroll
    for (int i = 0; i < kScales; i++) any |= (codes >> 8 * i & 255) > kLimit;
    return any;
  }

  // 16 bytes of codes to the chunks of 16 bytes from `to` on, which is where the first belongs.
  __device__ static void widenUnit(const u32 (&codes)[4], u32 scaleCodes, u32 to) {
    u32 factors[kScales];
#pragma unroll
    for (int i = 0; i < kScales; i++) factors[i] = factorOf(scaleCodes >> 8 * i & 255);
#pragma unroll
    for (int chunk = 0; chunk < 4; chunk++) {
      u32 pairs[4];
#pragma unroll
      for (int i = 0; i < 4; i++)
        pairs[i] = multiplyBf16Pair(smallPairOf<B_FORMAT>(codes[chunk], i), factors[chunk * kScales / 4]);
      storeFour(to ^ chunk * 16, pairs);
    }
  }

  // A stage's half of B: this lane's units from `codes` on to the chunks from `to` on. `first`: the first unit.
  __device__ static void widenStage(const u32 (&first)[4], u32 codes, u32 scaleCodes, u32 to) {
    u32 words[2][4] = {{first[0], first[1], first[2], first[3]}};
#pragma unroll
    for (int time = 0; time < kTimes; time++) {
      // The next one comes while this one is widened.
      if (time + 1 < kTimes) loadFour(words[(time + 1) % 2], codes + (time + 1) * kRowsAtOnce * T::kSlotRowBytes);
      widenUnit(words[time % 2], scaleCodes >> 8 * (time * kScales), to + time * kRowsAtOnce * 128);
    }
  }
  // The same with scales of any size: small, slow and hardly ever called.
  __device__ static void widenAnyStage(u32 codes, u32 scaleCodes, u32 to) {
#pragma unroll 1
    for (int time = 0; time < kTimes; time++) {
#pragma unroll 1
      for (int chunk = 0; chunk < 4; chunk++) {
        const int scale = kScales == 2 ? chunk / 2 : 0;
        const float factor = decodeScale<SCALE_FORMAT>(scaleCodes >> 8 * (time * kScales + scale) & 255) * (1.0f / (1 << kWideShift));
        const u32 word = loadWord(codes + time * kRowsAtOnce * T::kSlotRowBytes + chunk * 4);
        u32 pairs[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
          pairs[i] = toBf16Pair(decodeElement<B_FORMAT>(word >> 4 * i & 15) * factor, decodeElement<B_FORMAT>(word >> 4 * i + 16 & 15) * factor);
        storeFour((to ^ chunk * 16) + time * kRowsAtOnce * 128, pairs);
      }
    }
  }

  template <class TilesOf>
  __device__ void load(TilesOf shape, gemm::Shared<T> shared) const {
    const int warp = threadIdx.x / 32;
    const u32 rank = clusterRank();
    const bool isElected = electOne();
    // 128-byte swizzle: chunk c of row r lies at chunk c ^ (r % 8), and rows of a lane are 8 or 16 apart.
    const u32 inHalf = firstRow() * 128 + ((unit() * (8 / kUnits)) ^ firstRow() % 8) * 16;
    const u32 from = shared.codes(0) + firstRow() * T::kSlotRowBytes + unit() * 16;
    RingPosition<T::kStages> ring;
    RingPosition<T::kCodeSlots> here;
    auto request = [&](const Slot& slot, const RingPosition<T::kCodeSlots>& at) {
      if (warp == 0) {
        waitFor(shared.codesEmpty(at.stage), at.phase ^ 1);
        if (isElected) {
          expectBytes(shared.codesFull(at.stage), T::kBytesCodeSlot);
          loadBox(shared.codes(at.stage), codesMap, slot.step * kStepBytes, slot.place.rowB + (int)rank * T::kRows,
                  shared.codesFull(at.stage));
        }
      }
    };
    Slot slot{(int)blockIdx.x / T::kCluster, 0, {}};
    const int tiles = shape.tiles();
    if (slot.tile >= tiles) return;
    slot.place = shape.place(slot.tile, rank);
    request(slot, here);
    u32 scaleWords[kScaleWords], coming[kUnitsOfSlot];
    loadScales(coming, slot, rank);
    bool areLarge = pack(scaleWords, coming);
#pragma unroll 1
    for (;;) {
      Slot next = slot;
      advance(next, shape, tiles, rank);
      const bool isLast = next.tile >= tiles;
      if (!isLast) {
        RingPosition<T::kCodeSlots> ahead = here;
        ahead.advance();
        request(next, ahead);
        loadScales(coming, next, rank);
      }
      waitFor(shared.codesFull(here.stage), here.phase);
      // Not unrolled: a scheduler has one warp of these, and it is to find its instructions close by.
#pragma unroll 1
      for (int i = 0; i < min(kSlotSteps, shape.steps - slot.step); i++) {
        const int step = slot.step + i;
        const u32 codes = from + here.stage * T::kBytesCodeSlot + i * kStepBytes;
        const u32 full = shared.full(ring.stage), a = shared.stage(ring.stage), half = a + T::kBytesA + rank * kBytesHalf;
        u32 words[4];
        loadFour(words, codes);
        waitFor(shared.empty(ring.stage), ring.phase ^ 1);
        // The warps in turn, for it takes a while.
        if (warp == ring.stage && isElected) {
          // The other CTA brings its half.
          expectBytes(full, T::kBytesA + kBytesHalf);
          loadBox(a, aMap, step * T::kElements, slot.place.row, full);
        }
        widenStage(words, codes, scaleWords[0], half + inHalf);
        if (areLarge) widenAnyStage(codes, scaleWords[0], half + inHalf);
        scaleWords[0] = kScaleWords == 1 ? scaleWords[0] >> 16 : scaleWords[kScaleWords - 1];
        publishToCopyEngine();
        __syncwarp();
        if (isElected) {
          copyToCta(half + warp * kBytesOfWarp, kBytesOfWarp, full, rank ^ 1);
          arriveHere(full);
        }
        ring.advance();
      }
      if (isElected) arriveHere(shared.codesEmpty(here.stage));
      here.advance();
      if (isLast) break;
      slot = next;
      areLarge = pack(scaleWords, coming);
    }
  }
};

// C of groups, as runGroups() has it; B's codes are rows of K of all groups' matrices.
template <bool ByEngine>
__device__ inline void runGroupsOfCodes(const TensorMap* aMap, const TensorMap* codesMap, const u8* bScales, const TensorMap* cMap,
                                        Output* c, GroupTables of, int N, int K, float tensorScale, gemm::Finish finish) {
  using T = ProductOfCodes;
  const gemm::GroupedShape<T> shape{of, N, gemm::stepsOf<T>(K)};
  gemm::runOf<T, ByEngine>(shape, CodesOfB<T>{aMap, codesMap, bScales, of.groups * N, K}, cMap, c, factorOf<T>(tensorScale), finish);
}

}  // namespace bf16gemm
