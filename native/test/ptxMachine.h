// Runs a PTX kernel on the CPU: a warp at a time in step, its matrix instructions by the emulation;
// the CTAs of a cluster beside one another.
// PTX ISA 9.0, "Instruction Set".
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "blockScaleWarp.h"
#include "ptxCode.h"
#include "ptxTensorCore.h"

namespace ptx {

inline constexpr size_t kSharedBytes = 64 * 1024;

// Changes a warp's registers before a matrix instruction: what a wrong emulation would read.
using Mistake = std::function<void(lanes::Registers&)>;

class Kernel {
 public:
  explicit Kernel(const std::string& text) : code_(text) {}

  // `arguments` in order: pointers or 32-bit numbers. Throws std::runtime_error at what it does not
  // know and at an access outside `memory`, spans of the host's memory.
  void run(int gridX, int gridY, const std::vector<uint64_t>& arguments,
           const std::vector<std::pair<const void*, size_t>>& memory, const Mistake& mistake = {},
           const TensorMistake& tensorMistake = {}) {
    arguments_ = arguments, memory_ = memory, mistake_ = mistake, tensorMistake_ = tensorMistake;
    for (int y = 0; y < gridY; y++)
      for (int x = 0; x < gridX; x++) runCluster(x, y);
  }

 private:
  struct Warp {
    size_t at = 0;
    bool done = false, atBarrier = false, atClusterBarrier = false;
    std::vector<std::array<uint64_t, 32>> registers;
  };
  struct Cta {
    Cta(const Code& code, const TensorMistake& mistake)
        : tensorCore(shared, mistake), warps(code.threads() / 32) {
      for (Warp& warp : warps) warp.registers.resize(code.registers());
    }
    bool stand(bool Warp::*state) const {
      return std::all_of(warps.begin(), warps.end(),
                         [&](const Warp& warp) { return warp.done || warp.*state; });
    }
    void release(bool Warp::*state) {
      for (Warp& warp : warps) warp.*state = false;
    }
    std::vector<uint8_t> shared = std::vector<uint8_t>(kSharedBytes, 0xee);
    TensorInstructions tensorCore;
    std::vector<Warp> warps;
  };

  void runCluster(int x, int y) {
    block_ = {x, y};
    std::deque<Cta> ctas;
    for (int i = 0; i < code_.clusterCtas(); i++) ctas.emplace_back(code_, tensorMistake_);
    if (ctas.size() == 2) TensorInstructions::pair(ctas[0].tensorCore, ctas[1].tensorCore);
    auto all = [&](bool Warp::*state) {
      return std::all_of(ctas.begin(), ctas.end(),
                         [&](const Cta& cta) { return cta.stand(state); });
    };
    while (!all(&Warp::done)) {
      // Each warp by itself, to the next barrier or to where it waits.
      bool moved = false;
      for (rank_ = 0; rank_ < static_cast<int>(ctas.size()); rank_++) {
        cta_ = &ctas[rank_];
        for (size_t i = 0; i < cta_->warps.size(); i++) {
          Warp& warp = cta_->warps[i];
          if (!warp.done && !warp.atBarrier && !warp.atClusterBarrier)
            moved |= runToBarrier(warp, static_cast<int>(i));
        }
        if (cta_->stand(&Warp::atBarrier) && !cta_->stand(&Warp::done))
          cta_->release(&Warp::atBarrier), moved = true;
      }
      if (all(&Warp::atClusterBarrier)) {
        for (Cta& cta : ctas) cta.release(&Warp::atClusterBarrier);
      } else if (!moved && !ctas[0].tensorCore.step()) {
        throw std::runtime_error("every warp waits for another");
      }
    }
    for (Cta& cta : ctas) cta.tensorCore.finish();
  }

  // False: the warp waits where it stood.
  bool runToBarrier(Warp& warp, int number) {
    const auto& code = code_.instructions();
    for (const size_t start = warp.at; warp.at < code.size();) {
      const Instruction& one = code[warp.at++];
      if (one.name == "ret") break;
      if (one.name == "bar" && one.parts[1] == "sync") {
        warp.atBarrier = true;
        return true;
      }
      if (one.name == "barrier" && one.parts[2] == "wait") {
        warp.atClusterBarrier = true;
        return true;
      }
      if (one.name == "bra") {
        if (jumps(one, warp)) warp.at = one.target;
      } else if (one.name == "mma") {
        multiply(one, warp);
      } else if (one.name == "ldmatrix" || one.name == "stmatrix") {
        moveMatrices(one, warp);
      } else if (TensorInstructions::knows(one)) {
        if (cta_->tensorCore.run(one, registersOf(one, warp, number))) continue;
        warp.at--;
        return warp.at != start;
      } else if (one.name != "bar" && one.name != "barrier" && one.name != "fence") {
        for (int lane = 0; lane < 32; lane++)
          if (isActive(one, warp, lane)) execute(one, warp, lane, number * 32 + lane);
      }
    }
    warp.done = true;
    return true;
  }

  static bool isActive(const Instruction& one, const Warp& warp, int lane) {
    return one.guard < 0 || (warp.registers[one.guard][lane] != 0) == one.guardIs;
  }

  TensorInstructions::Registers registersOf(const Instruction& one, Warp& warp, int number) {
    return {number,
            [&warp, this, number](const Operand& operand, int lane) {
              return valueOf(operand, warp, lane, number * 32 + lane);
            },
            [&warp](const Operand& operand, int lane) -> uint64_t& {
              return warp.registers[operand.index][lane];
            },
            [&one, &warp](int lane) { return isActive(one, warp, lane); }};
  }

  static bool jumps(const Instruction& one, const Warp& warp) {
    if (one.guard < 0) return true;
    const auto& predicate = warp.registers[one.guard];
    for (const uint64_t lane : predicate)
      if (lane != predicate[0]) fail(one, "lanes part");
    return (predicate[0] != 0) == one.guardIs;
  }

  uint64_t valueOf(const Operand& operand, const Warp& warp, int lane, int thread) const {
    if (operand.kind == Operand::kRegister) return warp.registers[operand.index][lane];
    if (operand.kind != Operand::kSpecial) return static_cast<uint64_t>(operand.value);
    if (operand.name == "%tid.x") return thread;
    const bool isOfCluster = operand.name.rfind("%clusterid.", 0) == 0;
    if (isOfCluster || (code_.clusterCtas() == 1 && operand.name.rfind("%ctaid.", 0) == 0)) {
      if (operand.name.back() == 'x') return block_[0];
      if (operand.name.back() == 'y') return block_[1];
    }
    if (operand.name == "%cluster_ctarank") return rank_;
    throw std::runtime_error("the special register " + operand.name + " is not known");
  }

  // The bytes of a load or store of a lane.
  uint8_t* place(const Instruction& one, const Operand& operand, const Warp& warp, int lane,
                 size_t bytes) {
    const uint64_t at = warp.registers[operand.index][lane] + operand.value;
    if (one.parts[1] != "global") {
      const uint64_t offset = static_cast<uint32_t>(at);
      if (offset + bytes > cta_->shared.size()) fail(one, "outside shared memory");
      return cta_->shared.data() + offset;
    }
    for (const auto& [start, size] : memory_) {
      const auto first = reinterpret_cast<uint64_t>(start);
      if (at >= first && at + bytes <= first + size) return reinterpret_cast<uint8_t*>(at);
    }
    fail(one, "outside global memory");
  }

  void execute(const Instruction& one, Warp& warp, int lane, int thread) {
    const auto& operands = one.operands;
    auto value = [&](size_t i) { return valueOf(operands[i], warp, lane, thread); };
    auto into = [&](size_t i) -> uint64_t& { return warp.registers[operands[i].index][lane]; };
    const int bytes = one.bytes;
    if (one.arithmetic != Arithmetic::kNone) {
      into(0) = compute(one, value);
    } else if (one.name == "ld" && one.parts[1] == "param") {
      into(0) = arguments_.at(operands[1].value);
    } else if (one.name == "ld") {
      const size_t count = operands.size() - 1;
      const uint8_t* from = place(one, operands[count], warp, lane, count * bytes);
      for (size_t i = 0; i < count; i++) {
        into(i) = 0;
        std::memcpy(&into(i), from + i * bytes, bytes);
      }
    } else if (one.name == "st") {
      const size_t count = operands.size() - 1;
      uint8_t* to = place(one, operands[0], warp, lane, count * bytes);
      for (size_t i = 0; i < count; i++) {
        const uint64_t stored = value(i + 1);
        std::memcpy(to + i * bytes, &stored, bytes);
      }
    } else {
      fail(one, "not known");
    }
  }

  template <typename Value>
  static uint64_t compute(const Instruction& one, Value value) {
    const bool isSigned = one.type[0] == 's', isWide = one.parts[1] == "wide";
    const int bytes = one.bytes;
    // An operand as a number of the instruction's type, and a result as a register holds it.
    auto cut = [](uint64_t bits, int size, bool negative) -> int64_t {
      if (size == 8) return static_cast<int64_t>(bits);
      const uint64_t mask = (uint64_t{1} << (8 * size)) - 1, sign = uint64_t{1} << (8 * size - 1);
      bits &= mask;
      return static_cast<int64_t>(negative && (bits & sign) ? bits | ~mask : bits);
    };
    auto number = [&](size_t i) { return cut(value(i), bytes, isSigned); };
    auto held = [&](int64_t result) {
      return static_cast<uint64_t>(cut(static_cast<uint64_t>(result), isWide ? 8 : bytes, false));
    };
    switch (one.arithmetic) {
      case Arithmetic::kMov:
        return held(number(1));
      case Arithmetic::kAdd:
        return held(number(1) + number(2));
      case Arithmetic::kNeg:
        return held(-number(1));
      case Arithmetic::kMul:
        return held(number(1) * number(2));
      case Arithmetic::kMad:
        return held(number(1) * number(2) + static_cast<int64_t>(value(3)));
      case Arithmetic::kOr:
        return held(number(1) | number(2));
      case Arithmetic::kAnd:
        return held(number(1) & number(2));
      case Arithmetic::kXor:
        return held(number(1) ^ number(2));
      case Arithmetic::kShl:
        return held(number(1) << value(2));
      case Arithmetic::kShr:
        return held(number(1) >> value(2));
      case Arithmetic::kSelp:
        return value(3) ? held(number(1)) : held(number(2));
      case Arithmetic::kCvt: {
        const int64_t from = cut(value(1), bytes, isSigned);
        return static_cast<uint64_t>(
            cut(static_cast<uint64_t>(from), Code::bytesOf(one.parts[1]), false));
      }
      case Arithmetic::kSetp: {
        const std::string& relation = one.parts[1];
        if (relation == "lt") return number(1) < number(2);
        if (relation == "gt") return number(1) > number(2);
        if (relation == "eq") return number(1) == number(2);
        if (relation == "ne") return number(1) != number(2);
        break;
      }
      case Arithmetic::kBfe: {
        const uint64_t position = value(2) & 255, length = value(3) & 255;
        const uint64_t field =
            static_cast<uint32_t>(value(1)) >> position & ((uint64_t{1} << length) - 1);
        const bool negative = isSigned && field >> (length - 1) & 1;
        return held(static_cast<int64_t>(field) - (negative ? int64_t{1} << length : 0));
      }
      case Arithmetic::kPrmt: {
        const uint64_t both = static_cast<uint32_t>(value(1)) | value(2) << 32;
        uint64_t result = 0;
        for (int i = 0; i < 4; i++) {
          const uint64_t pick = value(3) >> (4 * i) & 15, byte = both >> (8 * (pick & 7)) & 255;
          result |= (pick & 8 ? (byte & 128 ? 255 : 0) : byte) << (8 * i);
        }
        return result;
      }
      case Arithmetic::kNone:
        break;
    }
    fail(one, "not known");
  }

  // Matrices of 8 rows of 16 bytes: lane 8 i + r has the address of row r of matrix i, lane l word
  // l % 4 of row l / 4.
  void moveMatrices(const Instruction& one, Warp& warp) {
    const bool loads = one.name == "ldmatrix";
    const size_t count = one.operands.size() - 1, first = loads ? 0 : 1;
    const Operand& address = one.operands[loads ? count : 0];
    for (size_t matrix = 0; matrix < count; matrix++)
      for (int lane = 0; lane < 32; lane++) {
        const int of = static_cast<int>(matrix) * 8 + lane / 4;
        const uint64_t at = warp.registers[address.index][of] + address.value + lane % 4 * 4;
        if (static_cast<uint32_t>(at) + 4 > cta_->shared.size()) fail(one, "outside shared memory");
        uint8_t* word = cta_->shared.data() + static_cast<uint32_t>(at);
        uint64_t& held = warp.registers[one.operands[first + matrix].index][lane];
        if (loads) {
          held = 0;
          std::memcpy(&held, word, 4);
        } else {
          std::memcpy(word, &held, 4);
        }
      }
  }

  void multiply(const Instruction& one, Warp& warp) {
    static const std::map<std::string, int> formats = {{"e2m1", 0}, {"e2m3", 1}, {"e3m2", 2},
                                                       {"e4m3", 3}, {"e5m2", 4}, {"ue8m0", 5},
                                                       {"ue4m3", 6}};
    const auto& parts = one.parts;
    const size_t last = parts.size() - 1;
    const std::string& vector = parts[last - 5];
    const blockscale::Form form = {formats.at(parts[last - 3]), formats.at(parts[last - 2]),
                                   formats.at(parts[last]),
                                   std::stoi(vector.substr(vector.rfind(':') + 1))};
    lanes::Registers held;
    // d 0-3, a 4-7, b 8-9, c 10-13, scale of A 14, its selectors 15 and 16, of B 17 to 19.
    auto word = [&](size_t operand, int lane) {
      return static_cast<u32>(warp.registers[one.operands.at(operand).index][lane]);
    };
    for (int lane = 0; lane < 32; lane++) {
      for (int i = 0; i < 4; i++) held.words[0][lane][i] = word(4 + i, lane);
      for (int i = 0; i < 2; i++) held.words[1][lane][i] = word(8 + i, lane);
      held.scales[0][lane] = word(14, lane), held.scales[1][lane] = word(17, lane);
    }
    if (mistake_) mistake_(held);
    auto selector = [&](size_t i) {
      return blockscale::Selector{static_cast<int>(one.operands.at(i).value),
                                  static_cast<int>(one.operands.at(i + 1).value)};
    };
    u32 sums[32][4];
    for (int lane = 0; lane < 32; lane++) {
      for (int i = 0; i < 4; i++) sums[lane][i] = word(10 + i, lane);
      blockscale::multiplyAdd(form, lane, held, {selector(15), selector(18)}, sums[lane]);
    }
    for (int lane = 0; lane < 32; lane++)
      for (int i = 0; i < 4; i++) warp.registers[one.operands[i].index][lane] = sums[lane][i];
  }

  [[noreturn]] static void fail(const Instruction& one, const std::string& why) {
    throw std::runtime_error(one.text + ": " + why);
  }

  Code code_;
  std::array<int, 2> block_ = {};  // or the cluster
  // That runs now.
  int rank_ = 0;
  Cta* cta_ = nullptr;
  std::vector<uint64_t> arguments_;
  std::vector<std::pair<const void*, size_t>> memory_;
  Mistake mistake_;
  TensorMistake tensorMistake_;
};

}  // namespace ptx
