// Quantising float64 values to block-scaled codes: twin of src-shared/formats/quantize.ts, byte for
// byte. Both do the same IEEE operations in the same order, so that even sums of squared errors tie
// alike.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "../core/formats.h"

namespace blockscope {

enum class ScaleRule { kFloor, kCeil, kEven, kMse };

// Throws Error(kUsage) naming the known rules.
ScaleRule findScaleRule(std::string_view name);

// Blocks side by side in an instruction's lanes.
inline constexpr int kLanes = 8;
// The longest scale block.
inline constexpr int kMostPerBlock = 32;

// What values become. `scale` is e8m0 (MX) or ue4m3 (NVFP4, with tensorScale). The constants below
// follow from it.
struct QuantizedForm {
  // Throws Error(kUsage) on a scale format, block size or element format that nothing is quantised
  // to.
  QuantizedForm(NumberFormatId element, NumberFormatId scale, int scaleBlockSize, ScaleRule,
                double tensorScale = 1);

  NumberFormatId element, scale;
  int scaleBlockSize;
  ScaleRule rule;
  double tensorScale;

  // Of a number format, what rounding to it needs; float64 arithmetic on magnitudes.
  struct Grid {
    double largest;         // largest finite value
    double smallestNormal;  // below it the steps stay as they are
    double shift;  // 2^(52 - mantissa bits): x + 2^e shift is rounded to the format's step at 2^e
    int dropped;   // 52 - mantissa bits
    int64_t codeOffset;  // exponent field of smallestNormal at the code's place
    int signShift;       // from bit 63 to the sign bit of the code
    int mantissaBits;
    int largestExponent;  // floor(log2(largest))
  };
  Grid elementGrid, scaleGrid;
  std::array<double, 256> scaleValues;
};

// What became of blocks. A bad block holds a NaN or an infinity: its scale is NaN and its codes are
// 0.
using BadBlocks = int64_t;

// One implementation for each instruction set; all give the same bytes. `count` is a number of
// values.
struct QuantizeKernels {
  std::string_view name;
  // Little-endian numbers of a file, exactly.
  void (*decodeF16)(const uint8_t* from, int64_t count, double* values);
  void (*decodeBf16)(const uint8_t* from, int64_t count, double* values);
  void (*decodeF32)(const uint8_t* from, int64_t count, double* values);
  // Largest finite magnitude, at least `largest`; `finite` turns false when there is another kind.
  double (*largestFinite)(const double* values, int64_t count, double largest, bool& finite);
  // One code a byte and one scale a block; returns how many blocks are bad.
  BadBlocks (*quantize)(const QuantizedForm&, const double* values, int64_t blocks, uint8_t* codes,
                        uint8_t* scales);
  // Two codes a byte, the first in the low nibble; `count` is even.
  void (*packFp4)(const uint8_t* codes, int64_t count, uint8_t* packed);
  // Adds x^2 and (x - y)^2 to lane i % kLanes for value i, and takes the largest |x - y|; all
  // values are finite.
  void (*addErrors)(const double* x, const double* y, int64_t count, double* signal, double* noise,
                    double* largest);
};

// For the CPU at hand; and all that it can run, the portable ones first.
const QuantizeKernels& quantizeKernels();
std::vector<const QuantizeKernels*> allQuantizeKernels();

// NVFP4's float32 scale for a tensor with this largest finite magnitude: largest / (448 * 6), 1 for
// a tensor of zeros.
double nvfp4TensorScale(double largest);

}  // namespace blockscope
