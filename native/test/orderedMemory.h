// Shared memory that only asynchronous copies write, and mbarriers, which know what happened before
// what (vector clocks): an access that nothing orders is an error whichever way the threads happen
// to run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mbarriers.h"

namespace fibers {

// Of every party, thread or mbarrier, the last of its times that is known to be over.
using Clock = std::vector<uint32_t>;

inline void learn(Clock& mine, const Clock& others) {
  for (size_t i = 0; i < mine.size(); i++) mine[i] = std::max(mine[i], others[i]);
}

class OrderedMemory {
 public:
  explicit OrderedMemory(size_t bytes) : bytes_(bytes), words_(bytes / 4) {}

  // `known`: what whoever issues the copy knows.
  void beginCopy(uint32_t to, size_t count, const Clock& known) {
    forEachWord(to, count, [&](Word& word, size_t at) {
      if (word.isUnderWay || known[word.writer] < word.written) fail("two copies at once to", at);
      for (const auto& [reader, time] : word.readers)
        if (known[reader] < time) fail("a copy over what others still read at", at);
      word.isUnderWay = true;
      word.readers.clear();
    });
  }
  // `writer`: the mbarrier that is told, at its time.
  void endCopy(uint32_t to, const uint8_t* from, size_t count, size_t writer, uint32_t time) {
    std::memcpy(bytes_.data() + to, from, count);
    forEachWord(to, count, [&](Word& word, size_t) {
      word.isUnderWay = false, word.writer = writer, word.written = time;
    });
  }
  void read(uint32_t from, void* to, size_t count, size_t reader, const Clock& known) {
    forEachWord(from, count, [&](Word& word, size_t at) {
      if (word.isUnderWay) fail("a read under a copy at", at);
      if (word.written == 0) fail("a read of what nobody wrote at", at);
      if (known[word.writer] < word.written) fail("a read of what was not waited for at", at);
      const std::pair mine(reader, known[reader]);
      if (word.readers.empty() || word.readers.back() != mine) word.readers.push_back(mine);
    });
    std::memcpy(to, bytes_.data() + from, count);
  }

 private:
  struct Word {
    bool isUnderWay = false;
    uint32_t written = 0;
    size_t writer = 0;
    std::vector<std::pair<size_t, uint32_t>> readers;  // since, and when
  };
  template <typename Visit>
  void forEachWord(uint32_t from, size_t count, Visit visit) {
    if (from % 4 != 0 || count % 4 != 0) fail("an access of parts of words at", from);
    if (from + count > bytes_.size()) fail("an access outside shared memory at", from);
    for (size_t at = from; at < from + count; at += 4) visit(words_[at / 4], at);
  }
  [[noreturn]] static void fail(const char* what, size_t at) {
    throw std::runtime_error(std::string(what) + " byte " + std::to_string(at));
  }

  std::vector<uint8_t> bytes_;
  std::vector<Word> words_;
};

// What the threads of a block, and the mbarriers that copies are told to, know of one another.
class Order {
 public:
  static constexpr size_t kMostBarriers = 16;
  explicit Order(size_t threads)
      : threads_(threads), clocks_(threads, Clock(threads + kMostBarriers)) {
    for (size_t i = 0; i < threads; i++) clocks_[i][i] = 1;
  }
  const Clock& of(int thread) const { return clocks_[static_cast<size_t>(thread)]; }

  // A barrier of threads: each tells, and once all have, each learns.
  void tell(Clock& meeting, int thread) {
    meeting.resize(clocks_[0].size());
    Clock& mine = clocks_[static_cast<size_t>(thread)];
    learn(meeting, mine);
    mine[static_cast<size_t>(thread)]++;
  }
  void hear(const Clock& meeting, int thread) {
    learn(clocks_[static_cast<size_t>(thread)], meeting);
  }

  void init(uint32_t barrier, int arrivals, int thread) {
    if (told_.size() == kMostBarriers) throw std::runtime_error("too many mbarriers");
    const Clock none(clocks_[0].size());
    const auto maker = static_cast<size_t>(thread);
    told_[barrier] = {threads_ + told_.size(), none, none, 1, maker, clocks_[maker][maker]};
    barriers_.init(barrier, arrivals);
  }
  void arrive(uint32_t barrier, int thread, int64_t expectedBytes = 0) {
    tell(knownTo(thread, barrier).coming, thread);
    settle(barrier, [&] { barriers_.arrive(barrier, expectedBytes); });
  }
  // By copies that have ended: their bytes, or an arrival.
  void complete(uint32_t barrier, int64_t bytes) {
    settle(barrier, [&] { barriers_.complete(barrier, bytes); });
  }
  void arriveBehindCopies(uint32_t barrier) {
    settle(barrier, [&] { barriers_.arrive(barrier); });
  }
  bool isOver(uint32_t barrier, uint32_t parity) { return barriers_.isOver(barrier, parity); }
  void hear(uint32_t barrier, int thread) { hear(knownTo(thread, barrier).over, thread); }

  // As which party, and when, copies write that end in this phase.
  std::pair<size_t, uint32_t> writerAt(uint32_t barrier) {
    return {find(barrier).party, find(barrier).time};
  }

 private:
  struct Told {
    size_t party;
    Clock coming, over;  // of this phase, and of those that are over
    uint32_t time;
    size_t maker;
    uint32_t made;
  };
  Told& find(uint32_t barrier) {
    const auto found = told_.find(barrier);
    if (found == told_.end())
      throw std::runtime_error("the mbarrier at " + std::to_string(barrier) +
                               " was not initialised");
    return found->second;
  }
  Told& knownTo(int thread, uint32_t barrier) {
    Told& told = find(barrier);
    if (of(thread)[told.maker] < told.made)
      throw std::runtime_error("an mbarrier is used whose making was not waited for");
    return told;
  }
  template <typename Change>
  void settle(uint32_t barrier, Change change) {
    Told& told = find(barrier);
    const uint32_t before = barriers_.phases(barrier);
    change();
    if (barriers_.phases(barrier) == before) return;
    learn(told.over, told.coming);
    told.over[told.party] = told.time++;
  }

  size_t threads_;
  std::vector<Clock> clocks_;
  std::map<uint32_t, Told> told_;
  Mbarriers barriers_;
};

}  // namespace fibers
