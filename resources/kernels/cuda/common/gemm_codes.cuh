// The bf16 product whose B comes as codes and becomes bf16 in registers: nothing of it is written
// to memory before.
//
//                     A^T, kTileN rows x 128 bytes of bf16
//                   +---------------------------------+
//    B, kTileM rows |  warpgroup 1: 64 x kTileN sums  |   Clusters of two such CTAs, one beside
//       of codes    |  warpgroup 2: 64 x kTileN sums  |   the other in C, share A: each loads half
//                   +---------------------------------+   of its tile and multicasts that half.
//
// Of one product K is divided where tiles are no whole turns of all CTAs. Where they are few, a
// cluster is several such pairs, each with a part of its tile's K; they read one another's sums in
// shared memory, and take a part of the rows each to C. Else every cluster has as many stages, from
// one tile into the next, and of a tile's parts a warp that comes last adds them, in their order.
//
// C comes turned, for it is the left operand that wgmma takes from registers. The copy engine
// brings A and codes; warpgroup 0 puts the codes' scales beside them, as bf16. A multiplying warp
// widens its rows of the next stage while its product of this one is under way. A comes in the
// order along K in which codes fall apart (placeInOrder in widenRows.cuh).
#pragma once

#include "common/gemm_bf16.cuh"
#include "common/widenRows.cuh"

namespace bf16gemm {

static_assert(kBits(B_FORMAT) == 4 || (kBits(B_FORMAT) == 8 && SCALE_BLOCK == 32),
              "codes that fall apart into pairs; five stages fit");

// CTAs that share A: all of a cluster, or two where more divide K.
template <class T>
struct Team {
  u32 rank, first;  // of this CTA in it, of its first CTA in the cluster
  __device__ Team() : rank(clusterRank() % T::kCluster), first(clusterRank() - rank) {}
  __device__ u32 number() const { return first / T::kCluster; }
  __device__ u16 mask() const { return (u16)((1 << T::kCluster) - 1 << first); }
};

// C's columns are the product's rows: kTileM is of a CTA's columns, kTileN of rows of A and C.
template <int TileN, int Stages>
struct ProductOfCodesOver : gemm::Tile<WIDE_TILE_M, TileN, Stages, CODE_STORE_BUFFERS, false> {
  using Base = gemm::Tile<WIDE_TILE_M, TileN, Stages, CODE_STORE_BUFFERS, false>;
  using Base::kCluster, Base::kSums, Base::kTileM, Base::kTileN, Base::kStepBytes,
      Base::kBytesPiece, Base::kStoreBuffers;
  static constexpr bool kIsTurned = true;
  static constexpr int kElements = 64, kInstructionElements = 16,
                       kPerStage = kElements / kInstructionElements, kSpan = 1;
  static constexpr int kRowBytes = kElements * kBits(B_FORMAT) / 8,
                       kScales = kElements / SCALE_BLOCK, kRowFactors = kScales * 4;
  static constexpr int kBytesStage = kTileN * kStepBytes, kBytesOfCodes = kTileM * kRowBytes;
  static constexpr int kBytesBeside = kBytesOfCodes + kTileM * kRowFactors;
  // Chunks are 16 bytes of a row's codes, of which a lane has a word: for kOfChunk instructions. A
  // box has two of each row.
  static constexpr int kChunks = kRowBytes / 16, kOfChunk = kPerStage / kChunks,
                       kBoxes = kChunks / 2, kBytesBox = kTileM * 32;
  static constexpr int kPieceRows = 32, kPieces = kTileN / kPieceRows;  // 16 columns of C
  static_assert(kPieceRows * 32 == kBytesPiece, "as Tile has room for");

  // Rows lane / 4 and + 8 of a warp's, as instructions take them.
  typedef u32 Fragments[kPerStage][4];
  // The same as codes; of each row the scales of the first and of the second half of its chunks.
  struct Packed {
    u32 words[kBoxes][4];
    float2 scales[2];
  };

  // Where a lane's codes and scales lie in a stage.
  struct Places {
    u32 codes, scales;
    __device__ Places() {
      const int lane = threadIdx.x % 32, quad = lane % 4, first = (threadIdx.x / 32 - 4) * 16;
      // As a source of ldmatrix: rows 0-7 and 8-15 of one chunk, then of the next. 32-byte swizzle:
      // chunk c of row r lies at c ^ (r / 4 % 2).
      codes = (first + lane % 16) * 32 + (lane / 16 ^ lane / 4 % 2) * 16;
      scales =
          kBytesOfCodes + (first + lane / 4) * kRowFactors + (SCALE_BLOCK == 16 ? quad / 2 * 8 : 0);
    }
  };
  // Scale `i` of a stage of a row: those of a lane are side by side. A scale of 16 codes of four
  // bits is two lanes' of four.
  __device__ static int placeOfScale(int i) { return SCALE_BLOCK == 16 ? i % 2 * 2 + i / 2 : i; }

  __device__ static void fetch(Packed& packed, const Places& from, u32 beside) {
#pragma unroll
    for (int box = 0; box < kBoxes; box++)
      loadMatrices(packed.words[box], beside + box * kBytesBox + from.codes);
#pragma unroll
    for (int half = 0; half < 2; half++)
      packed.scales[half] = loadTwoNumbers(beside + from.scales + half * 8 * kRowFactors);
  }
  // What instruction `k` takes.
  __device__ static void widen(u32 (&wide)[4], const Packed& packed, int k) {
    const int chunk = k / kOfChunk;
    bool isSpecial = false;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const float2 scales = packed.scales[half];
      const u32 codes = wordOf(packed, chunk, half),
                scale = __float_as_uint(chunk < kBoxes ? scales.x : scales.y);
#pragma unroll
      for (int pair = 0; pair < 2; pair++)
        wide[pair * 2 + half] =
            multiplyBf16Pair(multiplyBf16Pair(smallPairOf<B_FORMAT>(codes, k % kOfChunk * 2 + pair),
                                              unbiasOf<B_FORMAT>()),
                             scale);
      isSpecial |= holdsSpecial<B_FORMAT>(codes);
    }
    if constexpr (kBits(B_FORMAT) == 8) {
      // NaN and infinities, which are bits like others to the products above.
      if (!__any_sync(0xffffffff, isSpecial)) return;
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const u32 codes = wordOf(packed, chunk, i % 2) >> i / 2 * 8;
        wide[i] = specialOr(codes & 255, wide[i] & 0xffff) |
                  specialOr(codes >> 16 & 255, wide[i] >> 16) << 16;
      }
    }
  }
  __device__ static u32 wordOf(const Packed& packed, int chunk, int half) {
    return packed.words[chunk / 2][chunk % 2 * 2 + half];
  }
  __device__ static u32 specialOr(u32 code, u32 wide) {
    if (!holdsSpecial<B_FORMAT>(code)) return wide;
    return B_FORMAT == 4 && (code & 127) == 0x7c ? 0x7f80 | (code & 128) << 8 : 0x7fff;
  }

  template <class Ring, class SharedPlaces>
  __device__ static void sum(float (&total)[kSums], Ring& ring, int steps, SharedPlaces shared, int,
                             gemm::NoPowers) {
    const Places places;
    Fragments held[2];
    Packed packed;
    waitFor(shared.full(ring.stage), ring.phase);
    fetch(packed, places, shared.beside(ring.stage));
#pragma unroll
    for (int k = 0; k < kPerStage; k++) widen(held[0][k], packed, k);
    const Team<ProductOfCodesOver> team;
    u32 previous = 0;
    // What the next stage's instructions take is made between this one's, as long as the tensor
    // cores have those to do: a warp waits at each until it is taken.
    auto multiplyStage = [&](const Fragments& now, Fragments& next, int step) {
      const u64 a = tileDescriptor(shared.stage(ring.stage));
      const u32 empty = shared.empty(ring.stage);
      ring.advance();
#pragma unroll
      for (int k = 0; k < kPerStage; k++) {
        wgmmaFence();
        multiplyBf16(total, now[k], a + k * kDescriptorStep, step > 0 || k > 0);
        wgmmaCommit();
        if (k == 0) {
          // Behind a tile's last stage what is there is made once more, for nobody.
          if (step + 1 == steps) continue;
          waitFor(shared.full(ring.stage), ring.phase);
          fetch(packed, places, shared.beside(ring.stage));
          continue;
        }
        // The product of the stage before that read it is over.
        wgmmaWait<kPerStage + 1>();
        widen(next[k - 1], packed, k - 1);
        holdOperand(next[k - 1]);
      }
      wgmmaWait<kPerStage>();
      widen(next[kPerStage - 1], packed, kPerStage - 1);
      if (step > 0) releaseStage<kCluster>(previous, team.first);
      previous = empty;
    };
#pragma unroll 1
    for (int step = 0; step < steps; step += 2) {
      multiplyStage(held[0], held[1], step);
      if (step + 1 < steps) multiplyStage(held[1], held[0], step + 1);
    }
    wgmmaWait<0>();
    holdRegisters(total);
    releaseStage<kCluster>(previous, team.first);
  }

  // Sums of a warpgroup: sum 4 j + e of a thread lies at row 8 j + 2 * (lane % 4) + e % 2 of C's
  // tile, column warp * 16 + lane / 4 + 8 * (e / 2). By the copy engine where the tile's rows are
  // all the group's.
  template <class SharedPlaces>
  __device__ static void store(bool byEngine, const float (&d)[kSums], const TensorMap* cMap,
                               Output* c, int N, const gemm::Place& place, SharedPlaces shared,
                               float factor, gemm::Finish finish) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 - 4, col0 = place.col + warp * 16;
    auto finishedAt = [&](int i) { return finishedSum(d[i] * factor, 0.0f, finish.outputScale); };
    if (byEngine && place.row + kTileN <= place.endRow) {
      const bool isCopying = electOne();
      // As a source of stmatrix: lane 8 i + r addresses row r of matrix i; 0 and 1 are columns 0-7
      // and 8-15 of eight rows, 2 and 3 those of the next eight. 32-byte swizzle: 16-byte chunk c
      // of row r lies at chunk c ^ (r / 4 % 2).
      const u32 at = (lane / 16 * 8 + lane % 8) * 32 + (lane / 8 % 2 ^ lane / 4 % 2) * 16;
#pragma unroll
      for (int piece = 0; piece < kPieces; piece++) {
        const u32 buffer = shared.store(warp) + piece % kStoreBuffers * kBytesPiece;
        if (isCopying) waitForStoreReads<kStoreBuffers - 1>();
        __syncwarp();
#pragma unroll
        for (int group = 0; group < kPieceRows / 8; group += 2) {
          u32 pairs[4];
#pragma unroll
          for (int i = 0; i < 4; i++) {
            const int first = (piece * kPieceRows / 8 + group) * 4 + i * 2;
            pairs[i] = toOutputPair(finishedAt(first), finishedAt(first + 1));
          }
          storeTurnedMatrices(buffer + group * 256 + at, pairs[0], pairs[1], pairs[2], pairs[3]);
        }
        publishToCopyEngine();
        __syncwarp();
        if (isCopying) {
          storeBox(cMap, col0, place.row + piece * kPieceRows, buffer);
          commitStores();
        }
      }
      return;
    }
    const int row0 = place.row + lane % 4 * 2, col = col0 + lane / 4;
    Output* from = c + (long long)row0 * N + col;
#pragma unroll
    for (int i = 0; i < kSums; i++) {
      const int row = i / 4 * 8 + i % 2, ofHalf = i % 4 / 2 * 8;
      if (row0 + row < place.endRow && col + ofHalf < N)
        from[(long long)row * N + ofHalf] = toOutput(finishedAt(i));
    }
  }
};

using ProductOfCodes = ProductOfCodesOver<WIDE_TILE_N, CODE_STAGES>;

// Tiles of both CTAs of a cluster have the same rows of C, one the columns behind the other's.
template <class T>
struct TurnedGroups : gemm::GroupedShape<T> {
  static_assert(T::kTileN == T::kCluster * T::kTileM, "the cluster's tile is square");
  __device__ bool isThere() const { return true; }
  __device__ bool mayStoreByEngine() const { return true; }
  __device__ void meetAtEnd() const {}
  template <class Places>
  __device__ bool takeParts(float (&)[T::kSums], const gemm::WholeTiles<T>&, const gemm::Place&,
                            const Places&, Output*, float, gemm::Finish) const {
    return true;
  }
  __device__ gemm::Place place(int tile, u32 rank) const {
    gemm::Place first = gemm::GroupedShape<T>::place(tile, 0);
    first.col += rank * T::kTileM, first.rowB += rank * T::kTileM;
    return first;
  }
};

// As many stages for each cluster, from one tile into the next; or a tile's for each team of one.
template <class T>
struct Shares {
  int tile, begin, end, left;
  template <class TilesOf>
  __device__ explicit Shares(const TilesOf& shape) {
    if (shape.across > 1) {
      tile = clusterIndex(), begin = (int)Team<T>().number() * shape.share;
      end = min(shape.steps, begin + shape.share), left = end - begin;
      return;
    }
    const int first = (int)blockIdx.x / T::kCluster * shape.share;
    tile = first / shape.steps, begin = first - tile * shape.steps;
    left = min(shape.share, shape.tiles() * shape.steps - first);
    end = min(shape.steps, begin + left);
  }
  template <class TilesOf>
  __device__ bool isLeft(const TilesOf&) const {
    return left > 0;
  }
  template <class TilesOf>
  __device__ void next(const TilesOf& shape) {
    left -= end - begin;
    tile++, begin = 0, end = min(shape.steps, left);
  }
};

// Tiles of one product: those of the same rows of B one behind the other.
template <class T>
struct TurnedRows {
  using Turns = Shares<T>;
  static constexpr bool kEndsInside = true;
  static constexpr int kSumsOfWarp = T::kSums * 32;
  int M, N, steps, share;
  bool byEngine;
  int across;    // teams of a cluster, which divide a tile's K
  float* parts;  // (tiles, warps of a team, mostParts, kSums / 4, lanes, 4) where clusters do
  u32* arrived;  // (tiles, warps of a team)
  int mostParts;
  const u32* beyond;
  // Once the kernel before has made A ready: whether all scales are within bf16's range. If not, C
  // is another kernel's.
  __device__ bool isThere() const {
    waitForPredecessor();
    return *beyond == 0;
  }
  __device__ void meetAtEnd() const {
    if (across > 1) syncCluster();
  }
  __device__ bool mayStoreByEngine() const { return byEngine; }
  __device__ int tileRows() const { return gemm::ceilDiv(M, T::kTileN); }
  __device__ int tiles() const { return tileRows() * gemm::ceilDiv(N, T::kTileM * T::kCluster); }
  __device__ gemm::Place place(int tile, u32 rank) const {
    const int column = tile / tileRows(), row = tile - column * tileRows(),
              first = (column * T::kCluster + (int)(rank % T::kCluster)) * T::kTileM;
    return {row * T::kTileN, M, first, first};
  }
  // Of sums over a part of K: whether a warp has those of all K then, to store.
  template <class Places>
  __device__ bool takeParts(float (&sums)[T::kSums], const Turns& turn, const gemm::Place& place,
                            const Places& shared, Output* c, float factor,
                            gemm::Finish finish) const {
    if (across == 1) return addParts(sums, turn);
    storeAcross(sums, place, shared, c, factor, finish);
    return false;
  }
  // Teams' sums lie in their stages, which all have been read; each takes as many rows of C.
  template <class Places>
  __device__ void storeAcross(const float (&sums)[T::kSums], const gemm::Place& place,
                              const Places& shared, Output* c, float factor,
                              gemm::Finish finish) const {
    constexpr int kWarps = T::kConsumerWarps, kPitch = (T::kTileM + 4) * 4, kMostAcross = 4;
    static_assert(T::kTileN * kPitch <= T::kStages * T::kBytesStage, "room for sums");
    struct alignas(4 * sizeof(Output)) Four {
      Output of[4];
    };
    const int lane = threadIdx.x % 32, warp = (int)threadIdx.x / 32 - 4;
    const u32 own = shared.stage(0);
    const Team<T> team;
    syncSome<kWarps * 32>(1);
    // Straight from the accumulators to memory, the assembler would have products wait for one
    // another.
#pragma unroll
    for (int i = 0; i < T::kSums; i++) {
      const int row = i / 4 * 8 + lane % 4 * 2 + i % 2,
                column = warp * 16 + lane / 4 + i % 4 / 2 * 8;
      storeWord(own + row * kPitch + column * 4, __float_as_uint(sums[i] * factor));
    }
    syncCluster();
    const int each = gemm::ceilDiv(T::kTileN, across), first = (int)team.number() * each,
              end = min(min(first + each, T::kTileN), M - place.row), column = place.col + lane * 4;
#pragma unroll 2
    for (int row = first + warp; row < end; row += kWarps) {
      float4 added[kMostAcross];
#pragma unroll
      for (int of = 0; of < kMostAcross; of++)
        if (of < across)
          added[of] =
              loadFourThere(atCta(own + row * kPitch + lane * 16, of * T::kCluster + team.rank));
      float total[4] = {};
#pragma unroll
      for (int of = 0; of < kMostAcross; of++)
        if (of < across)
          total[0] += added[of].x, total[1] += added[of].y, total[2] += added[of].z,
              total[3] += added[of].w;
      Four four;
#pragma unroll
      for (int i = 0; i < 4; i++)
        four.of[i] = toOutput(finishedSum(total[i], 0.0f, finish.outputScale));
      Output* to = c + (long long)(place.row + row) * N + column;
      if (N % 4 == 0) {
        if (column < N) *reinterpret_cast<Four*>(to) = four;
      } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
          if (column + i < N) to[i] = four.of[i];
      }
    }
  }
  // A warp's sums and those of other clusters, if it comes last.
  __device__ bool addParts(float (&sums)[T::kSums], const Turns& turn) const {
    const int before = turn.tile * steps, first = before / share,
              others = (before + steps - 1) / share - first;
    if (others == 0) return true;
    const int lane = threadIdx.x % 32, cluster = (int)blockIdx.x / T::kCluster,
              warp = (turn.tile * T::kCluster + (int)clusterRank()) * T::kConsumerWarps +
                     (int)threadIdx.x / 32 - 4;
    float4* own = reinterpret_cast<float4*>(parts + (long long)warp * mostParts * kSumsOfWarp) +
                  (cluster - first) * (kSumsOfWarp / 4) + lane;
#pragma unroll
    for (int i = 0; i < T::kSums; i += 4)
      own[i * 8] = make_float4(sums[i], sums[i + 1], sums[i + 2], sums[i + 3]);
    __syncwarp();
    u32 order = lane == 0 ? countIn(arrived + warp) : 0;
    order = __shfl_sync(0xffffffff, order, 0);
    if ((int)order != others) return false;
    // For the next product; the manifest's row has them zero before the first.
    if (lane == 0) arrived[warp] = 0;
    __syncwarp();
    const float4* from = own - (cluster - first) * (kSumsOfWarp / 4);
    // Of two it does not matter which is first.
    const int known = others == 1 ? cluster - first : -1;
    if (known < 0)
#pragma unroll
      for (int i = 0; i < T::kSums; i++) sums[i] = 0;
    for (int part = 0; part <= others; part++, from += kSumsOfWarp / 4) {
      if (part == known) continue;
#pragma unroll
      for (int i = 0; i < T::kSums; i += 4) {
        const float4 four = __ldcg(from + i * 8);
        sums[i] += four.x, sums[i + 1] += four.y, sums[i + 2] += four.z, sums[i + 3] += four.w;
      }
    }
    return true;
  }
};

template <class T>
struct CodesOfB {
  static_assert(T::kCluster == 2 && T::kTileM == 128,
                "half of A for each CTA, a row of B for each thread");
  static constexpr int kWarps = 4, kArrivals = 1 + kWarps;
  // Scales are loaded one by one, or two at a time where rows of them begin at even places.
  static constexpr int kLoads = 2, kOfLoad = T::kScales / kLoads;
  static_assert(kOfLoad == 1 || kOfLoad == 2, "scales of 32 or 16 elements");

  const TensorMap *aMap, *codesMap;
  const u8* scales;  // of all rows of B
  int rowsB, K;

  // A stage of a tile.
  template <class TilesOf>
  struct StageOf {
    typename TilesOf::Turns turn;
    int step;
    gemm::Place place;
    __device__ StageOf(const TilesOf& shape, u32 rank) : turn(shape) { enter(shape, rank); }
    __device__ void enter(const TilesOf& shape, u32 rank) {
      step = turn.begin;
      if (turn.isLeft(shape)) place = shape.place(turn.tile, rank);
    }
    __device__ void advance(const TilesOf& shape, u32 rank) {
      if (++step < turn.end) return;
      turn.next(shape);
      enter(shape, rank);
    }
  };

  // Scale codes of this thread's row; 0 beyond B, where codes are zeros.
  template <class Stage>
  __device__ void loadScales(u32 (&codes)[kLoads], const Stage& stage) const {
    const int row = stage.place.rowB + (int)threadIdx.x, ofRow = K / SCALE_BLOCK,
              first = stage.step * T::kScales;
    const u8* at = scales + ((long long)row * ofRow + first);
#pragma unroll
    for (int i = 0; i < kLoads; i++) {
      codes[i] = 0;
      if (row < rowsB && first + i * kOfLoad < ofRow)
        codes[i] = kOfLoad == 2 ? reinterpret_cast<const u16*>(at)[i] : at[i];
    }
  }
  __device__ static void storeScales(u32 to, const u32 (&codes)[kLoads]) {
#pragma unroll
    for (int i = 0; i < T::kScales; i++) {
      const u32 code = codes[i / kOfLoad] >> 8 * (i % kOfLoad) & 255;
      storeWord(to + T::placeOfScale(i) * 4, SCALE_FORMAT == 5
                                                 ? code * 0x00800080
                                                 : bothHalves(decodeScale<SCALE_FORMAT>(code)));
    }
  }

  template <class TilesOf>
  __device__ void load(TilesOf shape, gemm::Shared<T> shared) const {
    const Team<T> team;
    const u32 rank = team.rank;
    const bool isElected = electOne(), isLoading = isElected && threadIdx.x / 32 == 0;
    RingPosition<T::kStages> ring;
    StageOf<TilesOf> stage(shape, rank);
    u32 codes[kLoads] = {};
    if (stage.turn.isLeft(shape)) loadScales(codes, stage);
#pragma unroll 1
    while (stage.turn.isLeft(shape)) {
      StageOf<TilesOf> next = stage;
      next.advance(shape, rank);
      u32 coming[kLoads] = {};
      if (next.turn.isLeft(shape)) loadScales(coming, next);
      const u32 full = shared.full(ring.stage), a = shared.stage(ring.stage),
                beside = shared.beside(ring.stage);
      waitFor(shared.empty(ring.stage), ring.phase ^ 1);
      if (isLoading) {
        expectBytes(full, T::kBytesStage + T::kBytesOfCodes);
        loadBoxMulticast(a + rank * (T::kBytesStage / 2), aMap, stage.step * T::kElements,
                         stage.place.row + rank * (T::kTileN / 2), full, team.mask());
#pragma unroll
        for (int box = 0; box < T::kBoxes; box++)
          loadBox(beside + box * T::kBytesBox, codesMap, stage.step * T::kRowBytes + box * 32,
                  stage.place.rowB, full);
      }
      storeScales(beside + T::kBytesOfCodes + threadIdx.x * T::kRowFactors, codes);
      __syncwarp();
      if (isElected) arriveHere(full);
      ring.advance();
      stage = next;
#pragma unroll
      for (int i = 0; i < kLoads; i++) codes[i] = coming[i];
    }
    shape.meetAtEnd();
  }
};

// C of groups, as runGroups() has it; B's codes are rows of K of all groups' matrices.
template <bool ByEngine>
__device__ inline void runGroupsOfCodes(const TensorMap* aMap, const TensorMap* codesMap,
                                        const u8* bScales, const TensorMap* cMap, Output* c,
                                        GroupTables of, int N, int K, float tensorScale,
                                        gemm::Finish finish) {
  using T = ProductOfCodes;
  const TurnedGroups<T> shape{{of, N, gemm::stepsOf<T>(K)}};
  gemm::runOf<T, ByEngine>(shape, CodesOfB<T>{aMap, codesMap, bScales, of.groups * N, K}, cMap, c,
                           factorOf<T>(tensorScale), finish);
}

// C of one product, of rows of A that widenRowsOfOne has put in order.
template <int TileN, int Stages>
__device__ inline void runRowsOfCodes(const TensorMap* aMap, const TensorMap* codesMap,
                                      const u8* bScales, const TensorMap* cMap, Output* c,
                                      TurnedRows<ProductOfCodesOver<TileN, Stages>> shape, int K,
                                      float tensorScale, gemm::Finish finish) {
  using T = ProductOfCodesOver<TileN, Stages>;
  gemm::runOf<T, sizeof(Output) == 2>(shape, CodesOfB<T>{aMap, codesMap, bScales, shape.N, K}, cMap,
                                      c, factorOf<T>(tensorScale), finish);
}

}  // namespace bf16gemm
