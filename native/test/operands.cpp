// The generator: published Philox vectors, and what each distribution promises.
#include "../core/operands.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "../core/philox.h"
#include "check.h"

using namespace blockscope;

namespace {

const CancelFlag kNever;

// Known answers of Random123 (kat_vectors, philox4x32 10).
void philoxGivesThePublishedWords() {
  CHECK((philox4x32({0, 0, 0, 0}, {0, 0}) ==
         PhiloxWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  CHECK((philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
         PhiloxWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

Operands make(const char* format, const char* distribution, uint64_t seed = 42) {
  return generateOperands({format, 96, 64, 512, 1, OutputType::kF16}, {distribution, seed}, kNever);
}

void everyDistributionMakesFiniteCodes() {
  for (const BlockFormat& format : blockFormats())
    for (const char* distribution :
         {"tutorial", "uniform-codes", "normal", "adversarial", "zeros"}) {
      const Operands operands = make(std::string(format.id).c_str(), distribution);
      auto finite = [](const NumberFormat& number, const std::vector<uint8_t>& codes) {
        const auto count = static_cast<int64_t>(codes.size()) / number.codeBytes();
        bool all = true;
        for (int64_t i = 0; i < count; i++) {
          const uint16_t code = codeAt(number, codes.data(), i);
          all = all && code < number.codeCount() && std::isfinite(decode(number, code));
        }
        return all;
      };
      CHECK(operands.aScales.empty() == !format.elementA().isScaled());
      CHECK(finite(format.elementA(), operands.aCodes));
      CHECK(finite(format.elementB(), operands.bCodes));
      CHECK(finite(format.scaleFormat(), operands.aScales));
      CHECK(finite(format.scaleFormat(), operands.bScales));
      CHECK(operands.aCodes != operands.bCodes || std::string_view(distribution) == "zeros");
    }
}

void uniformCodesCoverEveryFiniteCode() {
  const Operands operands = make("mxfp8", "uniform-codes");
  CHECK(std::set<uint8_t>(operands.aCodes.begin(), operands.aCodes.end()).size() == 254);
  CHECK((std::set<uint8_t>(operands.aScales.begin(), operands.aScales.end()) ==
         std::set<uint8_t>{124, 125, 126, 127, 128, 129, 130}));
  const Operands nvfp4 = make("nvfp4", "uniform-codes");
  CHECK(*std::min_element(nvfp4.aScales.begin(), nvfp4.aScales.end()) >= 1);
  CHECK(*std::max_element(nvfp4.aScales.begin(), nvfp4.aScales.end()) == 0x7e);
  // bf16: every code of its seven binades, of either sign, and no other.
  const Operands bf16 = generateOperands({"w4a16_mxfp4", 512, 8, 512, 1, OutputType::kF16},
                                         {"uniform-codes", 42}, kNever);
  std::set<uint16_t> codes;
  for (size_t i = 0; i < bf16.aCodes.size(); i += 2)
    codes.insert(static_cast<uint16_t>(bf16.aCodes[i] | bf16.aCodes[i + 1] << 8));
  CHECK(codes.size() == 2 * 7 * 128);
  CHECK(*codes.begin() == 124 << 7 && *codes.rbegin() == (0x8000 | ((131 << 7) - 1)));
}

// Dequantised N(0, 1): mean, standard deviation and the blocks' largest codes.
void normalOperandsAreNormal() {
  for (const BlockFormat& format : blockFormats()) {
    const Operands operands = make(std::string(format.id).c_str(), "normal");
    double sum = 0, squares = 0;
    const NumberFormat& a = format.elementA();
    const int64_t elements = static_cast<int64_t>(operands.aCodes.size()) / a.codeBytes();
    for (int64_t i = 0; i < elements; i++) {
      const double scale =
          a.isScaled() ? decode(format.scaleFormat(), operands.aScales[i / format.scaleBlockSize])
                       : 1;
      const double value = decode(a, codeAt(a, operands.aCodes.data(), i)) * scale;
      sum += value;
      squares += value * value;
    }
    const double count = static_cast<double>(elements);
    CHECK(std::fabs(sum / count) < 0.02);
    CHECK(std::fabs(std::sqrt(squares / count) - 1) < 0.05);
  }
}

// torch.rand in (0, 1): e8m0 scale exponents -1, -2, ... with shares 1/2, 1/4, ...
void tutorialScalesAreThoseOfUniformNumbers() {
  const Operands operands =
      generateOperands({"mxfp4", 512, 64, 2048, 1, OutputType::kF16}, {"tutorial", 1}, kNever);
  const double count = static_cast<double>(operands.aScales.size());
  for (int exponent = 1; exponent <= 4; exponent++) {
    const auto here = std::count(operands.aScales.begin(), operands.aScales.end(), 127 - exponent);
    CHECK(std::fabs(here / count - std::ldexp(1, -exponent)) < 0.02);
  }
  CHECK(*std::max_element(operands.aScales.begin(), operands.aScales.end()) == 126);
  // Every element format holds the same e2m1 values.
  const Operands fp4 = make("mxfp4", "tutorial"), fp8 = make("mxfp8", "tutorial");
  const NumberFormat &e2m1 = *findNumberFormat("e2m1"), &e4m3 = *findNumberFormat("e4m3");
  for (size_t i = 0; i < fp4.aCodes.size(); i++)
    if (decode(e2m1, fp4.aCodes[i]) != decode(e4m3, fp8.aCodes[i]))
      CHECK(!"the same value in e2m1 and e4m3");
}

void adversarialOperandsHaveTheHardCases() {
  const Operands operands = make("mxfp8", "adversarial");
  const std::set<uint8_t> codes(operands.aCodes.begin(), operands.aCodes.end());
  for (const int code : {0x00, 0x80, 0x01, 0x81, 0x7e, 0xfe})
    CHECK(codes.count(static_cast<uint8_t>(code)) == 1);
  CHECK(*std::min_element(operands.aScales.begin(), operands.aScales.end()) < 8);
}

std::string refusal(const Problem& problem, const GivenOperands& given) {
  try {
    checkProblem(problem);
    checkOperands(problem, given);
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kUsage);
    return error.what();
  }
  return "";
}

void badOperandsAreRefused() {
  const Problem problem{"mxfp4", 2, 3, 64, 1, OutputType::kF16};
  const GivenOperands good{generateOperands(problem, {"normal", 1}, kNever), {}};
  CHECK(refusal(problem, good).empty());
  GivenOperands bad = good;
  bad.operands.aCodes.pop_back();
  CHECK_CONTAINS(refusal(problem, bad), "aCodes has 127 bytes; 128 are needed.");
  bad = good;
  bad.operands.bCodes[70] = 16;
  CHECK_CONTAINS(refusal(problem, bad), "bCodes holds 16 at index 70; codes of e2m1 are below 16.");
  bad = good;
  bad.reference.assign(7, 0.0);
  CHECK_CONTAINS(refusal(problem, bad), "The reference has 7 elements; 6 are needed.");
  CHECK_CONTAINS(refusal({"mxfp4", 2, 3, 48, 1, OutputType::kF16}, good), "K=48 is not a multiple");
  CHECK_CONTAINS(refusal({"mxfp4", 0, 3, 64, 1, OutputType::kF16}, good), "must each be from 1 to");
  CHECK_CONTAINS(refusal({"mxfp4", 2, int64_t{1} << 50, 64, 1, OutputType::kF16}, good),
                 "must each be from 1 to");
}

}  // namespace

int main() {
  philoxGivesThePublishedWords();
  everyDistributionMakesFiniteCodes();
  uniformCodesCoverEveryFiniteCode();
  normalOperandsAreNormal();
  tutorialScalesAreThoseOfUniformNumbers();
  adversarialOperandsHaveTheHardCases();
  badOperandsAreRefused();
  return summary();
}
