#include "outputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "formats.h"
#include "threads.h"

namespace blockscope {

int outputBytes(OutputType type) {
  switch (type) {
    case OutputType::kF32:
      return 4;
    case OutputType::kE4m3:
    case OutputType::kE5m2:
      return 1;
    default:
      return 2;
  }
}

uint16_t floatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // 65520 and above round to infinity
  if (magnitude < 0x38800000) {  // below 2^-14: adding 0.5 lets the FPU round at 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3f000000);
  }
  const uint32_t odd = magnitude >> 13 & 1;
  return sign | static_cast<uint16_t>((magnitude + 0xfff + odd - 0x38000000) >> 13);
}

float halfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = half >> 10 & 31;
  const uint32_t mantissa = half & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -value : value;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t floatToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float bf16ToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

double readOutput(OutputType type, const void* buffer, int64_t index) {
  switch (type) {
    case OutputType::kF16:
      return halfToFloat(static_cast<const uint16_t*>(buffer)[index]);
    case OutputType::kBf16:
      return bf16ToFloat(static_cast<const uint16_t*>(buffer)[index]);
    case OutputType::kF32:
      return static_cast<const float*>(buffer)[index];
    case OutputType::kE4m3:
      return decodeTable(NumberFormatId::kE4m3)[static_cast<const uint8_t*>(buffer)[index]];
    case OutputType::kE5m2:
      return decodeTable(NumberFormatId::kE5m2)[static_cast<const uint8_t*>(buffer)[index]];
  }
  return NAN;
}

void writeOutput(OutputType type, double value, void* buffer, int64_t index) {
  const float narrowed = static_cast<float>(value);
  switch (type) {
    case OutputType::kF16:
      static_cast<uint16_t*>(buffer)[index] = floatToHalf(narrowed);
      break;
    case OutputType::kBf16:
      static_cast<uint16_t*>(buffer)[index] = floatToBf16(narrowed);
      break;
    case OutputType::kF32:
      static_cast<float*>(buffer)[index] = narrowed;
      break;
    case OutputType::kE4m3:
      static_cast<uint8_t*>(buffer)[index] =
          static_cast<uint8_t>(encode(numberFormat(NumberFormatId::kE4m3), narrowed));
      break;
    case OutputType::kE5m2:
      static_cast<uint8_t*>(buffer)[index] =
          static_cast<uint8_t>(encode(numberFormat(NumberFormatId::kE5m2), narrowed));
      break;
  }
}

double roundToOutput(OutputType type, double value) {
  uint64_t storage = 0;
  writeOutput(type, value, &storage, 0);
  return readOutput(type, &storage, 0);
}

namespace {

// Position of a value among all values of its type, with -0 and +0 at 0.
int64_t rankOf(OutputType type, double value) {
  uint64_t storage = 0;
  writeOutput(type, value, &storage, 0);
  const int bits = 8 * outputBytes(type);
  const uint64_t signBit = uint64_t{1} << (bits - 1);
  const int64_t magnitude = static_cast<int64_t>(storage & (signBit - 1));
  return storage & signBit ? -magnitude : magnitude;
}

}  // namespace

int64_t ulpDistance(OutputType type, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return -1;
  const int64_t distance = rankOf(type, a) - rankOf(type, b);
  return distance < 0 ? -distance : distance;
}

double outputResolution(OutputType type, double value) {
  switch (type) {
    case OutputType::kF16:
      return std::fabs(value) * 0x1p-11 + 0x1p-25;
    case OutputType::kBf16:
      return std::fabs(value) * 0x1p-8;
    case OutputType::kF32:
      return std::fabs(value) * 0x1p-24;
    case OutputType::kE4m3:
      return std::fabs(value) * 0x1p-4 + 0x1p-10;
    case OutputType::kE5m2:
      return std::fabs(value) * 0x1p-3 + 0x1p-17;
  }
  return 0;
}

double ulpSize(OutputType type, double value) {
  const auto [smallestNormal, fractionBits] = [&]() -> std::pair<int, int> {
    switch (type) {
      case OutputType::kF16:
        return {-14, 10};
      case OutputType::kBf16:
        return {-126, 7};
      case OutputType::kF32:
        return {-126, 23};
      case OutputType::kE4m3:
        return {-6, 3};
      case OutputType::kE5m2:
        return {-14, 2};
    }
    return {0, 0};
  }();
  const int exponent = value == 0 ? smallestNormal : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, smallestNormal) - fractionBits);
}

void convertOutput(std::vector<uint8_t>& output, OutputType from, OutputType to) {
  constexpr int64_t kConvertedAtOnce = 1 << 16;
  const int64_t count = static_cast<int64_t>(output.size()) / outputBytes(to);
  parallelFor((count + kConvertedAtOnce - 1) / kConvertedAtOnce, CancelFlag(), [&](int64_t piece) {
    const int64_t last = std::min(count, (piece + 1) * kConvertedAtOnce);
    for (int64_t i = piece * kConvertedAtOnce; i < last; i++)
      writeOutput(to, readOutput(from, output.data(), i), output.data(), i);
  });
}

std::string digestOf(const std::vector<uint8_t>& output) {
  uint64_t hash = 0xcbf29ce484222325;
  auto add = [&](uint64_t word) { hash = (hash ^ word) * 0x100000001b3; };
  const size_t whole = output.size() / 8;
  for (size_t i = 0; i < whole; i++) {
    uint64_t word;
    std::memcpy(&word, output.data() + 8 * i, sizeof word);
    add(word);
  }
  for (size_t i = 8 * whole; i < output.size(); i++) add(output[i]);
  add(output.size());
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

}  // namespace blockscope
