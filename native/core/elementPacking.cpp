#include "elementPacking.h"

#include <algorithm>
#include <string>

#include "backend.h"
#include "threads.h"

namespace blockscope {

namespace {

// `step` bits from one code of a group to the next.
std::vector<int> steps(int count, int step) {
  std::vector<int> bits(count);
  for (int i = 0; i < count; i++) bits[i] = i * step;
  return bits;
}

// The first half of a block in the low nibbles, the second in the high ones.
std::vector<int> halves(int count) {
  std::vector<int> bits(count);
  for (int i = 0; i < count; i++) bits[i] = i < count / 2 ? 8 * i : 8 * (i - count / 2) + 4;
  return bits;
}

int64_t wholeGroups(size_t count, size_t size, const ElementPacking& packing, const char* what) {
  if (count % size == 0) return static_cast<int64_t>(count / size);
  throw Error(ErrorKind::kUsage, std::to_string(count) + " " + what + " of " +
                                     std::string(packing.name) + " do not divide into groups of " +
                                     std::to_string(size) + ".");
}

}  // namespace

const std::vector<ElementPacking>& elementPackings() {
  static const std::vector<ElementPacking> packings = {
      {"fp4_low_first", 4, 1, {0, 4}},      {"fp4_high_first", 4, 1, {4, 0}},
      {"fp4_halves_32", 4, 16, halves(32)}, {"fp4_halves_16", 4, 8, halves(16)},
      {"fp4_align16", 4, 16, steps(16, 4)}, {"fp4_byte", 4, 1, {0}},
      {"fp4_byte_middle", 4, 1, {2}},       {"fp6_dense", 6, 3, steps(4, 6)},
      {"fp6_align16", 6, 16, steps(16, 6)}, {"fp6_byte", 6, 1, {0}},
  };
  return packings;
}

const ElementPacking& findElementPacking(std::string_view name) {
  for (const ElementPacking& packing : elementPackings())
    if (packing.name == name) return packing;
  throw Error(ErrorKind::kUsage, "\"" + std::string(name) + "\" is no element packing.");
}

std::vector<uint8_t> packElements(const ElementPacking& packing,
                                  const std::vector<uint8_t>& codes) {
  const size_t size = packing.bits.size();
  const int64_t groups = wholeGroups(codes.size(), size, packing, "codes");
  std::vector<uint8_t> packed(groups * packing.groupBytes);
  // Operands have billions of codes: on all cores, a run of groups at a time.
  constexpr int64_t kRun = 1 << 16;
  parallelFor((groups + kRun - 1) / kRun, CancelFlag(), [&](int64_t run) {
    for (int64_t group = run * kRun; group < std::min(groups, (run + 1) * kRun); group++) {
      const uint8_t* from = &codes[group * size];
      uint8_t* to = &packed[group * packing.groupBytes];
      for (size_t i = 0; i < size; i++) {
        const int bit = packing.bits[i];
        const int word = (from[i] & ((1 << packing.storageBits) - 1)) << bit % 8;
        to[bit / 8] |= static_cast<uint8_t>(word);
        // A code of 6 bits may reach into the next byte, never past the group.
        if (word > 255) to[bit / 8 + 1] |= static_cast<uint8_t>(word >> 8);
      }
    }
  });
  return packed;
}

std::vector<uint8_t> unpackElements(const ElementPacking& packing,
                                    const std::vector<uint8_t>& packed) {
  std::vector<uint8_t> codes(wholeGroups(packed.size(), packing.groupBytes, packing, "bytes") *
                             packing.bits.size());
  for (size_t i = 0; i < codes.size(); i++) {
    const auto at = static_cast<size_t>(packing.bitOf(static_cast<int64_t>(i)));
    const int high = at / 8 + 1 < packed.size() ? packed[at / 8 + 1] << 8 : 0;
    codes[i] =
        static_cast<uint8_t>((packed[at / 8] | high) >> at % 8 & ((1 << packing.storageBits) - 1));
  }
  return codes;
}

}  // namespace blockscope
