// Kernels that Triton's compiler made for sm_120 and sm_100, run on the CPU with their matrix
// instruction emulated: right products, and wrong ones where the emulation would read another
// lane's or column's scales, another block's, or operands by another descriptor.
#include <cmath>
#include <cstdio>

#include "../core/formats.h"
#include "../core/packing.h"
#include "../core/philox.h"
#include "check.h"
#include "ptxMachine.h"

using namespace blockscope;

namespace {

std::string unpacked(const std::string& file) {
  const std::string command = "gzip -dc ../../test/fixtures/kernels/" + file + ".ptx.gz";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, count);
  if (pclose(pipe) != 0) throw std::runtime_error(command + " failed");
  return text;
}

// Packed codes and linear scales of a matrix of rows x K, and its values.
struct Matrix {
  std::vector<uint8_t> packed, scales;
  std::vector<double> values;
  Matrix(const BlockFormat& format, const NumberFormat& element, int rows, int k, uint32_t stream)
      : scales(rows * k / format.scaleBlockSize), values(rows * k) {
    std::vector<uint8_t> codes(rows * k);
    for (size_t i = 0; i < codes.size(); i++) {
      uint32_t draw = philox(5, stream, i)[0] >> (32 - element.storageBits);
      while (!std::isfinite(decode(element, static_cast<uint8_t>(draw)))) draw--;
      codes[i] = static_cast<uint8_t>(draw);
    }
    for (size_t i = 0; i < scales.size(); i++) {
      const uint32_t draw = philox(5, stream + 1, i)[0];
      scales[i] = static_cast<uint8_t>(format.scale == NumberFormatId::kE8m0 ? 121 + draw % 13
                                                                             : 8 + draw % 119);
    }
    packed.resize(packedBytes(element, static_cast<int64_t>(codes.size())));
    packCodes(element, codes.data(), static_cast<int64_t>(codes.size()), packed.data());
    for (size_t i = 0; i < codes.size(); i++)
      values[i] = decode(element, codes[i]) *
                  decode(format.scaleFormat(), scales[i / format.scaleBlockSize]);
  }
};

// One kernel on 2 x 2 of its tiles.
class Product {
 public:
  static constexpr int kK = 256;

  Product(const std::string& file, const std::string& format, int tileM, int tileN)
      : format_(findBlockFormat(format)),
        kernel_(unpacked(file)),
        tileM_(tileM),
        tileN_(tileN),
        m_(2 * tileM),
        n_(2 * tileN),
        a_(format_, format_.elementA(), m_, kK, 0),
        b_(format_, format_.elementB(), n_, kK, 2) {}

  // Of K = `depth`, elements of the first `tiles` x `tiles` tiles of C that are off by more than
  // the instructions' truncation to float32 explains: 2^-22 of the sum of magnitudes in each.
  int wrong(int tiles, const ptx::Mistake& mistake = {},
            const ptx::TensorMistake& tensorMistake = {}, int depth = kK) {
    std::vector<float> c(m_ * n_);
    const auto pointer = [](const void* to) { return reinterpret_cast<uint64_t>(to); };
    const uint64_t rowA = a_.packed.size() / m_, rowB = b_.packed.size() / n_,
                   scaleRow = kK / format_.scaleBlockSize;
    kernel_.run(tiles, tiles,
                {pointer(a_.packed.data()), pointer(a_.scales.data()), pointer(b_.packed.data()),
                 pointer(b_.scales.data()), pointer(c.data()), static_cast<uint64_t>(depth), rowA,
                 rowB, scaleRow, scaleRow, static_cast<uint64_t>(n_), 0, 0},
                {{a_.packed.data(), a_.packed.size()},
                 {a_.scales.data(), a_.scales.size()},
                 {b_.packed.data(), b_.packed.size()},
                 {b_.scales.data(), b_.scales.size()},
                 {c.data(), c.size() * sizeof(float)}},
                mistake, tensorMistake);
    int count = 0;
    const double allowed = depth / (format_.elementA().storageBits == 8 ? 32 : 64) * 0x1p-22;
    for (int i = 0; i < tiles * tileM_; i++)
      for (int j = 0; j < tiles * tileN_; j++) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k < depth; k++) {
          const double product = a_.values[i * kK + k] * b_.values[j * kK + k];
          sum += product, magnitude += std::fabs(product);
        }
        count += !(std::fabs(c[i * n_ + j] - sum) <= allowed * magnitude);
      }
    return count;
  }
  int elementsOfTile() const { return tileM_ * tileN_; }

 private:
  const BlockFormat& format_;
  ptx::Kernel kernel_;
  int tileM_, tileN_, m_, n_;
  Matrix a_, b_;
};

void check(const std::string& file, const std::string& format, int tileM, int tileN) {
  Product product(file, format, tileM, tileN);
  const int wrong = product.wrong(2);
  checkThat(wrong == 0, file + ": " + std::to_string(wrong) + " wrong", __FILE__, __LINE__);
  auto fails = [&](const char* what, const ptx::Mistake& mistake) {
    const int count = product.wrong(1, mistake);
    checkThat(count > product.elementsOfTile() * 9 / 10,
              file + ", " + what + ": only " + std::to_string(count) + " wrong", __FILE__,
              __LINE__);
  };
  fails("scale lanes of a pair swapped", [](lanes::Registers& warp) {
    for (int lane = 0; lane < 32; lane += 2)
      std::swap(warp.scales[0][lane], warp.scales[0][lane + 1]);
  });
  fails("scales of neighbouring columns swapped", [](lanes::Registers& warp) {
    for (int lane = 0; lane < 32; lane++)
      if (lane / 4 % 2 == 0) std::swap(warp.scales[1][lane], warp.scales[1][lane + 4]);
  });
  fails("scale bytes one further", [](lanes::Registers& warp) {
    for (u32& word : warp.scales[0]) word = std::rotr(word, 8);
  });
  fails("registers of A's halves of K swapped", [](lanes::Registers& warp) {
    for (auto& lane : warp.words[0]) std::swap(lane[0], lane[2]), std::swap(lane[1], lane[3]);
  });
}

// The same for tcgen05: products and what must break them, by an error of the model or by its
// result.
void checkTensor(const std::string& file, const std::string& format, int tileM = 128,
                 int tileN = 128) {
  Product product(file, format, tileM, tileN);
  const std::string thrown = messageOf([&] {
    const int wrong = product.wrong(2);
    checkThat(wrong == 0, file + ": " + std::to_string(wrong) + " wrong", __FILE__, __LINE__);
  });
  checkThat(thrown == "nothing was thrown", file + ": " + thrown, __FILE__, __LINE__);
  constexpr int kOneStep = 128;
  auto givesWrong = [&](const char* what, const ptx::TensorMistake& mistake) {
    const int count = product.wrong(1, {}, mistake, kOneStep);
    checkThat(count > product.elementsOfTile() * 2 / 3,
              file + ", " + what + ": only " + std::to_string(count) + " wrong", __FILE__,
              __LINE__);
  };
  auto isRefused = [&](const char* with, const ptx::TensorMistake& mistake) {
    const std::string message = messageOf([&] { product.wrong(1, {}, mistake, kOneStep); });
    CHECK_CONTAINS(message, with);
  };
  const int vector = format == "nvfp4" ? 4 : format == "mxfp4" ? 2 : 1;
  if (vector < 4)
    givesWrong("another scale id of A", [&](tensor::Multiply& one) {
      one.instruction = one.instruction ^ static_cast<u32>(vector) << 29;
    });
  if (vector > 1) isRefused("scale id", [](tensor::Multiply& one) { one.instruction |= 1u << 4; });
  givesWrong("columns of B's scales exchanged", [](tensor::Multiply& one) {
    // Those of A lie beside them, or nobody's.
    one.scalesB = one.scalesA;
  });
  givesWrong("the next 32 bytes of A", [](tensor::Multiply& one) { one.a ^= 2; });
  givesWrong("every group of eight rows of B twice as far",
             [](tensor::Multiply& one) { one.b += one.b & 0x3fffull << 32; });
  givesWrong("A by the next narrower swizzle", [](tensor::Multiply& one) { one.a += 2ull << 61; });
  isRefused("a stride of", [](tensor::Multiply& one) { one.a -= 1ull << 37; });
  isRefused("version is 0", [](tensor::Multiply& one) { one.b &= ~(3ull << 46); });
  isRefused("is not allocated", [](tensor::Multiply& one) { one.scalesB += 256; });
  if (tileM == 256)
    isRefused("cta_group::2 has 256", [](tensor::Multiply& one) { one.instruction -= 8u << 24; });
}

}  // namespace

int main() {
  for (const auto& [scaling, format] : {std::pair("1X", "mxfp8"), {"2X", "mxfp4"}, {"4X", "nvfp4"}})
    for (const auto& [tile, m, n] : {std::tuple("64x32x128", 64, 32), {"32x32x128", 32, 32}})
      check(std::string("sm120_") + scaling + "_" + tile, format, m, n);
  for (const auto& [kind, format] :
       {std::pair("mxf4", "mxfp4"), {"nvf4", "nvfp4"}, {"mxf8", "mxfp8"}, {"mixed", "mixed"}})
    checkTensor(std::string("sm100_") + kind + "_128x128x128", format);
  // A tile of a pair of CTAs.
  checkTensor("sm100_pair_mxf8_256x128x128", "mxfp8", 256, 128);
  checkTensor("sm100_pair_mxf4_256x64x128", "mxfp4", 256, 64);
  return summary();
}
