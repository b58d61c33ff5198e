// Every CPU kernel of this machine, in every format, against the oracle: element by element, within
// what rounding in float32 and in the output type allows.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <thread>

#include "../core/operands.h"
#include "../core/oracle.h"
#include "../core/outputs.h"
#include "../core/threads.h"
#include "../cpu/kernel.h"
#include "../cpu/narrow.h"
#include "../cpu/panels.h"
#include "check.h"

using namespace blockscope;

namespace {

const CancelFlag kNever;

// The kernels of this machine, and the ones a lesser machine would have in their place.
std::vector<CpuKernel> kernelsToTest() {
  std::vector<CpuKernel> kernels = cpuKernels();
  CpuFeatures withoutBf16 = cpuFeatures();
  withoutBf16.avx512Bf16 = false;
  kernels.push_back(avx512Kernel(withoutBf16));
  kernels.back().id += " without BF16";
  std::erase_if(kernels, [](const CpuKernel& kernel) { return !kernel.available; });
  return kernels;
}

// One for all runs, so that leftovers of one would show in the next.
Workspace& sharedWorkspace() {
  static Workspace workspace;
  return workspace;
}

std::vector<uint8_t> productOf(const CpuKernel& kernel, const Problem& problem,
                               const Operands& operands) {
  // Poisoned, so that an element that is never written is seen.
  std::vector<uint8_t> c(problem.elements() * outputBytes(problem.output), 0xff);
  kernel.compute(problem, packOperands(problem, operands), c.data(), sharedWorkspace(), kNever);
  return c;
}

std::string nameOf(const CpuKernel& kernel, const Problem& problem) {
  return kernel.id + " " + problem.format + " " + std::to_string(problem.m) + "x" +
         std::to_string(problem.n) + "x" + std::to_string(problem.k) + " to " +
         std::string(wordOf(problem.output));
}

// How far a float32 sum may be from the exact one, as a share of the sum of magnitudes.
constexpr double kSumError = 0x1p-20;

// For every element of C how far its sum may be off, the same for every kernel. Elements that are
// no number need none.
std::vector<double> roomsOf(const std::vector<double>& reference, const Problem& problem,
                            const Operands& operands) {
  const int64_t size = problem.m * problem.n;
  std::vector<double> rooms(reference.size());
  for (int64_t i = 0; i < static_cast<int64_t>(reference.size()); i++)
    if (std::isfinite(reference[i]))
      rooms[i] = kSumError *
                 magnitudeElement(problem, operands, i / size, i % size / problem.n, i % problem.n);
  return rooms;
}

void checkAgainst(const std::vector<double>& reference, const std::vector<double>& rooms,
                  const CpuKernel& kernel, const Problem& problem, const Operands& operands,
                  const std::string& what) {
  const std::vector<uint8_t> c = productOf(kernel, problem, operands);
  for (int64_t i = 0; i < static_cast<int64_t>(reference.size()); i++) {
    const double expected = reference[i], got = readOutput(problem.output, c.data(), i);
    bool right;
    if (!std::isfinite(expected)) {
      right =
          std::isnan(expected) ? std::isnan(got) : got == roundToOutput(problem.output, expected);
    } else {
      right = got >= roundToOutput(problem.output, expected - rooms[i]) &&
              got <= roundToOutput(problem.output, expected + rooms[i]);
    }
    if (right) continue;
    checkThat(false,
              nameOf(kernel, problem) + ", " + what + ": element " + std::to_string(i) + " is " +
                  std::to_string(got) + ", not " + std::to_string(expected),
              __FILE__, __LINE__);
    return;
  }
  checkThat(true, what, __FILE__, __LINE__);
}

void checkAllKernels(const Problem& problem, const Operands& operands, const std::string& what) {
  const std::vector<double> reference = referenceProduct(problem, operands, kNever, nullptr);
  const std::vector<double> rooms = roomsOf(reference, problem, operands);
  for (const CpuKernel& kernel : kernelsToTest())
    checkAgainst(reference, rooms, kernel, problem, operands, what);
}

// Sizes around those of register tiles (3 to 12 rows, 4 to 32 columns), of tiles (108 to 112, 128)
// and of chunks of K.
void everyFormatShapeAndOutput() {
  const int64_t shapes[][3] = {{1, 1, 32},    {1, 129, 96},  {7, 33, 64},    {33, 7, 1088},
                               {12, 32, 512}, {13, 31, 544}, {129, 65, 160}, {113, 257, 32}};
  const OutputType outputs[] = {OutputType::kF32, OutputType::kF16, OutputType::kBf16,
                                OutputType::kE4m3, OutputType::kE5m2};
  int turn = 0;
  for (const BlockFormat& format : blockFormats())
    for (const auto& [m, n, k] : shapes)
      for (const char* distribution : {"normal", "adversarial", "uniform-codes", "tutorial"}) {
        const Problem problem{std::string(format.id), m, n, k, 1, outputs[turn++ % 5]};
        checkAllKernels(problem, generateOperands(problem, {distribution, 7}, kNever),
                        distribution);
      }
}

void oddBlocksOfSixteen() {
  for (const char* format : {"nvfp4", "mxfp4_b16", "w4a16_nvfp4"})
    for (const int64_t k : {16, 48, 1040}) {
      const Problem problem{format, 9, 40, k, 1, OutputType::kF32};
      checkAllKernels(problem, generateOperands(problem, {"normal", 3}, kNever),
                      "odd number of blocks");
    }
}

void batchesAndTensorScales() {
  for (const BlockFormat& format : blockFormats()) {
    const Problem problem{std::string(format.id), 19, 37, 96, 3, OutputType::kF32};
    Operands operands = generateOperands(problem, {"normal", 5}, kNever);
    if (format.scale == NumberFormatId::kUe4m3) {
      operands.tensorScaleA = 0.37f;
      operands.tensorScaleB = 13.0f;
    }
    checkAllKernels(problem, operands, "batch");
  }
}

// With scales of 0.5, 1 and 2 every partial sum is a multiple of 2^-4 below 2^20: float32 holds it,
// so the product must be the exact one.
void fp4IsExact() {
  for (const char* format : {"nvfp4", "mxfp4", "mxfp4_b16"}) {
    const Problem problem{format, 61, 67, 512, 1, OutputType::kF32};
    Operands operands = generateOperands(problem, {"uniform-codes", 9}, kNever);
    const bool e4m3 = std::string(format) == "nvfp4";
    auto soften = [e4m3](std::vector<uint8_t>& scales) {
      for (uint8_t& code : scales) code = e4m3 ? 0x30 + code % 3 * 8 : 126 + code % 3;
    };
    soften(operands.aScales);
    soften(operands.bScales);
    const std::vector<double> reference = referenceProduct(problem, operands, kNever, nullptr);
    for (const CpuKernel& kernel : kernelsToTest()) {
      const std::vector<uint8_t> c = productOf(kernel, problem, operands);
      bool equal = true;
      for (size_t i = 0; i < reference.size(); i++)
        equal =
            equal && readOutput(problem.output, c.data(), static_cast<int64_t>(i)) == reference[i];
      checkThat(equal, nameOf(kernel, problem) + " is not exact", __FILE__, __LINE__);
    }
  }
}

void setBf16(Operands& operands, int64_t element, uint16_t code) {
  operands.aCodes[2 * element] = static_cast<uint8_t>(code);
  operands.aCodes[2 * element + 1] = static_cast<uint8_t>(code >> 8);
}

void scaleNanReachesItsRowAndColumnOnly() {
  for (const BlockFormat& format : blockFormats()) {
    const Problem problem{std::string(format.id), 15, 35, 96, 1, OutputType::kF16};
    Operands operands = generateOperands(problem, {"normal", 5}, kNever);
    const int64_t blocks = problem.k / format.scaleBlockSize;
    const uint8_t nan = format.scale == NumberFormatId::kUe4m3 ? 0x7f : 0xff;
    if (format.elementA().isScaled()) operands.aScales[4 * blocks + 1] = nan;
    else setBf16(operands, 4 * problem.k + 17, 0xffc1);
    operands.bScales[33 * blocks] = nan;
    checkAllKernels(problem, operands, "NaN scales");
    for (const CpuKernel& kernel : kernelsToTest()) {
      const std::vector<uint8_t> c = productOf(kernel, problem, operands);
      int64_t wrong = 0;
      for (int64_t i = 0; i < problem.m * problem.n; i++)
        wrong += std::isnan(readOutput(problem.output, c.data(), i)) !=
                 (i / problem.n == 4 || i % problem.n == 33);
      checkThat(wrong == 0, nameOf(kernel, problem) + ": NaN in the wrong places", __FILE__,
                __LINE__);
    }
  }
}

void elementNanAndInfinity() {
  for (const char* format : {"mxfp8", "mxfp8_e5m2", "mxfp8_e4m3_e5m2", "mixed"}) {
    const BlockFormat& kind = findBlockFormat(format);
    const Problem problem{format, 15, 35, 96, 1, OutputType::kF32};
    Operands operands = generateOperands(problem, {"normal", 5}, kNever);
    const NumberFormat &a = kind.elementA(), &b = kind.elementB();
    operands.aCodes[3 * problem.k + 40] = static_cast<uint8_t>(0x80 | a.nanFrom);
    operands.bCodes[7 * problem.k + 41] = static_cast<uint8_t>(b.nanFrom < 256 ? b.nanFrom : 1);
    if (a.infinity >= 0)
      operands.aCodes[9 * problem.k + 5] = static_cast<uint8_t>(0x80 | a.infinity);
    if (b.infinity >= 0) operands.bCodes[20 * problem.k + 5] = static_cast<uint8_t>(b.infinity);
    checkAllKernels(problem, operands, "NaN and infinity among elements");
  }
}

// Infinities, subnormals and numbers beyond float32's products among bf16 activations: each in a
// row of its own, and each with the scales at their ends.
void activationsOfAnySize() {
  for (const char* format : {"w4a16_mxfp4", "w4a16_nvfp4"}) {
    const Problem problem{format, 15, 35, 96, 1, OutputType::kF32};
    Operands operands = generateOperands(problem, {"normal", 5}, kNever);
    checkAllKernels(problem, operands, "activations near 1");
    int64_t row = 0;
    for (const int code : {0x7f80, 0xff80, 0x7f7f, 0x0001, 0x8000, 0x0080, 0x5000, 0x2000})
      setBf16(operands, row++ * problem.k + 50, static_cast<uint16_t>(code));
    checkAllKernels(problem, operands, "activations of any size");
  }
}

// Code 0 is 2^-127, not zero, and 254 is 2^127: their product is 1.
void scalesAtTheEndsOfTheRange() {
  for (const BlockFormat& format : blockFormats()) {
    if (format.scale != NumberFormatId::kE8m0) continue;
    const Problem problem{std::string(format.id), 15, 35, 96, 1, OutputType::kF32};
    Operands operands = generateOperands(problem, {"normal", 5}, kNever);
    std::fill(operands.aScales.begin(), operands.aScales.end(), uint8_t{0});
    std::fill(operands.bScales.begin(), operands.bScales.end(), uint8_t{254});
    checkAllKernels(problem, operands, "scales 2^-127 and 2^127");
    std::fill(operands.bScales.begin(), operands.bScales.end(), uint8_t{40});
    checkAllKernels(problem, operands, "products that underflow");
    std::fill(operands.aScales.begin(), operands.aScales.end(), uint8_t{230});
    std::fill(operands.bScales.begin(), operands.bScales.end(), uint8_t{254});
    checkAllKernels(problem, operands, "products that overflow");
  }
}

// Quantisers give blocks of zeros scale code 0; whatever their scale, they add nothing.
void zeroBlocksMayHaveAnyFiniteScale() {
  for (const BlockFormat& format : blockFormats()) {
    if (format.scale != NumberFormatId::kE8m0) continue;
    const Problem problem{std::string(format.id), 15, 35, 96, 1, OutputType::kF32};
    for (int scale : {0, 1, 126, 254}) {
      Operands operands = generateOperands(problem, {"normal", 5}, kNever);
      const int64_t size = format.scaleBlockSize, blocks = problem.k / size;
      for (int64_t row : {2, 11}) {
        const int64_t bytes = format.elementA().codeBytes();
        std::fill_n(&operands.aCodes[row * problem.k * bytes], size * bytes, uint8_t{0});
        if (format.elementA().isScaled())
          operands.aScales[row * blocks] = static_cast<uint8_t>(scale);
        std::fill_n(&operands.bCodes[row * problem.k + size], size, uint8_t{0});
        operands.bScales[row * blocks + 1] = static_cast<uint8_t>(scale);
      }
      // Sums of exponents that would look like an infinity's, were they added to a zero block's.
      operands.bScales[0] = 128;
      checkAllKernels(problem, operands, "zero blocks with scale " + std::to_string(scale));
    }
  }
}

// Every pair of scales that kernels may add or look up, against the product it stands for.
void scaleWordsMakeExactProducts() {
  const auto& e4m3 = decodeTable(NumberFormatId::kUe4m3);
  const auto& e8m0 = decodeTable(NumberFormatId::kE8m0);
  int wrong = 0;
  for (int a = 1; a < 127; a++)
    for (int b = 1; b < 127; b++) {
      const auto code = [](int value) { return static_cast<uint8_t>(value); };
      const int32_t place = scaleBitsA(NumberFormatId::kUe4m3, code(a), ScaleProduct::kLookedUp);
      const int32_t word = scaleBitsB(NumberFormatId::kUe4m3, code(b), ScaleProduct::kLookedUp);
      const int32_t bits = scaleProductTable()[place + (word & 15)] + word;
      wrong += std::bit_cast<float>(bits) != e4m3[a] * e4m3[b] / 4;
      const int highA = a + 64, highB = b + 64;  // exponents -62..63
      const auto adding = ScaleProduct::kExponentsAdded;
      const int32_t sum = scaleBitsA(NumberFormatId::kE8m0, code(highA), adding) +
                          scaleBitsB(NumberFormatId::kE8m0, code(highB), adding);
      wrong += std::bit_cast<float>(sum) != e8m0[highA] * e8m0[highB] / 4;
    }
  CHECK(wrong == 0);
}

void rowsAreRoundedAsTheOracleRounds() {
  std::vector<float> values = {0.0f,   -0.0f,  INFINITY, -INFINITY, NAN,     -NAN,
                               448.0f, 464.0f, 1e9f,     65519.0f,  65520.0f};
  for (uint32_t high = 0; high < 0x10000; high++)
    for (uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u})
      values.push_back(std::bit_cast<float>(high << 16 | low));
  const int64_t count = static_cast<int64_t>(values.size());
  for (OutputType type : {OutputType::kF16, OutputType::kBf16, OutputType::kE4m3, OutputType::kE5m2,
                          OutputType::kF32}) {
    std::vector<uint8_t> row(count * outputBytes(type)), single(count * outputBytes(type));
    narrowRow(type, values.data(), count, row.data(), 0, narrowToHalfPortable);
    for (int64_t i = 0; i < count; i++) writeOutput(type, values[i], single.data(), i);
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++) {
      const double a = readOutput(type, row.data(), i), b = readOutput(type, single.data(), i);
      wrong += !(a == b && std::signbit(a) == std::signbit(b)) && !(std::isnan(a) && std::isnan(b));
    }
    checkThat(
        wrong == 0,
        std::string(wordOf(type)) + ": " + std::to_string(wrong) + " of the rows' values differ",
        __FILE__, __LINE__);
  }
}

void everyKernelStopsWithin100Milliseconds() {
  for (const char* format : {"mxfp4", "mxfp8"}) {
    const Problem problem{format, 2048, 2048, 2048, 1, OutputType::kF16};
    const Operands operands = generateOperands(problem, {"normal", 1}, kNever);
    Operands extreme = operands;
    extreme.aScales[0] = 0xff;  // float64 throughout
    for (const CpuKernel& kernel : kernelsToTest())
      for (const Operands* given : std::initializer_list<const Operands*>{&operands, &extreme}) {
        const PackedOperands packed = packOperands(problem, *given);
        std::vector<uint8_t> c(problem.m * problem.n * 2);
        CancelFlag cancel;
        std::atomic<bool> cancelled{false};
        std::thread worker([&] {
          try {
            for (;;) kernel.compute(problem, packed, c.data(), sharedWorkspace(), cancel);
          } catch (const Error& error) {
            cancelled = error.kind == ErrorKind::kCancelled;
          }
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        const auto start = std::chrono::steady_clock::now();
        cancel.request();
        worker.join();
        const double ms =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                .count();
        // Every 50 ms is promised; a machine that does other work besides may take longer.
        checkThat(cancelled && ms < 1000, kernel.id + " took " + std::to_string(ms) + " ms to stop",
                  __FILE__, __LINE__);
      }
  }
}

void kernelsSayWhatTheyNeed() {
  for (const CpuKernel& kernel : {avx512Kernel({}), avxVnniKernel({}), avx2Kernel({})}) {
    checkThat(!kernel.available, kernel.id + " claims to run anywhere", __FILE__, __LINE__);
    CHECK(kernel.unavailable.ends_with('.'));
  }
  // Not the same function by a linker's mistake: one instruction set's code would run on another's
  // machine.
  const CpuFeatures& has = cpuFeatures();
  if (has.avx2) CHECK(avx2Kernel(has).multiply != avxVnniKernel(has).multiply);
  CHECK(portableKernel().available);
  CHECK(cpuKernels().back().id == "cpu-portable");
}

void clockIsToldOnlyWhereItIsMeasured() {
  const std::string clock = "processor\t: 0\ncpu MHz\t\t: 3187.250\nflags\t\t: fpu ";
  auto read = [](const std::string& text) {
    std::istringstream cpuInfo(text);
    return measuredClockMHz(cpuInfo);
  };
  CHECK(read(clock + "aperfmperf sse\n") == 3187.25);
  CHECK(read(clock + "aperfmperf\n") == 3187.25);
  CHECK(read(clock + "sse noaperfmperf\n") == 0);
  CHECK(read("processor\t: 0\nflags\t\t: fpu aperfmperf\n") == 0);
  CHECK(read("") == 0);
}

}  // namespace

int main() {
  clockIsToldOnlyWhereItIsMeasured();
  kernelsSayWhatTheyNeed();
  scaleWordsMakeExactProducts();
  rowsAreRoundedAsTheOracleRounds();
  everyFormatShapeAndOutput();
  oddBlocksOfSixteen();
  batchesAndTensorScales();
  fp4IsExact();
  scaleNanReachesItsRowAndColumnOnly();
  elementNanAndInfinity();
  activationsOfAnySize();
  scalesAtTheEndsOfTheRange();
  zeroBlocksMayHaveAnyFiniteScale();
  everyKernelStopsWithin100Milliseconds();
  return summary();
}
