#include "formats.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "backend.h"

namespace blockscope {

namespace {

constexpr int kNone = 256;

constexpr NumberFormat kFormats[] = {
    // id, name, signed, exponent, mantissa, bias, NaN from, infinity, bits
    {NumberFormatId::kE2m1, "e2m1", true, 2, 1, 1, kNone, -1, 4},
    {NumberFormatId::kE2m3, "e2m3", true, 2, 3, 1, kNone, -1, 6},
    {NumberFormatId::kE3m2, "e3m2", true, 3, 2, 3, kNone, -1, 6},
    {NumberFormatId::kE4m3, "e4m3", true, 4, 3, 7, 0x7f, -1, 8},
    {NumberFormatId::kE5m2, "e5m2", true, 5, 2, 15, 0x7d, 0x7c, 8},
    {NumberFormatId::kE8m0, "e8m0", false, 8, 0, 127, 0xff, -1, 8},
    {NumberFormatId::kUe4m3, "ue4m3", false, 4, 3, 7, 0x7f, -1, 8},
    {NumberFormatId::kBf16, "bf16", true, 8, 7, 127, 0x7f81, 0x7f80, 16},
};

}  // namespace

int NumberFormat::largestFinite() const {
  if (infinity >= 0) return infinity - 1;
  return nanFrom == kNone ? (1 << magnitudeBits()) - 1 : nanFrom - 1;
}

const NumberFormat& numberFormat(NumberFormatId id) { return kFormats[static_cast<int>(id)]; }

const NumberFormat* findNumberFormat(std::string_view name) {
  for (const auto& format : kFormats)
    if (format.name == name) return &format;
  return nullptr;
}

double decode(const NumberFormat& format, uint16_t code) {
  const int magnitude = code & ((1 << format.magnitudeBits()) - 1);
  const double sign = (code & format.signBit()) ? -1.0 : 1.0;
  if (magnitude == format.infinity) return sign * INFINITY;
  if (magnitude >= format.nanFrom) return NAN;
  const int exponent = magnitude >> format.mantissaBits;
  const int mantissa = magnitude & ((1 << format.mantissaBits) - 1);
  // e8m0 has no mantissa bits, and so neither zero nor subnormals.
  const bool subnormal = exponent == 0 && format.mantissaBits > 0;
  const int significand = subnormal ? mantissa : mantissa + (1 << format.mantissaBits);
  const int power = (subnormal ? 1 : exponent) - format.bias - format.mantissaBits;
  return sign * std::ldexp(significand, power);
}

uint16_t codeAt(const NumberFormat& format, const uint8_t* codes, int64_t index) {
  if (format.codeBytes() == 1) return codes[index];
  return static_cast<uint16_t>(codes[2 * index] | codes[2 * index + 1] << 8);
}

const std::array<float, 256>& decodeTable(NumberFormatId id) {
  static const auto tables = [] {
    std::array<std::array<float, 256>, std::size(kFormats)> all{};
    for (size_t f = 0; f < std::size(kFormats); f++)
      for (int code = 0; code < 256; code++)
        all[f][code] =
            static_cast<float>(decode(kFormats[f], code & (kFormats[f].codeCount() - 1)));
    return all;
  }();
  return tables[static_cast<int>(id)];
}

namespace {

uint8_t encodeE8m0(float value, OverflowRule rule) {
  const bool saturate = rule == OverflowRule::kSaturate;
  if (std::isnan(value)) return 0xff;
  if (value <= 0) return saturate ? 0 : 0xff;
  if (std::isinf(value)) return saturate ? 0xfe : 0xff;
  int exponent;
  // frexp gives a fraction in [0.5, 1): 0.75 is half way between two powers of two.
  const float fraction = std::frexp(value, &exponent);
  const int code = exponent - 1 + (fraction >= 0.75f ? 1 : 0) + 127;
  if (code > 254) return saturate ? 0xfe : 0xff;
  return static_cast<uint8_t>(code < 0 ? 0 : code);
}

}  // namespace

uint16_t encode(const NumberFormat& format, float value, OverflowRule rule) {
  if (format.id == NumberFormatId::kE8m0) return encodeE8m0(value, rule);
  const int nan = format.nanFrom == kNone ? -1 : (1 << format.magnitudeBits()) - 1;
  if (std::isnan(value)) {
    // ml_dtypes: -0 where there is no NaN; the quiet NaN of e5m2 is 0x7e, of bf16 0x7fc0.
    if (nan < 0) return static_cast<uint16_t>(format.signBit());
    const int quiet = 1 << (format.mantissaBits - 1);
    return static_cast<uint16_t>(format.infinity >= 0 ? format.infinity + quiet : nan);
  }
  const bool negative = std::signbit(value);
  if (negative && !format.isSigned) return 0;
  const int sign = negative ? format.signBit() : 0;
  const double magnitude = std::fabs(static_cast<double>(value));
  int code = format.largestFinite() + 1;
  if (std::isfinite(magnitude)) {
    const int smallest = 1 - format.bias;
    const int exponent = magnitude == 0 ? smallest : std::max(smallest, std::ilogb(magnitude));
    // In units of the last place at this exponent the nearest integer, ties to even; it carries
    // into the exponent.
    const double units = std::nearbyint(std::ldexp(magnitude, format.mantissaBits - exponent));
    // Far beyond every format's range the code itself would overflow.
    const int field = std::min(exponent + format.bias - 1, 1 << format.exponentBits);
    code = (field << format.mantissaBits) + static_cast<int>(units);
  }
  if (code > format.largestFinite()) {
    if (rule == OverflowRule::kSaturate || nan < 0) code = format.largestFinite();
    else code = format.infinity >= 0 ? format.infinity : nan;
  }
  return static_cast<uint16_t>(sign | code);
}

const std::vector<BlockFormat>& blockFormats() {
  using enum NumberFormatId;
  // clang-format off
  static const std::vector<BlockFormat> formats = {
      {"nvfp4", kE2m1, kE2m1, kUe4m3, 16},
      {"mxfp4", kE2m1, kE2m1, kE8m0, 32},
      {"mxfp4_b16", kE2m1, kE2m1, kE8m0, 16},
      {"mxfp8", kE4m3, kE4m3, kE8m0, 32},
      {"mxfp8_e5m2", kE5m2, kE5m2, kE8m0, 32},
      {"mxfp8_e4m3_e5m2", kE4m3, kE5m2, kE8m0, 32},
      {"mixed", kE4m3, kE2m1, kE8m0, 32},
      {"mxfp6_e2m3", kE2m3, kE2m3, kE8m0, 32},
      {"mxfp6_e3m2", kE3m2, kE3m2, kE8m0, 32},
      {"w4a16_mxfp4", kBf16, kE2m1, kE8m0, 32},
      {"w4a16_nvfp4", kBf16, kE2m1, kUe4m3, 16},
  };
  // clang-format on
  return formats;
}

namespace {

// Which elements may stand under a scale, in any pair. PTX ISA, mma with .block_scale:
// .kind::mxf8f6f4 and .kind::mxf4nvf4; cuda.tile.mma_scaled for e2m1.
struct PairRule {
  NumberFormatId scale;
  int scaleBlockSize;
  std::vector<NumberFormatId> elements;
};

std::vector<PairRule> pairRules() {
  using enum NumberFormatId;
  return {{kE8m0, 32, {kE4m3, kE5m2, kE2m3, kE3m2, kE2m1}},
          {kE8m0, 16, {kE2m1}},
          {kUe4m3, 16, {kE2m1}}};
}

bool hasShortName(NumberFormatId a, NumberFormatId b, const PairRule& rule) {
  return std::any_of(blockFormats().begin(), blockFormats().end(), [&](const BlockFormat& format) {
    return format.a == a && format.b == b && format.scale == rule.scale &&
           format.scaleBlockSize == rule.scaleBlockSize;
  });
}

// "e5m2xe2m1"; the scale is said where it is not e8m0 per 32.
std::string pairName(NumberFormatId a, NumberFormatId b, const PairRule& rule) {
  auto name = [](NumberFormatId id) { return std::string(numberFormat(id).name); };
  const std::string pair = name(a) + "x" + name(b);
  if (rule.scale == NumberFormatId::kE8m0 && rule.scaleBlockSize == 32) return pair;
  return pair + "-" + name(rule.scale) + "-" + std::to_string(rule.scaleBlockSize);
}

// The formats' ids are views of these.
const std::vector<std::pair<std::string, BlockFormat>>& namedPairs() {
  static const auto pairs = [] {
    std::vector<std::pair<std::string, BlockFormat>> made;
    for (const PairRule& rule : pairRules())
      for (const NumberFormatId a : rule.elements)
        for (const NumberFormatId b : rule.elements)
          if (!hasShortName(a, b, rule))
            made.emplace_back(pairName(a, b, rule),
                              BlockFormat{"", a, b, rule.scale, rule.scaleBlockSize});
    return made;
  }();
  return pairs;
}

}  // namespace

const std::vector<BlockFormat>& everyBlockFormat() {
  static const std::vector<BlockFormat> every = [] {
    std::vector<BlockFormat> all = blockFormats();
    for (const auto& [name, format] : namedPairs()) {
      all.push_back(format);
      all.back().id = name;
    }
    return all;
  }();
  return every;
}

const BlockFormat& findBlockFormat(std::string_view id) {
  std::string known;
  for (const auto& format : everyBlockFormat()) {
    if (format.id == id) return format;
    known += (known.empty() ? "" : ", ") + std::string(format.id);
  }
  throw Error(ErrorKind::kUsage,
              "\"" + std::string(id) + "\" is no block-scaled format. Formats: " + known + ".");
}

}  // namespace blockscope
