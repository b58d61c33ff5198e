#include "storedValues.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../core/backend.h"
#include "blockQuantizer.h"

namespace blockscope {

RealType findRealType(const std::string& name) {
  if (name == "F16") return RealType::kF16;
  if (name == "BF16") return RealType::kBf16;
  if (name == "F32") return RealType::kF32;
  if (name == "F64") return RealType::kF64;
  throw Error(ErrorKind::kUsage,
              "Values are read from F64, F32, F16 and BF16, not from " + name + ".");
}

int64_t bytesOf(RealType type) {
  if (type == RealType::kF64) return 8;
  return type == RealType::kF32 ? 4 : 2;
}

bool isLinear(const ScaleLayout& layout) {
  return layout.digits.size() == 2 &&
         layout.digits[layout.order[0]].axis == LayoutDigit::Axis::kRow;
}

std::vector<uint8_t> readScales(const StoredScales& scales, int64_t rowsPerMatrix, int64_t columns,
                                RowRange range) {
  const FileBytes file(scales.place.path, FileBytes::Access::kRead);
  std::vector<uint8_t> linear((range.to - range.from) * columns);
  if (isLinear(scales.layout)) {
    file.read(scales.place.position + range.from * columns, linear.data(),
              static_cast<int64_t>(linear.size()));
    return linear;
  }
  const int64_t packedBytes = paddedShape(scales.layout, rowsPerMatrix, columns).size();
  std::vector<uint8_t> packed(packedBytes);
  for (int64_t row = range.from; row < range.to;) {
    const int64_t matrix = row / rowsPerMatrix, inMatrix = row % rowsPerMatrix;
    const int64_t rows = std::min(rowsPerMatrix - inMatrix, range.to - row);
    file.read(scales.place.position + matrix * packedBytes, packed.data(), packedBytes);
    const auto whole = unpackScales(scales.layout, packed.data(), rowsPerMatrix, columns);
    std::copy_n(whole.begin() + inMatrix * columns, rows * columns,
                linear.begin() + (row - range.from) * columns);
    row += rows;
  }
  return linear;
}

ValueReader::ValueReader(const StoredValues& stored, RowRange range)
    : stored_(stored),
      firstValue_(range.from * stored.k),
      file_(stored.place.path, FileBytes::Access::kRead) {
  if (!stored.blockScaled) return;
  const auto& [element, scales, tensorScale] = *stored.blockScaled;
  scales_ = readScales(scales, stored.rowsPerMatrix, stored.k / scales.scaleBlockSize, range);
  const NumberFormat &elements = numberFormat(element), &format = numberFormat(scales.format);
  for (int code = 0; code < 256; code++) {
    elementValues_[code] =
        blockscope::decode(elements, static_cast<uint8_t>(code & (elements.codeCount() - 1)));
    scaleValues_[code] =
        code < format.codeCount() ? blockscope::decode(format, static_cast<uint8_t>(code)) : NAN;
  }
}

void ValueReader::load(int64_t first, int64_t count, std::vector<uint8_t>& bytes) const {
  // fp4 codes lie two in a byte, all others one.
  const bool fp4 =
      stored_.blockScaled && numberFormat(stored_.blockScaled->element).storageBits == 4;
  const int64_t bits = stored_.blockScaled ? (fp4 ? 4 : 8) : 8 * bytesOf(stored_.real);
  bytes.resize(count * bits / 8);
  file_.read(stored_.place.position + (firstValue_ + first) * bits / 8, bytes.data(),
             static_cast<int64_t>(bytes.size()));
}

void ValueReader::decode(const std::vector<uint8_t>& bytes, int64_t first, int64_t at,
                         int64_t count, double* values) const {
  if (!stored_.blockScaled) {
    const uint8_t* from = bytes.data() + at * bytesOf(stored_.real);
    switch (stored_.real) {
      case RealType::kF16:
        return quantizeKernels().decodeF16(from, count, values);
      case RealType::kBf16:
        return quantizeKernels().decodeBf16(from, count, values);
      case RealType::kF32:
        return quantizeKernels().decodeF32(from, count, values);
      case RealType::kF64:
        std::memcpy(values, from, count * sizeof(double));
        return;
    }
  }
  const auto& [element, scales, tensorScale] = *stored_.blockScaled;
  const bool fp4 = numberFormat(element).storageBits == 4;
  const int perBlock = scales.scaleBlockSize;
  for (int64_t i = 0; i < count; i += perBlock) {
    const double scale = scaleValues_[scales_[(first + at + i) / perBlock]];
    if (!fp4) {
      for (int64_t j = i; j < i + perBlock; j++)
        values[j] = elementValues_[bytes[at + j]] * scale * tensorScale;
      continue;
    }
    std::array<double, 16> scaled;
    for (int code = 0; code < 16; code++) scaled[code] = elementValues_[code] * scale * tensorScale;
    const uint8_t* pairs = bytes.data() + (at + i) / 2;
    for (int j = 0; j < perBlock / 2; j++) {
      values[i + 2 * j] = scaled[pairs[j] & 15];
      values[i + 2 * j + 1] = scaled[pairs[j] >> 4];
    }
  }
}

}  // namespace blockscope
