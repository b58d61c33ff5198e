// Descriptors of tcgen05 and the places of its scales against CuTe's, bit for bit.
#include <cstdio>

#include "../../resources/kernels/cuda/common/tcgen05/operands.cuh"
#include "check.h"
#include "readJson.h"

using namespace tcgen05;

namespace {

u64 hexOf(const Json& text) { return std::stoull(text.text, nullptr, 16); }

int formatOf(const std::string& name) {
  const std::string names[] = {"e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "ue8m0", "ue4m3"};
  for (int i = 0; i < 7; i++)
    if (names[i] == name) return i;
  throw std::runtime_error("the fixture has a format " + name);
}

void isEqual(const std::string& what, u64 made, u64 golden) {
  char text[64];
  std::snprintf(text, sizeof text, ": %llx, CuTe %llx", made, golden);
  checkThat(made == golden, what + text, __FILE__, __LINE__);
}

void instructions(const Json& all) {
  CHECK(all.list.size() == 15);
  for (const Json& one : all.list) {
    const std::string kind = one["kind"].text;
    const Form form = {formatOf(one["a"].text), formatOf(one["b"].text),
                       formatOf(one["scale"].text),
                       kind == "mxf8f6f4" ? 1
                       : kind == "mxf4"   ? 2
                                          : 4};
    CHECK(isTensorForm(form));
    isEqual("instruction " + kind + " " + one["a"].text + " " + one["b"].text,
            instructionDescriptor(form, int(one["M"]), int(one["N"]), int(one["sfaId"]),
                                  int(one["sfbId"]),
                                  {one["aMajor"].text == "MN", one["bMajor"].text == "MN",
                                   int(one["negateA"]) == 1, int(one["negateB"]) == 1}),
            hexOf(one["hex"]));
  }
  for (const Form none : {Form{3, 3, 6, 1}, Form{0, 3, 5, 2}, Form{0, 0, 6, 2}, Form{3, 3, 5, 4}})
    CHECK(!isTensorForm(none));
}

Swizzle swizzleOf(const std::string& name) {
  return name == "128B"  ? Swizzle::k128
         : name == "64B" ? Swizzle::k64
         : name == "32B" ? Swizzle::k32
                         : Swizzle::kNone;
}

void tiles(const Json& all) {
  CHECK(all.list.size() == 11);
  for (const Json& one : all.list) {
    const Swizzle swizzle = swizzleOf(one["swizzle"].text);
    const int rows = int(one["rows"]), panel = rowBytes(swizzle);
    const auto& golden = one["byKBlock"].list;
    for (size_t i = 0; i < golden.size(); i++) {
      const int byte = static_cast<int>(i) * kInstructionBytes;
      u64 made;
      if (one["major"].text == "K") {
        const int start =
            swizzle == Swizzle::kNone ? byte * rows : byte / panel * panel * rows + byte % panel;
        made = tileDescriptor(swizzle, static_cast<u32>(start), rows);
      } else {
        // Along M or N a group is as wide as the swizzle: another one lies behind eight of K.
        made = sharedDescriptor(swizzle, static_cast<u32>(byte * rows),
                                rows == panel ? 0 : static_cast<u32>(panel) * 8,
                                static_cast<u32>(rows) * 8);
      }
      isEqual("tile " + one["element"].text + " " + one["swizzle"].text + " " + one["major"].text,
              made, hexOf(golden[i]));
    }
  }
}

// Scales of a tile: every byte's place, the operands of every instruction, the copies.
void scales(const Json& all) {
  CHECK(all.list.size() == 4);
  for (const Json& tile : all.list)
    for (const char* operand : {"SFA", "SFB"}) {
      const Json& of = tile[operand];
      const int rows = int(of["rows"]), vector = int(of["scalesPerInstruction"]);
      const Form form = vector == 1 ? Form{3, 3, 5, 1} : Form{0, 0, vector == 2 ? 5 : 6, vector};
      int wrong = 0, compared = 0;
      for (int row = 0; row < rows; row++)
        for (size_t scale = 0; scale < of["tmem"][row].list.size(); scale++, compared++) {
          const Json& golden = of["tmem"][row][scale];
          const ScalePlace place = scalePlace(rows, row, static_cast<int>(scale));
          wrong += place.lane != int(golden[0]) || place.column != int(golden[1]) ||
                   place.byte != int(golden[2]);
        }
      const auto& addresses = of["mmaAddress"].list;
      for (size_t step = 0; step < addresses.size(); step++) {
        const ScaleOperand made = scaleOperand(form, rows, static_cast<int>(step));
        isEqual(std::string("operand of ") + operand,
                static_cast<u32>(made.column) | static_cast<u32>(made.id) << 30,
                hexOf(addresses[step]));
      }
      // A copy brings the 512 bytes of 128 rows and four scales; CuTe's stage has rows within
      // scales.
      const int stage = rows * static_cast<int>(of["tmem"][0].list.size());
      for (const Json& copy : of["copies"].list) {
        const auto column = static_cast<int>(hexOf(copy["tmem"]));
        const int group = column / scaleColumns(rows), block = column % scaleColumns(rows) / 4;
        const auto from = static_cast<u32>((group * (rows / 128) + block) * kScaleGroupBytes);
        isEqual("copy", scalesDescriptor(from), hexOf(copy["descriptorStage0"]));
        isEqual("copy of the next stage", scalesDescriptor(from + stage),
                hexOf(copy["descriptorStage1"]));
        // Lane l takes bytes 16 l to 16 l + 15, four columns: every scale comes to its place.
        for (int row = block * 128; row < block * 128 + 128; row++)
          for (int i = 0; i < kScaleGroup; i++) {
            const ScalePlace place = scalePlace(rows, row, group * kScaleGroup + i);
            const int byte =
                static_cast<int>(from) + place.lane * 16 + (place.column - column) * 4 + place.byte;
            wrong += int(of["smemByte"][row][group * kScaleGroup + i]) != byte;
          }
      }
      CHECK(wrong == 0 && compared == rows * static_cast<int>(of["tmem"][0].list.size()));
    }
}

void accumulators(const Json& all) {
  int wrong = 0;
  for (const Json& one : all.list)
    for (const Json& sample : one["samples"].list) {
      // A pair of CTAs has 128 rows each, in lanes of its own tensor memory.
      const u32 made = tensorAddress(int(sample[0]) % kTensorLanes, int(sample[1]));
      wrong += made != tensorAddress(int(sample[2]) % kTensorLanes, int(sample[3]));
    }
  CHECK(wrong == 0);
}

// What a pattern of eight rows must be: 16-byte pieces exchanged inside their row alone.
void swizzlesStayInTheirRow() {
  for (const Swizzle swizzle : {Swizzle::k32, Swizzle::k64, Swizzle::k128}) {
    const int bytes = rowBytes(swizzle);
    int wrong = 0, moved = 0;
    for (int row = 0; row < 16; row++)
      for (int byte = 0; byte < bytes; byte++) {
        const u32 at = swizzled(swizzle, 4096, row, byte);
        wrong += static_cast<int>((at - 4096) / bytes) != row || at % 16 != byte % 16u;
        moved += at != 4096u + row * bytes + byte;
      }
    CHECK(wrong == 0 && moved > 0);
  }
  // Rows 1 and 2 of 128 bytes: their first 16 bytes lie second and third.
  CHECK(swizzled(Swizzle::k128, 0, 1, 0) == 128 + 16 &&
        swizzled(Swizzle::k128, 0, 2, 3) == 256 + 35);
  CHECK(swizzled(Swizzle::k64, 0, 2, 0) == 128 + 16);
}

}  // namespace

int main() {
  const Json golden = readJson("../../test/fixtures/layouts/cute_sm100_descriptors.json");
  instructions(golden["instructionDescriptors"]);
  tiles(golden["sharedMemoryDescriptors"]);
  accumulators(golden["accumulators"]);
  scales(readJson("../../test/fixtures/layouts/cute_sm100_tensor_memory.json")["tiles"]);
  swizzlesStayInTheirRow();
  return summary();
}
