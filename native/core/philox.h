// Philox4x32-10, a counter-based random generator (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy as 1, 2,
// 3", SC11). The word for an element depends on the seed, the stream and the element's index alone, so any thread of any
// device makes the same bytes.
#pragma once

#include <array>
#include <cstdint>

namespace blockscope {

using PhiloxWords = std::array<uint32_t, 4>;

inline PhiloxWords philox(uint64_t seed, uint32_t stream, uint64_t index) {
  uint32_t c0 = static_cast<uint32_t>(index), c1 = static_cast<uint32_t>(index >> 32), c2 = stream, c3 = 0;
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; round++) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c0;
    const uint64_t p1 = uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(p1);
    c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {c0, c1, c2, c3};
}

}  // namespace blockscope
