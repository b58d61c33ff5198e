// The GPU's generator of operands, compiled for the CPU, against the CPU's: the same bytes. Only
// the arithmetic is checked here; test/gpu runs it on a device.
#include <bit>
#include <cmath>
#include <cstdint>

#include "../core/formats.h"
#include "../core/layouts.h"
#include "../core/operands.h"
#include "../core/outputs.h"
#include "../core/packing.h"
#include "../cpu/kernel.h"
#include "check.h"
#include "deviceCode.h"

using namespace blockscope;

namespace {

const CancelFlag kNever;
// By their numbers in operands.cu.
const char* const kDistributions[] = {"normal",        "positive",    "wide-scales", "tutorial",
                                      "uniform-codes", "adversarial", "zeros"};

template <typename Body>
void forThreads(int64_t count, Body body) {
  device::blockDim.x = device::gridDim.x = 1;
  for (int64_t i = 0; i < count; i++) {
    device::blockIdx.x = static_cast<unsigned>(i);
    body();
  }
}

void generatesTheSameBytes() {
  for (const BlockFormat& format : blockFormats())
    for (int distribution = 0; distribution < 7; distribution++) {
      const Problem problem{std::string(format.id), 24, 8, 1024, 2, OutputType::kF16};
      const uint64_t seed = 0x9876543210ull + distribution;
      const Operands expected =
          generateOperands(problem, {kDistributions[distribution], seed}, kNever);
      const int64_t blocks = 2 * 24 * 1024 / format.scaleBlockSize;
      std::vector<uint8_t> codes(expected.aCodes.size()), scales(expected.aScales.size());
      forThreads(blocks, [&] {
        device::generate(codes.data(), scales.data(), blocks, distribution,
                         static_cast<int>(format.a), static_cast<int>(format.scale),
                         format.scaleBlockSize, seed, 0, 2);
      });
      CHECK(codes == expected.aCodes);
      CHECK(scales == expected.aScales);
    }
}

void generatesTheSameAccumulator() {
  for (const char* format : {"mxfp4", "nvfp4", "e5m2xe2m1"})
    for (int distribution = 0; distribution < 7; distribution++) {
      Problem problem{format, 12, 10, 320, 2, OutputType::kF32};
      problem.accumulate = true;
      const uint64_t seed = 0x9876543210ull + distribution;
      const char* name = kDistributions[distribution];
      const Operands expected = generateOperands(problem, {name, seed}, kNever);
      std::vector<float> values(expected.accumulator.size());
      forThreads(problem.elements(), [&] {
        device::generateAccumulator(values.data(), problem.elements(),
                                    accumulatorExponent(problem, name), distribution, seed, 4);
      });
      CHECK(values == expected.accumulator);
    }
}

// B as (K, N), straight from codes of one byte.
void turnsBAsTheCpuPacksIt() {
  for (const BlockFormat& format : blockFormats()) {
    Problem problem{std::string(format.id), 4, 36, 96, 2, OutputType::kF16};
    problem.bOrder = BOrder::kKn;
    const Operands operands = generateOperands(problem, {"uniform-codes", 3}, kNever);
    const PackedOperands expected = packOperands(problem, operands);
    const int64_t blocks = problem.k / format.scaleBlockSize;
    std::vector<uint8_t> codes(expected.b.size()), scales(expected.bScales.size());
    forThreads(2 * problem.n * problem.k, [&] {
      device::turnCodes(operands.bCodes.data(), codes.data(), 2, problem.n, problem.k,
                        format.elementB().storageBits);
    });
    forThreads(2 * problem.n * blocks, [&] {
      device::turnCodes(operands.bScales.data(), scales.data(), 2, problem.n, blocks, 8);
    });
    CHECK(codes == expected.b);
    CHECK(scales == expected.bScales);
  }
}

void packsTheSameBytes() {
  const Problem problem{"mxfp4", 96, 32, 512, 1, OutputType::kF16};
  for (const char* format : {"mxfp4", "mxfp6_e2m3"}) {
    Problem of = problem;
    of.format = format;
    const Operands operands = generateOperands(of, {"uniform-codes", 3}, kNever);
    const NumberFormat& element = findBlockFormat(format).elementA();
    const int64_t count = static_cast<int64_t>(operands.aCodes.size());
    std::vector<uint8_t> expected(packedBytes(element, count)), packed(expected.size());
    packCodes(element, operands.aCodes.data(), count, expected.data());
    forThreads(count / 4, [&] {
      device::packCodes(operands.aCodes.data(), packed.data(), count / 4, element.storageBits);
    });
    CHECK(packed == expected);
  }
  const Operands operands = generateOperands(problem, {"uniform-codes", 3}, kNever);
  for (const std::string& text : builtInLayouts()) {
    const ScaleLayout layout = findLayout(text);
    const PlacedLayout placed(layout, 96, 16);
    std::vector<long long> rows(96), columns(16);
    for (int64_t i = 0; i < 96; i++) rows[i] = placed.rowPart(i);
    for (int64_t i = 0; i < 16; i++) columns[i] = placed.columnPart(i);
    std::vector<uint8_t> packed(placed.padded().size(), 0);
    forThreads(96 * 16, [&] {
      device::packScales(operands.aScales.data(), packed.data(), rows.data(), columns.data(), 96,
                         16);
    });
    CHECK(packed == packScales(layout, operands.aScales.data(), 96, 16));
  }
}

// All codes, which have no scales: as they are.
void widensBf16AsItIs() {
  const int bf16 = static_cast<int>(NumberFormatId::kBf16);
  bool all = true;
  for (int code = 0; code < 0x10000; code++) {
    const auto own = static_cast<uint16_t>(code);
    uint16_t wide = 0;
    forThreads(1, [&] {
      device::widen(reinterpret_cast<const uint8_t*>(&own), nullptr, &wide, 1, bf16, 5, 32);
    });
    all = all && (std::isnan(bf16ToFloat(own)) ? std::isnan(bf16ToFloat(wide)) : wide == own);
  }
  CHECK(all);
}

// All codes with all scales: decoded as the CPU decodes, and rounded to e4m3 with one scale.
void decodesAndRoundsTheSame() {
  for (const BlockFormat& format : blockFormats()) {
    const NumberFormat &element = format.elementA(), &scale = format.scaleFormat();
    if (!element.isScaled()) continue;
    const auto& elements = decodeTable(element.id);
    const auto& scales = decodeTable(scale.id);
    bool all = true;
    for (int code = 0; code < element.codeCount(); code++)
      for (int block = 0; block < scale.codeCount(); block++) {
        const uint8_t codeByte = static_cast<uint8_t>(code),
                      scaleByte = static_cast<uint8_t>(block);
        const float expected = elements[code] * scales[block];
        const float got = device::scaledValue(&codeByte, &scaleByte, 0, static_cast<int>(format.a),
                                              static_cast<int>(format.scale), 1);
        uint16_t wide = 0;
        forThreads(1, [&] {
          device::widen(&codeByte, &scaleByte, &wide, 1, static_cast<int>(format.a),
                        static_cast<int>(format.scale), 1);
        });
        all = all && (std::isnan(expected) ? std::isnan(got) && std::isnan(bf16ToFloat(wide))
                                           : got == expected && wide == floatToBf16(expected));
      }
    CHECK(all);
  }
  const Operands operands =
      generateOperands({"mxfp8", 16, 16, 64, 1, OutputType::kF16}, {"normal", 5}, kNever);
  const int64_t count = static_cast<int64_t>(operands.aCodes.size());
  uint32_t largest = 0;
  forThreads(count, [&] {
    device::largestMagnitude(operands.aCodes.data(), operands.aScales.data(), &largest, count, 3, 5,
                             32);
  });
  std::vector<uint8_t> rounded(count);
  float step = 0;
  forThreads(count, [&] {
    device::oneScale(operands.aCodes.data(), operands.aScales.data(), rounded.data(), &step,
                     &largest, count, 3, 5, 32);
  });
  float expectedLargest = 0;
  bool all = true;
  for (int64_t i = 0; i < count; i++) {
    const float value = decodeTable(NumberFormatId::kE4m3)[operands.aCodes[i]] *
                        decodeTable(NumberFormatId::kE8m0)[operands.aScales[i / 32]];
    expectedLargest = std::max(expectedLargest, std::fabs(value));
    all = all && rounded[i] == encode(numberFormat(NumberFormatId::kE4m3), value / step);
  }
  CHECK(step == expectedLargest / 448.0f);
  CHECK(all);
}

}  // namespace

int main() {
  generatesTheSameBytes();
  generatesTheSameAccumulator();
  turnsBAsTheCpuPacksIt();
  packsTheSameBytes();
  decodesAndRoundsTheSame();
  widensBf16AsItIs();
  return summary();
}
