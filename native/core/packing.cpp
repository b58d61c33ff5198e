#include "packing.h"

#include <algorithm>

namespace blockscope {

int64_t packedBytes(const NumberFormat& format, int64_t count) {
  return count * format.storageBits / 8;
}

void packCodes(const NumberFormat& format, const uint8_t* codes, int64_t count, uint8_t* packed) {
  if (format.storageBits >= 8) {
    std::copy_n(codes, packedBytes(format, count), packed);
  } else if (format.storageBits == 4) {
    for (int64_t i = 0; i < count / 2; i++)
      packed[i] = static_cast<uint8_t>((codes[2 * i] & 15) | (codes[2 * i + 1] << 4));
  } else {
    for (int64_t g = 0; g < count / 4; g++) {
      uint32_t word = 0;
      for (int i = 0; i < 4; i++) word |= static_cast<uint32_t>(codes[4 * g + i] & 63) << (6 * i);
      for (int i = 0; i < 3; i++) packed[3 * g + i] = static_cast<uint8_t>(word >> (8 * i));
    }
  }
}

void unpackCodes(const NumberFormat& format, const uint8_t* packed, int64_t count, uint8_t* codes) {
  if (format.storageBits >= 8) {
    std::copy_n(packed, packedBytes(format, count), codes);
  } else if (format.storageBits == 4) {
    for (int64_t i = 0; i < count / 2; i++) {
      codes[2 * i] = packed[i] & 15;
      codes[2 * i + 1] = packed[i] >> 4;
    }
  } else {
    for (int64_t g = 0; g < count / 4; g++) {
      const uint32_t word = packed[3 * g] | packed[3 * g + 1] << 8 | packed[3 * g + 2] << 16;
      for (int i = 0; i < 4; i++) codes[4 * g + i] = word >> (6 * i) & 63;
    }
  }
}

std::vector<uint8_t> transposed(const std::vector<uint8_t>& bytes, int64_t rows, int64_t columns) {
  std::vector<uint8_t> turned(bytes.size());
  for (size_t first = 0; first < bytes.size(); first += static_cast<size_t>(rows * columns))
    for (int64_t row = 0; row < rows; row++)
      for (int64_t column = 0; column < columns; column++)
        turned[first + column * rows + row] = bytes[first + row * columns + column];
  return turned;
}

}  // namespace blockscope
