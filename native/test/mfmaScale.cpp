// The emulation of `v_mfma_scale_f32_*_f8f6f4`: its lanes against rocjitsu's, every pair of formats
// against a plain product of what the lanes of rocjitsu's tables hold; and what makes it fail.
#include <cmath>

#include "../../resources/kernels/hip/common/emulation.h"
#include "../core/formats.h"
#include "../core/philox.h"
#include "check.h"
#include "readJson.h"

using namespace blockscope;
using mfma::Form, mfma::Held, mfma::Selectors;

namespace {

struct Wave {
  u32 words[2][64][8] = {}, scales[2][64] = {};  // [0] first operand, [1] second
  u32 a(int lane, int word) const { return words[0][lane][word]; }
  u32 b(int lane, int word) const { return words[1][lane][word]; }
  u32 scaleA(int lane) const { return scales[0][lane]; }
  u32 scaleB(int lane) const { return scales[1][lane]; }
};

const Json golden = readJson("../../test/fixtures/layouts/gfx950_lane_maps.json");

const Json& shapeOf(int edge) {
  for (const Json& shape : golden["shapes"].list)
    if (shape["shape"].text == (edge == 16 ? "16x16x128" : "32x32x64")) return shape;
  throw std::runtime_error("the fixture lacks a shape");
}

// rocjitsu's table of an operand of 32 codes a lane; 6 bits lie as 4 where the fixture has no
// table.
const Json& tableOf(int edge, int bits) {
  const Json& operands = shapeOf(edge)["operands"];
  const bool isThere = operands.members.count("AB" + std::to_string(bits)) != 0;
  return operands["AB" + std::to_string(isThere ? bits : 4)]["table"];
}

// ------------------------------------------------------------------------------- lanes

void everyLaneHoldsWhatRocjitsuSays() {
  for (const int edge : {16, 32}) {
    for (int format = 0; format <= 4; format++) {
      const Form form = {format, format, edge};
      const int bits = mfma::bitsOf(format);
      const Json& table = tableOf(edge, bits);
      int wrong = 0;
      for (int row = 0; row < edge; row++)
        for (int k = 0; k < form.depth(); k++) {
          const Held held = mfma::heldElement(form, format, row, k);
          const Json& place = table[held.lane][held.bit / bits];
          wrong += int(place[0]) != row || int(place[1]) != k || held.bit % bits != 0;
        }
      CHECK(wrong == 0);
    }
    const Form form = {3, 3, edge};
    const Json& sums = shapeOf(edge)["C"]["table"];
    const Json& scales = shapeOf(edge)["scales"];
    int wrong = 0;
    for (int row = 0; row < edge; row++) {
      for (int column = 0; column < edge; column++) {
        const Held held = mfma::heldSum(form, row, column);
        const Json& place = sums[held.lane][held.bit / 32];
        wrong += int(place[0]) != row || int(place[1]) != column;
        wrong += mfma::rowOfSum(form, held.lane, held.bit / 32) != row;
        wrong += held.lane % edge != column;
      }
      for (int block = 0; block < form.blocks(); block++)
        for (const char* operand : {"A", "B"}) {
          const Json& place =
              scales[operand]["laneRowBlock"][mfma::heldScale(form, row, block, 0).lane];
          wrong += int(place[0]) != row || int(place[1]) != block;
        }
    }
    CHECK(wrong == 0);
  }
}

// cbsz and blgp (CDNA4 ISA, VOP3PX2): 0 fp8, 1 bf8, 2 fp6 (e2m3), 3 bf6 (e3m2), 4 fp4.
void formatsHaveTheInstructionsNumbers() {
  const int numbers[] = {4, 2, 3, 0, 1};
  for (int format = 0; format <= 4; format++)
    CHECK(mfma::instructionFormat(format) == numbers[format]);
}

// ------------------------------------------------------------------------------- products

const NumberFormat& elementOf(int format) {
  return numberFormat(static_cast<NumberFormatId>(format));
}

// One instruction with random operands in the lanes and bytes that the tables say.
struct Case {
  Form form;
  Selectors selectors;
  Wave wave;
  std::vector<float> c;
  std::vector<double> values[2];  // (edge x depth), element times scale

  Case(const Form& of, Selectors with) : form(of), selectors(with), c(of.edge * of.edge) {
    fill(0, form.a, selectors.a), fill(1, form.b, selectors.b);
    for (size_t i = 0; i < c.size(); i++)
      c[i] = static_cast<float>(static_cast<int>(philox(11, 4, i)[0]) * 0x1p-28);
  }

  // Sums of D that are off by more than rounding to float32.
  int wrong(const Form& read, Selectors with) const {
    const Json& table = shapeOf(form.edge)["C"]["table"];
    int count = 0;
    for (int lane = 0; lane < 64; lane++) {
      float d[mfma::kMostSums];
      auto place = [&](int i, int which) { return int(table[lane][i][which]); };
      for (int i = 0; i < form.sums(); i++) d[i] = c[place(i, 0) * form.edge + place(i, 1)];
      mfma::multiplyAdd(read, lane, wave, with, d);
      for (int i = 0; i < form.sums(); i++) {
        const int row = place(i, 0), column = place(i, 1);
        double sum = c[row * form.edge + column], magnitude = std::fabs(sum);
        for (int k = 0; k < form.depth(); k++) {
          const double product =
              values[0][row * form.depth() + k] * values[1][column * form.depth() + k];
          sum += product, magnitude += std::fabs(product);
        }
        count += !(std::fabs(d[i] - sum) <= std::fabs(sum) * 0x1p-24 + magnitude * 0x1p-45);
      }
    }
    return count;
  }
  int wrong() const { return wrong(form, selectors); }

 private:
  void fill(int which, int format, int byte) {
    const int bits = mfma::bitsOf(format), depth = form.depth();
    const Json& table = tableOf(form.edge, bits);
    const Json& places = shapeOf(form.edge)["scales"][which ? "B" : "A"]["laneRowBlock"];
    std::vector<double> scales(form.edge * form.blocks());
    for (int lane = 0; lane < 64; lane++) {
      const auto row = int(places[lane][0]), block = int(places[lane][1]);
      // The other bytes are NaN.
      const u32 scale = 121 + philox(11, 8 + which, lane)[0] % 13;
      wave.scales[which][lane] = 0xffffffff ^ ((scale ^ 255) << (8 * byte));
      scales[row * form.blocks() + block] = decode(elementOf(5), static_cast<uint8_t>(scale));
    }
    values[which].resize(form.edge * depth);
    for (int lane = 0; lane < 64; lane++)
      for (int element = 0; element < 32; element++) {
        const auto row = int(table[lane][element][0]), k = int(table[lane][element][1]);
        u32 code = philox(11, which, lane * 32 + element)[0] >> (32 - bits);
        while (!std::isfinite(decode(elementOf(format), static_cast<uint8_t>(code)))) code--;
        for (int bit = 0; bit < bits; bit++) {
          const int at = element * bits + bit;
          wave.words[which][lane][at / 32] |= (code >> bit & 1) << at % 32;
        }
        values[which][row * depth + k] = decode(elementOf(format), static_cast<uint8_t>(code)) *
                                         scales[row * form.blocks() + k / 32];
      }
  }
};

void everyPairIsMultiplied() {
  int wrong = 0;
  for (const int edge : {16, 32})
    for (int a = 0; a <= 4; a++)
      for (int b = 0; b <= 4; b++) wrong += Case({a, b, edge}, {a % 4, b % 4}).wrong();
  CHECK(wrong == 0);
  CHECK(!mfma::isForm({5, 0, 16}) && !mfma::isForm({0, 0, 8}) && mfma::isForm({0, 4, 32}));
}

void everyByteCanBeChosen() {
  int wrong = 0;
  for (const int edge : {16, 32})
    for (int byteA = 0; byteA < 4; byteA++)
      for (int byteB = 0; byteB < 4; byteB++) wrong += Case({0, 3, edge}, {byteA, byteB}).wrong();
  CHECK(wrong == 0);
}

// A scale of 255 is NaN, and so is every sum it is for, and no other.
void nanScalesReachTheirRow() {
  Case one({3, 0, 16}, {0, 0});
  const Held held = mfma::heldScale(one.form, 5, 2, 0);
  one.wave.scales[0][held.lane] |= 255;
  CHECK(one.wrong() == 16);
}

// ------------------------------------------------------------------------------- what must fail

void mistakesAreCaught() {
  for (const int edge : {16, 32})
    for (const auto& [a, b] : {std::pair(0, 0), {3, 3}, {3, 0}, {4, 3}, {1, 2}}) {
      const Form form = {a, b, edge};
      const int most = edge * edge * 9 / 10;
      auto fails = [&](const char* what, auto change) {
        Case one(form, {1, 2});
        change(one.wave);
        checkThat(one.wrong() > most, std::string(what).append(" survives"), __FILE__, __LINE__);
      };
      fails("scales of neighbouring rows swapped", [](Wave& wave) {
        for (int lane = 0; lane < 64; lane += 2)
          std::swap(wave.scales[0][lane], wave.scales[0][lane + 1]);
      });
      fails("scales of neighbouring columns swapped", [](Wave& wave) {
        for (int lane = 0; lane < 64; lane += 2)
          std::swap(wave.scales[1][lane], wave.scales[1][lane + 1]);
      });
      fails("scales of neighbouring blocks", [&](Wave& wave) {
        const Wave before = wave;
        for (int lane = 0; lane < 64; lane++)
          wave.scales[0][lane] = before.scales[0][(lane + edge) % 64];
      });
      if (mfma::bitsOf(a) == 8)
        fails("8 bits read as one run of 32", [&](Wave& wave) {
          const Wave before = wave;
          for (int lane = 0; lane < 64; lane++)
            for (int word = 0; word < 8; word++) {
              const int run = word / 4 * form.groups() + lane / edge;
              wave.words[0][lane][word] =
                  before.words[0][run / 2 * edge + lane % edge][run % 2 * 4 + word % 4];
            }
        });
      const Case one(form, {1, 2});
      CHECK(one.wrong(form, {2, 2}) == edge * edge);
      CHECK(one.wrong(form, {1, 3}) == edge * edge);
      for (int other = 0; other <= 4; other++)
        if (other != a) CHECK(one.wrong({other, b, edge}, {1, 2}) > most);
    }
}

}  // namespace

int main() {
  everyLaneHoldsWhatRocjitsuSays();
  formatsHaveTheInstructionsNumbers();
  everyPairIsMultiplied();
  everyByteCanBeChosen();
  nanScalesReachTheirRow();
  mistakesAreCaught();
  return summary();
}
