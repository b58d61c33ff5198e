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
#include "check.h"
#include "scaledMatrix.h"
#include "waveMachine.h"

using namespace blockscope;
using waves::Mistake;

namespace {

using enum OutputType;

template <class T, OutputType Type>
struct Product {
  using Output = typename waves::Machine<Type>::Output;
  static constexpr float kFactor = 0.75f;
  static constexpr int kGuards = 64;
  static constexpr const char* kLayout = !T::kShuffled    ? "linear"
                                         : T::kEdge == 16 ? "cdna4_mfma16"
                                                          : "cdna4_mfma32";
  int m, n, k;
  bool accumulates = false;
  ScaledMatrix a{{T::kA, 5, 32}, m, k, 0, kLayout}, b{{T::kB, 5, 32}, n, k, 2, kLayout};
  std::vector<float> accumulator = {};
  std::vector<Output> c = {};

  void run(Mistake mistake = Mistake::kNone) {
    c.assign(m * n + 2 * kGuards, Output(77));
    if (accumulates)
      for (int i = 0; i < m * n; i++)
        accumulator.push_back(static_cast<int>(philox(7, 9, i)[0]) * 0x1p-26f);
    const auto tiles = [](int extent, int tile) { return (extent + tile - 1) / tile; };
    const waves::Launch launch{tiles(m, T::kTileM) * tiles(n, T::kTileN),
                               T::kBytes,
                               {{a.packed.data(), a.packed.size()},
                                {b.packed.data(), b.packed.size()},
                                {a.placed.data(), a.placed.size()},
                                {b.placed.data(), b.placed.size()},
                                {accumulator.data(), accumulator.size() * 4}},
                               {c.data() + kGuards, m * n * sizeof(Output)},
                               mistake};
    const mfma::Problem problem = {
        a.packed.data(), b.packed.data(), a.placed.data(), b.placed.data(), m, n, k};
    waves::launch<Type>(launch, T::kThreads, [&](const waves::Machine<Type>& machine) {
      mfma::run<T>(machine, problem, {kFactor, accumulates ? accumulator.data() : nullptr},
                   c.data() + kGuards);
    });
  }

  // Elements, of one in `every`, that are not what the instructions give in order of K, and
  // elements far from the plain product; guards that were written.
  int wrong(int every) const {
    int count = 0;
    for (int i = 0; i < kGuards; i++)
      count += c[i] != Output(77) || c[c.size() - 1 - i] != Output(77);
    const mfma::Form form = T::form();
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

template <class T>
std::string nameOf() {
  return std::to_string(T::kA) + " x " + std::to_string(T::kB) + ", edge " +
         std::to_string(T::kEdge) + (T::kShuffled ? ", shuffled" : ", linear");
}

template <class T, OutputType Type = kF32>
void isRight(int m, int n, int k, int every = 1, bool accumulates = false) {
  Product<T, Type> product{m, n, k, accumulates};
  const std::string what = nameOf<T>() + ", " + std::to_string(m) + " x " + std::to_string(n) +
                           " x " + std::to_string(k);
  const std::string thrown = messageOf([&] { product.run(); });
  checkThat(thrown == "nothing was thrown", what + ": " + thrown, __FILE__, __LINE__);
  const int wrong = product.wrong(every);
  checkThat(wrong == 0, what + ": " + std::to_string(wrong) + " wrong", __FILE__, __LINE__);
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

// A mistake shows as an error or as a wrong product.
template <class T>
void isSeen(const char* what, Mistake mistake) {
  Product<T, kF32> product{40, 24, 160};
  const std::string thrown = messageOf([&] { product.run(mistake); });
  const bool seen = thrown != "nothing was thrown" || product.wrong(1) > 40 * 24 / 4;
  checkThat(seen, nameOf<T>().append(", not seen: ").append(what), __FILE__, __LINE__);
}

template <class T>
void mistakesAreSeen() {
  isSeen<T>("no barrier", Mistake::kNoBarrier);
  isSeen<T>("copies are not waited for", Mistake::kEarlyRead);
  // Shuffled scales are padded with the smallest: what fp4 is there vanishes.
  if (T::kA >= 3 || !T::kShuffled) isSeen<T>("no zeros beyond K", Mistake::kNoZeros);
  isSeen<T>("scale lanes swapped", Mistake::kScaleLanesSwapped);
  isSeen<T>("the neighbouring column's scales", Mistake::kNextColumnsScale);
  isSeen<T>("the neighbouring block's scales", Mistake::kNextBlocksScale);
  isSeen<T>("another scale byte", Mistake::kScaleByte);
  isSeen<T>("another format", Mistake::kFormat);
  if (T::kA >= 3 || T::kB >= 3) isSeen<T>("8 bits as one run", Mistake::kOneRun);
  isSeen<T>("pieces not exchanged", Mistake::kSwizzle);
}

template <class T, OutputType Type>
void time(int size) {
  const auto start = std::chrono::steady_clock::now();
  isRight<T, Type>(size, size, size, 61);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::printf("%s, tile %d x %d x %d, %d cubed: %.1f s\n", nameOf<T>().c_str(), T::kTileM,
              T::kTileN, T::kTileK, size, taken.count());
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
