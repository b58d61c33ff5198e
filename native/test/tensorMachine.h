// The machine of the tcgen05 kernel (common/tcgen05/gemm.cuh) whose threads are fibers of a CPU,
// over the model of tensor memory (tensorCore.h): copies and products are under way until every
// thread waits, so that whoever does not wait for them meets them.
#pragma once

#include <bit>
#include <utility>

#include "../core/outputs.h"
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
  int blocks;
  size_t sharedBytes;
  const ScaledMatrix &a, &b;
  Span c;
  TensorMistake mistake = TensorMistake::kNone;
};

// What the threads of a CTA share.
struct TensorCta {
  TensorCta(const TensorLaunch& of, int threads)
      : shared(kStart + of.sharedBytes), block(threads) {}
  static constexpr u32 kStart = 3 * 1024;  // of dynamic shared memory

  struct Copy {
    u32 to;
    std::vector<std::array<uint8_t, 16>> pieces;
    std::vector<u32> places;
    u32 barrier;
    int64_t bytes;
  };
  StagedMemory shared;
  TensorBlock block;
  tensor::TensorCore core{shared};
  Mbarriers barriers;
  std::map<u32, u32> words;  // that threads wrote
  std::vector<Copy> copies;
  struct Loaded {
    tensor::TensorCore::Words words;
    int left = 0;
  };
  std::map<int, Loaded> loaded;
  uint32_t order = 12345;
  int steps = 0, resting = 0;
  bool isQuiet = false;

  // Ends a copy or the oldest work of the tensor core, whichever chance says.
  bool step() {
    steps++;
    isQuiet = copies.empty() && !core.isBusy();
    // Who rests goes on, once.
    if (isQuiet) return std::exchange(resting, 0) > 0;
    order = order * 1664525 + 1013904223;
    if (copies.empty() || order >> 31) {
      if (core.step()) return true;
      if (copies.empty()) return false;
    }
    const size_t which = (order >> 16) % copies.size();
    const Copy copy = std::move(copies[which]);
    copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(which));
    for (size_t i = 0; i < copy.places.size(); i++)
      shared.end(copy.places[i], copy.pieces[i].data());
    barriers.complete(copy.barrier, copy.bytes);
    return true;
  }
};

template <class T, typename OutputOfC>
class TensorMachine {
 public:
  typedef OutputOfC Output;

  TensorMachine(const TensorLaunch& launch, TensorCta& cta, int number)
      : launch_(launch), cta_(cta), number_(number), thread_(cta.block.current()) {}

  int thread() const { return thread_; }
  int block() const { return number_; }
  int blocks() const { return launch_.blocks; }
  bool isLeader() const { return thread_ % 32 == 0; }
  u32 sharedStart() const { return TensorCta::kStart; }
  u32 loadWord(u32 address) const {
    const auto found = cta_.words.find(address);
    if (found == cta_.words.end()) fail("a word of shared memory is read that nobody wrote");
    return found->second;
  }

  // ------------------------------------------------------------------------------- threads

  void sync() const {
    leave("__syncthreads");
    cta_.block.sync();
    isFenced_ = false;
  }
  void initBarrier(u32 barrier, int arrivals) const { cta_.barriers.init(barrier, arrivals); }
  void publishBarriers() const {}
  void expect(u32 barrier, int bytes) const { cta_.barriers.arrive(barrier, bytes); }
  void arrive(u32 barrier) const {
    if (launch_.mistake == TensorMistake::kEarlyArrival) return;
    leave("an mbarrier");
    arriveAndRest(barrier);
  }
  void wait(u32 barrier, u32 parity) const {
    if (isLeftOut(barrier)) return;
    cta_.block.waitUntil([this, barrier, parity] { return cta_.barriers.isOver(barrier, parity); });
    isFenced_ = false;
    if (launch_.mistake == TensorMistake::kEarlyArrival && isSums(barrier)) {
      arriveAndRest(barrier + 2 * 8);
    }
  }
  void fenceBeforeSync() const {
    if (launch_.mistake != TensorMistake::kNoFenceBefore) hasLoaded_ = false;
  }
  void fenceAfterSync() const {
    if (launch_.mistake != TensorMistake::kNoFenceAfter) isFenced_ = true;
  }

  // ------------------------------------------------------------------------------- copies

  // TMA: a box of 128 bytes of every row, 128-byte swizzle; narrow codes 16 to a chunk and padding.
  void loadA(u32 to, int k, int row, u32 barrier) const {
    loadBox(launch_.a, T::kTileM, to, k, row, barrier);
  }
  void loadB(u32 to, int k, int row, u32 barrier) const {
    loadBox(launch_.b, T::kTileN, to, k, row, barrier);
  }
  void copyBytes(u32 to, const u8* from, int bytes, u32 barrier) const {
    if (bytes <= 0 || bytes % 16 != 0 || to % 16 != 0) fail("a bulk copy that is not aligned");
    const auto &a = launch_.a.placed, &b = launch_.b.placed;
    if (!Span{a.data(), a.size()}.holds(from, bytes) &&
        !Span{b.data(), b.size()}.holds(from, bytes))
      fail("a copy from outside the scales");
    TensorCta::Copy copy{to, {}, {}, barrier, bytes};
    for (int at = 0; at < bytes; at += 16) add(copy, to + at, from + at, 16);
    cta_.copies.push_back(std::move(copy));
  }

  // ------------------------------------------------------------------------------- tensor memory

  template <int Columns>
  void allocate(u32 address) const {
    cta_.block.exchange(__LINE__, {address});
    if (!isLeader()) return;
    cta_.words[address] = cta_.core.allocate(Columns);
    cta_.core.relinquish();
  }
  template <int Columns>
  void free(u32 tensor) const {
    cta_.block.exchange(__LINE__, {tensor});
    checkFenced("tcgen05.dealloc");
    if (isLeader() && launch_.mistake != TensorMistake::kNoFree) cta_.core.free(tensor, Columns);
  }
  void copyScales(u32 column, u64 descriptor) const {
    checkFenced("tcgen05.cp");
    const bool ofB = (column & 0xffff) >= static_cast<u32>(T::kScalesColumnB);
    if (launch_.mistake == TensorMistake::kNoScales && ofB) return;
    cta_.core.issue(tensor::ScaleCopy{column, descriptor});
  }
  template <class Tile>
  void multiplyAdd(u32 d, u64 a, u64 b, u32 instruction, u32 scalesA, u32 scalesB,
                   bool adds) const {
    checkFenced("tcgen05.mma");
    tensor::Multiply one = {T::form().vector, d, a, b, instruction, scalesA, scalesB, adds};
    switch (launch_.mistake) {
      case TensorMistake::kStride:
        one.a += one.a & 0x3fffull << 32;
        break;
      case TensorMistake::kNarrowStride:
        one.a -= 32ull << 32;
        break;
      case TensorMistake::kVersion:
        one.b &= ~(3ull << 46);
        break;
      case TensorMistake::kScaleId:
        one.instruction ^= static_cast<u32>(T::form().vector % 4) << 29;
        break;
      case TensorMistake::kScaleColumn:
        one.scalesB += 1;
        break;
      case TensorMistake::kNoSwizzle:
        one.a = (one.a & ~(7ull << 61)) | 4ull << 61;
        break;
      default:
        break;
    }
    cta_.core.issue(one);
  }
  void commit(u32 barrier) const {
    if (launch_.mistake == TensorMistake::kNoCommit && isSums(barrier)) return;
    cta_.core.commit([cta = &cta_, barrier] { cta->barriers.arrive(barrier); });
  }
  void loadSums(u32 (&sums)[32], u32 address) const {
    checkFenced("tcgen05.ld");
    const int warp = thread_ / 32;
    if (launch_.mistake == TensorMistake::kOtherRows) address = (address + (32u << 16)) & 0x7fffff;
    const auto& shown = cta_.block.exchange(__LINE__, {address});
    if (shown[0][0] != address) fail("lanes of a warp load from several addresses");
    TensorCta::Loaded& loaded = cta_.loaded[warp];
    if (loaded.left == 0) loaded = {cta_.core.load(warp, address, 32), 32};
    loaded.left--;
    for (int i = 0; i < 32; i++) sums[i] = 0x7fc0dead, arriving_[i] = loaded.words[i][thread_ % 32];
    hasLoaded_ = true;
  }
  void waitForLoads(u32 (&sums)[32]) const {
    if (launch_.mistake == TensorMistake::kNoLoadWait) return;
    cta_.block.exchange(__LINE__, {});
    cta_.core.waitForLoads(thread_ / 32);
    std::memcpy(sums, arriving_, sizeof sums);
  }

  // ------------------------------------------------------------------------------- stores

  float number(u32 word) const { return std::bit_cast<float>(word); }
  u32 bits(float value) const { return std::bit_cast<u32>(value); }
  Output toOutput(float value) const {
    if constexpr (sizeof(Output) == 4) return value;
    else return blockscope::floatToHalf(value);
  }
  u32 toPair(float left, float right) const {
    return blockscope::floatToHalf(left) | u32{blockscope::floatToHalf(right)} << 16;
  }
  void storeFour(Output* to, const u32 (&words)[4]) const { storeIn(launch_.c, to, words, 16); }

 private:
  // Whoever waited for it goes first, and far: a thread may be slow.
  void arriveAndRest(u32 barrier) const {
    cta_.barriers.arrive(barrier);
    cta_.resting++;
    cta_.block.waitUntil(
        [cta = &cta_, end = cta_.steps + 40] { return cta->isQuiet || cta->steps >= end; });
  }
  static bool isSums(u32 barrier) {
    const u32 first = TensorCta::kStart + T::kBarriersAt + 2 * T::kStages * 8;
    return barrier >= first && barrier < first + 16;
  }
  bool isLeftOut(u32 barrier) const {
    const u32 number = (barrier - TensorCta::kStart - T::kBarriersAt) / 8;
    switch (launch_.mistake) {
      case TensorMistake::kNoWaitForStage:
        return number < T::kStages;
      case TensorMistake::kNoWaitForSums:
        return isSums(barrier);
      case TensorMistake::kNoWaitForRoom:
        return number >= T::kStages && !isSums(barrier);
      default:
        return false;
    }
  }
  // Loads of this thread must be ordered before what tells others of their end.
  void leave(const char* where) const {
    if (hasLoaded_)
      fail(std::string("no tcgen05.fence::before_thread_sync between a load and ") + where);
  }
  void checkFenced(const char* what) const {
    if (!isFenced_)
      fail(std::string(what) + " without a tcgen05.fence::after_thread_sync behind the wait");
  }

  void add(TensorCta::Copy& copy, u32 place, const u8* from, int count) const {
    cta_.shared.begin(place);
    copy.places.push_back(place);
    auto& piece = copy.pieces.emplace_back();
    piece.fill(0);
    if (count > 0) std::memcpy(piece.data(), from, static_cast<size_t>(count));
  }
  void loadBox(const ScaledMatrix& of, int rows, u32 to, int k, int row0, u32 barrier) const {
    constexpr bool kPacked = T::form().depth() == 64;
    const int bits = blockscope::numberFormat(
                         static_cast<blockscope::NumberFormatId>(of.format.element))
                         .storageBits,
              perPiece = kPacked ? 32 : 16, pieceBytes = perPiece * bits / 8,
              rowBytes = of.k * bits / 8;
    // The driver refuses other maps: strides of 16 bytes, of 32 where it pads.
    const bool pads = !kPacked && bits < 8;
    if (rowBytes % (pads ? 32 : 16) != 0 || (pads && of.k % 128 != 0)) fail("no such tensor map");
    if (to % 1024 != 0) fail("a box that does not begin where the swizzle does");
    TensorCta::Copy copy{to, {}, {}, barrier, int64_t{rows} * 8 * pieceBytes};
    for (int row = 0; row < rows; row++)
      for (int piece = 0; piece < 8; piece++) {
        const int first = k / perPiece * pieceBytes + piece * pieceBytes;
        const bool isInside = row0 + row < of.rows && first < rowBytes;
        const int count = isInside ? std::min(pieceBytes, rowBytes - first) : 0;
        // PTX ISA, "Swizzling modes": pieces of a row of 128 bytes exchanged by its number.
        const u32 place = to + static_cast<u32>(row * 128 + (piece ^ row % 8) * 16);
        add(copy, place, isInside ? &of.packed[(row0 + row) * rowBytes + first] : nullptr, count);
      }
    cta_.copies.push_back(std::move(copy));
  }
  [[noreturn]] static void fail(const std::string& what) { throw std::runtime_error(what); }

  const TensorLaunch& launch_;
  TensorCta& cta_;
  int number_, thread_;
  mutable bool isFenced_ = true, hasLoaded_ = false;
  mutable u32 arriving_[32] = {};
};

// Every block of a launch, one after the other; `body` takes the thread's machine.
template <class T, typename Output, typename Body>
void launchTensor(const TensorLaunch& of, Body body) {
  for (int number = 0; number < of.blocks; number++) {
    TensorCta cta(of, T::kThreads);
    cta.block.run([&] { body(TensorMachine<T, Output>(of, cta, number)); },
                  [&] { return cta.step(); });
    cta.core.finish();
  }
}

}  // namespace fibers
