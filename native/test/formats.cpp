// Codes in memory and their values: what is packed or encoded comes back.
#include "../core/formats.h"

#include <cmath>

#include "../core/elementPacking.h"
#include "../core/packing.h"
#include "../core/philox.h"
#include "check.h"

using namespace blockscope;

namespace {

std::vector<uint8_t> randomCodes(int64_t count, int limit) {
  std::vector<uint8_t> codes(count);
  for (int64_t i = 0; i < count; i++) codes[i] = static_cast<uint8_t>(philox(9, 0, i)[0] % limit);
  return codes;
}

void packedCodesComeBack() {
  for (const char* name : {"e2m1", "e2m3", "e3m2", "e4m3", "e5m2"}) {
    const NumberFormat& format = *findNumberFormat(name);
    const std::vector<uint8_t> codes = randomCodes(480, format.codeCount());
    std::vector<uint8_t> packed(packedBytes(format, 480)), back(480);
    CHECK(static_cast<int>(packed.size()) == 480 * format.storageBits / 8);
    packCodes(format, codes.data(), 480, packed.data());
    unpackCodes(format, packed.data(), 480, back.data());
    CHECK(back == codes);
  }
}

void packedBytesAreInTheDocumentedOrder() {
  const uint8_t fp4[] = {0x1, 0xf};
  uint8_t byte = 0;
  packCodes(*findNumberFormat("e2m1"), fp4, 2, &byte);
  CHECK(byte == 0xf1);
  // 4 codes of 6 bits, little-endian: 1 | 2 << 6 | 3 << 12 | 63 << 18.
  const uint8_t fp6[] = {1, 2, 3, 63};
  uint8_t bytes[3];
  packCodes(*findNumberFormat("e3m2"), fp6, 4, bytes);
  CHECK(bytes[0] == 0x81 && bytes[1] == 0x30 && bytes[2] == 0xfc);
}

// The two orders that kernels read are also written out in packCodes.
void elementPackingsHoldTheOrderOfTheKernels() {
  const std::vector<std::pair<const char*, const char*>> same = {{"e2m1", "fp4_low_first"},
                                                                 {"e3m2", "fp6_dense"}};
  for (const auto& [formatName, packing] : same) {
    const NumberFormat& format = *findNumberFormat(formatName);
    const std::vector<uint8_t> codes = randomCodes(480, format.codeCount());
    std::vector<uint8_t> packed(packedBytes(format, 480));
    packCodes(format, codes.data(), 480, packed.data());
    CHECK(packElements(findElementPacking(packing), codes) == packed);
    CHECK(unpackElements(findElementPacking(packing), packed) == codes);
  }
}

void everyFiniteCodeEncodesToItself() {
  for (const char* name : {"e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "e8m0", "ue4m3", "bf16"}) {
    const NumberFormat& format = *findNumberFormat(name);
    for (int code = 0; code < format.codeCount(); code++) {
      const double value = decode(format, static_cast<uint16_t>(code));
      if (!std::isfinite(value)) continue;
      CHECK(encode(format, static_cast<float>(value)) == code);
      if (format.codeBytes() == 1) CHECK(decodeTable(format.id)[code] == value);
    }
  }
  CHECK(decode(*findNumberFormat("e8m0"), 0) == 0x1p-127);
}

void overflowFollowsTheRule() {
  const NumberFormat &e4m3 = *findNumberFormat("e4m3"), &e5m2 = *findNumberFormat("e5m2");
  CHECK(encode(e4m3, 1e9f) == 0x7e);
  CHECK(encode(e4m3, -1e9f) == 0xfe);
  CHECK(encode(e4m3, 1e9f, OverflowRule::kMlDtypes) == 0x7f);
  CHECK(encode(e4m3, 464.0f) == 0x7e);  // half way to 480: down to the even code
  CHECK(encode(e5m2, INFINITY) == 0x7b);
  CHECK(encode(e5m2, INFINITY, OverflowRule::kMlDtypes) == 0x7c);
  const NumberFormat& bf16 = *findNumberFormat("bf16");
  CHECK(encode(bf16, INFINITY) == 0x7f7f);
  CHECK(encode(bf16, INFINITY, OverflowRule::kMlDtypes) == 0x7f80);
  CHECK(encode(bf16, NAN) == 0x7fc0);
  CHECK(encode(bf16, 0x1.01p0f) == 0x3f80 && encode(bf16, 0x1.03p0f) == 0x3f82);  // ties to even
}

}  // namespace

int main() {
  packedCodesComeBack();
  packedBytesAreInTheDocumentedOrder();
  elementPackingsHoldTheOrderOfTheKernels();
  everyFiniteCodeEncodesToItself();
  overflowFollowsTheRule();
  return summary();
}
