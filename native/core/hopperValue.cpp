#include "hopperValue.h"

#include <string>

#include "backend.h"
#include "layouts.h"

namespace blockscope {

namespace {

// Bits of a bfloat16 half word, from the sign to the lowest of the code, for each of four codes:
// the first three are shifted copies, the fourth takes the bits they leave free.
constexpr int kBits[4][4] = {{15, 8, 7, 6}, {12, 5, 4, 3}, {9, 2, 1, 0}, {14, 11, 10, 13}};

// Where bytes go: rows are N, columns bytes of K / 2.
ScaleLayout layoutOf(int mmaVersion) {
  if (mmaVersion != 2 && mmaVersion != 3)
    throw Error(ErrorKind::kUsage, "MMA version " + std::to_string(mmaVersion) +
                                       " has no Hopper value layout; 2 and 3 have.");
  const std::string adjacent = mmaVersion == 2 ? "4" : "1", tiles = mmaVersion == 2 ? "1" : "4";
  return findLayout(
      "triton_hopper_value = rowTile:0 rowPart:16 rowHalf:2 rowThread:4 rowPair:2 | columnTile:0 "
      "columnPart:2 kTile:" +
      tiles + " columnHalf:2 columnThread:4 adjacent:" + adjacent +
      " | rowTile rowPart rowThread columnTile columnPart rowPair columnThread kTile columnHalf "
      "rowHalf adjacent");
}

void check(size_t bytes, int64_t wanted) {
  if (static_cast<int64_t>(bytes) != wanted)
    throw Error(ErrorKind::kUsage, std::to_string(bytes) + " bytes given; this layout takes " +
                                       std::to_string(wanted) + ".");
}

// Eight codes of four bytes to a little-endian word: the low nibbles to its low half.
void interleave(uint8_t* word) {
  uint8_t out[4] = {};
  for (int nibble = 0; nibble < 2; nibble++)
    for (int code = 0; code < 4; code++)
      for (int bit = 0; bit < 4; bit++) {
        const int value = word[code] >> (4 * nibble + 3 - bit) & 1,
                  at = 16 * nibble + kBits[code][bit];
        out[at / 8] |= static_cast<uint8_t>(value << at % 8);
      }
  for (int i = 0; i < 4; i++) word[i] = out[i];
}

void separate(uint8_t* word) {
  uint8_t out[4] = {};
  for (int nibble = 0; nibble < 2; nibble++)
    for (int code = 0; code < 4; code++)
      for (int bit = 0; bit < 4; bit++) {
        const int at = 16 * nibble + kBits[code][bit], value = word[at / 8] >> at % 8 & 1;
        out[code] |= static_cast<uint8_t>(value << (4 * nibble + 3 - bit));
      }
  for (int i = 0; i < 4; i++) word[i] = out[i];
}

}  // namespace

std::vector<uint8_t> packHopperValues(int mmaVersion, int64_t rows, int64_t columns,
                                      const std::vector<uint8_t>& packed) {
  const ScaleLayout layout = layoutOf(mmaVersion);
  check(packed.size(), rows * columns);
  std::vector<uint8_t> swizzled = packScales(layout, packed.data(), rows, columns);
  for (size_t at = 0; at < swizzled.size(); at += 4) interleave(&swizzled[at]);
  return swizzled;
}

std::vector<uint8_t> unpackHopperValues(int mmaVersion, int64_t rows, int64_t columns,
                                        const std::vector<uint8_t>& swizzled) {
  const ScaleLayout layout = layoutOf(mmaVersion);
  check(swizzled.size(), paddedShape(layout, rows, columns).size());
  std::vector<uint8_t> separated = swizzled;
  for (size_t at = 0; at < separated.size(); at += 4) separate(&separated[at]);
  return unpackScales(layout, separated.data(), rows, columns);
}

}  // namespace blockscope
