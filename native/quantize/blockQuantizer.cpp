#include "blockQuantizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "../core/backend.h"
#include "kernelsOfCpu.h"

namespace blockscope {

namespace portable {
namespace {
#include "blockQuantizer.inc"
}
const QuantizeKernels kernels = kernelsNamed("portable");
}  // namespace portable

ScaleRule findScaleRule(std::string_view name) {
  if (name == "floor") return ScaleRule::kFloor;
  if (name == "ceil") return ScaleRule::kCeil;
  if (name == "even") return ScaleRule::kEven;
  if (name == "mse") return ScaleRule::kMse;
  throw Error(ErrorKind::kUsage,
              "\"" + std::string(name) + "\" is no scale rule. Rules: floor, ceil, even, mse.");
}

namespace {

QuantizedForm::Grid gridOf(const NumberFormat& format) {
  QuantizedForm::Grid grid{};
  grid.largest = decode(format, static_cast<uint8_t>(format.largestFinite()));
  grid.smallestNormal = std::ldexp(1.0, 1 - format.bias);
  grid.shift = std::ldexp(1.0, 52 - format.mantissaBits);
  grid.dropped = 52 - format.mantissaBits;
  grid.codeOffset = static_cast<int64_t>(1 - format.bias + 1023) << format.mantissaBits;
  grid.signShift = format.magnitudeBits();
  grid.mantissaBits = format.mantissaBits;
  grid.largestExponent = std::ilogb(grid.largest);
  return grid;
}

}  // namespace

QuantizedForm::QuantizedForm(NumberFormatId elementFormat, NumberFormatId scaleFormat,
                             int blockSize, ScaleRule scaleRule, double scaleOfTensor)
    : element(elementFormat),
      scale(scaleFormat),
      scaleBlockSize(blockSize),
      rule(scaleRule),
      tensorScale(scaleOfTensor),
      elementGrid(gridOf(numberFormat(elementFormat))),
      scaleGrid(gridOf(numberFormat(scaleFormat))) {
  using enum NumberFormatId;
  const bool mx = scale == kE8m0 && (blockSize == 16 || blockSize == 32) && element != kE8m0 &&
                  element != kUe4m3;
  const bool nvfp4 = scale == kUe4m3 && blockSize == 16 && element == kE2m1;
  if (!mx && !nvfp4)
    throw Error(ErrorKind::kUsage, "Nothing is quantised to " +
                                       std::string(numberFormat(element).name) + " with " +
                                       std::string(numberFormat(scale).name) + " per " +
                                       std::to_string(blockSize) + ".");
  const NumberFormat& format = numberFormat(scale);
  for (int code = 0; code < 256; code++)
    scaleValues[code] =
        code < format.codeCount() ? decode(format, static_cast<uint8_t>(code)) : NAN;
}

std::vector<const QuantizeKernels*> allQuantizeKernels() {
  std::vector<const QuantizeKernels*> all = {&portable::kernels};
  if (const auto* kernels = avx2QuantizeKernels()) all.push_back(kernels);
  if (const auto* kernels = avx512QuantizeKernels()) all.push_back(kernels);
  return all;
}

const QuantizeKernels& quantizeKernels() {
  static const QuantizeKernels& best = *allQuantizeKernels().back();
  return best;
}

double nvfp4TensorScale(double largest) {
  if (largest == 0) return 1;
  // A float32 that rounds to zero would lose the tensor; the smallest one keeps it.
  return std::max<double>(static_cast<float>(largest / (448.0 * 6)), 0x1p-149);
}

}  // namespace blockscope
