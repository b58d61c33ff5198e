// The emulation of `mma.sync ... block_scale`: its lanes against CuTe's, its sums bit for bit
// against MMA-Sim's, every pair of formats against a plain product; and what makes it fail.
#include <cmath>

#include "../core/formats.h"
#include "../core/philox.h"
#include "blockScaleWarp.h"
#include "check.h"

using namespace blockscope;
using namespace lanes;
using blockscale::Held, blockscale::heldScaleA, blockscale::heldScaleB;

namespace {

const Atoms atoms;

// ------------------------------------------------------------------------------- lanes

void everyLaneHoldsWhatCuteSays() {
  for (const Json& atom : atoms.list()) {
    const bool isFp4 = int(atom["K"]) == 64;
    const Form form =
        blockscale::formOf(isFp4 ? 0 : 3, isFp4 ? 0 : 3, int(atom["scaleBlock"]) == 16 ? 6 : 5,
                           int(atom["scaleBlock"]));
    CHECK(blockscale::isForm(form) && form.depth() == int(atom["K"]));
    int wrong = 0;
    auto holds = [&](const char* operand, Held held, int bits, int outer, int inner) {
      const Json& value =
          atom[operand]["table"][held.lane][held.word * (32 / bits) + held.bit / bits];
      wrong += int(value[0]) != outer || int(value[1]) != inner;
    };
    for (int k = 0; k < form.depth(); k++) {
      for (int row = 0; row < 16; row++) holds("A", heldA(form, row, k), form.bits(), row, k);
      for (int column = 0; column < 8; column++)
        holds("B", heldB(form, column, k), form.bits(), column, k);
    }
    for (int row = 0; row < 16; row++) {
      wrong += int(atom["SFA"]["laneRow"][heldScaleA(row, 0, {0, 0}).lane]) != row;
      for (int column = 0; column < 8; column++)
        holds("C", blockscale::heldC(row, column), 32, row, column);
    }
    for (int column = 0; column < 8; column++)
      wrong += int(atom["SFB"]["laneRow"][heldScaleB(column, 0, {0, 0}).lane]) != column;
    CHECK(wrong == 0);
  }
}

// ------------------------------------------------------------------------------- sums

std::vector<uint8_t> hexDigits(const std::string& text, int digits) {
  std::vector<uint8_t> codes;
  for (size_t i = 0; i < text.size(); i += digits)
    codes.push_back(static_cast<uint8_t>(std::stoul(text.substr(i, digits), nullptr, 16)));
  return codes;
}

// A case of a few rows and columns in the corner of a tile; the rest is zeros under scales of 1.
Operand cornerOf(const Form& form, const Json& codes, const Json& scales, int extent, int digits) {
  Operand operand{std::vector<uint8_t>(extent * form.depth()), {}};
  operand.scales.assign(extent * form.vector, form.scale == 6 ? 0x38 : 127);
  for (size_t row = 0; row < codes.list.size(); row++) {
    const auto ofRow = hexDigits(codes[row].text, digits),
               scalesOfRow = hexDigits(scales[row].text, 2);
    std::copy(ofRow.begin(), ofRow.end(), operand.codes.begin() + row * form.depth());
    std::copy(scalesOfRow.begin(), scalesOfRow.end(), operand.scales.begin() + row * form.vector);
  }
  return operand;
}

void sumsAreThoseOfMmaSim() {
  const Json cases = readJson("../../test/fixtures/kernels/mma_sim_sm120.json")["cases"];
  CHECK(cases.list.size() == 48);
  int compared = 0, different = 0;
  for (const Json& one : cases.list) {
    const bool isFp4 = int(one["K"]) == 64;
    const bool isE5m2 = one["instruction"].text.find("e5m2.e4m3") != std::string::npos;
    const Form form = blockscale::formOf(isFp4    ? 0
                                         : isE5m2 ? 4
                                                  : 3,
                                         isFp4 ? 0 : 3, int(one["scaleBlock"]) == 16 ? 6 : 5,
                                         int(one["scaleBlock"]));
    const int digits = isFp4 ? 1 : 2, columns = int(one["cols"]);
    Registers warp;
    atoms.fill(form, 0, cornerOf(form, one["a"], one["aScales"], 16, digits), warp);
    atoms.fill(form, 1, cornerOf(form, one["b"], one["bScales"], 8, digits), warp);
    Accumulators c(16 * 8);
    auto at = [&](size_t i) { return i / columns * 8 + i % columns; };
    auto bits = [](const Json& hex) { return static_cast<u32>(std::stoul(hex.text, nullptr, 16)); };
    for (size_t i = 0; i < one["c"].list.size(); i++) c[at(i)] = bits(one["c"][i]);
    const Accumulators d = atoms.multiply(form, warp, c);
    for (size_t i = 0; i < one["d"].list.size(); i++, compared++) {
      if (d[at(i)] == bits(one["d"][i])) continue;
      if (different++ < 5)
        std::printf("%s %s: %08x, MMA-Sim %08x\n", one["instruction"].text.c_str(),
                    one["mode"].text.c_str(), d[at(i)], bits(one["d"][i]));
    }
  }
  CHECK(compared == 48 * 16);
  CHECK(different == 0);
}

// ------------------------------------------------------------------------------- products

const NumberFormat& elementOf(int format) {
  return numberFormat(static_cast<NumberFormatId>(format));
}

Operand randomOperand(const Form& form, int format, int extent, uint32_t stream) {
  const NumberFormat& element = elementOf(format);
  Operand operand{std::vector<uint8_t>(extent * form.depth()),
                  std::vector<uint8_t>(extent * form.vector)};
  for (size_t i = 0; i < operand.codes.size(); i++) {
    uint32_t draw = philox(11, stream, i)[0] >> (32 - element.storageBits);
    while (!std::isfinite(decode(element, static_cast<uint8_t>(draw)))) draw--;
    operand.codes[i] = static_cast<uint8_t>(draw);
  }
  // Of ue8m0 2^-6 to 2^6; of ue4m3 every code but zero, small ones and NaN.
  for (size_t i = 0; i < operand.scales.size(); i++) {
    const uint32_t draw = philox(11, stream + 1, i)[0];
    operand.scales[i] = static_cast<uint8_t>(form.scale == 5 ? 121 + draw % 13 : 8 + draw % 119);
  }
  return operand;
}

struct Case {
  Form form;
  Operand a, b;
  Registers warp;
  Accumulators c;

  explicit Case(const Form& of)
      : form(of), a(randomOperand(of, of.a, 16, 0)), b(randomOperand(of, of.b, 8, 2)), c(16 * 8) {
    atoms.fill(form, 0, a, warp);
    atoms.fill(form, 1, b, warp);
    for (size_t i = 0; i < c.size(); i++)
      c[i] =
          std::bit_cast<u32>(static_cast<float>(static_cast<int>(philox(11, 4, i)[0]) * 0x1p-28));
  }

  // Sums of D that are off by more than 2^-20 of the sum of magnitudes.
  int wrong(Selectors selectors = {}) const {
    const Accumulators d = atoms.multiply(form, warp, c, selectors);
    int count = 0;
    for (int row = 0; row < 16; row++)
      for (int column = 0; column < 8; column++) {
        const double start = std::bit_cast<float>(c[row * 8 + column]);
        double sum = start, magnitude = std::fabs(start);
        for (int k = 0; k < form.depth(); k++) {
          const int block = k / form.block();
          const double product =
              valueOf(form.a, a, row, k, block) * valueOf(form.b, b, column, k, block);
          sum += product, magnitude += std::fabs(product);
        }
        const double got = std::bit_cast<float>(d[row * 8 + column]);
        count += !(std::fabs(got - sum) <= magnitude * 0x1p-20);
      }
    return count;
  }

 private:
  double valueOf(int format, const Operand& operand, int row, int k, int block) const {
    return decode(elementOf(format), operand.codes[row * form.depth() + k]) *
           decode(elementOf(form.scale), operand.scales[row * form.vector + block]);
  }
};

std::vector<Form> everyForm() {
  std::vector<Form> forms = {{0, 0, 5, 2}, {0, 0, 6, 4}};
  for (int a = 0; a <= 4; a++)
    for (int b = 0; b <= 4; b++) forms.push_back({a, b, 5, 1});
  return forms;
}

void everyPairIsMultiplied() {
  int wrong = 0;
  for (const Form& form : everyForm()) {
    CHECK(blockscale::isForm(form));
    wrong += Case(form).wrong();
  }
  CHECK(wrong == 0);
  for (const Form none : {Form{3, 3, 6, 1}, Form{0, 0, 5, 4}, Form{0, 3, 5, 2}, Form{0, 0, 6, 2}})
    CHECK(!blockscale::isForm(none));
}

// Selectors other than 0: the scales lie where those say.
void selectorsChooseLanesAndBytes() {
  for (const Form form : {Form{3, 3, 5, 1}, Form{0, 0, 5, 2}, Form{0, 0, 6, 4}}) {
    for (int byte = 0; byte + form.vector <= 4; byte += form.vector)
      for (int thread = 0; thread < 4; thread++) {
        Case one(form);
        const Registers before = one.warp;
        const int threadA = thread % 2;
        for (int lane = 0; lane < 32; lane++)
          one.warp.scales[0][lane] = one.warp.scales[1][lane] = 0xffffffff;
        auto put = [&](int which, int lane, int fromLane) {
          const u32 kept = 0xffffffff >> (32 - 8 * form.vector) << (8 * byte);
          one.warp.scales[which][lane] =
              (before.scales[which][fromLane] << (8 * byte) & kept) | ~kept;
        };
        for (int group = 0; group < 8; group++) {
          for (int half = 0; half < 2; half++)
            put(0, group * 4 + threadA * 2 + half, group * 4 + half);
          put(1, group * 4 + thread, group * 4);
        }
        // Every other lane and byte is NaN.
        CHECK(one.wrong({{byte, threadA}, {byte, thread}}) == 0);
      }
    CHECK(Case(form).wrong({{1, 0}, {form.vector == 1 ? 4 : 1, 0}}) == 16 * 8);
    CHECK(Case(form).wrong({{0, 2}, {0, 0}}) == 16 * 8);
  }
}

// ------------------------------------------------------------------------------- what must fail

// At least most of D is wrong.
void checkFails(const char* what, const Case& one, Selectors selectors = {}) {
  checkThat(one.wrong(selectors) > 64, std::string("survives: ") + what, __FILE__, __LINE__);
}

void mistakesAreCaught() {
  for (const Form& form : everyForm()) {
    auto with = [&](auto change) {
      Case one(form);
      change(one.warp);
      return one;
    };
    checkFails("scales of A from the other lane of the pair", with([](Registers& warp) {
                 for (int lane = 0; lane < 32; lane += 2)
                   std::swap(warp.scales[0][lane], warp.scales[0][lane + 1]);
               }));
    checkFails("scales of B from the neighbouring column", with([](Registers& warp) {
                 for (int lane = 0; lane < 32; lane++)
                   if (lane / 4 % 2 == 0) std::swap(warp.scales[1][lane], warp.scales[1][lane + 4]);
               }));
    checkFails("scale bytes of A one further", with([](Registers& warp) {
                 for (u32& word : warp.scales[0]) word = std::rotr(word, 8);
               }));
    if (form.vector == 2)
      checkFails("the scales of the next two blocks", Case(form), {{2, 0}, {2, 0}});
    if (form.vector == 1) {
      checkFails("scale byte 1", Case(form), {{1, 0}, {0, 0}});
      checkFails("A read as one run of 8 codes in a lane", with([](Registers& warp) {
                   const Registers before = warp;
                   for (int lane = 0; lane < 32; lane++)
                     for (int word = 0; word < 4; word++) {
                       const int run = lane % 4 * 2 + word / 2;
                       warp.words[0][lane][word] =
                           before.words[0][lane / 4 * 4 + run % 4][word % 2 + run / 4 * 2];
                     }
                 }));
    }
    if (form.vector == 1 && form.a == 0)
      checkFails("fp4 in the low bits of its byte", with([](Registers& warp) {
                   for (auto& lane : warp.words[0])
                     for (u32& word : lane) word >>= 2;
                 }));
    if (form.vector != 1)
      checkFails("scales of A's blocks exchanged", with([&](Registers& warp) {
                   for (u32& word : warp.scales[0])
                     word = form.vector == 4 ? std::rotr(word, 16) : word << 8 | (word >> 8 & 255);
                 }));
  }
}

}  // namespace

int main() {
  everyLaneHoldsWhatCuteSays();
  sumsAreThoseOfMmaSim();
  everyPairIsMultiplied();
  selectorsChooseLanesAndBytes();
  mistakesAreCaught();
  return summary();
}
