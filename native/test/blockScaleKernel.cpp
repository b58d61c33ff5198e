// The block-scaled kernel itself (resources/kernels/cuda/common/blockScale/gemm.cuh), compiled for
// the CPU, its threads as fibers: every pair of formats, odd shapes, several tiles a block; C bit
// for bit as the instructions one after the other make it. And what must be seen.
#include "../../resources/kernels/cuda/common/blockScale/gemm.cuh"
#include "fiberMachine.h"
#include "manifestValues.h"
#include "productCheck.h"
#include "scaledProduct.h"

using namespace blockscope;
using fibers::Mistake;

namespace {

using Matrix = ScaledMatrix;

// How stages are filled.
enum class By { kBoxes, kPieces };

// What differs from one tile to the next: all else is compiled once for each type of C.
template <typename Output>
struct Kernel {
  By by;
  blockscale::Form form;
  ScaledFormat a, b;
  size_t sharedBytes;
  int threads, multiplyingThreads, stages;
  void (*run)(const fibers::Machine<Output>& machine, const fibers::Launch& launch,
              const blockscale::Problem& problem, float factor, Output* c);
};

template <class T, typename Output>
void runByBoxes(const fibers::Machine<Output>& machine, const fibers::Launch&,
                const blockscale::Problem& problem, float factor, Output* c) {
  const blockscale::BoxLoader<T, fibers::Maps<Output>> loader{{&machine}};
  blockscale::run<T>(machine, loader, problem, factor, c);
}

template <class T, typename Output>
void runByPieces(const fibers::Machine<Output>& machine, const fibers::Launch& launch,
                 const blockscale::Problem& problem, float factor, Output* c) {
  const blockscale::PieceLoader<T> loader{launch.a.packed.data(), launch.b.packed.data(),
                                          launch.a.placed.data(), launch.b.placed.data()};
  blockscale::run<T>(machine, loader, problem, factor, c);
}

template <class T, typename Output, By by>
constexpr Kernel<Output> kernelOf() {
  constexpr int kScaleFormat = T::form().scale;
  return {by,
          T::form(),
          {T::kA, kScaleFormat, T::kScaleBlock},
          {T::kB, kScaleFormat, T::kScaleBlock},
          T::kBytes,
          T::kThreads,
          T::kMultiplyingWarps * 32,
          T::kStages,
          by == By::kBoxes ? runByBoxes<T, Output> : runByPieces<T, Output>};
}

template <typename Output>
struct Product {
  static constexpr float kFactor = 0.75f;
  const Kernel<Output> kernel;
  int m, n, k, blocks;
  Matrix a{kernel.a, m, k, 0, "nvidia_32_4_4"}, b{kernel.b, n, k, 2, "nvidia_32_4_4"};
  GuardedOutput<Output> c{m, n};

  void run(Mistake mistake = Mistake::kNone) {
    c = {m, n};
    const fibers::Launch launch{blocks,
                                kernel.threads,
                                kernel.multiplyingThreads,
                                kernel.stages,
                                kernel.sharedBytes,
                                a,
                                b,
                                {c.data(), c.bytes()},
                                mistake};
    fibers::launch<Output>(launch, [&](const fibers::Machine<Output>& machine) {
      kernel.run(machine, launch, {m, n, k}, kFactor, c.data());
    });
  }

  int wrong(int every) const { return wrongElements(kernel.form, a, b, c, kFactor, every); }
};

// As resources/kernels/cuda/manifest.json has them.
template <int A, int B>
using Tile = blockscale::Tile<A, B, 5, 32, 128, A == 0 && B == 0 ? 5 : 2>;
using Nvfp4 = blockscale::Tile<0, 0, 6, 16, 128, 5>;

// What the manifest's row has the host do is what a tile is; by boxes where the maps can be made.
template <class T>
void isAsInTheManifest() {
  const Json manifest = readManifest();
  int variants = 0;
  for (const Json& row : manifest["kernels"].list) {
    if (row["file"].text != "mma_block_scale.cu") continue;
    for (const Json& variant : row["variants"].list) {
      variants++;
      blockscope::cuda::Variables names;
      for (const Json* constants : {&row["constants"], &variant["constants"]})
        for (const auto& [name, value] : constants->members) names[name] = int(value);
      names["M"] = names["N"] = 300, names["SMS"] = 170;
      names["V"] = T::kScaleBlock;
      const int bitsA = names["BITS_A"] = blockscale::storageBits(T::kA),
                bitsB = names["BITS_B"] = blockscale::storageBits(T::kB);
      for (const int k : {32, 48, 128, 160, 384}) {
        if (k % T::kScaleBlock != 0) continue;
        names["K"] = k;
        evaluateValues(row["values"], names);
        const bool isPacked = T::kDepth == 64, pads = !isPacked && bitsA + bitsB < 16,
                   takesBoxes =
                       isPacked ? k % 32 == 0 : !pads || (names["EMULATED"] == 0 && k % 128 == 0);
        std::string functions;
        for (const Json& launch : row["launches"].list) {
          if (blockscope::cuda::evaluate(launch["when"].text, names) == 0) continue;
          functions += launch["function"].text + launch["arguments"].list[0].text;
          CHECK(blockscope::cuda::evaluate(launch["sharedBytes"].text, names) == T::kBytes);
        }
        CHECK(functions == (!takesBoxes ? "multiplyByPiecesaCodes"
                            : isPacked  ? "multiplyaPacked"
                                        : "multiplyaWide"));
      }
      CHECK(names["TILE_K"] == T::kTileK && names["THREADS"] == T::kThreads);
      CHECK(names["ALL_STAGES"] == T::kStages && names["ROW_BYTES"] == T::kRowBytes);
    }
  }
  CHECK(variants == 2);
}

template <class T, typename Output, By by>
void isRight(int m, int n, int k, int blocks, int every) {
  const auto kernel = kernelOf<T, Output, by>();
  Product<Output> product{kernel, m, n, k, blocks};
  checkProduct(pairName(T::kA, T::kB, T::kScaleBlock) + (by == By::kBoxes ? "" : " by pieces"),
               product, every);
}

// Odd shapes, tails of K, more tiles than blocks, a ring that turns: rows of 8 (stores of 16
// bytes), even and odd.
void shapes() {
  isRight<Nvfp4, uint16_t, By::kBoxes>(131, 136, 96, 1, 1);
  isRight<Nvfp4, uint16_t, By::kPieces>(131, 136, 80, 1, 1);
  isRight<Nvfp4, float, By::kBoxes>(5, 257, 1568, 2, 1);
  isRight<Nvfp4, float, By::kPieces>(5, 257, 272, 2, 1);
  isRight<Tile<0, 0>, float, By::kBoxes>(70, 129, 288, 1, 3);
  isRight<Tile<0, 0>, uint16_t, By::kBoxes>(33, 30, 64, 1, 1);
  isRight<Tile<3, 3>, uint16_t, By::kBoxes>(257, 24, 288, 2, 3);
  isRight<Tile<4, 4>, float, By::kBoxes>(40, 21, 416, 3, 1);
  isRight<Tile<3, 0>, uint16_t, By::kBoxes>(129, 64, 256, 1, 3);
  isRight<Tile<3, 0>, uint16_t, By::kPieces>(129, 64, 160, 1, 3);
  isRight<Tile<1, 2>, uint16_t, By::kBoxes>(20, 133, 384, 1, 1);
  isRight<Tile<1, 2>, uint16_t, By::kPieces>(20, 133, 96, 1, 1);
}

template <int... pairs>
void everyPair(std::integer_sequence<int, pairs...>) {
  (isRight<Tile<pairs / 5, pairs % 5>, float, By::kBoxes>(40, 24, 128, 1, 1), ...);
  (isRight<Tile<pairs / 5, pairs % 5>, float, By::kPieces>(40, 24, 96, 1, 1), ...);
}

// What shared memory says of a mistake, or nothing: most of the product is wrong.
struct Seen {
  const char* what;
  Mistake mistake;
  const char* says = nullptr;
};

void mistakesAreSeen(const Kernel<float>& kernel) {
  const bool byBoxes = kernel.by == By::kBoxes;
  for (const Seen& seen : std::initializer_list<Seen>{
           {"no barrier", Mistake::kNoBarrier, "whose making was not waited for"},
           {"a stage is not waited for", Mistake::kNoWaitForStage, "a read of what nobody wrote"},
           {"room is not waited for", Mistake::kNoWaitForRoom,
            byBoxes ? "more arrivals in a phase" : "two copies at once"},
           {"the other phase of a stage", Mistake::kParityOfStage, "a read of what nobody wrote"},
           {"the other phase of room", Mistake::kParityOfRoom, "every thread waits for another"},
           {"a stage is given back before it is read", Mistake::kEarlyRelease, "others still read"},
           {"a lane gives back what others read", Mistake::kReleaseOfOneLane, "others still read"},
           {"loading is a tile ahead", Mistake::kTileAhead, "every thread waits for another"},
           {byBoxes ? "no swizzle" : "no zeros beyond K",
            byBoxes ? Mistake::kNoSwizzle : Mistake::kNoZeros},
           {"scale lanes swapped", Mistake::kScaleLanesSwapped},
           {"the neighbouring column's scales", Mistake::kNextColumnsScale},
           {"another scale byte", Mistake::kScaleByte},
           {"matrices swapped", Mistake::kRowsSwapped},
           {"another chunk", Mistake::kOtherChunk}}) {
    // So long that stages are filled again where that is what is seen; two tiles, or one.
    const bool isOfTheRing = seen.says != nullptr;
    const int k = isOfTheRing ? 128 * (kernel.stages + 1) : 160,
              n = seen.mistake == Mistake::kTileAhead ? 136 : 24;
    Product<float> product{kernel, 40, n, k, 1};
    const std::string said = messageOf([&] { product.run(seen.mistake); });
    const bool isCaught = seen.says ? said.find(seen.says) != std::string::npos
                                    : said == "nothing was thrown" && product.wrong(1) > 40 * n / 2;
    checkThat(isCaught,
              pairName(kernel.a.element, kernel.b.element, kernel.a.scaleBlock) +
                  (byBoxes ? ", " : " by pieces, ") + seen.what + ": " + said,
              __FILE__, __LINE__);
  }
}

}  // namespace

int main() {
  isAsInTheManifest<Nvfp4>();
  isAsInTheManifest<Tile<0, 0>>();
  isAsInTheManifest<Tile<3, 3>>();
  isAsInTheManifest<Tile<3, 0>>();
  isAsInTheManifest<Tile<2, 2>>();
  shapes();
  everyPair(std::make_integer_sequence<int, 25>());
  mistakesAreSeen(kernelOf<Nvfp4, float, By::kBoxes>());
  mistakesAreSeen(kernelOf<Nvfp4, float, By::kPieces>());
  mistakesAreSeen(kernelOf<Tile<3, 3>, float, By::kBoxes>());
  mistakesAreSeen(kernelOf<Tile<3, 0>, float, By::kPieces>());
  return summary();
}
