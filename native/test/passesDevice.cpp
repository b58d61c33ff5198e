// The GPU's passes around a kernel, and the two conversions to eight bits of its kernels and of its
// judge, compiled for the CPU, against the CPU's: the same bytes.
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "../core/formats.h"
#include "../core/operands.h"
#include "../core/outputs.h"
#include "../core/packing.h"
#include "../cpu/kernel.h"
#include "check.h"
#include "deviceCode.h"

using namespace blockscope;

namespace {

const CancelFlag kNever;

template <typename Body>
void forThreads(int64_t count, Body body) {
  device::blockDim.x = 1;
  for (int64_t i = 0; i < count; i++) {
    device::blockIdx.x = static_cast<unsigned>(i);
    body();
  }
}

// Every upper half of a float, and what rounds and ties below it.
std::vector<float> manyFloats() {
  std::vector<float> values = {0.0f,   -0.0f,  INFINITY, -INFINITY, NAN,
                               448.0f, 464.0f, 57344.0f, 61440.0f};
  for (uint32_t high = 0; high < 0x10000; high++)
    for (uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u})
      values.push_back(std::bit_cast<float>(high << 16 | low));
  return values;
}

bool same(double a, double b) {
  return (a == b && std::signbit(a) == std::signbit(b)) || (std::isnan(a) && std::isnan(b));
}

void finishesAsTheOracleRounds() {
  const std::vector<float> values = manyFloats();
  const int64_t count = static_cast<int64_t>(values.size());
  std::vector<float> accumulator(values.size());
  for (size_t i = 0; i < values.size(); i++) accumulator[i] = values[values.size() - 1 - i];
  for (const OutputType type : {OutputType::kF16, OutputType::kBf16, OutputType::kF32,
                                OutputType::kE4m3, OutputType::kE5m2})
    for (const bool accumulate : {false, true})
      for (const float scale : {1.0f, 0.37f}) {
        std::vector<uint8_t> c(values.size() * outputBytes(type));
        forThreads(count, [&] {
          device::finish(values.data(), accumulate ? accumulator.data() : nullptr, c.data(), count,
                         static_cast<int>(type), scale);
        });
        int64_t wrong = 0;
        for (int64_t i = 0; i < count; i++) {
          const float sum = accumulate ? values[i] + accumulator[i] : values[i];
          wrong += !same(readOutput(type, c.data(), i), roundToOutput(type, sum * scale));
        }
        checkThat(wrong == 0,
                  std::string(wordOf(type)) + ": " + std::to_string(wrong) + " finished otherwise",
                  __FILE__, __LINE__);
      }
}

void theJudgeReadsAndRoundsTheSame() {
  for (const NumberFormatId id : {NumberFormatId::kE4m3, NumberFormatId::kE5m2}) {
    const NumberFormat& format = numberFormat(id);
    const device::EightBits type = device::eightBits(id == NumberFormatId::kE4m3);
    int wrong = 0;
    for (int code = 0; code < 256; code++)
      wrong += !same(device::fromEightBits(type, code), decode(format, static_cast<uint8_t>(code)));
    for (const float value : manyFloats())
      wrong += !same(device::fromEightBits(type, device::toEightBits(type, value)),
                     decode(format, encode(format, value)));
    CHECK(wrong == 0);
  }
}

// B as (K, N), turned back to (N, K).
void turnsBBack() {
  for (const BlockFormat& format : blockFormats()) {
    Problem problem{std::string(format.id), 4, 36, 96};
    const Operands operands = generateOperands(problem, {"uniform-codes", 3}, kNever);
    const PackedOperands expected = packOperands(problem, operands);
    problem.bOrder = BOrder::kKn;
    const PackedOperands given = packOperands(problem, operands);
    CHECK(given.b != expected.b);
    const int64_t blocks = problem.k / format.scaleBlockSize;
    std::vector<uint8_t> codes(expected.b.size()), scales(expected.bScales.size());
    forThreads(problem.n * problem.k, [&] {
      device::turnPacked(given.b.data(), codes.data(), problem.n, problem.k,
                         format.elementB().storageBits);
    });
    forThreads(problem.n * blocks, [&] {
      device::turnPacked(given.bScales.data(), scales.data(), problem.n, blocks, 8);
    });
    CHECK(codes == expected.b);
    CHECK(scales == expected.bScales);
  }
}

}  // namespace

int main() {
  finishesAsTheOracleRounds();
  theJudgeReadsAndRoundsTheSame();
  turnsBBack();
  return summary();
}
