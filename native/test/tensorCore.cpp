// The model of tensor memory and tcgen05 (tensorCore.h): sums bit for bit as MMA-Sim has them for
// sm_100, operands by every swizzle, and each misuse told from the others.
#include "tensorCore.h"

#include <cmath>

#include "../core/formats.h"
#include "check.h"
#include "readJson.h"
#include "scaledMatrix.h"

using namespace tcgen05;
using blockscope::decode;
using tensor::Multiply;

namespace {

// All of it is written; what the tensor core reads is counted.
struct Shared : tensor::SharedView {
  std::vector<uint8_t> bytes = std::vector<uint8_t>(128 * 1024);
  int held = 0;
  const uint8_t* read(u32 address) override { return bytes.data() + address; }
  void hold(u32, bool isHeld) override { held += isHeld ? 1 : -1; }
};

// 128 rows of A and `n` of B for one instruction: codes one to a byte, scales as 32-bit words.
struct Operands {
  Form form;
  int n;
  std::vector<uint8_t> a = std::vector<uint8_t>(128 * form.depth()),
                       b = std::vector<uint8_t>(n * form.depth());
  std::vector<u32> scalesA = std::vector<u32>(128), scalesB = std::vector<u32>(n);
  Swizzle swizzle = Swizzle::k128;
  int idA = 0, idB = 0;
};

constexpr u32 kPlaceB = 64 * 1024, kPlaceScalesA = 112 * 1024, kPlaceScalesB = 116 * 1024;

// A row's 32 bytes as the instruction's kind has them.
std::array<uint8_t, 32> packedRow(const Form& form, int format, const uint8_t* codes) {
  std::array<uint8_t, 32> row{};
  const int bits = form.depth() == 64 || format == 0 ? 4
                   : format <= 2                     ? 6
                                                     : 8,
            perPiece = form.depth() == 64 ? 32 : 16;
  for (int k = 0; k < form.depth(); k++)
    for (int bit = 0; bit < bits; bit++) {
      const int at = k / perPiece * 128 + k % perPiece * bits + bit;
      row[at / 8] |= (codes[k] >> bit & 1) << at % 8;
    }
  return row;
}

void put(Shared& shared, const Form& form, int format, Swizzle swizzle, u32 place,
         const std::vector<uint8_t>& codes, int rows) {
  for (int row = 0; row < rows; row++) {
    const auto bytes = packedRow(form, format, &codes[row * form.depth()]);
    for (int piece = 0; piece < 2; piece++) {
      const u32 at = swizzle == Swizzle::kNone
                         ? place + static_cast<u32>(piece * rows * 16 + row * 16)
                         : swizzled(swizzle, place, row, piece * 16);
      std::memcpy(&shared.bytes[at], &bytes[piece * 16], 16);
    }
  }
}

// One instruction on freshly allocated tensor memory: D's first column, A's scales, B's.
struct Tensor {
  Shared shared;
  tensor::TensorCore core{shared};
  u32 d = core.allocate(256), scalesA = core.allocate(32), scalesB = core.allocate(32);
  bool isDone = false;

  explicit Tensor(const Operands& of) {
    put(shared, of.form, of.form.a, of.swizzle, 0, of.a, 128);
    put(shared, of.form, of.form.b, of.swizzle, kPlaceB, of.b, of.n);
    for (const auto& [words, place] :
         {std::pair(&of.scalesA, kPlaceScalesA), {&of.scalesB, kPlaceScalesB}})
      for (size_t row = 0; row < words->size(); row++)
        std::memcpy(&shared.bytes[place + row / 128 * 512 + row % 32 * 16 + row % 128 / 32 * 4],
                    &(*words)[row], 4);
  }
  void copyScales(int n) {
    core.issue(tensor::ScaleCopy{scalesA, scalesDescriptor(kPlaceScalesA)});
    for (int block = 0; block < (n + 127) / 128; block++)
      core.issue(
          tensor::ScaleCopy{scalesB + 4 * static_cast<u32>(block),
                            scalesDescriptor(kPlaceScalesB + static_cast<u32>(block) * 512)});
  }
  Multiply product(const Operands& of, bool adds = false) const {
    return {of.form.vector,
            d,
            tileDescriptor(of.swizzle, 0, 128),
            tileDescriptor(of.swizzle, kPlaceB, of.n),
            instructionDescriptor(of.form, 128, of.n, of.idA, of.idB),
            scalesA,
            scalesB,
            adds};
  }
  void end() {
    core.commit([this] { isDone = true; });
    while (core.step()) {
    }
  }
  u32 sum(int row, int column) {
    return core.load(row / 32, tensorAddress(row / 32 * 32, static_cast<int>(d) + column),
                     1)[0][row % 32];
  }
  void free() {
    for (int warp = 0; warp < 4; warp++) core.waitForLoads(warp);
    core.free(d, 256), core.free(scalesA, 32), core.free(scalesB, 32);
  }
};

// ------------------------------------------------------------------------------- sums

std::vector<uint8_t> hexDigits(const std::string& text, int digits) {
  std::vector<uint8_t> codes;
  for (size_t i = 0; i < text.size(); i += digits)
    codes.push_back(static_cast<uint8_t>(std::stoul(text.substr(i, digits), nullptr, 16)));
  return codes;
}

void sumsAreThoseOfMmaSim() {
  const Json cases = readJson("../../test/fixtures/kernels/mma_sim_sm100.json")["cases"];
  int compared = 0, different = 0;
  for (const Json& one : cases.list) {
    const std::string& name = one["instruction"].text;
    const bool isFp4 = int(one["K"]) == 64;
    const int first = isFp4 ? 0 : name.find("e5m2") != std::string::npos ? 4 : 3;
    const Form form = blockscale::formOf(first, isFp4 ? 0 : 3, int(one["scaleBlock"]) == 16 ? 6 : 5,
                                         int(one["scaleBlock"]));
    Operands of{form, 8};
    const int digits = isFp4 ? 1 : 2;
    auto fill = [&](std::vector<uint8_t>& codes, std::vector<u32>& words, const Json& from,
                    const Json& scales) {
      for (size_t row = 0; row < from.list.size(); row++) {
        const auto ofRow = hexDigits(from[row].text, digits),
                   scalesOfRow = hexDigits(scales[row].text, 2);
        std::copy(ofRow.begin(), ofRow.end(), codes.begin() + row * form.depth());
        for (int i = 0; i < form.vector; i++) words[row] |= u32{scalesOfRow[i]} << (8 * i);
      }
    };
    fill(of.a, of.scalesA, one["a"], one["aScales"]);
    fill(of.b, of.scalesB, one["b"], one["bScales"]);
    Tensor with(of);
    // C, by the warp whose lanes these rows are.
    const int columns = int(one["cols"]);
    tensor::TensorCore::Words c(8);
    auto bits = [](const Json& hex) { return static_cast<u32>(std::stoul(hex.text, nullptr, 16)); };
    for (size_t i = 0; i < one["c"].list.size(); i++)
      c[i % columns][i / columns] = bits(one["c"][i]);
    for (int warp = 0; warp < 4; warp++) {
      with.core.store(warp, tensorAddress(warp * 32, static_cast<int>(with.d)),
                      warp == 0 ? c : tensor::TensorCore::Words(8));
      with.core.waitForStores(warp);
    }
    with.copyScales(8);
    with.core.issue(with.product(of, true));
    with.end();
    for (size_t i = 0; i < one["d"].list.size(); i++, compared++) {
      const u32 got = with.sum(static_cast<int>(i) / columns, static_cast<int>(i) % columns);
      if (got == bits(one["d"][i]) || different++ >= 5) continue;
      std::printf("%s %s: %08x, MMA-Sim %08x\n", name.c_str(), one["mode"].text.c_str(), got,
                  bits(one["d"][i]));
    }
  }
  CHECK(compared == 36 * 16);
  CHECK(different == 0);
}

// ------------------------------------------------------------------------------- operands

Operands randomOperands(Form form, int n, int id, Swizzle swizzle) {
  const int scaleBlock = form.block();
  const ScaledMatrix a({form.a, form.scale, scaleBlock}, 128, form.depth(), 0, "linear"),
      b({form.b, form.scale, scaleBlock}, n, form.depth(), 2, "linear");
  Operands of{form, n, a.codes, b.codes};
  of.swizzle = swizzle, of.idA = id, of.idB = id;
  // Bytes that the id does not name are NaN.
  auto words = [&](const ScaledMatrix& from, std::vector<u32>& to) {
    for (int row = 0; row < from.rows; row++) {
      to[row] = 0xffffffff;
      for (int i = 0; i < form.vector; i++)
        to[row] ^= (255u ^ from.scales[row * form.vector + i]) << (8 * (id + i));
    }
  };
  words(a, of.scalesA), words(b, of.scalesB);
  return of;
}

double valueOf(const Form& form, int format, const std::vector<uint8_t>& codes, u32 scales, int id,
               int row, int k) {
  return decode(numberFormatOf(format), codes[row * form.depth() + k]) *
         decode(numberFormatOf(form.scale),
                static_cast<uint8_t>(scales >> (8 * (id + k / form.block()))));
}

void isMultiplied(Form form, int n, int id, Swizzle swizzle) {
  const Operands of = randomOperands(form, n, id, swizzle);
  Tensor with(of);
  with.copyScales(n);
  with.core.issue(with.product(of));
  CHECK(with.shared.held == 2 * (128 + n) + 32 * (1 + (n + 127) / 128));
  with.end();
  CHECK(with.isDone && with.shared.held == 0);
  int wrong = 0;
  for (int row = 0; row < 128; row += 5)
    for (int column = 0; column < n; column++) {
      double sum = 0, magnitude = 0;
      for (int k = 0; k < form.depth(); k++) {
        const double product = valueOf(form, form.a, of.a, of.scalesA[row], id, row, k) *
                               valueOf(form, form.b, of.b, of.scalesB[column], id, column, k);
        sum += product, magnitude += std::fabs(product);
      }
      const double got = std::bit_cast<float>(with.sum(row, column));
      wrong += !(std::fabs(got - sum) <= magnitude * 0x1p-20);
    }
  checkThat(wrong == 0,
            std::to_string(form.a) + " x " + std::to_string(form.b) + ", " +
                std::to_string(form.vector) + "X: " + std::to_string(wrong) + " wrong",
            __FILE__, __LINE__);
  with.free();
  with.core.finish();
}

void everyPairIsMultiplied() {
  for (int a = 0; a <= 4; a++)
    for (int b = 0; b <= 4; b++) isMultiplied({a, b, 5, 1}, 8, (a + b) % 4, Swizzle::k128);
  isMultiplied({0, 0, 5, 2}, 160, 2, Swizzle::k64);
  isMultiplied({0, 0, 6, 4}, 24, 0, Swizzle::kNone);
  isMultiplied({0, 0, 5, 4}, 8, 0, Swizzle::k32);
}

// ------------------------------------------------------------------------------- misuse

// `misuse` fails with a message that has `text` in it.
void isRefused(const char* text, const std::function<void(Tensor&, const Operands&)>& misuse) {
  const Operands of = randomOperands({0, 0, 5, 2}, 16, 0, Swizzle::k128);
  Tensor with(of);
  const std::string message = messageOf([&] { misuse(with, of); });
  CHECK_CONTAINS(message, text);
}

void misuseIsRefused() {
  using T = Tensor&;
  using O = const Operands&;
  auto changed = [](const char* text, const std::function<void(Multiply&)>& change) {
    isRefused(text, [&](T with, O of) {
      with.copyScales(of.n);
      Multiply one = with.product(of);
      change(one);
      with.core.issue(one);
      with.end();
    });
  };
  changed("operand A: a stride of 512 bytes, below the 1024",
          [](Multiply& one) { one.a = sharedDescriptor(Swizzle::k128, 0, 16, 512); });
  changed("version is 0", [](Multiply& one) { one.b &= ~(1ull << 46); });
  changed("scale id 1 where 2", [](Multiply& one) { one.instruction |= 1u << 29; });
  changed("the scale id in an address", [](Multiply& one) { one.scalesA |= 2u << 30; });
  changed("no instruction of these types", [](Multiply& one) {
    one.instruction ^= 1u << 23;
    one.vector = 2;
  });
  changed("64 x 16", [](Multiply& one) { one.instruction -= 4u << 24; });
  changed("D of tcgen05.mma lies over its scales", [](Multiply& one) { one.d = one.scalesA; });
  changed("the scales of B: column 320 of tensor memory is not allocated",
          [](Multiply& one) { one.scalesB = 320; });
  changed("tcgen05.mma reads column 300 of tensor memory, which nobody wrote",
          [](Multiply& one) { one.scalesB = 300; });
  changed("tcgen05.mma reads column 0 of tensor memory, which nobody wrote",
          [](Multiply& one) { one.adds = true; });
  isRefused("is read under a tcgen05.mma that is not waited for", [](T with, O of) {
    with.copyScales(of.n);
    with.core.issue(with.product(of));
    with.sum(0, 0);
  });
  isRefused("is written while a warp reads it: tcgen05.wait::ld is missing", [](T with, O of) {
    with.copyScales(of.n);
    with.core.issue(with.product(of));
    with.end();
    with.sum(0, 0);
    with.core.issue(with.product(of));
  });
  isRefused("tcgen05.wait::st is missing", [](T with, O of) {
    with.core.store(1, tensorAddress(32, static_cast<int>(with.scalesA)), {{}});
    with.core.issue(with.product(of));
  });
  isRefused("is written under a tcgen05.mma that still reads it", [](T with, O of) {
    with.copyScales(of.n);
    while (with.core.step()) {
    }
    with.core.issue(with.product(of));
    with.core.store(0, with.scalesB, {{}});
  });
  isRefused("warp 1 reaches lanes from 32 on, not from 0",
            [](T with, O) { with.core.load(1, with.d, 8); });
  isRefused("tcgen05.ld reads column 0", [](T with, O) { with.core.load(0, with.d, 8); });
  isRefused("a power of two", [](T with, O) { with.core.allocate(96); });
  isRefused("no 256 columns are free", [](T with, O) { with.core.allocate(256); });
  isRefused("after relinquish_alloc_permit",
            [](T with, O) { with.core.relinquish(), with.core.allocate(32); });
  isRefused("no allocation", [](T with, O) { with.core.free(with.d, 128); });
  isRefused("32 columns of tensor memory are not freed", [](T with, O) {
    with.core.free(with.d, 256), with.core.free(with.scalesA, 32);
    with.core.finish();
  });
}

}  // namespace

int main() {
  sumsAreThoseOfMmaSim();
  everyPairIsMultiplied();
  misuseIsRefused();
  return summary();
}
