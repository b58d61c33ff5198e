// The block-scaled MFMA kernel itself (resources/kernels/hip/common/gemm.h), compiled for the CPU,
// its threads as fibers in waves of 64: every pair of formats, both instructions, linear and
// shuffled scales, odd shapes; C bit for bit as the instructions one after the other make it. And
// what must be seen. With a size and a tile as arguments: that product alone, timed
// (npm run emulate:gfx950).
#include <bit>
#include <chrono>
#include <cmath>
#include <set>

#include "../../resources/kernels/hip/common/gemm.h"
#include "productCheck.h"
#include "scaledMatrix.h"
#include "waveMachine.h"

using namespace blockscope;
using waves::Mistake;

namespace {

using enum OutputType;

// What differs from one tile to the next: all else is compiled once for each type of C.
template <OutputType Type>
struct Kernel {
  using Machine = waves::Machine<Type>;
  mfma::Form form;
  int a, b;
  bool isShuffled;
  size_t ldsBytes;
  int threads, tileM, tileN, tileK;
  void (*run)(const Machine& machine, const mfma::Problem& problem, mfma::Finish finish,
              typename Machine::Output* c);
  std::string name() const {
    return std::to_string(a) + " x " + std::to_string(b) + ", edge " + std::to_string(form.edge) +
           (isShuffled ? ", shuffled" : ", linear");
  }
};

template <class T, OutputType Type>
constexpr Kernel<Type> kernelOf() {
  return {T::form(),   T::kA,     T::kB,     T::kShuffled, T::kBytes,
          T::kThreads, T::kTileM, T::kTileN, T::kTileK,    mfma::run<T, waves::Machine<Type>>};
}

template <OutputType Type>
struct Product {
  using Output = typename waves::Machine<Type>::Output;
  static constexpr float kFactor = 0.75f;
  static constexpr int kGuards = 64;
  const Kernel<Type> kernel;
  int m, n, k;
  bool accumulates = false;
  const char* layout = !kernel.isShuffled       ? "linear"
                       : kernel.form.edge == 16 ? "cdna4_mfma16"
                                                : "cdna4_mfma32";
  ScaledMatrix a{{kernel.a, 5, 32}, m, k, 0, layout}, b{{kernel.b, 5, 32}, n, k, 2, layout};
  std::vector<float> accumulator = {};
  std::vector<Output> c = {};

  void run(Mistake mistake = Mistake::kNone) {
    c.assign(m * n + 2 * kGuards, Output(77));
    if (accumulates)
      for (int i = 0; i < m * n; i++)
        accumulator.push_back(static_cast<int>(philox(7, 9, i)[0]) * 0x1p-26f);
    const auto tiles = [](int extent, int tile) { return (extent + tile - 1) / tile; };
    const waves::Launch launch{tiles(m, kernel.tileM) * tiles(n, kernel.tileN),
                               kernel.ldsBytes,
                               {{a.packed.data(), a.packed.size()},
                                {b.packed.data(), b.packed.size()},
                                {a.placed.data(), a.placed.size()},
                                {b.placed.data(), b.placed.size()},
                                {accumulator.data(), accumulator.size() * 4}},
                               {c.data() + kGuards, m * n * sizeof(Output)},
                               mistake};
    const mfma::Problem problem = {
        a.packed.data(), b.packed.data(), a.placed.data(), b.placed.data(), m, n, k};
    waves::launch<Type>(launch, kernel.threads, [&](const waves::Machine<Type>& machine) {
      kernel.run(machine, problem, {kFactor, accumulates ? accumulator.data() : nullptr},
                 c.data() + kGuards);
    });
  }

  // Elements, of one in `every`, that are not what the instructions give in order of K, and
  // elements far from the plain product; guards that were written.
  int wrong(int every) const {
    int count = 0;
    for (int i = 0; i < kGuards; i++)
      count += c[i] != Output(77) || c[c.size() - 1 - i] != Output(77);
    const mfma::Form form = kernel.form;
    std::vector<double> row(form.depth()), column(form.depth());
    for (int at = 0; at < m * n; at += every) {
      float bits = 0;
      double sum = 0, magnitude = 0;
      for (int k0 = 0; k0 < k; k0 += form.depth()) {
        for (int i = 0; i < form.depth(); i++) {
          const bool isInside = k0 + i < k;
          row[i] = isInside ? a.value(at / n, k0 + i) : 0;
          column[i] = isInside ? b.value(at % n, k0 + i) : 0;
          sum += row[i] * column[i], magnitude += std::fabs(row[i] * column[i]);
        }
        bits = mfma::sumOf(form, column.data(), row.data(), bits);
      }
      float expected = bits * kFactor;
      if (accumulates) expected += accumulator[at];
      count += c[kGuards + at] != waves::outputOf<Type>(expected);
      count += !(std::fabs(bits - sum) <= (k / form.depth() + 1) * 0x1p-23 * magnitude);
    }
    return count;
  }
};

template <OutputType Type>
void isRight(const Kernel<Type>& kernel, int m, int n, int k, int every, bool accumulates) {
  Product<Type> product{kernel, m, n, k, accumulates};
  checkProduct(kernel.name(), product, every);
}

template <class T, OutputType Type = kF32>
void isRight(int m, int n, int k, int every = 1, bool accumulates = false) {
  isRight(kernelOf<T, Type>(), m, n, k, every, accumulates);
}

// As the manifest's rows have them.
template <int A, int B, int Edge, bool Shuffled>
using Shipped =
    mfma::Tile<A, B, Edge, Shuffled, 256, 256, A == 0 && B == 0 && Edge == 16 ? 256 : 128>;
// The same kernel with tiles that a CPU is done with sooner.
template <int A, int B, int Edge, bool Shuffled>
using Small = mfma::Tile<A, B, Edge, Shuffled, 64, 64, A == 0 && B == 0 && Edge == 16 ? 256 : 128>;

template <int A, int B, OutputType Type>
void everyScaling(int m, int n, int k) {
  isRight<Small<A, B, 16, false>, Type>(m, n, k);
  isRight<Small<A, B, 16, true>, Type>(m, n, k);
  isRight<Small<A, B, 32, false>, Type>(m, n, k);
  isRight<Small<A, B, 32, true>, Type>(m, n, k);
}

// Odd shapes, tails of K, several tiles: rows of C that are and are not multiples of four.
void shapes() {
  everyScaling<0, 0, kF16>(33, 70, 288);
  everyScaling<3, 3, kBf16>(5, 68, 416);
  everyScaling<3, 0, kF32>(65, 24, 160);
  everyScaling<1, 2, kF16>(20, 67, 352);
  isRight<Small<4, 3, 16, true>, kF16>(31, 64, 192, 1, true);
  isRight<Small<0, 4, 32, true>, kF32>(31, 61, 192, 1, true);
  isRight<Shipped<0, 0, 16, true>, kF16>(257, 40, 544, 3);
  isRight<Shipped<3, 3, 16, true>, kF16>(40, 260, 160, 3);
}

template <int... pairs>
void everyPair(std::integer_sequence<int, pairs...>) {
  (isRight<Small<pairs / 5, pairs % 5, pairs % 2 == 0 ? 16 : 32, true>>(40, 24, 96), ...);
}

// Each of a launch's blocks takes a tile of its own.
void everyTileIsTaken() {
  for (const int tiles : {1, 7, 8, 9, 64, 100}) {
    std::set<int> taken;
    for (int block = 0; block < tiles; block++) taken.insert(mfma::tileOfBlock(block, tiles));
    CHECK(static_cast<int>(taken.size()) == tiles && *taken.begin() == 0 &&
          *taken.rbegin() == tiles - 1);
  }
}

// LDS says `says` of a mistake; empty: nothing, and much of the product is wrong.
void isSeen(const Kernel<kF32>& kernel, const char* what, Mistake mistake,
            const std::string& says = "") {
  Product<kF32> product{kernel, 40, 24, 160};
  const std::string said = messageOf([&] { product.run(mistake); });
  const bool seen = says.empty() ? said == "nothing was thrown" && product.wrong(1) > 40 * 24 / 4
                                 : said.find(says) != std::string::npos;
  checkThat(seen, kernel.name().append(", ").append(what).append(": ").append(said), __FILE__,
            __LINE__);
}

template <class T>
void mistakesAreSeen() {
  constexpr auto kernel = kernelOf<T, kF32>();
  isSeen(kernel, "no barrier", Mistake::kNoBarrier, "a read ");
  isSeen(kernel, "copies are not waited for", Mistake::kEarlyRead, "a read under a copy");
  // Shuffled scales are padded with the smallest: what fp4 is there vanishes.
  if (T::kA >= 3 || !T::kShuffled) isSeen(kernel, "no zeros beyond K", Mistake::kNoZeros);
  isSeen(kernel, "scale lanes swapped", Mistake::kScaleLanesSwapped);
  isSeen(kernel, "the neighbouring column's scales", Mistake::kNextColumnsScale);
  isSeen(kernel, "the neighbouring block's scales", Mistake::kNextBlocksScale);
  isSeen(kernel, "another scale byte", Mistake::kScaleByte);
  isSeen(kernel, "another format", Mistake::kFormat);
  if (T::kA >= 3 || T::kB >= 3) isSeen(kernel, "8 bits as one run", Mistake::kOneRun);
  isSeen(kernel, "pieces not exchanged", Mistake::kSwizzle);
}

template <class T, OutputType Type>
void time(int size) {
  const auto kernel = kernelOf<T, Type>();
  const auto start = std::chrono::steady_clock::now();
  isRight<T, Type>(size, size, size, 61);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::printf("%s, tile %d x %d x %d, %d cubed: %.1f s\n", kernel.name().c_str(), kernel.tileM,
              kernel.tileN, kernel.tileK, size, taken.count());
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) {
    const int size = std::atoi(arguments[1]);
    time<Shipped<0, 0, 16, true>, kF16>(size);
    time<Shipped<0, 0, 32, true>, kF16>(size);
    time<Shipped<3, 3, 16, true>, kF16>(size);
    time<Shipped<3, 3, 32, true>, kF16>(size);
    time<Shipped<4, 3, 16, false>, kF16>(size);
    time<Shipped<3, 0, 16, true>, kF16>(size);
    time<Shipped<1, 2, 16, true>, kF16>(size);
    return summary();
  }
  everyTileIsTaken();
  shapes();
  everyPair(std::make_integer_sequence<int, 25>());
  mistakesAreSeen<Small<0, 0, 16, true>>();
  mistakesAreSeen<Small<0, 0, 16, false>>();
  mistakesAreSeen<Small<3, 3, 32, true>>();
  return summary();
}
