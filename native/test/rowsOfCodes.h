// The same product on one problem: tiles of 128, 192 and 256 rows, K divided among the CTAs of a
// cluster and among clusters, in whichever order these come to an end. A test names the formats
// (codesProduct.h) and includes this, which is the whole program.
#pragma once

#define GROUPED 0
#include <cstring>

#include "codesProduct.h"
#include "manifestValues.h"

namespace {

struct Shape {
  int m, n, k;
  // Stages of a cluster, or of each pair of CTAs where so many of them divide a tile's K.
  int share, across = 1;
};

// Parts of a tile that the manifest's row has room for.
int partsOf(int steps, int share, int across) {
  static const std::string expression = [] {
    const Json manifest = readManifest();
    for (const Json& row : manifest["kernels"].list)
      if (row["file"].text == "wgmma.cu") return row["values"]["CODE_PARTS"].text;
    return std::string();
  }();
  return static_cast<int>(cuda::evaluate(
      expression, {{"CODE_STEPS", steps}, {"CODE_SHARE", share}, {"CODE_ACROSS", across}}));
}

struct Outcome {
  std::string thrown;
  int64_t wrong = 0;
  bool isBeyond = false;
  std::vector<Output> c;
};

template <int TileN, int Stages>
Outcome outcome(const Shape& of, Mistake mistake = Mistake::kNone, bool isBackwards = false,
                int scale = -1) {
  using T = bf16gemm::ProductOfCodesOver<TileN, Stages>;
  const auto [m, n, k, share, across] = of;
  Rows a(m, k);
  ScaledMatrix b({B_FORMAT, SCALE_FORMAT, SCALE_BLOCK}, n, k, 80, "linear");
  if (scale >= 0) b.scales.back() = static_cast<uint8_t>(scale);

  Outcome result;
  std::vector<u16> wide(int64_t{m} * k);
  // And how many CTAs have seen it.
  u32 beyond[2] = {};
  const auto widen = [&] {
    for (u32 i = 0; i < piecesOfOne(m, n, k); i++)
      widenRowsOfOne(i, a.packed.data(), a.scales.data(), b.scales.data(), wide.data(), m, n, k,
                     beyond);
  };

  const int steps = gemm::stepsOf<T>(k), tiles = (m + TileN - 1) / TileN * ((n + 255) / 256),
            mostParts = partsOf(steps, share, across),
            clusters = across > 1 ? tiles : (tiles * steps + share - 1) / share;
  std::vector<float4> parts(int64_t{tiles} * mostParts * 256 * TileN / 4);
  std::vector<u32> arrived(tiles * CLUSTER * T::kConsumerWarps);
  const bool byEngine = kByEngine && n % 8 == 0;
  result.c.assign(int64_t{m} * n + 1, toOutput(1234.5f));
  const hopper::TensorMap aMap{
      reinterpret_cast<uint8_t*>(wide.data()), k * 2, m, 128, TileN / 2, 2};
  const hopper::TensorMap codesMap{b.packed.data(), k * kBits(B_FORMAT) / 8, n, 32, WIDE_TILE_M, 1};
  const hopper::TensorMap cMap{
      reinterpret_cast<uint8_t*>(result.c.data()), n * 2, m, 32, T::kPieceRows, 2};
  // Twice: the second finds the counters as the first left them.
  result.thrown = messageOf([&] {
    for (int i = 0; i < 2; i++) {
      widen();
      result.isBeyond = beyond[0] != 0;
      hopper::launch(
          {clusters,
           CLUSTER * across,
           T::kThreads,
           gemm::Shared<T>::kBytes,
           {},
           mistake,
           isBackwards},
          [&] {
            bf16gemm::runRowsOfCodes<TileN, Stages>(
                &aMap, &codesMap, &cMap, result.c.data(),
                {a.packed.data(), b.packed.data(), a.scales.data(), b.scales.data()},
                {m, n, steps, share, byEngine, across, reinterpret_cast<float*>(parts.data()),
                 arrived.data(), mostParts, beyond},
                k, kTensorScale, {nullptr, 1.0f});
          });
      result.wrong += beyond[0] + beyond[1];
    }
  });
  for (int row = 0; row < m; row++)
    for (int col = 0; col < n; col++)
      result.wrong += !isProductOf(result.c[int64_t{row} * n + col], a, row, b, col);
  result.wrong += result.c.back() != toOutput(1234.5f);
  return result;
}

template <int TileN, int Stages>
void isRight(const Shape& of) {
  const Outcome got = outcome<TileN, Stages>(of),
                backwards = outcome<TileN, Stages>(of, Mistake::kNone, true);
  const std::string name = std::to_string(of.m) + " x " + std::to_string(of.n) + " x " +
                           std::to_string(of.k) + ", " + std::to_string(of.share) + " stages, " +
                           std::to_string(of.across) + " across: ";
  checkThat(got.thrown == "nothing was thrown" && got.wrong == 0 && !got.isBeyond,
            name + got.thrown + ", " + std::to_string(got.wrong) + " wrong", __FILE__, __LINE__);
  checkThat(std::memcmp(got.c.data(), backwards.c.data(), got.c.size() * sizeof(Output)) == 0,
            name + "other bits when the last cluster comes first", __FILE__, __LINE__);
}
// K among the CTAs of a cluster, or among clusters.
void isSeen(Mistake mistake, const std::string& text, const Shape& of) {
  const Outcome got = outcome<128, CODE_STAGES_128>(of, mistake);
  const bool isSeen = text.empty() ? got.wrong > 0 : got.thrown.find(text) != std::string::npos;
  checkThat(isSeen, "mistake " + std::to_string(static_cast<int>(mistake)) + ": " + got.thrown,
            __FILE__, __LINE__);
}

void checkProduct() {
  // Whole tiles, one after the other; a K that ends inside a stage; columns that the engine cannot
  // store.
  isRight<128, CODE_STAGES_128>({130, 264, 160, 2 * 3});
  isRight<192, CODE_STAGES_192>({70, 37, 96, 2});
  // Parts of a tile by two clusters, and by more; of tiles that begin where the one before ends.
  isRight<128, CODE_STAGES_128>({5, 520, 320, 4});
  isRight<256, CODE_STAGES>({200, 40, 416, 2});
  // Whole parts of each tile.
  isRight<256, CODE_STAGES>({200, 300, 384, 3});
  // By the CTAs of a cluster; the last has fewer stages.
  isRight<128, CODE_STAGES_128>({100, 272, 384, 3, 2});
  isRight<192, CODE_STAGES_192>({150, 43, 448, 3, 3});
  isRight<256, CODE_STAGES>({250, 132, 448, 2, 4});
}
void checkMistakes() {
  const Shape across = {20, 64, 512, 4, 2}, shares = {20, 64, 512, 3};
  for (const Shape& of : {across, shares}) {
    isSeen(Mistake::kNoPeersHalf, "every thread waits for another", of);
    // More stages than the ring has.
    isSeen(Mistake::kOwnBarrierAlone, "every thread waits for another",
           {20, 64, 1536, 12, of.across});
    isSeen(Mistake::kEarlyRead, "a read", of);
    isSeen(Mistake::kEarlyChange, "registers change under a product", of);
    isSeen(Mistake::kNoSwizzle, "", of);
    isSeen(Mistake::kOtherChunk, "", of);
  }
  isSeen(Mistake::kNoClusterSync, "may not be there yet", across);
}

// One scale of B beyond what bf16 takes, the last: in float64 then, by all CTAs.
void checkScales() {
  for (const auto& [scale, isBeyond] :
       {std::pair{14, false}, {244, false}, {13, true}, {245, true}})
    for (const Shape& of : {Shape{3, 40, 64, 1}, {70, 300, 96, 1, 2}}) {
      const Outcome got = outcome<128, CODE_STAGES_128>(of, Mistake::kNone, false, scale);
      checkThat(got.thrown == "nothing was thrown" && got.wrong == 0 && got.isBeyond == isBeyond,
                "scale " + std::to_string(scale) + ": " + got.thrown + ", " +
                    std::to_string(got.wrong) + " wrong",
                __FILE__, __LINE__);
    }
}

}  // namespace

int main() {
  checkProduct();
  // The machine's mistakes and scales of 8 bits are alike in all formats: once.
  if (A_FORMAT == 0 && SCALE_FORMAT == 5) checkMistakes(), checkScales();
  return summary();
}
