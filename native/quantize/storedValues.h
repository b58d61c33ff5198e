// Values as files keep them: real numbers, or block-scaled codes with their scales. Twin of
// decodeFloats (src-shared/formats/floatTensor.ts) and readSlice (src-shared/checkpoints/slice.ts):
// the same float64 values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../core/formats.h"
#include "../core/layouts.h"
#include "fileBytes.h"

namespace blockscope {

// Where bytes begin.
struct FilePlace {
  std::string path;
  int64_t position = 0;
};

enum class RealType { kF16, kBf16, kF32, kF64 };
// "F16", "BF16", "F32", "F64", as safetensors names them; throws Error(kUsage) for another name.
RealType findRealType(const std::string& name);
int64_t bytesOf(RealType);

// The scales of some matrices one after the other, each (rowsPerMatrix, k / V) in a layout.
struct StoredScales {
  FilePlace place;
  NumberFormatId format;
  int scaleBlockSize;
  ScaleLayout layout;
};

// Matrices (rowsPerMatrix, k) one after the other, row-major; fp4 codes two a byte, low nibble
// first, all others one a byte.
struct StoredValues {
  int64_t rowsPerMatrix = 0, k = 0;
  FilePlace place;
  RealType real = RealType::kF32;  // where there are no scales
  struct BlockScaled {
    NumberFormatId element;
    StoredScales scales;
    double tensorScale = 1;
  };
  std::optional<BlockScaled> blockScaled;
};

// Rows `from` to `to`, counted through all matrices.
struct RowRange {
  int64_t from = 0, to = 0;
};

// Scales of rows of matrices (rowsPerMatrix, columns), linear. Layouts that mix rows cost a whole
// matrix each.
std::vector<uint8_t> readScales(const StoredScales&, int64_t rowsPerMatrix, int64_t columns,
                                RowRange);
bool isLinear(const ScaleLayout&);

// Reads rows in pieces, from any thread.
class ValueReader {
 public:
  ValueReader(const StoredValues&, RowRange);

  // The bytes of values `first` to `first` + `count` of the range, row-major; `first` is a multiple
  // of kMostPerBlock.
  void load(int64_t first, int64_t count, std::vector<uint8_t>& bytes) const;
  // Values `at` to `at` + `count` of those bytes, which begin at value `first`; `at` is a multiple
  // of kMostPerBlock.
  void decode(const std::vector<uint8_t>& bytes, int64_t first, int64_t at, int64_t count,
              double* values) const;

 private:
  StoredValues stored_;
  int64_t firstValue_;
  FileBytes file_;
  // Of block-scaled values: linear scales of the range, and what codes and scales stand for.
  std::vector<uint8_t> scales_;
  std::array<double, 256> elementValues_{}, scaleValues_{};
};

}  // namespace blockscope
