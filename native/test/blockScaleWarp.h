// A warp's registers for one `mma.sync ... block_scale`, filled where CuTe's tables say each lane
// holds what (test/fixtures/layouts/cute_sm120_fragments.json), and what the instruction makes of
// them.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "../../resources/kernels/cuda/common/blockScale/emulation.cuh"
#include "readJson.h"

namespace lanes {

using blockscale::Form;
using blockscale::Selectors;

struct Registers {
  u32 words[2][32][4] = {}, scales[2][32] = {};  // [0] A, [1] B
  u32 a(int lane, int word) const { return words[0][lane][word]; }
  u32 b(int lane, int word) const { return words[1][lane][word]; }
  u32 scaleA(int lane) const { return scales[0][lane]; }
  u32 scaleB(int lane) const { return scales[1][lane]; }
};

// Codes (rows x depth) of A or (columns x depth) of B, their scales (rows x vector); C (16 x 8) as
// bits of float32.
struct Operand {
  std::vector<uint8_t> codes, scales;
};
using Accumulators = std::vector<u32>;

class Atoms {
 public:
  Atoms() : all_(readJson("../../test/fixtures/layouts/cute_sm120_fragments.json")["atoms"]) {}

  const Json& of(const Form& form) const {
    for (const Json& atom : all_.list)
      if (int(atom["K"]) == form.depth() && int(atom["scaleBlock"]) == form.block()) return atom;
    throw std::runtime_error("the fixture lacks an atom");
  }
  const std::vector<Json>& list() const { return all_.list; }

  // Selectors 0: the lanes and bytes that CuTe has scales in.
  void fill(const Form& form, int which, const Operand& operand, Registers& to) const {
    const Json& atom = of(form);
    const Json& table = atom[which ? "B" : "A"]["table"];
    const int format = which ? form.b : form.a, perWord = 32 / form.bits();
    // Below a byte's width fp4 lies in bits 2 to 5 of its byte (mma_traits_sm120.hpp, fp4 shift).
    const int shift = form.bits() == 8 && format == 0 ? 2 : 0;
    for (int lane = 0; lane < 32; lane++) {
      const auto& values = table[lane].list;
      for (size_t i = 0; i < values.size(); i++) {
        const u32 code = operand.codes[int(values[i][0]) * form.depth() + int(values[i][1])];
        to.words[which][lane][i / perWord] |= code << (i % perWord * form.bits() + shift);
      }
      const auto row = int(atom[which ? "SFB" : "SFA"]["laneRow"][lane]);
      for (int block = 0; block < form.vector; block++)
        to.scales[which][lane] |= u32{operand.scales[row * form.vector + block]} << (8 * block);
    }
  }

  // D (16 x 8) from what every lane computes.
  Accumulators multiply(const Form& form, const Registers& warp, const Accumulators& c,
                        Selectors selectors = {}) const {
    const Json& table = of(form)["C"]["table"];
    Accumulators d(16 * 8);
    for (int lane = 0; lane < 32; lane++) {
      u32 sums[4];
      auto place = [&](int i) { return int(table[lane][i][0]) * 8 + int(table[lane][i][1]); };
      for (int i = 0; i < 4; i++) sums[i] = c[place(i)];
      blockscale::multiplyAdd(form, lane, warp, selectors, sums);
      for (int i = 0; i < 4; i++) d[place(i)] = sums[i];
    }
    return d;
  }

 private:
  Json all_;
};

}  // namespace lanes
