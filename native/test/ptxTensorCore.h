// The instructions of PTX around tensor memory, for a CTA whose warps run in step, by itself or one
// of a pair: tcgen05, and the mbarriers that its ends are seen by.
#pragma once

#include <functional>

#include "mbarriers.h"
#include "ptxCode.h"
#include "tensorCore.h"

namespace ptx {

// Changes a product before it is issued: what a wrong emulation would compute.
using TensorMistake = std::function<void(tensor::Multiply&)>;

class TensorInstructions : tensor::SharedView {
 public:
  // A warp's registers. A lane is active where the instruction's guard holds.
  struct Registers {
    int warp;
    std::function<uint64_t(const Operand&, int lane)> value;
    std::function<uint64_t&(const Operand&, int lane)> held;
    std::function<bool(int lane)> isActive;
  };

  TensorInstructions(std::vector<uint8_t>& shared, const TensorMistake& mistake)
      : bytes_(shared), mistake_(mistake), core_(*this) {}

  static void pair(TensorInstructions& first, TensorInstructions& second) {
    tensor::TensorCore::pair(first.core_, second.core_);
    first.cluster_ = second.cluster_ = {&first, &second};
  }

  static bool knows(const Instruction& one) {
    return one.name == "tcgen05" || one.name == "mbarrier" || one.name == "elect" ||
           one.name == "shfl";
  }
  // False: the warp waits, and is to ask again.
  bool run(const Instruction& one, const Registers& registers) {
    if (one.name == "mbarrier") return runBarrier(one, registers);
    if (one.name == "tcgen05") runTensor(one, registers);
    for (int lane = 0; lane < 32; lane++) {
      // %r|%p: the leader is lane 0.
      if (one.name == "elect")
        registers.held(one.operands[0], lane) = 0, registers.held(one.operands[1], lane) = !lane;
      if (one.name == "shfl")
        registers.held(one.operands[0], lane) = registers.value(
            one.operands[1], static_cast<int>(registers.value(one.operands[2], lane)));
    }
    return true;
  }
  // When every warp waits. False: nothing is under way.
  bool step() { return core_.step(); }
  void finish() { core_.finish(); }

 private:
  const uint8_t* read(u32 address) override {
    if (address + 16 > bytes_.size())
      throw std::runtime_error("tcgen05 reads outside shared memory, at " +
                               std::to_string(address));
    return bytes_.data() + address;
  }
  void hold(u32, bool) override {}

  static u32 addressOf(const Operand& operand, const Registers& registers, int lane) {
    Operand base = operand;
    base.kind = Operand::kRegister;
    return static_cast<u32>(registers.value(base, lane) + operand.value);
  }
  static int first(const Registers& registers) {
    for (int lane = 0; lane < 32; lane++)
      if (registers.isActive(lane)) return lane;
    return -1;
  }

  bool runBarrier(const Instruction& one, const Registers& registers) {
    const std::string& what = one.parts[1];
    const auto& operands = one.operands;
    for (int lane = 0; lane < 32; lane++) {
      if (!registers.isActive(lane)) continue;
      if (what == "try_wait") {
        const bool over = barriers_.isOver(addressOf(operands[1], registers, lane),
                                           static_cast<u32>(registers.value(operands[2], lane)));
        if (!over) return false;
        registers.held(operands[0], lane) = 1;
      } else if (what == "init") {
        barriers_.init(addressOf(operands[0], registers, lane),
                       static_cast<int>(registers.value(operands[1], lane)));
      } else if (what == "inval") {
        barriers_.invalidate(addressOf(operands[0], registers, lane));
      } else {
        throw std::runtime_error(one.text + ": not known");
      }
    }
    return true;
  }

  void runTensor(const Instruction& one, const Registers& registers) {
    const std::string& what = one.parts[1];
    const auto& operands = one.operands;
    const int lane = first(registers);
    if (lane < 0) return;
    if (what != "ld" && what != "st" && what.rfind("wait", 0) != 0 &&
        one.parts[2] != "cta_group::" + std::to_string(cluster_.size()))
      throw std::runtime_error(one.text + ": in a cluster of " + std::to_string(cluster_.size()));
    auto word = [&](size_t i) { return static_cast<u32>(registers.value(operands[i], lane)); };
    auto address = [&](size_t i) { return addressOf(operands[i], registers, lane); };
    if (what == "alloc") {
      const u32 column = core_.allocate(static_cast<int>(word(1)));
      std::memcpy(bytes_.data() + address(0), &column, sizeof column);
    } else if (what == "relinquish_alloc_permit") {
      core_.relinquish();
    } else if (what == "dealloc") {
      core_.free(word(0), static_cast<int>(word(1)));
    } else if (what == "mma") {
      const std::string &kind = one.parts[3], &vector = one.parts.back();
      tensor::Multiply product = {kind == "kind::mxf8f6f4" ? 1
                                  : vector == "block16"    ? 4
                                                           : 2,
                                  address(0),
                                  registers.value(operands[1], lane),
                                  registers.value(operands[2], lane),
                                  word(3),
                                  address(4),
                                  address(5),
                                  registers.value(operands[6], lane) != 0};
      if (mistake_) mistake_(product);
      core_.issue(product);
    } else if (what == "commit") {
      const bool isOfSeveral = operands.size() > 1;
      const u32 mask = isOfSeveral ? word(1) : 1;
      if (mask >> cluster_.size() != 0)
        throw std::runtime_error(one.text + ": tells a CTA that is not there");
      for (size_t i = 0; i < cluster_.size(); i++) {
        if (!(mask >> i & 1)) continue;
        TensorInstructions& told = isOfSeveral ? *cluster_[i] : *this;
        core_.commit([&told, at = address(0)] { told.barriers_.arrive(at); });
      }
    } else if (what == "st") {
      tensor::TensorCore::Words words(operands.size() - 1);
      for (size_t i = 0; i < words.size(); i++)
        for (int each = 0; each < 32; each++)
          words[i][each] = static_cast<u32>(registers.value(operands[i + 1], each));
      core_.store(registers.warp, address(0), words);
    } else if (what == "ld") {
      const size_t count = operands.size() - 1;
      arriving_[registers.warp] = {
          &one, core_.load(registers.warp, address(count), static_cast<int>(count))};
    } else if (what == "wait::ld") {
      const auto& [load, words] = arriving_[registers.warp];
      for (size_t i = 0; i < words.size(); i++)
        for (int each = 0; each < 32; each++)
          registers.held(load->operands[i], each) = words[i][each];
      core_.waitForLoads(registers.warp);
    } else if (what == "wait::st") {
      core_.waitForStores(registers.warp);
    } else {
      throw std::runtime_error(one.text + ": not known");
    }
  }

  std::vector<uint8_t>& bytes_;
  const TensorMistake& mistake_;
  Mbarriers barriers_;
  tensor::TensorCore core_;
  std::vector<TensorInstructions*> cluster_ = {this};
  std::map<int, std::pair<const Instruction*, tensor::TensorCore::Words>> arriving_;
};

}  // namespace ptx
