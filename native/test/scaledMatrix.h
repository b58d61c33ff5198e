// Random block-scaled operands of kernels that run on the CPU.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "../core/formats.h"
#include "../core/layouts.h"
#include "../core/packing.h"
#include "../core/philox.h"

// Elements and scales by number, as in kernels: 0 e2m1 ... 4 e5m2, 5 e8m0, 6 ue4m3.
struct ScaledFormat {
  int element, scale, scaleBlock;
};

inline const blockscope::NumberFormat& numberFormatOf(int format) {
  return blockscope::numberFormat(static_cast<blockscope::NumberFormatId>(format));
}

// Codes (rows x K), one to a byte, and linear scales; codes packed and scales in a layout, as a
// kernel reads them.
struct ScaledMatrix {
  ScaledFormat format;
  int rows, k;
  std::vector<uint8_t> codes, scales, packed, placed;

  // `stream` and the next: which random numbers. Scales are 2^-6 to 2^6, or like numbers of ue4m3.
  ScaledMatrix(ScaledFormat of, int rows, int k, uint32_t stream, const std::string& layout)
      : format(of), rows(rows), k(k), codes(rows * k), scales(rows * k / of.scaleBlock) {
    using namespace blockscope;
    const NumberFormat& element = numberFormatOf(format.element);
    for (size_t i = 0; i < codes.size(); i++) {
      uint32_t draw = philox(7, stream, i)[0] >> (32 - element.storageBits);
      while (!std::isfinite(decode(element, static_cast<uint8_t>(draw)))) draw--;
      codes[i] = static_cast<uint8_t>(draw);
    }
    for (size_t i = 0; i < scales.size(); i++) {
      const uint32_t draw = philox(7, stream + 1, i)[0];
      scales[i] = static_cast<uint8_t>(format.scale == 5 ? 121 + draw % 13 : 40 + draw % 24);
    }
    packed.resize(packedBytes(element, static_cast<int64_t>(codes.size())));
    packCodes(element, codes.data(), static_cast<int64_t>(codes.size()), packed.data());
    placed = packScales(findLayout(layout), scales.data(), rows, k / format.scaleBlock);
  }

  // Element times scale.
  double value(int row, int i) const {
    const auto numbers = [](int of) -> const std::array<float, 256>& {
      return blockscope::decodeTable(static_cast<blockscope::NumberFormatId>(of));
    };
    return static_cast<double>(numbers(format.element)[codes[row * k + i]]) *
           numbers(format.scale)[scales[(row * k + i) / format.scaleBlock]];
  }
};
