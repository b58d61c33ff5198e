// Every instruction set's loops give the same bytes and the same sums;
// test/unit/native/quantize.test.ts holds them to src-shared/formats/quantize.ts.
#include <cmath>
#include <cstring>
#include <random>

#include "../quantize/blockQuantizer.h"
#include "check.h"

using namespace blockscope;

namespace {

constexpr int64_t kCount = 32 * 501;  // no multiple of the lanes

// All magnitudes, ties of few bits, zeros, and some values that are no numbers.
std::vector<double> values(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> made(kCount);
  for (double& value : made) {
    const uint32_t bits = random();
    const int kind = static_cast<int>(random() % 8);
    float any;
    std::memcpy(&any, &bits, 4);
    if (kind < 3) value = static_cast<int>(bits % 129 - 64) / 8.0;
    else if (kind == 3) value = bits & 1 ? 0.0 : -0.0;
    else if (kind < 7) value = std::isfinite(any) ? any : 1;
    else value = bits % 997 ? std::ldexp(static_cast<double>(bits), -40) : any;
  }
  made[100] = NAN;
  made[5000] = -INFINITY;
  return made;
}

void expectAlike(const QuantizeKernels& one, const QuantizeKernels& other,
                 const QuantizedForm& form) {
  const auto input =
      values(static_cast<uint32_t>(form.scaleBlockSize) + static_cast<uint32_t>(form.rule));
  const int64_t blocks = kCount / form.scaleBlockSize;
  std::vector<uint8_t> codes(kCount), otherCodes(kCount), scales(blocks), otherScales(blocks);
  CHECK(one.quantize(form, input.data(), blocks, codes.data(), scales.data()) >= 2);
  CHECK(other.quantize(form, input.data(), blocks, otherCodes.data(), otherScales.data()) >= 2);
  CHECK(codes == otherCodes);
  CHECK(scales == otherScales);
}

void decodesAlike(const QuantizeKernels& one, const QuantizeKernels& other) {
  std::vector<uint8_t> bytes(4 * 65536);
  for (int64_t i = 0; i < 65536; i++) {
    bytes[2 * i] = static_cast<uint8_t>(i);
    bytes[2 * i + 1] = static_cast<uint8_t>(i >> 8);
  }
  std::vector<double> a(65536), b(65536);
  const auto same = [&] { return std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0; };
  one.decodeF16(bytes.data(), 65536, a.data());
  other.decodeF16(bytes.data(), 65536, b.data());
  CHECK(same());
  CHECK(a[0x0001] == 0x1p-24 && a[0x3c00] == 1 && a[0xfbff] == -65504 && std::isinf(a[0x7c00]) &&
        std::isnan(a[0x7e00]) && std::signbit(a[0x8000]));
  one.decodeBf16(bytes.data(), 65536, a.data());
  other.decodeBf16(bytes.data(), 65536, b.data());
  CHECK(same());
  one.decodeF32(bytes.data(), 32768, a.data());
  other.decodeF32(bytes.data(), 32768, b.data());
  CHECK(same());
}

void addsAlike(const QuantizeKernels& one, const QuantizeKernels& other) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> x(4099), y(4099);
  for (size_t i = 0; i < x.size(); i++) {
    x[i] = normal(random);
    y[i] = x[i] + 1e-3 * normal(random);
  }
  double sums[2][3][kLanes] = {};
  const QuantizeKernels* both[] = {&one, &other};
  for (int k = 0; k < 2; k++)
    both[k]->addErrors(x.data(), y.data(), static_cast<int64_t>(x.size()), sums[k][0], sums[k][1],
                       sums[k][2]);
  CHECK(std::memcmp(sums[0], sums[1], sizeof(sums[0])) == 0);
  bool finite = true;
  CHECK(one.largestFinite(x.data(), 4099, 0, finite) ==
        other.largestFinite(x.data(), 4099, 0, finite));
  CHECK(finite);
}

}  // namespace

int main() {
  using enum NumberFormatId;
  const auto all = allQuantizeKernels();
  CHECK(!all.empty() && &quantizeKernels() == all.back());
  for (const QuantizeKernels* other : all) {
    for (const ScaleRule rule :
         {ScaleRule::kFloor, ScaleRule::kCeil, ScaleRule::kEven, ScaleRule::kMse}) {
      for (const NumberFormatId element : {kE2m1, kE2m3, kE3m2, kE4m3, kE5m2})
        expectAlike(*all.front(), *other, {element, kE8m0, 32, rule});
      expectAlike(*all.front(), *other, {kE2m1, kE8m0, 16, rule});
      for (const double tensorScale : {0x1p-149, 0.01, 1 / 3.0, 1e20})
        expectAlike(*all.front(), *other, {kE2m1, kUe4m3, 16, rule, tensorScale});
    }
    decodesAlike(*all.front(), *other);
    addsAlike(*all.front(), *other);
  }
  return summary();
}
