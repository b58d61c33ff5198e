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
  int m, n, k, blocks;
  ScaledMatrix a{{T::kA, kScaleFormat, T::kScaleBlock}, m, k, 0, "nvidia_32_4_4"},
      b{{T::kB, kScaleFormat, T::kScaleBlock}, n, k, 2, "nvidia_32_4_4"};
  GuardedOutput<Output> c{m, n};

  void run(TensorMistake mistake = TensorMistake::kNone) {
    c = {m, n};
    const fibers::TensorLaunch launch{blocks, T::kBytes, a, b, {c.data(), c.bytes()}, mistake};
    const tcgen05::Problem problem = {a.placed.data(), b.placed.data(), m, n, k};
    fibers::launchTensor<T, Output>(launch, [&](const fibers::TensorMachine<T, Output>& machine) {
      tcgen05::run<T>(machine, problem, kFactor, c.data());
    });
  }
  int wrong(int every) const { return wrongElements(T::form(), a, b, c, kFactor, every); }
};

// As resources/kernels/cuda/manifest.json has them.
template <int A, int B>
using Tile = tcgen05::Tile<A, B, 5, 32, 192, 5>;
using Nvfp4 = tcgen05::Tile<0, 0, 6, 16, 192, 4>;
using Mxfp4By16 = tcgen05::Tile<0, 0, 5, 16, 192, 4>;

template <class T, typename Output>
void isRight(int m, int n, int k, int blocks, int every) {
  Product<T, Output> product{m, n, k, blocks};
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

// What the manifest's row has the host do is what these tiles are.
template <class T>
void isAsInTheManifest() {
  const Json manifest = readJson("../../resources/kernels/cuda/manifest.json");
  for (const Json& row : manifest["kernels"].list) {
    if (!row.members.count("id") || row["id"].text != "tcgen05") continue;
    blockscope::cuda::Variables names;
    for (const auto& [name, value] : row["constants"].members) names[name] = int(value);
    names["V"] = T::kScaleBlock;
    names["BITS_A"] = tcgen05::storageBits(T::kA), names["BITS_B"] = tcgen05::storageBits(T::kB);
    int launches = 0;
    for (const Json& launch : row["launches"].list) {
      if (blockscope::cuda::evaluate(launch["when"].text, names) == 0) continue;
      launches++;
      CHECK(blockscope::cuda::evaluate(launch["sharedBytes"].text, names) == T::kBytes);
    }
    CHECK(launches == 1);
    CHECK(names["TILE_N"] == T::kTileN && names["SCALED_N"] == T::kScaledB);
    CHECK(names[T::kScaleBlock == 16 ? "STAGES_16" : "STAGES"] == T::kStages);
    return;
  }
  CHECK(!"the manifest has the row");
}

// A mistake ends in `text`, or, without one, in a wrong product.
template <class T>
void isSeen(TensorMistake mistake, const std::string& text, int m = 40, int k = 512) {
  Product<T, float> product{m, 24, k, 1};
  const std::string thrown = messageOf([&] { product.run(mistake); });
  const bool seen = text.empty() ? thrown == "nothing was thrown" && product.wrong(1) > m * 24 / 2
                                 : thrown.find(text) != std::string::npos;
  checkThat(seen,
            std::to_string(T::kScaleBlock) + " a scale, mistake " +
                std::to_string(static_cast<int>(mistake)) + " not seen: " + thrown,
            __FILE__, __LINE__);
}

template <class T>
void mistakesAreSeen() {
  isSeen<T>(TensorMistake::kStride, "");
  isSeen<T>(TensorMistake::kNarrowStride, "operand A: a stride of 512 bytes");
  isSeen<T>(TensorMistake::kVersion, "version is 0");
  if (T::form().vector < 4) isSeen<T>(TensorMistake::kScaleId, "");
  isSeen<T>(TensorMistake::kScaleColumn, "");
  isSeen<T>(TensorMistake::kNoSwizzle, "");
  isSeen<T>(TensorMistake::kNoScales, "of tensor memory, which nobody wrote");
  isSeen<T>(TensorMistake::kNoCommit, "every thread waits for another");
  isSeen<T>(TensorMistake::kNoWaitForStage, "the tensor core reads");
  isSeen<T>(TensorMistake::kNoWaitForSums, "tcgen05.ld reads column");
  isSeen<T>(TensorMistake::kNoWaitForRoom, "more arrivals in a phase", 40, 4096);
  isSeen<T>(TensorMistake::kEarlyArrival, "is read under a tcgen05.mma", 300);
  isSeen<T>(TensorMistake::kNoLoadWait, "tcgen05.wait::ld is missing", 300);
  isSeen<T>(TensorMistake::kNoFenceAfter, "fence::after_thread_sync");
  isSeen<T>(TensorMistake::kNoFenceBefore, "fence::before_thread_sync");
  isSeen<T>(TensorMistake::kNoFree, "tcgen05.dealloc is missing");
  isSeen<T>(TensorMistake::kOtherRows, "reaches lanes from");
}

}  // namespace

int main() {
  isAsInTheManifest<Nvfp4>();
  isAsInTheManifest<Tile<0, 0>>();
  isAsInTheManifest<Tile<3, 3>>();
  isAsInTheManifest<Tile<3, 0>>();
  shapes();
  mistakesAreSeen<Nvfp4>();
  mistakesAreSeen<Tile<3, 3>>();
  return summary();
}
