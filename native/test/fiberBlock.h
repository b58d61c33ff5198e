// A block of GPU threads as fibers of one thread of the CPU, and its shared memory, which knows of
// every word who wrote and read it since which barrier: what a GPU would only sometimes get wrong
// is an error here every time.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fiberContext.h"

namespace fibers {

// Shared memory, in words of 4 bytes. Asynchronous copies write when they are waited for; from the
// moment they are issued nobody may read there.
class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes) : bytes_(bytes), marks_(bytes / 4) {}

  void beginCopy(uint32_t to, size_t count, int thread, int epoch) {
    forEachWord(to, count, [&](Mark& mark, size_t at) {
      if (mark.state == State::kUnderWay) fail("two copies at once to", at);
      // Who read what lies here may still be reading, without a barrier in between.
      if (mark.readEpoch == epoch && mark.reader != thread)
        fail("a copy over what others still read at", at);
      mark.state = State::kUnderWay;
    });
  }
  void endCopy(uint32_t to, const uint8_t* from, size_t count, int thread, int epoch) {
    std::memcpy(bytes_.data() + to, from, count);
    forEachWord(to, count,
                [&](Mark& mark, size_t) { mark = {State::kWritten, thread, epoch, -1, -1}; });
  }
  void read(uint32_t from, void* to, size_t count, int thread, int epoch) {
    forEachWord(from, count, [&](Mark& mark, size_t at) {
      if (mark.state == State::kUnknown) fail("a read of what nobody wrote at", at);
      if (mark.state == State::kUnderWay) fail("a read under a copy that is not waited for at", at);
      if (mark.writer != thread && mark.writeEpoch >= epoch)
        fail("a read without a barrier behind the write at", at);
      if (mark.readEpoch != epoch) mark.readEpoch = epoch, mark.reader = thread;
      else if (mark.reader != thread) mark.reader = kSeveral;
    });
    std::memcpy(to, bytes_.data() + from, count);
  }

 private:
  enum class State : uint8_t { kUnknown, kUnderWay, kWritten };
  static constexpr int kSeveral = -2;
  struct Mark {
    State state = State::kUnknown;
    int writer = -1, writeEpoch = -1, readEpoch = -1, reader = -1;
  };
  template <typename Visit>
  void forEachWord(uint32_t from, size_t count, Visit visit) {
    if (from % 4 != 0 || count % 4 != 0) fail("an access of parts of words at", from);
    if (from + count > bytes_.size()) fail("an access outside shared memory at", from);
    for (size_t at = from; at < from + count; at += 4) visit(marks_[at / 4], at);
  }
  [[noreturn]] static void fail(const char* what, size_t at) {
    throw std::runtime_error(std::string(what) + " byte " + std::to_string(at));
  }

  std::vector<uint8_t> bytes_;
  std::vector<Mark> marks_;
};

// An asynchronous copy of a thread that is not waited for yet.
struct Copy {
  uint32_t to;
  int count;
  std::array<uint8_t, 16> bytes;
};

// The CTAs of a cluster, most often one, of `Lanes` a warp or wave, each of which shows the others
// up to `Words` registers at once. Threads are counted through all of them.
template <int Lanes, int Words>
class Block {
 public:
  using Shown = std::array<uint32_t, Words>;
  using ShownByAll = std::array<Shown, Lanes>;

  explicit Block(int threads, int ctas = 1)
      : fibers_(threads * ctas),
        warps_(fibers_.size() / Lanes),
        stacks_(std::make_unique_for_overwrite<uint8_t[]>(fibers_.size() * kStackBytes)),
        ctas_(ctas) {}

  int current() const { return current_; }
  // The running thread's CTA, and its place there.
  int rank() const { return current_ / threadsOfCta(); }
  int thread() const { return current_ % threadsOfCta(); }
  int threadsOfCta() const { return static_cast<int>(fibers_.size() / ctas_.size()); }
  // Barriers that the running thread has passed.
  int epoch() const { return fibers_[current_].barriers; }

  // Runs `body` in every thread. Throws what the first failing thread threw. `whenAllWait` does
  // what is under way beside the threads; false: there is nothing.
  void run(const std::function<void()>& body, const std::function<bool()>& whenAllWait = {}) {
    body_ = &body;
    for (size_t i = 0; i < fibers_.size(); i++)
      Context::begin(fibers_[i].context, stacks_.get() + i * kStackBytes, kStackBytes,
                     &Block::start, this);
    try {
      runToEnd(whenAllWait);
    } catch (...) {
      endOthers();
      throw;
    }
  }

  // Of the running thread's CTA.
  void sync() {
    meet(ctas_[rank()], threadsOfCta());
    fibers_[current_].barriers++;
  }
  // A barrier of `threads` of its threads, by its number.
  void syncSome(int barrier, int threads) { meet(named_[{rank(), barrier}], threads); }
  // Without a wait for the others.
  void arriveAtSome(int barrier, int threads) { arrive(named_[{rank(), barrier}], threads); }
  void syncCluster() {
    meet(all_, static_cast<int>(fibers_.size()));
    fibers_[current_].barriers++;
  }

  // The same in two steps.
  void arriveAtCluster() {
    fibers_[current_].ofCluster = all_.generation;
    arrive(all_, static_cast<int>(fibers_.size()));
  }
  void waitForCluster() {
    waitUntil([this, before = fibers_[current_].ofCluster] { return all_.generation != before; });
    fibers_[current_].barriers++;
  }

  // Lets others go first; the running thread goes on once `isReady`.
  void waitUntil(std::function<bool()> isReady) {
    Fiber& fiber = fibers_[current_];
    fiber.isReady = std::move(isReady);
    letOthersRun();
  }

  // What every lane of this thread's warp shows at the same place of the program, `place`.
  const ShownByAll& exchange(int place, const Shown& mine) {
    return exchange(warps_[current_ / Lanes], Lanes, place, mine);
  }
  // The same of some lanes, a bit each; others are elsewhere.
  const ShownByAll& exchangeOfSome(uint32_t lanes, int place, const Shown& mine) {
    if (std::popcount(lanes) == Lanes) return exchange(place, mine);
    return exchange(ofSome_[{current_ / Lanes, lanes}], std::popcount(lanes), place, mine);
  }

 private:
  static constexpr size_t kStackBytes = 64 * 1024;
  struct Meeting {
    int arrived = 0;
    unsigned generation = 0;
  };
  struct Fiber {
    Context context;
    bool done = false;
    const Meeting* waitsFor = nullptr;
    unsigned generation = 0;
    unsigned ofCluster = 0;  // the generation of a meeting that it has arrived at
    std::function<bool()> isReady;
    int barriers = 0;
  };
  struct Warp {
    Meeting meeting;
    int place = 0;
    std::array<ShownByAll, 2> shown;
  };

  const ShownByAll& exchange(Warp& warp, int lanes, int place, const Shown& mine) {
    if (warp.meeting.arrived == 0) warp.place = place;
    if (warp.place != place)
      throw std::runtime_error("lanes of a warp are at different instructions");
    // The other buffer may still be read.
    auto& buffer = warp.shown[warp.meeting.generation % 2];
    buffer[current_ % Lanes] = mine;
    meet(warp.meeting, lanes);
    return buffer;
  }

  // Whether all are there.
  static bool arrive(Meeting& meeting, int count) {
    if (++meeting.arrived < count) return false;
    meeting.arrived = 0;
    meeting.generation++;
    return true;
  }
  void meet(Meeting& meeting, int count) {
    if (arrive(meeting, count)) return;
    Fiber& fiber = fibers_[current_];
    fiber.waitsFor = &meeting, fiber.generation = meeting.generation;
    letOthersRun();
  }

  void runToEnd(const std::function<bool()>& whenAllWait) {
    for (size_t done = 0; done < fibers_.size();) {
      bool moved = false;
      for (size_t i = 0; i < fibers_.size(); i++) {
        Fiber& fiber = fibers_[i];
        if (fiber.done || (fiber.waitsFor && fiber.waitsFor->generation == fiber.generation))
          continue;
        if (fiber.isReady && !fiber.isReady()) continue;
        fiber.waitsFor = nullptr, fiber.isReady = {};
        current_ = static_cast<int>(i);
        scheduler_.switchTo(fiber.context);
        if (error_) std::rethrow_exception(error_);
        moved = true;
        done += fiber.done;
      }
      if (!moved && !(whenAllWait && whenAllWait()))
        throw std::runtime_error("every thread waits for another");
    }
  }
  // What their stacks hold is given back.
  void endOthers() {
    isEnding_ = true;
    for (size_t i = 0; i < fibers_.size(); i++) {
      if (fibers_[i].done) continue;
      current_ = static_cast<int>(i);
      scheduler_.switchTo(fibers_[i].context);
    }
  }
  struct Ended {};
  void letOthersRun() {
    fibers_[current_].context.switchTo(scheduler_);
    if (isEnding_) throw Ended();
  }

  static void start(void* self) {
    auto* block = static_cast<Block*>(self);
    try {
      if (!block->isEnding_) (*block->body_)();
    } catch (const Ended&) {
    } catch (...) {
      block->error_ = std::current_exception();
    }
    Fiber& fiber = block->fibers_[block->current_];
    fiber.done = true;
    fiber.context.switchTo(block->scheduler_);
  }

  std::vector<Fiber> fibers_;
  std::vector<Warp> warps_;
  std::map<std::pair<int, uint32_t>, Warp> ofSome_;  // by warp and lanes
  // Not cleared: of most of them a fiber needs little.
  std::unique_ptr<uint8_t[]> stacks_;
  std::vector<Meeting> ctas_;
  Meeting all_;
  std::map<std::pair<int, int>, Meeting> named_;  // by CTA and number
  Context scheduler_;
  int current_ = 0;
  const std::function<void()>* body_ = nullptr;
  std::exception_ptr error_;
  bool isEnding_ = false;
};

}  // namespace fibers
