// What the encoder of the Hopper fp8 product proves of its operands
// (common/promotionProof.cuh), compiled for the CPU with its threads as fibers,
// against numbers of src-shared/formats/promotionProof.ts.
#define ENCODE_THREADS 128
#define TILE_M 128
#define TILE_N 192
#define CLUSTER 2
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32
#define OUTPUT_TYPE 2
#define ACCUMULATE 0

// The source stands behind the words that it is written in.
// clang-format off
#include "cudaThreads.h"
#include "../../resources/kernels/cuda/common/promotionProof.cuh"
// clang-format on
#include "../core/formats.h"
#include "check.h"
#include "readJson.h"

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
std::vector<Proof> proofsOf(const std::vector<uint8_t>& codes, const std::vector<uint8_t>& scales,
                            int rows, int k) {
  const int count = (k + kLongestInterval - 1) / kLongestInterval;
  std::vector<Proof> proofs(count);
  std::vector<uint8_t> encoded(k + 64);
  float factor;
  for (int row = 0; row < rows; row++) {
    // Aligned as rows of a matrix are.
    std::vector<uint64_t> words(k / 16);
    std::memcpy(words.data(), codes.data() + row * k / 2, k / 2);
    gpu::Block block(ENCODE_THREADS);
    gpu::running = {&block};
    bool isOutside = false;
    block.run([&] {
      isOutside |= reencodeRow<Order::kAsPacked>(reinterpret_cast<const uint8_t*>(words.data()),
                                                 scales.data() + row * k / 32, encoded.data(),
                                                 &factor, k, RowProof{proofs.data(), count});
    });
    if (!isOutside)
      CHECK(wrongElements(codes.data() + row * k / 2, scales.data() + row * k / 32, encoded, factor,
                          k) == 0);
  }
  return proofs;
}

float numberOf(const Proof& proof, int interval) {
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
        checkThat(std::fmin(got, kMostOfEach) == expected,
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
    return Proof{{std::bit_cast<unsigned>(of256), std::bit_cast<unsigned>(of128),
                  std::bit_cast<unsigned>(of64), 0}};
  };
  const Proof at = proof(16384, 16384, 16384), past = proof(16385, 16384, 16384);
  CHECK(longestProved(at, at) == 0);
  CHECK(longestProved(past, at) == 1 && longestProved(at, past) == 1);
  CHECK(longestProved(past, proof(16384, 16385, 1)) == 2);
  CHECK(longestProved(past, proof(16384, 16385, 16385)) == 3);
  // 268435457 = 17 x 15790321
  CHECK(longestProved(proof(17, 17, 17), proof(15790321, 15790320, 1)) == 1);
  // Each below 2^24.
  CHECK(longestProved(proof(1, 0, 0), proof(16777216, 16777216, 16777215)) == 2);
  CHECK(longestProved(proof(0, 0, 0), proof(INFINITY, INFINITY, INFINITY)) == 3);
}

// Rows of a tile, stretch after stretch; what is beyond C is not counted.
void tilesCountWhatTheyAreProvedFor() {
  const int m = 130, k = 600,
            count = 3;  // two CTAs of a cluster, the second mostly outside
  std::vector<Proof> all((4 + 2) * count);
  const Proofs proofs(all.data(), m + 256, k);
  CHECK(proofs.count == count && proofs.tilesOfA == 4);
  CHECK(proofs.ofRow(129) == count && proofs.ofColumn(191) == 4 * count &&
        proofs.ofColumn(192) == 5 * count);
  const unsigned large = std::bit_cast<unsigned>(20000.0f);
  all[proofs.ofRow(128) + 1].of[0] = all[proofs.ofColumn(0) + 1].of[0] = large;
  unsigned counters[4] = {};
  ProvedIntervals guide(proofs, counters);
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
