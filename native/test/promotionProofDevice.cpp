// What the encoder of the Hopper fp8 product proves of its operands
// (common/promotionProof.cuh), compiled for the CPU with its threads as fibers,
// against numbers of src-shared/formats/promotionProof.ts.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../core/formats.h"
#include "check.h"
#include "fiberBlock.h"
#include "readJson.h"

namespace device {

using Threads = fibers::Block<32, 1>;
inline Threads* threads = nullptr;

struct ThisThread {
  operator unsigned() const { return static_cast<unsigned>(threads->current()); }
};
inline struct { ThisThread x; } threadIdx;

struct int2 {
  int x, y;
};
struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};
struct float2 {
  float x, y;
};
inline int2 make_int2(int x, int y) { return {x, y}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline float fmaxf(float a, float b) { return std::fmax(a, b); }
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
// Exact in a double, then rounded up.
inline float __fmul_ru(float a, float b) {
  const double exact = double{a} * b;
  const float near = static_cast<float>(exact);
  return near < exact ? std::nextafter(near, INFINITY) : near;
}
inline void atomicMax(unsigned* at, unsigned value) { *at = *at > value ? *at : value; }
inline void atomicAdd(unsigned* at, unsigned value) { *at += value; }
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (int i = 0; i < 32; i += 8) sum += (a >> i & 255) * (b >> i & 255);
  return sum;
}
// No sign of a byte is asked for here.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const uint64_t bytes = uint64_t{high} << 32 | low;
  unsigned result = 0;
  for (int i = 0; i < 4; i++)
    result |= static_cast<unsigned>(bytes >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
  return result;
}
inline void __syncthreads() { threads->sync(); }
template <typename T>
T fromLane(T value, int lane) {
  const auto& shown = threads->exchange(sizeof(T), {std::bit_cast<uint32_t>(value)});
  return std::bit_cast<T>(shown[lane][0]);
}
template <typename T>
T __shfl_xor_sync(unsigned, T value, int distance) {
  return fromLane(value, threads->current() % 32 ^ distance);
}
template <typename Join>
int ofWarp(int value, Join join) {
  for (int distance = 1; distance < 32; distance *= 2)
    value = join(value, __shfl_xor_sync(0, value, distance));
  return value;
}
inline int __reduce_min_sync(unsigned, int value) { return ofWarp(value, min); }
inline int __reduce_max_sync(unsigned, int value) { return ofWarp(value, max); }

#define ENCODE_THREADS 128
#define TILE_M 128
#define TILE_N 192
#define CLUSTER 2
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32
#define OUTPUT_TYPE 2
#define ACCUMULATE 0
// What stands in for an instruction does nothing.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wparentheses"
#define __device__
#define __host__
#define __shared__ static
#define asm(...)
#include "../../resources/kernels/cuda/common/promotionProof.cuh"
#undef asm
#undef __device__
#undef __host__
#undef __shared__
#pragma GCC diagnostic pop

}  // namespace device

using namespace blockscope;

namespace {

// How many elements of a row are not what they were.
int64_t wrongElements(const uint8_t* codes, const uint8_t* scales,
                      const std::vector<uint8_t>& encoded, float factor, int k) {
  int64_t wrong = 0;
  for (int i = 0; i < k; i++) {
    const uint8_t code = codes[i / 2] >> i % 2 * 4 & 15;
    const double own = decodeTable(NumberFormatId::kE2m1)[code];
    const double got = decodeTable(NumberFormatId::kE5m2)[encoded[i]];
    wrong += got * factor != std::ldexp(own, scales[i / 32] - 127) ||
             std::signbit(got) != std::signbit(own);
  }
  return wrong;
}

// Proofs of one tile's rows, as `encode` of wgmma_fp8.cu makes them.
std::vector<device::Proof> proofsOf(const std::vector<uint8_t>& codes,
                                    const std::vector<uint8_t>& scales, int rows, int k) {
  const int count = (k + device::kLongestInterval - 1) / device::kLongestInterval;
  std::vector<device::Proof> proofs(count);
  std::vector<uint8_t> encoded(k + 64);
  float factor;
  for (int row = 0; row < rows; row++) {
    // Aligned as rows of a matrix are.
    std::vector<uint64_t> words(k / 16);
    std::memcpy(words.data(), codes.data() + row * k / 2, k / 2);
    device::Threads block(ENCODE_THREADS);
    device::threads = &block;
    bool isOutside = false;
    block.run([&] {
      isOutside |= device::reencodeRow<device::Order::kAsPacked>(
          reinterpret_cast<const uint8_t*>(words.data()), scales.data() + row * k / 32,
          encoded.data(), &factor, k, device::RowProof{proofs.data(), count});
    });
    if (!isOutside)
      CHECK(wrongElements(codes.data() + row * k / 2, scales.data() + row * k / 32, encoded, factor,
                          k) == 0);
  }
  return proofs;
}

float numberOf(const device::Proof& proof, int interval) {
  return std::bit_cast<float>(proof.of[interval]);
}

std::vector<uint8_t> bytesOf(const Json& list) {
  std::vector<uint8_t> bytes;
  for (const Json& one : list.list) bytes.push_back(static_cast<uint8_t>(int(one)));
  return bytes;
}

// Each tile's largest numbers in each stretch of K; those of 2^24 on are all
// alike.
void theEncoderProvesWhatIsProvedOnTheHost() {
  const Json cases = readJson("../../test/fixtures/kernels/promotion_proof.json")["cases"];
  for (const Json& one : cases.list) {
    const int rows = int(one["rows"]), k = int(one["k"]);
    const auto proofs = proofsOf(bytesOf(one["codes"]), bytesOf(one["scales"]), rows, k);
    CHECK(proofs.size() == one["most"].list.size());
    for (size_t stretch = 0; stretch < proofs.size(); stretch++)
      for (int interval = 0; interval < 3; interval++) {
        const double expected = one["most"][stretch][interval].number;
        const float got = numberOf(proofs[stretch], interval);
        checkThat(std::fmin(got, device::kMostOfEach) == expected,
                  one["name"].text + ", stretch " + std::to_string(stretch) + ": " +
                      std::to_string(got) + " for " + std::to_string(expected),
                  __FILE__, __LINE__);
      }
  }
}

void aScaleThatIsNoNumberProvesNothing() {
  std::vector<uint8_t> codes(512 / 2, 0), scales(512 / 32, 127);
  scales[9] = 255;
  const auto proofs = proofsOf(codes, scales, 1, 512);
  for (int interval = 0; interval < 3; interval++) {
    CHECK(numberOf(proofs[0], interval) == 0);
    CHECK(std::isinf(numberOf(proofs[1], interval)));
  }
}

// One past 2^28 is not proved, though it rounds to 2^28 in float32.
void theBorderIsExact() {
  auto proof = [](float of256, float of128, float of64) {
    return device::Proof{{std::bit_cast<unsigned>(of256), std::bit_cast<unsigned>(of128),
                          std::bit_cast<unsigned>(of64), 0}};
  };
  const device::Proof at = proof(16384, 16384, 16384), past = proof(16385, 16384, 16384);
  CHECK(device::longestProved(at, at) == 0);
  CHECK(device::longestProved(past, at) == 1 && device::longestProved(at, past) == 1);
  CHECK(device::longestProved(past, proof(16384, 16385, 1)) == 2);
  CHECK(device::longestProved(past, proof(16384, 16385, 16385)) == 3);
  // 268435457 = 17 x 15790321
  CHECK(device::longestProved(proof(17, 17, 17), proof(15790321, 15790320, 1)) == 1);
  // Each below 2^24.
  CHECK(device::longestProved(proof(1, 0, 0), proof(16777216, 16777216, 16777215)) == 2);
  CHECK(device::longestProved(proof(0, 0, 0), proof(INFINITY, INFINITY, INFINITY)) == 3);
}

// Rows of a tile, stretch after stretch; what is beyond C is not counted.
void tilesCountWhatTheyAreProvedFor() {
  const int m = 130, k = 600,
            count = 3;  // two CTAs of a cluster, the second mostly outside
  std::vector<device::Proof> all((4 + 2) * count);
  const device::Proofs proofs(all.data(), m + 256, k);
  CHECK(proofs.count == count && proofs.tilesOfA == 4);
  CHECK(proofs.ofRow(129) == count && proofs.ofColumn(192) == 5 * count);
  const unsigned large = std::bit_cast<unsigned>(20000.0f);
  all[proofs.ofRow(128) + 1].of[0] = all[proofs.ofColumn(0) + 1].of[0] = large;
  unsigned counters[4] = {};
  device::ProvedIntervals guide(proofs, counters);
  struct Place {
    int row, endRow, rowB;
  };
  for (const int row : {0, 128, 256}) {
    const Place place = {row, m, 0};
    guide.startTile(place);
    for (int step = 0; step < 6; step++)
      CHECK(guide.wordOf(step) == (row == 128 && step / 2 == 1 ? 1u : 0u));
    guide.endTile(place);
  }
  CHECK(counters[0] == 5 && counters[1] == 1 && counters[2] == 0 && counters[3] == 0);
}

}  // namespace

int main() {
  theEncoderProvesWhatIsProvedOnTheHost();
  aScaleThatIsNoNumberProvesNothing();
  theBorderIsExact();
  tilesCountWhatTheyAreProvedFor();
  return summary();
}
