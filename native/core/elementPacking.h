// Codes of fp4 and fp6 elements in memory and in registers: which bits of which byte. Twin of
// src-shared/layouts/elementPacking.ts, where the sources stand.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace blockscope {

struct ElementPacking {
  std::string_view name;
  int storageBits = 4;    // of a code
  int groupBytes = 1;     // of the group of codes that repeats along K
  std::vector<int> bits;  // of each code of a group its lowest bit, from bit 0 of the first byte

  // The lowest bit of the code at an index along K.
  int64_t bitOf(int64_t index) const {
    const auto size = static_cast<int64_t>(bits.size());
    return index / size * groupBytes * 8 + bits[index % size];
  }
};

const std::vector<ElementPacking>& elementPackings();

// Throws Error(kUsage) for an unknown name.
const ElementPacking& findElementPacking(std::string_view name);

// One code a byte to the packing and back; padding is 0. Throw Error(kUsage) when the codes, or the
// bytes, do not fill whole groups.
std::vector<uint8_t> packElements(const ElementPacking&, const std::vector<uint8_t>& codes);
std::vector<uint8_t> unpackElements(const ElementPacking&, const std::vector<uint8_t>& packed);

}  // namespace blockscope
