// Kernels that Triton's compiler made for sm_120, run on the CPU with their matrix instruction
// emulated: right products, and wrong ones where the emulation would read another lane's scales or
// another block's.
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

// Codes one to a byte, packed codes and linear scales of a matrix of rows x K.
struct Matrix {
  std::vector<uint8_t> codes, packed, scales;
  Matrix(const BlockFormat& format, int rows, int k, uint32_t stream)
      : codes(rows * k), scales(rows * k / format.scaleBlockSize) {
    const NumberFormat& element = format.elementA();
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
  }
};

// One kernel on 2 x 2 of its tiles.
class Product {
 public:
  Product(const std::string& file, const std::string& format, int tileM, int tileN)
      : format_(findBlockFormat(format)),
        kernel_(unpacked(file)),
        tileM_(tileM),
        tileN_(tileN),
        m_(2 * tileM),
        n_(2 * tileN),
        a_(format_, m_, kK, 0),
        b_(format_, n_, kK, 2) {}

  // Elements of the first `tiles` x `tiles` tiles of C that are off by more than the instructions'
  // truncation to float32 explains: 2^-22 of the sum of magnitudes in each.
  int wrong(int tiles, const ptx::Mistake& mistake = {}) {
    std::vector<float> c(m_ * n_);
    const auto pointer = [](const void* to) { return reinterpret_cast<uint64_t>(to); };
    const uint64_t row = a_.packed.size() / m_, scaleRow = kK / format_.scaleBlockSize;
    kernel_.run(tiles, tiles,
                {pointer(a_.packed.data()), pointer(a_.scales.data()), pointer(b_.packed.data()),
                 pointer(b_.scales.data()), pointer(c.data()), kK, row, row, scaleRow, scaleRow,
                 static_cast<uint64_t>(n_), 0, 0},
                {{a_.packed.data(), a_.packed.size()},
                 {a_.scales.data(), a_.scales.size()},
                 {b_.packed.data(), b_.packed.size()},
                 {b_.scales.data(), b_.scales.size()},
                 {c.data(), c.size() * sizeof(float)}},
                mistake);
    int count = 0;
    const int depth = format_.elementA().storageBits == 8 ? 32 : 64;
    const double allowed = kK / depth * 0x1p-22;
    for (int i = 0; i < tiles * tileM_; i++)
      for (int j = 0; j < tiles * tileN_; j++) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k < kK; k++) {
          const double product = valueOf(a_, i, k) * valueOf(b_, j, k);
          sum += product, magnitude += std::fabs(product);
        }
        count += !(std::fabs(c[i * n_ + j] - sum) <= allowed * magnitude);
      }
    return count;
  }
  int elementsOfTile() const { return tileM_ * tileN_; }

 private:
  static constexpr int kK = 256;
  double valueOf(const Matrix& matrix, int row, int k) const {
    return decode(format_.elementA(), matrix.codes[row * kK + k]) *
           decode(format_.scaleFormat(), matrix.scales[(row * kK + k) / format_.scaleBlockSize]);
  }

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

}  // namespace

int main() {
  for (const auto& [scaling, format] : {std::pair("1X", "mxfp8"), {"2X", "mxfp4"}, {"4X", "nvfp4"}})
    for (const auto& [tile, m, n] : {std::tuple("64x32x128", 64, 32), {"32x32x128", 32, 32}})
      check(std::string("sm120_") + scaling + "_" + tile, format, m, n);
  return summary();
}
