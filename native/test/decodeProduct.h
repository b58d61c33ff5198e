// A product of a kernel for few rows of A on the machine: its launches as the
// manifest's row has them, and how many of its sums are wrong. Included behind the kernel.
#pragma once

#include "decodeOperands.h"

namespace {

using hopper::Mistake;

// The kernel that has A in e5m2, with a factor for each row, or the one that has it in bf16.
#define IN_E5M2 (A_FORMAT == 0 && SCALE_FORMAT == 5 && SCALE_BLOCK == 32)
constexpr bool kIsFp8 = IN_E5M2;
constexpr const char* kKernel = kIsFp8 ? "decode-fp8" : "decode";
constexpr int kTokenBytes = kIsFp8 ? 1 : 2;
// Whether there are kernels that take A as it is.
constexpr bool kBothAreFp8 = kBits(A_FORMAT) == 8 && kBits(B_FORMAT) == 8;

#if IN_E5M2
template <int Tokens, int Tiles>
using Operand = decode::Mxfp4<Tokens, Tiles>;
#else
template <int Tokens, int Tiles>
using Operand = decode::Bf16<Tokens, Tiles>;
#endif

// Elements of K a stage, of the kernel for so many columns and tiles at a time.
int stageOf(int columns, int tiles) {
  if (tiles > 1)
    return columns == 16   ? Operand<16, 2>::kStageK
           : columns == 32 ? Operand<32, 2>::kStageK
                           : Operand<64, 2>::kStageK;
  return columns == 8    ? Operand<8, 1>::kStageK
         : columns == 16 ? Operand<16, 1>::kStageK
         : columns == 32 ? Operand<32, 1>::kStageK
                         : Operand<64, 1>::kStageK;
}

// Numbers of a part's slot: what all threads that multiply have of so many columns.
int numbersOfSlot(int columns) { return columns / 2 * (THREADS - 128); }

struct Product {
  // How K is divided: stages of each CTA one after the other, or, of groups and where the rest
  // comes first, parts of each tile; 0, or 1 of groups: not.
  int m, n, k, divided = 0, ctas = 1;  // that the launch has, where K is not divided
  std::vector<int> groups = {m};       // rows of each
  int matrices = static_cast<int>(groups.size());
  Activations a{m, k};
  ScaledMatrix b{{B_FORMAT, SCALE_FORMAT, SCALE_BLOCK}, n * matrices, k, 60, "linear"};
  GuardedOutput<float> c{m, n};
  int across = 1;             // CTAs that divide a tile's K, where it is divided
  int depth = 4;              // of the ring, up to eight rows of A
  bool restFirst = false;     // tiles that are more than whole turns of CTAs are divided, the first
  bool mayBeAlone = true;     // a kernel that needs none before it may be taken
  int leftParts = 0;          // numbers of parts that are not zero after a run
  bool isOtherAgain = false;  // sums that are computed again are others: by other codes of B

  void run(Mistake mistake = Mistake::kNone) {
    const int columns = this->columns(), tilesAtOnce = this->tilesAtOnce();
    const int rowsOfB = n * matrices, blocks = ceilDivided(rowsOfLargest(), columns);
    const int stageK = stageOf(columns, tilesAtOnce);
    const int tiles = ceilDivided(n, ROWS) * matrices * blocks;
    const int scales = k / SCALE_BLOCK, pitch = (scales + 15) / 16 * 16;
    std::vector<uint8_t> tokens(m * k * kTokenBytes), pitched(rowsOfB * pitch);
    const int stages = ceilDivided(k, stageK), splits = GROUPED ? divided : across,
              share = GROUPED      ? 0
                      : across > 1 ? ceilDivided(stages, across)
                      : restFirst  ? ceilDivided(stages, divided)
                                   : divided,
              clusters = restFirst    ? ctas
                         : across > 1 ? tiles
                         : share > 0  ? ceilDivided(tiles * stages, share)
                                      : ctas;
    // A slot of each part of K.
    const int slots = GROUPED ? tiles * splits : clusters;
    std::vector<float> factors(m), parts(slots * numbersOfSlot(columns));
    const std::vector<int> starts = startsOf(groups);
    const int *first = starts.data(), *rows = groups.data();
    const int scaleRows = this->scaleRows();
    const int copied = scaleRows * scales % 16 == 0 ? 0 : rowsOfB * pitch / 16;
#if IN_E5M2
    if (!isAlone())
      hopper::launch({m + ceilDivided(copied, ENCODE_THREADS), 1, ENCODE_THREADS, 0}, [&] {
        prepare(a.codes.data(), a.scales.data(), b.scales.data(), tokens.data(), factors.data(),
                pitched.data(), m, n, k, pitch, first, rows, matrices);
      });
#else
    const int ofTokens = ceilDivided(m * k / 32, PREPARE_THREADS);
    if (!isAlone() && !isAsItIs())
      hopper::launch({ofTokens + ceilDivided(copied, PREPARE_THREADS), 1, PREPARE_THREADS, 0}, [&] {
        prepare(a.codes.data(), a.scales.data(), b.scales.data(),
                reinterpret_cast<u16*>(tokens.data()), pitched.data(), m, n, k, pitch, ofTokens,
                first, rows, matrices);
      });
#endif
    std::vector<uint8_t> again = b.packed;
    for (int i = 0; i < k / 4 && isOtherAgain; i++)
      for (int row = 0; row < rowsOfB; row++) again[row * (again.size() / rowsOfB) + i] ^= 0x22;
    const hopper::TensorMap codesMap{
        b.packed.data(), k * kBits(B_FORMAT) / 8, rowsOfB, 128, ROWS, 1};
    const hopper::TensorMap scalesMap{copied ? pitched.data() : b.scales.data(),
                                      copied ? pitch : scaleRows * scales,
                                      rowsOfB / scaleRows,
                                      std::max(16, stageK / SCALE_BLOCK) + (scaleRows > 1 ? 16 : 0),
                                      ROWS / scaleRows,
                                      1,
                                      false,
                                      copied > 0,
                                      scaleRows > 1};
    const hopper::TensorMap tokensMap{tokens.data(), k * kTokenBytes, m,    128,
                                      columns,       kTokenBytes,     true, true};
    hopper::launch(
        {clusters, across, THREADS, SHARED_BYTES, {{factors.data(), m * sizeof(float)}}, mistake},
        [&] {
          const auto call = [&](auto kernel) {
            kernel(codesMap, scalesMap, tokensMap, a.codes.data(), again.data(), a.scales.data(),
                   b.scales.data(),
#if IN_E5M2
                   factors.data(), parts.data(), c.data(), m, n, k, splits, share, depth,
                   copied > 0,
#else
                   parts.data(), c.data(), m, n, k, splits, share, depth, copied > 0, 1.0f,
#endif
                   first, rows, matrices);
          };
#if !GROUPED && IN_E5M2
          if (isAlone()) {
            auto kernel = columns == 8 ? multiplyAlone8 : multiplyAlone16;
            if (scaleRows > 1)
              kernel = columns == 8 ? multiplyAlone8OfEight : multiplyAlone16OfEight;
            kernel(codesMap, scalesMap, a.codes.data(), again.data(), a.scales.data(),
                   b.scales.data(), parts.data(), c.data(), m, n, k, splits, share, depth);
            return;
          }
#endif
#if !GROUPED && BOTH_ARE_FP8
          if (isAsItIs()) {
            (columns == 8 ? multiply8AsTheyAre : multiply16AsTheyAre)(
                codesMap, scalesMap, {a.codes.data(), k, m, 128, columns, 1},
                {a.scales.data(), scales, m, 16, columns, 1, false}, a.codes.data(), again.data(),
                a.scales.data(), b.scales.data(), parts.data(), c.data(), m, n, k, splits, share);
            return;
          }
#endif
#if !GROUPED
          if (restFirst) {
            const int rest = tiles % ctas, ofRest = ceilDivided(stages, share);
            auto kernel = columns == 32 ? multiply32Rest : multiply64Rest;
            kernel(codesMap, scalesMap, tokensMap, a.codes.data(), again.data(), a.scales.data(),
                   b.scales.data(),
#if IN_E5M2
                   factors.data(), parts.data(), c.data(), m, n, k, share, rest, ofRest
#else
                   parts.data(), c.data(), m, n, k, share, rest, ofRest, 1.0f
#endif
            );
            return;
          }
#if B_FORMAT == 0 && !IN_E5M2
          if (tilesAtOnce > 1 && columns == 16) return call(multiply16Pairs);
#endif
          if (tilesAtOnce > 1) return call(columns == 32 ? multiply32Pairs : multiply64Pairs);
#endif
          if (scaleRows > 1)
            return call(columns == 8    ? multiply8OfEight
                        : columns == 16 ? multiply16OfEight
                        : columns == 32 ? multiply32OfEight
                                        : multiply64OfEight);
          call(columns == 8    ? multiply8
               : columns == 16 ? multiply16
               : columns == 32 ? multiply32
                               : multiply64);
        });
    leftParts = static_cast<int>(
        std::count_if(parts.begin(), parts.end(), [](float part) { return part != 0; }));
  }
  // As the manifest's COLUMNS, TILES, SCALE_ROWS, ALONE and AS_THEY_ARE.
  int rowsOfLargest() const { return *std::max_element(groups.begin(), groups.end()); }
  int columns() const {
    const int rows = rowsOfLargest();
    return rows <= 8 ? 8 : rows <= 16 ? 16 : rows <= 32 ? 32 : 64;
  }
  int tilesAtOnce() const {
    const int tiles = ceilDivided(rowsOfLargest(), columns()) * ceilDivided(n, ROWS);
    const bool areMany =
        columns() > 16 ? tiles > ctas
                       : columns() == 16 && kBits(B_FORMAT) == 4 && !kIsFp8 && tiles > 3 * ctas;
    return !GROUPED && divided == 0 && areMany ? 2 : 1;
  }
  int scaleRows() const {
    const int scales = k / SCALE_BLOCK;
    return tilesAtOnce() == 1 && scales % 16 != 0 && scales % 2 == 0 && n % 8 == 0 ? 8 : 1;
  }
  bool isAlone() const {
    return kIsFp8 && mayBeAlone && !GROUPED && m <= 16 &&
           ceilDivided(k, STAGE_K) * STAGE_K * columns() <= OWN_BYTES &&
           scaleRows() * (k / SCALE_BLOCK) % 16 == 0;
  }
  static bool isAsItIs(int m, int k) {
    return kBothAreFp8 && !GROUPED && m <= 16 && k % STAGE_K == 0;
  }
  bool isAsItIs() const { return mayBeAlone && isAsItIs(m, k); }
  int wrong(int every) const { return wrongOf(*this, every) + leftParts; }
};

}  // namespace

#include "decodeNumbers.h"
