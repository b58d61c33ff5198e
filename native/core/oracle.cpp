#include "oracle.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "formats.h"
#include "threads.h"

namespace blockscope {

namespace {

// Tiles of C for one task, and the depth decoded at a time: A and B panels of doubles stay in the
// L2 cache.
constexpr int64_t kTileM = 128, kTileN = 128, kDepth = 256;
constexpr int kRegisterM = 4, kRegisterN = 16;
static_assert(kTileM % kRegisterM == 0 && kTileN % kRegisterN == 0);
static_assert(kDepth % 32 == 0, "a panel holds whole scale blocks");

struct SideView {
  const NumberFormat* element;
  const uint8_t* codes;   // canonical
  const uint8_t* scales;  // nullptr: none
  const float* elements;  // values of the codes of 8 bits
  const float* scaleValues;
  int64_t k;
  int scaleBlockSize;

  double scaleAt(int64_t row, int64_t col) const {
    if (!scales) return 1;
    return scaleValues[scales[row * (k / scaleBlockSize) + col / scaleBlockSize]];
  }
  double elementAt(int64_t row, int64_t col) const {
    const int64_t index = row * k + col;
    return element->codeBytes() == 1 ? static_cast<double>(elements[codes[index]])
                                     : decode(*element, codeAt(*element, codes, index));
  }
  double at(int64_t row, int64_t col) const { return elementAt(row, col) * scaleAt(row, col); }
};

struct Sides {
  SideView a, b;
  double tensorScale, outputScale;
  const float* accumulator;  // of the matrix; nullptr: none

  // What becomes of the sum of products for element `at` of C.
  double finished(double sum, int64_t at) const {
    return (sum * tensorScale + (accumulator ? accumulator[at] : 0.0)) * outputScale;
  }
};

Sides sidesOf(const Problem& problem, const Operands& operands, const Product& product) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const int64_t blocks = problem.k / format.scaleBlockSize;
  const float* scales = decodeTable(format.scale).data();
  const int64_t rowB = product.matrixB * problem.n;
  const NumberFormat &a = format.elementA(), &b = format.elementB();
  return {
      {&a, &operands.aCodes[product.firstA * problem.k * a.codeBytes()],
       a.isScaled() ? &operands.aScales[product.firstA * blocks] : nullptr,
       decodeTable(format.a).data(), scales, problem.k, format.scaleBlockSize},
      {&b, &operands.bCodes[rowB * problem.k], &operands.bScales[rowB * blocks],
       decodeTable(format.b).data(), scales, problem.k, format.scaleBlockSize},
      static_cast<double>(operands.tensorScaleA) * operands.tensorScaleB,
      problem.outputScale,
      problem.accumulate ? &operands.accumulator[product.firstC * problem.n] : nullptr,
  };
}

// Rows [row, row + count) x depth [k0, k0 + depth) as doubles, `lanes` rows interleaved so that the
// inner product walks both panels forward. Rows beyond `rows` are zero.
void decodePanel(const SideView& side, int64_t rows, int64_t row, int64_t count, int64_t k0,
                 int64_t depth, int lanes, double* panel) {
  const int64_t size = side.scaleBlockSize;
  for (int64_t group = 0; group < count; group += lanes)
    for (int lane = 0; lane < lanes; lane++) {
      const int64_t r = row + group + lane;
      double* out = panel + group * depth + lane;
      if (r >= rows) {
        for (int64_t k = 0; k < depth; k++) out[k * lanes] = 0;
        continue;
      }
      if (!side.scales) {
        for (int64_t k = 0; k < depth; k++) out[k * lanes] = side.elementAt(r, k0 + k);
        continue;
      }
      const uint8_t* codes = side.codes + r * side.k + k0;
      const uint8_t* scales = side.scales + (r * side.k + k0) / size;
      for (int64_t block = 0; block < depth / size; block++) {
        const double scale = side.scaleValues[scales[block]];
        for (int64_t k = block * size; k < (block + 1) * size; k++)
          out[k * lanes] = static_cast<double>(side.elements[codes[k]]) * scale;
      }
    }
}

// The clone for this CPU is picked while the library is loaded (ifunc): glibc only, and too early
// for ThreadSanitizer.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__)
#define BLOCKSCOPE_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2,fma", "default")))
#else
#define BLOCKSCOPE_VECTOR_CLONES
#endif

// One 4 x 16 block of C, kept in registers. Products are exact, so a fused multiply-add changes
// nothing.
BLOCKSCOPE_VECTOR_CLONES
void multiplyBlock(const double* a, const double* b, int64_t depth, double* c, int64_t stride) {
  double sum0[kRegisterN] = {}, sum1[kRegisterN] = {}, sum2[kRegisterN] = {}, sum3[kRegisterN] = {};
  for (int64_t k = 0; k < depth; k++, a += kRegisterM, b += kRegisterN)
    for (int j = 0; j < kRegisterN; j++) {
      sum0[j] += a[0] * b[j];
      sum1[j] += a[1] * b[j];
      sum2[j] += a[2] * b[j];
      sum3[j] += a[3] * b[j];
    }
  for (int j = 0; j < kRegisterN; j++) {
    c[j] += sum0[j];
    c[stride + j] += sum1[j];
    c[2 * stride + j] += sum2[j];
    c[3 * stride + j] += sum3[j];
  }
}

void referenceTile(const Problem& problem, const Sides& sides, int64_t rows, int64_t row,
                   int64_t col, double* c, const CancelFlag& cancel) {
  std::vector<double> a(kTileM * kDepth), b(kTileN * kDepth), tile(kTileM * kTileN, 0.0);
  for (int64_t k0 = 0; k0 < problem.k; k0 += kDepth) {
    cancel.throwIfRequested();
    const int64_t depth = std::min(kDepth, problem.k - k0);
    decodePanel(sides.a, rows, row, kTileM, k0, depth, kRegisterM, a.data());
    decodePanel(sides.b, problem.n, col, kTileN, k0, depth, kRegisterN, b.data());
    for (int64_t i = 0; i < kTileM; i += kRegisterM)
      for (int64_t j = 0; j < kTileN; j += kRegisterN)
        multiplyBlock(&a[i * depth], &b[j * depth], depth, &tile[i * kTileN + j], kTileN);
  }
  for (int64_t i = 0; i < std::min(kTileM, rows - row); i++)
    for (int64_t j = 0; j < std::min(kTileN, problem.n - col); j++)
      c[(row + i) * problem.n + col + j] =
          sides.finished(tile[i * kTileN + j], (row + i) * problem.n + col + j);
}

}  // namespace

std::vector<double> referenceProduct(const Problem& problem, const Operands& operands,
                                     const CancelFlag& cancel, const Progress& progress) {
  std::vector<double> c(problem.elements());
  struct Tile {
    Product product;
    int64_t row, col;
  };
  std::vector<Tile> tiles;
  for (int64_t index = 0; index < problem.productCount(); index++) {
    const Product product = problem.product(index);
    for (int64_t row = 0; row < product.rows; row += kTileM)
      for (int64_t col = 0; col < problem.n; col += kTileN) tiles.push_back({product, row, col});
  }
  const auto tasks = static_cast<int64_t>(tiles.size());
  std::atomic<int64_t> done{0};
  parallelFor(tasks, cancel, [&](int64_t task) {
    const auto& [product, row, col] = tiles[task];
    referenceTile(problem, sidesOf(problem, operands, product), product.rows, row, col,
                  &c[product.firstC * problem.n], cancel);
    if (progress) progress(static_cast<double>(++done) / static_cast<double>(tasks), "reference");
  });
  return c;
}

double referenceElement(const Problem& problem, const Operands& operands, int64_t product,
                        int64_t row, int64_t col) {
  const Sides sides = sidesOf(problem, operands, problem.product(product));
  double sum = 0;
  for (int64_t k = 0; k < problem.k; k++) sum += sides.a.at(row, k) * sides.b.at(col, k);
  return sides.finished(sum, row * problem.n + col);
}

double blockShare(const Problem& problem, const Operands& operands, int64_t product, int64_t row,
                  int64_t col, int64_t block) {
  const Sides sides = sidesOf(problem, operands, problem.product(product));
  const int size = sides.a.scaleBlockSize;
  double sum = 0;
  for (int64_t k = block * size; k < (block + 1) * size; k++)
    sum += sides.a.at(row, k) * sides.b.at(col, k);
  return sum * sides.tensorScale * sides.outputScale;
}

double rowNorm(const Problem& problem, const Operands& operands, OperandSide side, int64_t row,
               int64_t first, int64_t last) {
  const Sides sides = sidesOf(problem, operands, Product{});
  std::array<double, kDepth> values;
  double squares = 0;
  for (int64_t k0 = first; k0 < last; k0 += kDepth) {
    const int64_t depth = std::min(kDepth, last - k0);
    decodePanel(side == OperandSide::kA ? sides.a : sides.b, row + 1, row, 1, k0, depth, 1,
                values.data());
    for (int64_t k = 0; k < depth; k++) squares += values[k] * values[k];
  }
  return std::sqrt(squares);
}

double magnitudeElement(const Problem& problem, const Operands& operands, int64_t product,
                        int64_t row, int64_t col) {
  const Sides sides = sidesOf(problem, operands, problem.product(product));
  std::array<double, kDepth> a, b;
  double sum = 0;
  for (int64_t k0 = 0; k0 < problem.k; k0 += kDepth) {
    const int64_t depth = std::min(kDepth, problem.k - k0);
    decodePanel(sides.a, row + 1, row, 1, k0, depth, 1, a.data());
    decodePanel(sides.b, col + 1, col, 1, k0, depth, 1, b.data());
    for (int64_t k = 0; k < depth; k++) sum += std::fabs(a[k] * b[k]);
  }
  sum *= std::fabs(sides.tensorScale);
  if (sides.accumulator) sum += std::fabs(sides.accumulator[row * problem.n + col]);
  return sum * sides.outputScale;
}

}  // namespace blockscope
