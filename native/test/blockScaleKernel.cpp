// The block-scaled kernel itself (resources/kernels/cuda/common/blockScale/gemm.cuh), compiled for
// the CPU, its threads as fibers: every pair of formats, odd shapes, several tiles a block; C bit
// for bit as the instructions one after the other make it. And what must be seen.
#include "../../resources/kernels/cuda/common/blockScale/gemm.cuh"
#include "fiberMachine.h"
#include "productCheck.h"
#include "scaledProduct.h"

using namespace blockscope;
using fibers::Mistake;

namespace {

using Matrix = ScaledMatrix;

// What differs from one tile to the next: all else is compiled once for each type of C.
template <typename Output>
struct Kernel {
  blockscale::Form form;
  ScaledFormat a, b;
  size_t sharedBytes;
  int threads;
  void (*run)(const fibers::Machine<Output>& machine, const blockscale::Problem& problem,
              float factor, Output* c);
};

template <class T, typename Output>
constexpr Kernel<Output> kernelOf() {
  constexpr int kScaleFormat = T::form().scale;
  return {T::form(),
          {T::kA, kScaleFormat, T::kScaleBlock},
          {T::kB, kScaleFormat, T::kScaleBlock},
          T::kBytes,
          T::kThreads,
          blockscale::run<T, fibers::Machine<Output>>};
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
                                kernel.sharedBytes,
                                {{a.packed.data(), a.packed.size()},
                                 {b.packed.data(), b.packed.size()},
                                 {a.placed.data(), a.placed.size()},
                                 {b.placed.data(), b.placed.size()}},
                                {c.data(), c.bytes()},
                                mistake};
    const blockscale::Problem problem = {
        a.packed.data(), b.packed.data(), a.placed.data(), b.placed.data(), m, n, k};
    fibers::launch<Output>(launch, kernel.threads, [&](const fibers::Machine<Output>& machine) {
      kernel.run(machine, problem, kFactor, c.data());
    });
  }

  int wrong(int every) const { return wrongElements(kernel.form, a, b, c, kFactor, every); }
};

template <int A, int B>
using Tile = blockscale::Tile<A, B, 5, 32, 128, A == 0 && B == 0 ? 5 : 3>;
using Nvfp4 = blockscale::Tile<0, 0, 6, 16, 128, 5>;

template <typename Output>
void isRight(const Kernel<Output>& kernel, int m, int n, int k, int blocks, int every) {
  Product<Output> product{kernel, m, n, k, blocks};
  checkProduct(pairName(kernel.a.element, kernel.b.element, kernel.a.scaleBlock), product, every);
}

template <class T, typename Output>
void isRight(int m, int n, int k, int blocks, int every) {
  isRight(kernelOf<T, Output>(), m, n, k, blocks, every);
}

// Odd shapes, tails of K, more tiles than blocks: rows of 8 (stores of 16 bytes), even and odd.
void shapes() {
  isRight<Nvfp4, uint16_t>(131, 136, 80, 1, 1);
  isRight<Nvfp4, float>(5, 257, 272, 2, 1);
  isRight<Tile<0, 0>, float>(70, 129, 288, 1, 3);
  isRight<Tile<0, 0>, uint16_t>(33, 30, 64, 1, 1);
  isRight<Tile<3, 3>, uint16_t>(257, 24, 288, 2, 3);
  isRight<Tile<4, 4>, float>(40, 21, 128, 3, 1);
  isRight<Tile<3, 0>, uint16_t>(129, 64, 160, 1, 3);
  isRight<Tile<1, 2>, uint16_t>(20, 133, 96, 1, 1);
}

template <int... pairs>
void everyPair(std::integer_sequence<int, pairs...>) {
  (isRight<Tile<pairs / 5, pairs % 5>, float>(40, 24, 96, 1, 1), ...);
}

// What shared memory says of a mistake, or nothing: most of the product is wrong.
struct Seen {
  const char* what;
  Mistake mistake;
  const char* says = nullptr;
};

void mistakesAreSeen(const Kernel<float>& kernel) {
  for (const Seen& seen : std::initializer_list<Seen>{
           {"no barrier", Mistake::kNoBarrier, "a read of what nobody wrote"},
           {"the last copies are not waited for", Mistake::kEarlyRead, "a read under a copy"},
           {"no zeros beyond K", Mistake::kNoZeros},
           {"scale lanes swapped", Mistake::kScaleLanesSwapped},
           {"the neighbouring column's scales", Mistake::kNextColumnsScale},
           {"another scale byte", Mistake::kScaleByte},
           {"matrices swapped", Mistake::kRowsSwapped},
           {"another chunk", Mistake::kOtherChunk}}) {
    Product<float> product{kernel, 40, 24, 160, 1};
    const std::string said = messageOf([&] { product.run(seen.mistake); });
    const bool isCaught = seen.says
                              ? said.find(seen.says) != std::string::npos
                              : said == "nothing was thrown" && product.wrong(1) > 40 * 24 / 2;
    checkThat(isCaught,
              std::to_string(kernel.a.scaleBlock) + " a scale, " + seen.what + ": " + said,
              __FILE__, __LINE__);
  }
}

}  // namespace

int main() {
  shapes();
  everyPair(std::make_integer_sequence<int, 25>());
  mistakesAreSeen(kernelOf<Nvfp4, float>());
  mistakesAreSeen(kernelOf<Tile<3, 3>, float>());
  return summary();
}
