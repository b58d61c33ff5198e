#include "operands.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "outputs.h"
#include "philox.h"
#include "threads.h"

namespace blockscope {

namespace {

// One side of a problem: rows * K codes, one scale per V of them.
struct Side {
  const NumberFormat& element;
  const NumberFormat& scale;
  int scaleBlockSize;
  uint64_t seed;
  uint32_t codeStream, scaleStream;
};

uint8_t finiteCode(const NumberFormat& format, uint32_t word) {
  const uint32_t magnitudes = format.largestFinite() + 1;
  // 2^32 is no multiple of `magnitudes`, a bias below 1e-7 that no test of a kernel can see.
  const uint32_t magnitude = static_cast<uint32_t>(uint64_t{word & 0x7fffffff} * magnitudes >> 31);
  return static_cast<uint8_t>(magnitude | (word >> 31 ? format.signBit() : 0));
}

// Uniform in (0, 1): 24 random bits; the tutorial adds 1e-8 so that zero cannot happen.
uint8_t tutorialScale(const NumberFormat& scale, uint32_t word) {
  const uint32_t u = word >> 8;
  if (scale.id == NumberFormatId::kUe4m3)
    return static_cast<uint8_t>(encode(scale, static_cast<float>(u) * 0x1p-24f + 1e-8f));
  // floor(log2): the tutorial's E8M0 conversion. 1e-8 lies between 2^-27 and 2^-26.
  const int exponent = u == 0 ? -27 : std::bit_width(u) - 1 - 24;
  return static_cast<uint8_t>(127 + exponent);
}

void tutorialBlock(const Side& side, uint64_t block, uint8_t* codes, uint8_t* scale) {
  for (int i = 0; i < side.scaleBlockSize; i++) {
    const uint64_t index = block * side.scaleBlockSize + i;
    const uint32_t word = philox(side.seed, side.codeStream, index / 4)[index % 4];
    // The tutorial draws an e2m1 code for every format, and converts its value; every element
    // format holds all 16.
    const float value = decodeTable(NumberFormatId::kE2m1)[word >> 28];
    codes[i] = static_cast<uint8_t>(
        side.element.id == NumberFormatId::kE2m1 ? word >> 28 : encode(side.element, value));
  }
  *scale = tutorialScale(side.scale, philox(side.seed, side.scaleStream, block / 4)[block % 4]);
}

void uniformBlock(const Side& side, uint64_t block, uint8_t* codes, uint8_t* scale) {
  for (int i = 0; i < side.scaleBlockSize; i++) {
    const uint64_t index = block * side.scaleBlockSize + i;
    codes[i] = finiteCode(side.element, philox(side.seed, side.codeStream, index / 4)[index % 4]);
  }
  const uint32_t word = philox(side.seed, side.scaleStream, block / 4)[block % 4];
  *scale = side.scale.id == NumberFormatId::kUe4m3
               ? static_cast<uint8_t>(1 + (uint64_t{word} * 126 >> 32))
               : static_cast<uint8_t>(124 + (uint64_t{word} * 7 >> 32));
}

// A sum of eight uniform 16-bit numbers has mean 4 * 65535 and standard deviation 65536 * sqrt(8 /
// 12), and is close to normal up to 4.9 sigma. Integers until the last multiplication: the same
// bits everywhere.
constexpr int32_t kNormalMean = 4 * 65535;
constexpr float kNormalUnit = 0x1.3988e2p-16f;  // 1 / (65536 sqrt(8 / 12))

float normalNumber(uint64_t seed, uint32_t stream, uint64_t index) {
  int32_t sum = 0;
  for (uint32_t word : philox(seed, stream, index))
    sum += static_cast<int32_t>(word & 0xffff) + static_cast<int32_t>(word >> 16);
  return static_cast<float>(sum - kNormalMean) * kNormalUnit;
}

float normalValue(const Side& side, uint64_t index) {
  return normalNumber(side.seed, side.codeStream, index);
}

// NVFP4 without a tensor scale: block scale = e4m3(max / 6), elements = v / scale.
void quantizeNvfp4(const Side& side, const float* values, float largest, uint8_t* codes,
                   uint8_t* scale) {
  *scale = static_cast<uint8_t>(encode(side.scale, largest / 6.0f));
  const float step = decodeTable(side.scale.id)[*scale];
  for (int i = 0; i < side.scaleBlockSize; i++)
    codes[i] = step == 0 ? 0 : static_cast<uint8_t>(encode(side.element, values[i] / step));
}

// OCP MX v1.0 section 6.3: X = floor(log2(max)) - emax, elements = round(v / 2^X), saturating.
void quantizeMx(const Side& side, const float* values, float largest, uint8_t* codes,
                uint8_t* scale) {
  const int emax =
      std::ilogb(decode(side.element, static_cast<uint8_t>(side.element.largestFinite())));
  const int exponent = largest == 0 ? -127 : std::clamp(std::ilogb(largest) - emax, -127, 127);
  *scale = static_cast<uint8_t>(exponent + 127);
  for (int i = 0; i < side.scaleBlockSize; i++)
    codes[i] = static_cast<uint8_t>(encode(side.element, std::ldexp(values[i], -exponent)));
}

void quantizedBlock(const Side& side, uint64_t block, float (*shape)(float), uint8_t* codes,
                    uint8_t* scale) {
  float values[32];
  float largest = 0;
  for (int i = 0; i < side.scaleBlockSize; i++) {
    values[i] = shape(normalValue(side, block * side.scaleBlockSize + i));
    largest = std::max(largest, std::fabs(values[i]));
  }
  if (side.scale.id == NumberFormatId::kUe4m3) quantizeNvfp4(side, values, largest, codes, scale);
  else quantizeMx(side, values, largest, codes, scale);
}

void normalBlock(const Side& side, uint64_t block, uint8_t* codes, uint8_t* scale) {
  quantizedBlock(
      side, block, [](float value) { return value; }, codes, scale);
}

// Nothing cancels: partial sums grow all along K, the hardest case for a narrow accumulator.
void positiveBlock(const Side& side, uint64_t block, uint8_t* codes, uint8_t* scale) {
  quantizedBlock(
      side, block, [](float value) { return std::fabs(value); }, codes, scale);
}

constexpr int kWideBinades = 13;

// Normal blocks, each moved by a whole number of binades: a row mixes blocks 2^12 apart (ue4m3:
// 2^6).
void wideScalesBlock(const Side& side, uint64_t block, uint8_t* codes, uint8_t* scale) {
  normalBlock(side, block, codes, scale);
  const uint32_t word = philox(side.seed, side.scaleStream, block / 4)[block % 4];
  const int shift = static_cast<int>(uint64_t{word} * kWideBinades >> 32) - kWideBinades / 2;
  if (side.scale.id == NumberFormatId::kUe4m3)
    *scale = static_cast<uint8_t>(
        encode(side.scale, std::ldexp(decodeTable(side.scale.id)[*scale], shift / 2)));
  else *scale = static_cast<uint8_t>(std::clamp(*scale + shift, 0, 254));
}

// What breaks kernels: largest values, subnormals, both zeros, neighbours that cancel, scales at
// the ends of the range.
void adversarialBlock(const Side& side, uint64_t block, uint8_t* codes, uint8_t* scale) {
  const uint8_t sign = static_cast<uint8_t>(side.element.signBit());
  for (int i = 0; i < side.scaleBlockSize; i++) {
    const uint64_t index = block * side.scaleBlockSize + i;
    const uint32_t word = philox(side.seed, side.codeStream, index / 4)[index % 4];
    const uint8_t randomSign = word & 0x100 ? sign : 0;
    switch (word & 7) {
      case 0:
        codes[i] = static_cast<uint8_t>(side.element.largestFinite() | randomSign);
        break;
      case 1:
        codes[i] = 1 | randomSign;
        break;
      case 2:
        codes[i] = randomSign;
        break;
      case 3:
      case 4:
        codes[i] = i > 0 ? codes[i - 1] ^ sign : finiteCode(side.element, word);
        break;
      default:
        codes[i] = finiteCode(side.element, word);
    }
  }
  const uint32_t word = philox(side.seed, side.scaleStream, block / 4)[block % 4];
  const bool extreme = (word & 31) == 0;
  if (side.scale.id == NumberFormatId::kUe4m3) {
    const uint8_t ends[] = {1, 7, 8, 0x7e};
    *scale = extreme ? ends[word >> 5 & 3] : static_cast<uint8_t>(0x20 + (word >> 8 & 31));
  } else {
    const int emax =
        std::ilogb(decode(side.element, static_cast<uint8_t>(side.element.largestFinite())));
    // Codes 0..7: down to 2^-127, where a kernel that works in float32 loses products.
    *scale = static_cast<uint8_t>(extreme ? word >> 5 & 7 : 127 - emax - 6 + (word >> 8) % 8);
  }
}

void zeroBlock(const Side& side, uint64_t, uint8_t* codes, uint8_t* scale) {
  std::fill_n(codes, side.scaleBlockSize, uint8_t{0});
  *scale = side.scale.id == NumberFormatId::kUe4m3 ? 0x38 : 127;
}

// bf16 elements without scales: what a block's scale does elsewhere is in the elements.

uint16_t bf16Code(float value) { return encode(numberFormat(NumberFormatId::kBf16), value); }

constexpr uint16_t kBf16Sign = 0x8000;

// Any sign and fraction, binades 2^-3 to 2^3: what scales of 2^-3 to 2^3 span.
uint16_t bf16OfUniform(uint32_t word) {
  constexpr uint32_t kFirst = 124 << 7, kCodes = 7 << 7;
  const uint64_t place = uint64_t{word & 0x7fffffff} * kCodes >> 31;
  return static_cast<uint16_t>((kFirst + place) | (word >> 31 ? kBf16Sign : 0));
}

uint16_t unscaledNormal(const Side& side, uint64_t index, uint16_t) {
  return bf16Code(normalValue(side, index));
}
uint16_t unscaledPositive(const Side& side, uint64_t index, uint16_t) {
  return bf16Code(std::fabs(normalValue(side, index)));
}
uint16_t unscaledWide(const Side& side, uint64_t index, uint16_t) {
  const uint64_t block = index / side.scaleBlockSize;
  const uint32_t word = philox(side.seed, side.scaleStream, block / 4)[block % 4];
  const int shift = static_cast<int>(uint64_t{word} * kWideBinades >> 32) - kWideBinades / 2;
  return bf16Code(std::ldexp(normalValue(side, index), shift));
}
uint16_t unscaledTutorial(const Side& side, uint64_t index, uint16_t) {
  const uint32_t word = philox(side.seed, side.codeStream, index / 4)[index % 4];
  return bf16Code(decodeTable(NumberFormatId::kE2m1)[word >> 28]);
}
uint16_t unscaledUniform(const Side& side, uint64_t index, uint16_t) {
  return bf16OfUniform(philox(side.seed, side.codeStream, index / 4)[index % 4]);
}
// Largest of its binades, smallest subnormal, both zeros, neighbours that cancel.
uint16_t unscaledAdversarial(const Side& side, uint64_t index, uint16_t before) {
  const uint32_t word = philox(side.seed, side.codeStream, index / 4)[index % 4];
  const uint16_t randomSign = word & 0x100 ? kBf16Sign : 0;
  switch (word & 7) {
    case 0:
      return 0x407f | randomSign;  // just below 4
    case 1:
      return 1 | randomSign;
    case 2:
      return randomSign;
    case 3:
    case 4:
      return index % side.scaleBlockSize > 0 ? before ^ kBf16Sign : bf16OfUniform(word);
    default:
      return bf16OfUniform(word);
  }
}
uint16_t unscaledZero(const Side&, uint64_t, uint16_t) { return 0; }

using BlockGenerator = void (*)(const Side&, uint64_t block, uint8_t* codes, uint8_t* scale);
// The code of element `index`, with that of the element before it.
using UnscaledGenerator = uint16_t (*)(const Side&, uint64_t index, uint16_t before);

struct Generator {
  BlockGenerator scaled;
  UnscaledGenerator unscaled;
};

Generator findGenerator(const std::string& distribution) {
  if (distribution == "tutorial") return {tutorialBlock, unscaledTutorial};
  if (distribution == "uniform-codes") return {uniformBlock, unscaledUniform};
  if (distribution == "normal") return {normalBlock, unscaledNormal};
  if (distribution == "positive") return {positiveBlock, unscaledPositive};
  if (distribution == "wide-scales") return {wideScalesBlock, unscaledWide};
  if (distribution == "adversarial") return {adversarialBlock, unscaledAdversarial};
  if (distribution == "zeros") return {zeroBlock, unscaledZero};
  throw Error(ErrorKind::kUsage,
              "\"" + distribution +
                  "\" is no distribution. Use normal, positive, wide-scales, tutorial, "
                  "uniform-codes, adversarial or zeros.");
}

void generateUnscaled(const Side& side, UnscaledGenerator generate, int64_t rows, int64_t k,
                      std::vector<uint8_t>& codes, const CancelFlag& cancel) {
  codes.resize(rows * k * 2);
  parallelFor(rows, cancel, [&](int64_t row) {
    uint16_t code = 0;
    for (int64_t i = row * k; i < (row + 1) * k; i++) {
      code = generate(side, static_cast<uint64_t>(i), code);
      codes[2 * i] = static_cast<uint8_t>(code);
      codes[2 * i + 1] = static_cast<uint8_t>(code >> 8);
    }
  });
}

void generateSide(const Side& side, const Generator& generator, int64_t rows, int64_t blocksPerRow,
                  std::vector<uint8_t>& codes, std::vector<uint8_t>& scales,
                  const CancelFlag& cancel) {
  if (!side.element.isScaled())
    return generateUnscaled(side, generator.unscaled, rows, blocksPerRow * side.scaleBlockSize,
                            codes, cancel);
  codes.resize(rows * blocksPerRow * side.scaleBlockSize);
  scales.resize(rows * blocksPerRow);
  parallelFor(rows, cancel, [&](int64_t row) {
    for (int64_t b = row * blocksPerRow; b < (row + 1) * blocksPerRow; b++)
      generator.scaled(side, static_cast<uint64_t>(b), &codes[b * side.scaleBlockSize], &scales[b]);
  });
}

}  // namespace

void checkDistribution(const std::string& name) { findGenerator(name); }

int accumulatorExponent(const Problem& problem, const std::string& distribution) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const bool ue4m3 = format.scale == NumberFormatId::kUe4m3;
  const bool isAScaled = format.elementA().isScaled();
  auto emax = [](const NumberFormat& element) {
    if (!element.isScaled()) return 0;  // generated elements have binades around 1
    return std::ilogb(decode(element, static_cast<uint8_t>(element.largestFinite())));
  };
  const int binadesOfK = std::bit_width(static_cast<uint64_t>(problem.k)) - 1;
  // Sums of products of either sign grow with the root of K.
  const int cancelling = binadesOfK / 2;
  if (distribution == "positive") return binadesOfK - 1;
  if (distribution == "tutorial") return cancelling + 1;
  if (distribution == "wide-scales") return cancelling + (!ue4m3 ? 8 : isAScaled ? 3 : 5);
  if (distribution == "uniform-codes")
    return cancelling + emax(format.elementA()) + emax(format.elementB()) +
           (!ue4m3      ? 1
            : isAScaled ? 10
                        : 5);
  if (distribution == "adversarial") return cancelling + (!ue4m3 ? -2 : isAScaled ? 8 : 4);
  return cancelling;
}

namespace {

std::vector<float> generateAccumulator(const Problem& problem, const GeneratedOperands& wanted,
                                       const CancelFlag& cancel) {
  std::vector<float> values(problem.elements());
  if (wanted.distribution == "zeros") return values;
  const int exponent = accumulatorExponent(problem, wanted.distribution);
  const bool positive = wanted.distribution == "positive";
  parallelFor(problem.rowsOfC(), cancel, [&](int64_t row) {
    for (int64_t i = row * problem.n; i < (row + 1) * problem.n; i++) {
      const float value =
          normalNumber(wanted.seed, static_cast<uint32_t>(OperandStream::kAccumulator),
                       static_cast<uint64_t>(i));
      values[i] = std::ldexp(positive ? std::fabs(value) : value, exponent);
    }
  });
  return values;
}

}  // namespace

PaddingCodes paddingCodes(const BlockFormat& format) {
  return {static_cast<uint8_t>(format.elementA().codeCount() - 1),
          static_cast<uint8_t>(format.scale == NumberFormatId::kUe4m3 ? 0x7f : 0xff)};
}

std::vector<Segment> paddingRows(const Problem& problem) {
  std::vector<Segment> found;
  for (int64_t group = 0; group < problem.groups.count(); group++) {
    const int64_t end = problem.groups[group].first + problem.groups[group].rows;
    const int64_t next =
        group + 1 < problem.groups.count() ? problem.groups[group + 1].first : problem.m;
    if (end < next) found.push_back({end, next - end});
  }
  return found;
}

std::vector<Segment> scaleSegments(const Problem& problem, const ScaleLayout& layout) {
  if (problem.isGrouped() && layout.name == "linear") return {{0, problem.m}};
  std::vector<Segment> segments;
  if (problem.isGrouped()) {
    for (int64_t group = 0; group < problem.groups.count(); group++)
      if (problem.groups[group].rows > 0) segments.push_back(problem.groups[group]);
    return segments;
  }
  for (int64_t matrix = 0; matrix < problem.batch.countA(); matrix++)
    segments.push_back({matrix * problem.m, problem.m});
  return segments;
}

Operands generateOperands(const Problem& problem, const GeneratedOperands& wanted,
                          const CancelFlag& cancel) {
  checkProblem(problem);
  const BlockFormat& format = findBlockFormat(problem.format);
  const Generator generator = findGenerator(wanted.distribution);
  const int64_t blocks = problem.k / format.scaleBlockSize;
  const Side a{format.elementA(),
               format.scaleFormat(),
               format.scaleBlockSize,
               wanted.seed,
               static_cast<uint32_t>(OperandStream::kCodesA),
               static_cast<uint32_t>(OperandStream::kScalesA)};
  const Side b{format.elementB(),
               format.scaleFormat(),
               format.scaleBlockSize,
               wanted.seed,
               static_cast<uint32_t>(OperandStream::kCodesB),
               static_cast<uint32_t>(OperandStream::kScalesB)};
  Operands operands;
  generateSide(a, generator, problem.rowsOfA(), blocks, operands.aCodes, operands.aScales, cancel);
  generateSide(b, generator, problem.rowsOfB(), blocks, operands.bCodes, operands.bScales, cancel);
  const PaddingCodes poison = paddingCodes(format);
  for (const Segment& rows : paddingRows(problem)) {
    const int64_t rowBytes = problem.k * format.elementA().codeBytes();
    const int64_t scalesOfRow = format.scalesOfRowA(problem.k);
    std::fill_n(operands.aCodes.begin() + rows.first * rowBytes, rows.rows * rowBytes,
                poison.element);
    std::fill_n(operands.aScales.begin() + rows.first * scalesOfRow, rows.rows * scalesOfRow,
                poison.scale);
  }
  if (problem.accumulate) operands.accumulator = generateAccumulator(problem, wanted, cancel);
  return operands;
}

}  // namespace blockscope
