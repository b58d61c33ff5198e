// What the CTAs of a cluster share under the model of tensor memory (tensorCore.h): what is under
// way between their memories ends when every thread waits, in any order.
#pragma once

#include <utility>

#include "copyEngine.h"
#include "fiberBlock.h"
#include "mbarriers.h"
#include "memorySpan.h"
#include "scaledMatrix.h"
#include "tensorCore.h"

namespace fibers {

using TensorBlock = Block<32, 1>;

// What a kernel or an instruction could do wrong; each must be seen.
enum class TensorMistake {
  kNone,
  kStride,          // eight rows of A twice as far from the next eight
  kNarrowStride,    // half as far
  kVersion,         // descriptors of an older GPU
  kScaleId,         // another byte of A's scales
  kScaleColumn,     // B's scales from the next 32 columns
  kNoScales,        // B's scales are not copied to tensor memory
  kNoCommit,        // nobody hears that the sums are there
  kNoWaitForStage,  // products begin before their codes are there
  kNoWaitForSums,   // sums are stored before they are there
  kNoWaitForRoom,   // a stage is filled, and a tile begun, while the one before is in use
  kEarlyArrival,    // sums are given up before they are read
  kNoLoadWait,      // registers are read before tcgen05.wait::ld
  kNoFenceAfter,    // no tcgen05.fence::after_thread_sync
  kNoFenceBefore,   // nor ::before_thread_sync
  kNoFree,          // tensor memory is kept
  kOtherRows,       // a warp reads the lanes of the next one
  kNoSwizzle,       // codes lie in order
  // Of a pair of CTAs:
  kNoCommitToPeer,     // only the first hears what has ended
  kCommitToPeerAlone,  // only the second does
  kStrangeMask,        // a third, which is not there, is to hear it
  kNoHalf,             // the second's half of B is not brought
  kNoHalfExpected,     // nor waited for
  kOtherHalf,          // it is of other columns
  kOwnBytesExpected,   // the first waits for what it brings itself
  kPeersBarrier,       // the second's copies are told to itself
  kHalfOfRows,         // the instruction has 128 rows
  kNoPeerAllocation,   // the second allocates no tensor memory
  kPeerKeeps,          // the second does not free it
  kNoClusterSync,      // CTAs begin and end by themselves
};

// Shared memory that only copies write and only the tensor core reads, in pieces of 16 bytes.
class StagedMemory : public tensor::SharedView {
 public:
  explicit StagedMemory(size_t bytes) : bytes_(bytes), pieces_(bytes / 16) {}

  void begin(u32 to) {
    Piece& piece = at(to);
    if (piece.held > 0) fail("a copy over what the tensor core still reads at", to);
    if (piece.state == kUnderWay) fail("two copies at once to", to);
    piece.state = kUnderWay;
  }
  void end(u32 to, const void* from) {
    std::memcpy(bytes_.data() + to, from, 16);
    at(to).state = kWritten;
  }
  const uint8_t* read(u32 address) override {
    const Piece& piece = at(address);
    if (piece.state == kUnknown) fail("the tensor core reads what nobody wrote at", address);
    if (piece.state == kUnderWay)
      fail("the tensor core reads under a copy that is not waited for at", address);
    return bytes_.data() + address;
  }
  void hold(u32 address, bool held) override { at(address).held += held ? 1 : -1; }

 private:
  enum State : uint8_t { kUnknown, kUnderWay, kWritten };
  struct Piece {
    State state = kUnknown;
    int held = 0;
  };
  Piece& at(u32 address) {
    if (address % 16 != 0) fail("a piece that is not aligned at", address);
    if (address + 16 > bytes_.size()) fail("an access outside shared memory at", address);
    return pieces_[address / 16];
  }
  [[noreturn]] static void fail(const char* what, u32 at) {
    throw std::runtime_error(std::string(what) + " byte " + std::to_string(at));
  }
  std::vector<uint8_t> bytes_;
  std::vector<Piece> pieces_;
};

struct TensorLaunch {
  int groups;  // CTAs, or pairs
  size_t sharedBytes;
  const ScaledMatrix &a, &b;
  Span c;
  TensorMistake mistake = TensorMistake::kNone;
};

// One CTA.
struct TensorCta {
  explicit TensorCta(size_t sharedBytes) : shared(sharedBytes) {}

  StagedMemory shared;
  tensor::TensorCore core{shared};
  Mbarriers barriers;
  std::map<u32, u32> words;  // that threads wrote
  struct Loaded {
    tensor::TensorCore::Words words;
    int left = 0;
  };
  std::map<int, Loaded> loaded;  // by warp
  bool hasAllocated = false;
  int threadsEnded = 0;
};

class TensorCluster {
 public:
  TensorCluster(const TensorLaunch& of, int threads, int size) : block(threads, size) {
    for (int i = 0; i < size; i++) ctas_.emplace_back(kStart + of.sharedBytes);
    if (size == 2) tensor::TensorCore::pair(ctas_[0].core, ctas_[1].core);
  }
  static constexpr u32 kStart = 3 * 1024;  // of dynamic shared memory

  TensorBlock block;
  CopiesUnderWay copies;
  int steps = 0, resting = 0;
  bool isQuiet = false;

  TensorCta& cta(int rank) { return ctas_.at(rank); }
  int size() const { return static_cast<int>(ctas_.size()); }
  bool allHaveAllocated() const {
    for (const TensorCta& one : ctas_)
      if (!one.hasAllocated) return false;
    return true;
  }

  // The barriers of the CTA that `address` lies in, which must still be there.
  Mbarriers& barriersOf(u32 address, int user) {
    const int rank = rankOfAddress(address, user);
    if (rank >= size())
      throw std::runtime_error("CTA " + std::to_string(rank) + " is told of a cluster of " +
                               std::to_string(size()));
    if (ctas_[rank].threadsEnded == block.threadsOfCta())
      throw std::runtime_error("an mbarrier of CTA " + std::to_string(rank) +
                               " is told, which has ended");
    return ctas_[rank].barriers;
  }
  void arrive(u32 address, int user) { barriersOf(address, user).arrive(localAddress(address)); }

  // Ends a copy or the oldest work of the tensor core, whichever chance says.
  bool step() {
    steps++;
    tensor::TensorCore& core = ctas_[0].core;
    isQuiet = copies.empty() && !core.isBusy();
    // Who rests goes on, once.
    if (isQuiet) return std::exchange(resting, 0) > 0;
    const uint32_t chance = copies.nextChance();
    if (copies.empty() || chance >> 31) {
      if (core.step()) return true;
      if (copies.empty()) return false;
    }
    const BoxCopy copy = copies.take(chance);
    for (const fibers::Piece& piece : copy.pieces)
      ctas_[copy.rank].shared.end(piece.place, piece.bytes.data());
    barriersOf(copy.barrier, copy.rank).complete(localAddress(copy.barrier), copy.bytes);
    return true;
  }
  void finish() {
    for (TensorCta& one : ctas_) one.core.finish();
  }

 private:
  std::deque<TensorCta> ctas_;
};

}  // namespace fibers
