// The block-scaled kernel itself (resources/kernels/cuda/common/blockScale/gemm.cuh), compiled for
// the CPU, its threads as fibers: every pair of formats, odd shapes, several tiles a block; C bit
// for bit as the instructions one after the other make it. And what must be seen.
#include <bit>
#include <cmath>

#include "../../resources/kernels/cuda/common/blockScale/gemm.cuh"
#include "check.h"
#include "fiberMachine.h"
#include "scaledMatrix.h"

using namespace blockscope;
using blockscale::Form;
using fibers::Mistake;

namespace {

using Matrix = ScaledMatrix;

// One row of A and one column of B for one instruction; zeros beyond K.
struct Line {
  const Form& form;
  const Matrix &ofA, &ofB;
  int row, column, k0, k;
  u32 a(int at) const { return k0 + at < k ? ofA.codes[row * k + k0 + at] : 0; }
  u32 b(int at) const { return k0 + at < k ? ofB.codes[column * k + k0 + at] : 0; }
  u32 scaleA(int block) const { return scale(ofA, row, block); }
  u32 scaleB(int block) const { return scale(ofB, column, block); }

 private:
  u32 scale(const Matrix& of, int line, int block) const {
    const int at = k0 / form.block() + block, count = k / form.block();
    return at < count ? of.scales[line * count + at] : 0;
  }
};

template <class T, typename Output>
struct Product {
  static constexpr float kFactor = 0.75f;
  static constexpr int kScaleFormat = T::form().scale, kGuards = 64;
  int m, n, k, blocks;
  Matrix a{{T::kA, kScaleFormat, T::kScaleBlock}, m, k, 0, "nvidia_32_4_4"},
      b{{T::kB, kScaleFormat, T::kScaleBlock}, n, k, 2, "nvidia_32_4_4"};
  std::vector<Output> c = {};

  void run(Mistake mistake = Mistake::kNone) {
    c.assign(m * n + 2 * kGuards, Output(77));
    const fibers::Launch launch{blocks,
                                T::kBytes,
                                {{a.packed.data(), a.packed.size()},
                                 {b.packed.data(), b.packed.size()},
                                 {a.placed.data(), a.placed.size()},
                                 {b.placed.data(), b.placed.size()}},
                                {c.data() + kGuards, m * n * sizeof(Output)},
                                mistake};
    const blockscale::Problem problem = {
        a.packed.data(), b.packed.data(), a.placed.data(), b.placed.data(), m, n, k};
    fibers::launch<Output>(launch, T::kThreads, [&](const fibers::Machine<Output>& machine) {
      blockscale::run<T>(machine, problem, kFactor, c.data() + kGuards);
    });
  }

  // Elements, of one in `every`, that are not what the instructions give in order of K, and
  // elements far from the plain product; guards that were written.
  int wrong(int every) const {
    int count = 0;
    for (int i = 0; i < kGuards; i++)
      count += c[i] != Output(77) || c[c.size() - 1 - i] != Output(77);
    const Form form = T::form();
    for (int at = 0; at < m * n; at += every) {
      const int row = at / n, column = at % n;
      u32 bits = 0;
      for (int k0 = 0; k0 < k; k0 += form.depth())
        bits = blockscale::sumOf(form, Line{form, a, b, row, column, k0, k}, bits);
      const float expected = std::bit_cast<float>(bits) * kFactor;
      count += std::memcmp(&c[kGuards + at], &static_cast<const Output&>(asOutput(expected)),
                           sizeof(Output)) != 0;
      double sum = 0, magnitude = 0;
      for (int i = 0; i < k; i++) {
        const double product = a.value(row, i) * b.value(column, i);
        sum += product, magnitude += std::fabs(product);
      }
      const double allowed = (k / form.depth() + 1) * 0x1p-22;
      count += !(std::fabs(std::bit_cast<float>(bits) - sum) <= allowed * magnitude);
    }
    return count;
  }

 private:
  static Output asOutput(float value) {
    if constexpr (sizeof(Output) == 4) return value;
    else return floatToHalf(value);
  }
};

template <int A, int B>
using Tile = blockscale::Tile<A, B, 5, 32, 128, A == 0 && B == 0 ? 5 : 3>;
using Nvfp4 = blockscale::Tile<0, 0, 6, 16, 128, 5>;

template <class T, typename Output>
void isRight(int m, int n, int k, int blocks, int every) {
  Product<T, Output> product{m, n, k, blocks};
  const std::string what = std::to_string(T::kA) + " x " + std::to_string(T::kB) + " under " +
                           std::to_string(T::kScaleBlock) + ", " + std::to_string(m) + " x " +
                           std::to_string(n) + " x " + std::to_string(k);
  const std::string thrown = messageOf([&] { product.run(); });
  checkThat(thrown == "nothing was thrown", what + ": " + thrown, __FILE__, __LINE__);
  const int wrong = product.wrong(every);
  checkThat(wrong == 0, what + ": " + std::to_string(wrong) + " wrong", __FILE__, __LINE__);
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

// A mistake shows as an error or as a wrong product.
template <class T>
void isSeen(const char* what, Mistake mistake, int k = 160) {
  Product<T, float> product{40, 24, k, 1};
  const std::string thrown = messageOf([&] { product.run(mistake); });
  const bool seen = thrown != "nothing was thrown" || product.wrong(1) > 40 * 24 / 2;
  checkThat(seen, std::to_string(T::kScaleBlock) + " a scale, not seen: " + what, __FILE__,
            __LINE__);
}

template <class T>
void mistakesAreSeen() {
  isSeen<T>("no barrier", Mistake::kNoBarrier);
  isSeen<T>("the last copies are not waited for", Mistake::kEarlyRead);
  isSeen<T>("no zeros beyond K", Mistake::kNoZeros);
  isSeen<T>("scale lanes swapped", Mistake::kScaleLanesSwapped);
  isSeen<T>("the neighbouring column's scales", Mistake::kNextColumnsScale);
  isSeen<T>("another scale byte", Mistake::kScaleByte);
  isSeen<T>("matrices swapped", Mistake::kRowsSwapped);
  isSeen<T>("another chunk", Mistake::kOtherChunk);
}

}  // namespace

int main() {
  shapes();
  everyPair(std::make_integer_sequence<int, 25>());
  mistakesAreSeen<Nvfp4>();
  mistakesAreSeen<Tile<3, 3>>();
  return summary();
}
