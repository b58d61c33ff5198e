// Scales that go into fp8 elements (resources/kernels/cuda/common/fold.cuh), compiled for the CPU,
// the threads of a block as fibers: every code against numbers that are scaled and rounded here.
#define OUTPUT_TYPE 2
#define ACCUMULATE 0
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32
#define ENCODE_THREADS 128
#define A_CHUNK 128

// The source stands behind the words that it is written in.
// clang-format off
#include "cudaThreads.h"
#include "../../resources/kernels/cuda/common/fold.cuh"
// clang-format on
#include <random>
#include <vector>

#include "../core/formats.h"
#include "check.h"

using namespace blockscope;

namespace {

const NumberFormat& named(int format) {
  return *findNumberFormat(format == 0 ? "e2m1" : format == 3 ? "e4m3" : "e5m2");
}

// A row of an operand and what became of it.
struct Row {
  int format, k;
  std::vector<uint8_t> codes, scales;  // a code a byte
  bool isOutside = false;
  std::vector<uint8_t> folded;
  bool isInChunks = false;
  int reference = 0;
  std::vector<int> references;  // of chunks

  Row(int format, int k) : format(format), k(k), codes(k), scales(k / 32, 127) {}
  const NumberFormat& element() const { return named(format); }
  const NumberFormat& foldedElement() const { return named(format == 3 ? 3 : 4); }
  std::vector<uint8_t> packed() const {
    if (format != 0) return codes;
    std::vector<uint8_t> two(k / 2);
    for (int i = 0; i < k; i++) two[i / 2] |= codes[i] << i % 2 * 4;
    return two;
  }
};

constexpr int kRows = 5;  // between exponents of one chunk and the next

template <int Format, bool HasChunks>
void fold(Row& row) {
  gpu::Block block(ENCODE_THREADS);
  gpu::running = {&block};
  const auto packed = row.packed();
  row.folded.assign(row.k, 0xee);
  std::vector<uint8_t> exponents((row.k + 127) / 128 * kRows, 0xee);
  float factor = 0;
  uint32_t used = 0;
  row.isOutside = false;
  block.run([&] {
    const bool isOutside =
        foldRow<Format, HasChunks>(packed.data(), row.scales.data(), row.folded.data(), &factor,
                                   {exponents.data(), kRows, &used}, row.k);
    row.isOutside |= isOutside;
  });
  row.references.clear();
  row.isInChunks = used != 0;
  row.reference = std::ilogb(factor) + 127;
  for (size_t i = 0; HasChunks && i < exponents.size(); i += kRows)
    row.references.push_back(exponents[i]);
}
template <int Format>
void fold(Row& row, bool hasChunks) {
  if (hasChunks) fold<Format, true>(row);
  else fold<Format, false>(row);
}
void fold(Row& row, bool hasChunks) {
  if (row.format == 0) fold<0>(row, hasChunks);
  else if (row.format == 3) fold<3>(row, hasChunks);
  else fold<4>(row, hasChunks);
}

// The largest magnitude of a block without its scale.
double largestOf(const Row& row, int block) {
  double largest = 0;
  for (int i = block * 32; i < block * 32 + 32; i++)
    largest = std::max(largest, std::fabs(decode(row.element(), row.codes[i])));
  return largest;
}

struct Expected {
  int reference = 127;
  bool isTooWide = false, isOutside = false;
};
Expected expected(const Row& row, int from, int to) {
  int smallest = 1 << 20, largest = -smallest;
  Expected of;
  for (int block = from / 32; block < to / 32; block++) {
    const double most = largestOf(row, block);
    for (int i = block * 32; i < block * 32 + 32; i++)
      of.isOutside |= !std::isfinite(decode(row.element(), row.codes[i]));
    of.isOutside |= row.scales[block] == 255;
    if (most == 0 || !std::isfinite(most)) continue;
    // float16 tells no binades of its own subnormals apart.
    const int binade = row.scales[block] + std::max(std::ilogb(most), -15);
    smallest = std::min(smallest, binade), largest = std::max(largest, binade);
  }
  if (largest < smallest) return of;
  of.reference = largest - (row.format == 3 ? 8 : 15);
  if (row.format == 0) of.reference = std::max(of.reference, smallest + 11);
  const int spread = row.format == 3 ? 8 : row.format == 4 ? 22 : 28;
  of.isTooWide = largest - smallest > spread;
  of.isOutside |= of.isTooWide || of.reference < 52 || of.reference > 202;
  return of;
}

void isRight(Row& row, bool hasChunks, const std::string& what) {
  fold(row, hasChunks);
  const Expected ofRow = expected(row, 0, row.k);
  const bool isInChunks = hasChunks && ofRow.isTooWide;
  bool isOutside = !isInChunks && ofRow.isOutside;
  int wrongReferences = 0, wrongCodes = 0, tooFarOff = 0;
  for (int from = 0; from < row.k; from += 128) {
    const int to = std::min(row.k, from + 128);
    const Expected of = isInChunks ? expected(row, from, to) : ofRow;
    isOutside |= of.isOutside;
    if (hasChunks) wrongReferences += row.references[from / 128] != of.reference;
    if (!isInChunks) wrongReferences += row.reference != of.reference;
    for (int k = from; k < to; k++) {
      const int exponent = row.scales[k / 32] - of.reference;
      const double exact = std::ldexp(decode(row.element(), row.codes[k]), exponent);
      wrongCodes += row.folded[k] != encode(row.foldedElement(), static_cast<float>(exact));
      const double error = std::fabs(decode(row.foldedElement(), row.folded[k]) - exact);
      tooFarOff +=
          error > std::ldexp(largestOf(row, k / 32), exponent - (row.format == 0 ? 99 : 10));
    }
  }
  const std::string where = what + ", format " + std::to_string(row.format) + ", K " +
                            std::to_string(row.k) + (hasChunks ? ", or chunks" : "");
  checkThat(row.isOutside == isOutside, where + ": outside or not", __FILE__, __LINE__);
  if (isOutside) return;
  checkThat(row.isInChunks == isInChunks, where + ": in chunks or not", __FILE__, __LINE__);
  checkThat(wrongReferences == 0, where + ": references", __FILE__, __LINE__);
  checkThat(wrongCodes == 0, where + ": codes", __FILE__, __LINE__);
  checkThat(tooFarOff == 0, where + ": off by more than 2^-10 of a block's largest", __FILE__,
            __LINE__);
}

constexpr int kFormats[] = {0, 3, 4};
constexpr int kSpreads[] = {28, 0, 0, 8, 22};

Row randomRow(int format, int k, int spread, std::mt19937& random) {
  Row row(format, k);
  const int finite = row.element().largestFinite() + 1;
  for (auto& code : row.codes)
    code = static_cast<uint8_t>(random() % finite | (random() & 1 ? row.element().signBit() : 0));
  for (auto& scale : row.scales) scale = static_cast<uint8_t>(127 + random() % (spread + 1));
  return row;
}

void randomRows() {
  std::mt19937 random(7);
  for (const int format : kFormats)
    // A short chunk, odd ones, more than threads hold.
    for (const int k : {32, 96, 128, 544, 2080, 8192, 9632})
      for (const bool hasChunks : {true, false}) {
        Row row = randomRow(format, k, kSpreads[format] - 4, random);
        // Largest elements of blocks in their type's highest binade: the scales' spread is theirs.
        for (int at = 0; at < k; at += 32)
          row.codes[at] = static_cast<uint8_t>(row.element().largestFinite());
        isRight(row, hasChunks, "random");
        checkThat(!row.isOutside, "inside", __FILE__, __LINE__);
        // Chunks that one reference does not hold, each with its own.
        for (int at = 0; at < k / 32; at++)
          row.scales[at] = static_cast<uint8_t>(row.scales[at] - 64 + (at / 4 * 37) % 90);
        isRight(row, hasChunks, "chunks apart");
        if (k > 128) CHECK(hasChunks ? row.isInChunks && !row.isOutside : row.isOutside);
        Row any = randomRow(format, k, 3, random);
        // Few and small elements: subnormals, blocks and chunks of zeros.
        for (auto& code : any.codes)
          code = static_cast<uint8_t>(random() % 5 ? 0 : code & (format == 0 ? 9 : 0x87));
        for (int at = 0; at < std::min(k, 160); at++) any.codes[at] = 0;
        any.scales[0] = 250;
        isRight(any, hasChunks, "small");
        Row wide = randomRow(format, k, 40, random);
        isRight(wide, hasChunks, "wide");
      }
}

// One block below the others by as much as may be, and by one more.
void borders() {
  std::mt19937 random(11);
  for (const int format : kFormats)
    for (const int k : {128, 2080, 9632})
      for (const bool hasChunks : {true, false})
        for (const int more : {0, 1}) {
          Row row = randomRow(format, k, 0, random);
          for (int at = 0; at < k; at += 32)
            row.codes[at] = static_cast<uint8_t>(row.element().largestFinite());
          row.scales[k / 32 - (k % 128 == 0 ? 2 : 5)] -=
              static_cast<uint8_t>(kSpreads[format] + more);
          isRight(row, hasChunks, "border");
          checkThat(row.isOutside == (more == 1), "one past the border is outside", __FILE__,
                    __LINE__);
        }
}

// The least and the greatest reference that a row may have, and one past each.
void farFromOne() {
  for (const int format : kFormats)
    for (const bool byChunks : {true, false})
      for (const int reference : {51, 52, 202, 203}) {
        Row row(format, 544);
        const auto largest = static_cast<uint8_t>(row.element().largestFinite());
        for (int at = 0; at < row.k; at += 32) row.codes[at] = largest;
        // Of e2m1 the smallest block decides, whose largest element is 6.
        const int own = format == 0 ? 13 : 0;
        for (auto& scale : row.scales) scale = static_cast<uint8_t>(reference - own);
        isRight(row, byChunks, "far from one");
        checkThat(row.reference == reference, "the reference that is meant", __FILE__, __LINE__);
        checkThat(row.isOutside == (reference < 52 || reference > 202), "outside beyond 2^75",
                  __FILE__, __LINE__);
      }
}

void specials() {
  std::mt19937 random(13);
  for (const int format : kFormats)
    for (const bool hasChunks : {true, false}) {
      Row row = randomRow(format, 544, 1, random);
      const auto refused = [&](const char* what) {
        isRight(row, hasChunks, what);
        checkThat(row.isOutside, what, __FILE__, __LINE__);
      };
      row.scales[16] = 255;
      refused("NaN scale");
      for (int at = 512; at < 544; at++) row.codes[at] = 0;
      refused("NaN scale of zeros");
      row = randomRow(format, 544, 1, random);
      for (auto& scale : row.scales) scale = 2;
      refused("scales near the smallest");
      for (auto& scale : row.scales) scale = 254;
      refused("scales near the largest");
      if (format == 0) continue;
      row = randomRow(format, 544, 1, random);
      row.codes[530] = 0xff;
      refused("NaN element");
      row.codes[530] = format == 4 ? 0x7c : 0x7f;
      refused("infinite or NaN element");
    }
}

}  // namespace

int main() {
  randomRows();
  borders();
  farFromOne();
  specials();
  return summary();
}
