// The model of tensor memory and `tcgen05` (common/tcgen05/tensorCore.cuh) on a CPU: what it finds
// wrong is thrown, and what is under way ends when step() is called, which a machine does when
// nobody else can go on.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../resources/kernels/cuda/common/tcgen05/tensorCore.cuh"

namespace tensor {

using tcgen05::Multiply;
using tcgen05::ScaleCopy;

// Shared memory as the tensor core sees it. Both throw std::runtime_error for what is outside.
struct SharedView {
  virtual ~SharedView() = default;
  // 16 bytes that are to be read; throws where a copy writes them or nobody ever did.
  virtual const uint8_t* read(u32 address) = 0;
  // From now, or no longer, under a read of the tensor core.
  virtual void hold(u32 address, bool held) = 0;
};

// What the model asks of a CPU. Of a pair it has both shared memories.
struct Environment {
  using Commit = std::function<void()>;
  using Pieces = std::vector<std::pair<int, u32>>;
  static constexpr int kWarps = 32;
  std::vector<SharedView*> shared;

  [[noreturn]] static bool fail(const tcgen05::Sentence& what) {
    throw std::runtime_error(what.text);
  }
  template <class IsThere>
  static bool waitForRoom(IsThere isThere) {
    return isThere() || fail(tcgen05::Sentence("more is under way than the model has room for"));
  }
  static void fence() {}
  bool use(Pieces& pieces, int cta, u32 address) const {
    shared[cta]->read(address);
    shared[cta]->hold(address, true);
    pieces.push_back({cta, address});
    return true;
  }
  void release(const Pieces& pieces) const {
    for (const auto& [cta, address] : pieces) shared[cta]->hold(address, false);
  }
  void piece(int cta, u32 address, u32 (&words)[4]) const {
    std::memcpy(words, shared[cta]->read(address), sizeof words);
  }
  template <class Line>
  static u32 sumOf(const tcgen05::Form& form, const Line& line, u32 before) {
    return blockscale::sumOf(form, line, before);
  }
  static void arrive(const Commit& commit) { commit(); }
};

class TensorCore {
 public:
  explicit TensorCore(SharedView& shared) {
    environment_.shared = {&shared};
    std::fill_n(&memory_->cells[0][0], sizeof memory_->cells / sizeof(u32), 0x7fc0dead);
  }
  TensorCore(const TensorCore&) = delete;
  // Work of cta_group::2 is of both, and one queue.
  static void pair(TensorCore& first, TensorCore& second) {
    const auto shared = {first.environment_.shared[0], second.environment_.shared[0]};
    for (TensorCore* one : {&first, &second}) {
      one->environment_.shared = shared;
      one->model_ = {one->environment_, first.memory_.get(), second.memory_.get(), one == &second};
    }
  }

  u32 allocate(int columns) { return model_.allocate(columns); }
  void relinquish() { model_.relinquish(); }
  void free(u32 address, int columns) { model_.free(address, columns); }
  void finish() {
    while (step()) {
    }
    model_.finish();
  }

  template <class Work>
  void issue(const Work& one) {
    model_.issue(one);
  }
  // `arrive` at a barrier once all that was issued before has ended.
  void commit(Environment::Commit arrive) { model_.issue(arrive); }
  bool isBusy() const { return model_.isBusy(); }
  // Ends the oldest that is under way. False: there is nothing.
  bool step() {
    if (!isBusy()) return false;
    model_.work(model_.oldest(), 0, 1);
    model_.end();
    return true;
  }

  using Words = std::vector<std::array<uint32_t, 32>>;  // [register][lane]

  // The registers have them from waitForLoads() on.
  Words load(int warp, u32 address, int columns) {
    Words words(columns);
    std::vector<u32> ofLane(columns);
    for (int lane = 0; lane < 32; lane++) {
      model_.load(warp, lane, address, columns, ofLane.data());
      for (int i = 0; i < columns; i++) words[i][lane] = ofLane[i];
    }
    return words;
  }
  void waitForLoads(int warp) { model_.waitForLoads(warp); }
  void store(int warp, u32 address, const Words& words) {
    std::vector<u32> ofLane(words.size());
    for (int lane = 0; lane < 32; lane++) {
      for (size_t i = 0; i < words.size(); i++) ofLane[i] = words[i][lane];
      model_.store(warp, lane, address, static_cast<int>(words.size()), ofLane.data());
    }
  }
  void waitForStores(int warp) { model_.waitForStores(warp); }

 private:
  using Model = tcgen05::TensorCore<Environment>;
  Environment environment_;
  std::unique_ptr<Model::Memory> memory_ = std::make_unique<Model::Memory>();
  Model model_{environment_, memory_.get(), nullptr, 0};
};

}  // namespace tensor
