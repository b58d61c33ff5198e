// The tcgen05 kernel itself (resources/kernels/cuda/common/tcgen05/gemm.cuh), compiled for the CPU,
// its threads as fibers over the model of tensor memory: C bit for bit as the instructions one
// after the other make it. And what must be seen.
#include "../../resources/kernels/cuda/common/tcgen05/gemm.cuh"
#include "../cuda/expression.h"
#include "productCheck.h"
#include "readJson.h"
#include "scaledProduct.h"
#include "tensorMachine.h"

using fibers::TensorMistake;

namespace {

template <class T, typename Output>
struct Product {
  static constexpr float kFactor = 0.75f;
  static constexpr int kScaleFormat = T::form().scale;
  int m, n, k, groups;
  ScaledMatrix a{{T::kA, kScaleFormat, T::kScaleBlock}, m, k, 0, "nvidia_32_4_4"},
      b{{T::kB, kScaleFormat, T::kScaleBlock}, n, k, 2, "nvidia_32_4_4"};
  GuardedOutput<Output> c{m, n};

  void run(TensorMistake mistake = TensorMistake::kNone) {
    c = {m, n};
    const fibers::TensorLaunch launch{groups, T::kBytes, a, b, {c.data(), c.bytes()}, mistake};
    const tcgen05::Problem problem = {m, n, k};
    fibers::launchTensor<T, Output>(launch, [&](const fibers::TensorMachine<T, Output>& machine) {
      tcgen05::run<T>(machine, problem, kFactor, c.data());
    });
  }
  int wrong(int every) const { return wrongElements(T::form(), a, b, c, kFactor, every); }
};

// As resources/kernels/cuda/manifest.json has them.
template <int A, int B>
using Tile = tcgen05::Tile<A, B, 5, 32, 192, 5, 1>;
using Nvfp4 = tcgen05::Tile<0, 0, 6, 16, 192, 4, 1>;
using Mxfp4By16 = tcgen05::Tile<0, 0, 5, 16, 192, 4, 1>;
template <int A, int B>
using PairTile = tcgen05::Tile<A, B, 5, 32, 192, 7, 2>;
using PairNvfp4 = tcgen05::Tile<0, 0, 6, 16, 192, 6, 2>;
using PairMxfp4By16 = tcgen05::Tile<0, 0, 5, 16, 192, 6, 2>;

template <class T, typename Output>
void isRight(int m, int n, int k, int groups, int every) {
  Product<T, Output> product{m, n, k, groups};
  checkProduct(pairName(T::kA, T::kB, T::kScaleBlock), product, every);
}

// Odd shapes, tails of K, several tiles a block, both halves of 128 columns, a ring that turns.
void shapes() {
  isRight<Nvfp4, uint16_t>(131, 200, 288, 1, 7);
  isRight<Nvfp4, float>(5, 40, 1568, 1, 1);
  isRight<Tile<0, 0>, float>(33, 421, 96, 1, 3);
  isRight<Tile<0, 0>, uint16_t>(129, 30, 1312, 2, 3);
  isRight<Mxfp4By16, uint16_t>(17, 24, 160, 1, 1);
  isRight<Tile<3, 3>, uint16_t>(257, 24, 160, 1, 7);
  isRight<Tile<4, 3>, float>(40, 21, 800, 1, 1);
  isRight<Tile<3, 0>, uint16_t>(20, 225, 128, 1, 3);
  isRight<Tile<1, 2>, float>(20, 133, 256, 1, 3);
  isRight<Tile<0, 4>, float>(9, 8, 128, 1, 1);
}

// The same of a pair, whose halves of B are of equal size and whose second CTA may have no rows.
void pairs() {
  isRight<PairNvfp4, uint16_t>(259, 200, 288, 1, 7);
  isRight<PairNvfp4, float>(5, 40, 2080, 1, 1);
  isRight<PairTile<0, 0>, float>(133, 421, 96, 1, 5);
  isRight<PairTile<0, 0>, uint16_t>(129, 30, 2336, 2, 3);
  isRight<PairMxfp4By16, uint16_t>(17, 24, 160, 1, 1);
  isRight<PairTile<3, 3>, uint16_t>(300, 24, 1184, 1, 7);
  isRight<PairTile<4, 3>, float>(140, 85, 288, 1, 3);
  isRight<PairTile<3, 0>, uint16_t>(20, 225, 128, 1, 3);
  isRight<PairTile<1, 2>, float>(130, 133, 256, 1, 3);
}

// What the manifest's rows, native and emulated, have the host do is what these tiles are.
template <class T>
void isAsInTheManifest() {
  const Json manifest = readJson("../../resources/kernels/cuda/manifest.json");
  int rows = 0;
  for (const Json& row : manifest["kernels"].list) {
    if (row["file"].text != "tcgen05.cu") continue;
    rows++;
    blockscope::cuda::Variables names;
    for (const auto& [name, value] : row["constants"].members) names[name] = int(value);
    const Json& variant = row["variants"][T::kCtas - 1];
    const std::string id = T::kCtas == 1 ? "tcgen05" : "tcgen05-pair";
    CHECK(variant["id"].text == (names.contains("EMULATED") ? id + "-emulated" : id));
    for (const auto& [name, value] : variant["constants"].members) names[name] = int(value);
    names["V"] = T::kScaleBlock;
    names["BITS_A"] = tcgen05::storageBits(T::kA), names["BITS_B"] = tcgen05::storageBits(T::kB);
    int launches = 0;
    for (const Json& launch : row["launches"].list) {
      const auto when = launch.members.find("when");
      if (when != launch.members.end() && blockscope::cuda::evaluate(when->second.text, names) == 0)
        continue;
      launches++;
      CHECK(blockscope::cuda::evaluate(launch["sharedBytes"].text, names) == T::kBytes);
    }
    CHECK(launches == 1);
    CHECK(names["CTAS"] == T::kCtas && names["TILE_M"] == T::kTileM);
    CHECK(names["TILE_N"] == T::kTileN && names["SCALED_N"] == T::kScaledB);
    CHECK(names[T::kScaleBlock == 16 ? "STAGES_16" : "STAGES"] == T::kStages);
  }
  CHECK(rows == 2);
}

// A mistake ends in `text`, or, without one, in a wrong product.
template <class T>
void isSeen(TensorMistake mistake, const std::string& text, int m = 40, int k = 512) {
  Product<T, float> product{m, 24, k, 1};
  const std::string thrown = messageOf([&] { product.run(mistake); });
  const bool seen = text.empty() ? thrown == "nothing was thrown" && product.wrong(1) > m * 24 / 4
                                 : thrown.find(text) != std::string::npos;
  checkThat(seen,
            std::to_string(T::kScaleBlock) + " a scale, mistake " +
                std::to_string(static_cast<int>(mistake)) + " not seen: " + thrown,
            __FILE__, __LINE__);
}

template <class T>
void mistakesAreSeen() {
  // So many that each of two accumulators is used again; so long that every stage is.
  const int threeTiles = 2 * T::kTileM + 44, allStages = 2 * T::kTileK * (T::kStages + 1);
  // Half of B is so small that the rows lie beyond the stages that are filled.
  isSeen<T>(TensorMistake::kStride, T::kCtas == 1 ? "" : "the tensor core reads what nobody wrote");
  isSeen<T>(TensorMistake::kNarrowStride, "operand A: a stride of 512 bytes");
  isSeen<T>(TensorMistake::kVersion, "version is 0");
  if (T::form().vector < 4) isSeen<T>(TensorMistake::kScaleId, "");
  isSeen<T>(TensorMistake::kScaleColumn, "");
  isSeen<T>(TensorMistake::kNoSwizzle, "");
  isSeen<T>(TensorMistake::kNoScales, ", which nobody wrote");
  isSeen<T>(TensorMistake::kNoCommit, "every thread waits for another");
  isSeen<T>(TensorMistake::kNoWaitForStage, "the tensor core reads");
  isSeen<T>(TensorMistake::kNoWaitForSums, "tcgen05.ld reads column");
  isSeen<T>(TensorMistake::kNoWaitForRoom, "more arrivals in a phase", 40, allStages);
  isSeen<T>(TensorMistake::kEarlyArrival, "tensor memory column 0 is ", threeTiles);
  isSeen<T>(TensorMistake::kNoLoadWait, "tcgen05.wait::ld is missing", threeTiles);
  isSeen<T>(TensorMistake::kNoFenceAfter, "fence::after_thread_sync");
  isSeen<T>(TensorMistake::kNoFenceBefore, "fence::before_thread_sync");
  isSeen<T>(TensorMistake::kNoFree, "tcgen05.dealloc is missing");
  isSeen<T>(TensorMistake::kOtherRows, "reaches lanes from");
}

template <class T>
void mistakesOfPairsAreSeen() {
  isSeen<T>(TensorMistake::kNoCommitToPeer, "every thread waits for another");
  isSeen<T>(TensorMistake::kCommitToPeerAlone, "every thread waits for another");
  isSeen<T>(TensorMistake::kStrangeMask, "CTA 2 is told of a cluster of 2");
  isSeen<T>(TensorMistake::kNoHalf, "every thread waits for another");
  isSeen<T>(TensorMistake::kNoHalfExpected, "the tensor core reads what nobody wrote");
  isSeen<T>(TensorMistake::kOtherHalf, "");
  isSeen<T>(TensorMistake::kOwnBytesExpected, "every thread waits for another");
  isSeen<T>(TensorMistake::kPeersBarrier, "every thread waits for another");
  isSeen<T>(TensorMistake::kHalfOfRows, "cta_group::2 has 256 x 16 to 256");
  isSeen<T>(TensorMistake::kNoPeerAllocation, "every thread waits for another");
  isSeen<T>(TensorMistake::kPeerKeeps, "of tensor memory of CTA 1 are not freed");
  isSeen<T>(TensorMistake::kNoClusterSync, "which has ended");
}

}  // namespace

int main() {
  isAsInTheManifest<Nvfp4>();
  isAsInTheManifest<Tile<0, 0>>();
  isAsInTheManifest<Tile<3, 3>>();
  isAsInTheManifest<Tile<3, 0>>();
  isAsInTheManifest<PairNvfp4>();
  isAsInTheManifest<PairTile<0, 0>>();
  isAsInTheManifest<PairTile<3, 3>>();
  isAsInTheManifest<PairTile<3, 0>>();
  shapes();
  pairs();
  mistakesAreSeen<Nvfp4>();
  mistakesAreSeen<Tile<3, 3>>();
  mistakesAreSeen<PairTile<0, 0>>();
  mistakesOfPairsAreSeen<PairNvfp4>();
  mistakesOfPairsAreSeen<PairTile<3, 3>>();
  return summary();
}
