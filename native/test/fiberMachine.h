// The machine of the block-scaled kernel (common/blockScale/gemm.cuh) whose threads are fibers of a
// CPU: what PTX says of mbarriers, the copy engine, cp.async, ldmatrix and mma.sync, with
// addresses, alignment and order checked. Copies end when every thread waits, in any order.
#pragma once

#include <bit>

#include "../../resources/kernels/cuda/common/blockScale/emulation.cuh"
#include "../core/outputs.h"
#include "fiberBlock.h"
#include "memorySpan.h"
#include "operandBoxes.h"
#include "orderedMemory.h"

namespace fibers {

using WarpBlock = Block<32, 12>;

// What a kernel or an instruction could do wrong; each must be seen.
enum class Mistake {
  kNone,
  kNoBarrier,          // mbarriers are used before they are known to be there
  kNoWaitForStage,     // who multiplies does not wait until a stage is full
  kNoWaitForRoom,      // who loads does not wait until it is empty
  kParityOfStage,      // who multiplies waits for the other phase
  kParityOfRoom,       // who loads does
  kEarlyRelease,       // a stage is given back before it is read
  kReleaseOfOneLane,   // a warp's lane gives it back without waiting for the others
  kTileAhead,          // who loads is a tile ahead of who multiplies
  kNoZeros,            // copies beyond the matrix leave what was there
  kNoSwizzle,          // boxes lie in order
  kScaleLanesSwapped,  // A's scales from the other lane of the pair
  kNextColumnsScale,   // B's scales from the neighbouring column
  kScaleByte,          // the wrong byte of A's scale register
  kRowsSwapped,        // ldmatrix gives matrices 1 and 2 in each other's place
  kOtherChunk,         // half of the lanes give ldmatrix the neighbouring 16 bytes
};

struct Launch {
  int blocks, threads, multiplyingThreads, stages;
  size_t sharedBytes;
  const ScaledMatrix &a, &b;
  Span c;
  Mistake mistake = Mistake::kNone;

  std::vector<Span> readable() const {
    return {{a.packed.data(), a.packed.size()},
            {b.packed.data(), b.packed.size()},
            {a.placed.data(), a.placed.size()},
            {b.placed.data(), b.placed.size()}};
  }
};

// A block of the launch.
class Cta {
 public:
  static constexpr u32 kStart = 2 * 1024;  // of dynamic shared memory

  Cta(const Launch& launch, int number)
      : launch(launch),
        number(number),
        block(launch.threads),
        shared(kStart + launch.sharedBytes),
        order(static_cast<size_t>(launch.threads)),
        readable_(launch.readable()),
        warps_(static_cast<size_t>(launch.threads) / 32) {}

  const Launch& launch;
  const int number;
  WarpBlock block;
  OrderedMemory shared;
  Order order;

  // Whole threads, or the lanes of one's warp, tell one another.
  void syncThreads() {
    order.tell(all_, block.current());
    block.sync();
    order.hear(all_, block.current());
  }
  void syncWarp() {
    const int thread = block.current();
    // A lane may be one meeting ahead of the others, not two.
    Warp& warp = warps_[static_cast<size_t>(thread) / 32];
    Clock& meeting = warp.meetings[warp.turns[thread % 32]++ % 2];
    order.tell(meeting, thread);
    block.exchange(__LINE__, {});
    order.hear(meeting, thread);
  }

  void begin(const std::vector<Copy>& copies) {
    for (const Copy& copy : copies)
      shared.beginCopy(copy.to, static_cast<size_t>(copy.count), order.of(block.current()));
  }
  // A box, whose bytes the mbarrier counts.
  void bring(const OperandBox& of, u32 to, int64_t y, u32 barrier) {
    Told told{barrier, of.box.bytesOfMatrix(), {}};
    for (const Piece& piece : of.box.pieces(of.of, of.x, y, to))
      told.copies.push_back({piece.place, 16, piece.bytes});
    begin(told.copies);
    copies_.begin(std::move(told));
  }
  // A thread's own copies, behind which it arrives.
  void arriveBehind(std::vector<Copy> copies, u32 barrier) {
    copies_.begin({barrier, 0, std::move(copies)});
  }
  void checkReadable(const u8* from, int bytes) const {
    fibers::checkReadable(readable_, from, static_cast<size_t>(bytes));
  }

  // Ends copies, whichever chance says; false: there are none.
  bool step() {
    if (copies_.empty()) return false;
    const Told ended = copies_.take(copies_.nextChance());
    const auto [writer, time] = order.writerAt(ended.barrier);
    for (const Copy& copy : ended.copies)
      shared.endCopy(copy.to, copy.bytes.data(), static_cast<size_t>(copy.count), writer, time);
    if (ended.bytes > 0) order.complete(ended.barrier, ended.bytes);
    else order.arriveBehindCopies(ended.barrier);
    return true;
  }

 private:
  struct Warp {
    Clock meetings[2];
    std::array<int, 32> turns = {};
  };
  struct Told {
    u32 barrier;
    int64_t bytes;  // 0: an arrival
    std::vector<Copy> copies;
  };

  std::vector<Span> readable_;
  std::vector<Warp> warps_;
  Clock all_;
  UnderWay<Told> copies_;
};

template <typename OutputOfC>
class Machine {
 public:
  typedef OutputOfC Output;

  explicit Machine(Cta& cta)
      : cta_(cta), launch_(cta.launch), fibers_(cta.block), thread_(cta.block.current()) {}

  int thread() const { return thread_; }
  int block() const { return cta_.number + (loads() && is(Mistake::kTileAhead) ? blocks() : 0); }
  int blocks() const { return launch_.blocks; }
  bool isLeader() const { return thread_ % 32 == 0; }
  u32 sharedStart() const { return Cta::kStart; }
  void sync() const {
    if (!is(Mistake::kNoBarrier)) cta_.syncThreads();
  }
  void syncWarp() const {
    if (!is(Mistake::kReleaseOfOneLane)) cta_.syncWarp();
  }
  template <int Registers>
  void takeRegisters() const {
    static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256);
  }
  template <int Registers>
  void giveRegistersBack() const {
    takeRegisters<Registers>();
  }

  // ------------------------------------------------------------------------------- mbarriers

  void initBarrier(u32 barrier, int arrivals) const { cta_.order.init(barrier, arrivals, thread_); }
  void publishBarriers() const {}
  void expect(u32 barrier, int bytes) const { cta_.order.arrive(barrier, thread_, bytes); }
  void arriveBehind(u32 barrier, const float (&)[4]) const { arrive(barrier); }
  void arrive(u32 barrier) const {
    if (!is(Mistake::kEarlyRelease)) cta_.order.arrive(barrier, thread_);
  }
  void wait(u32 barrier, u32 parity) const {
    if (is(loads() ? Mistake::kNoWaitForRoom : Mistake::kNoWaitForStage)) return;
    if (is(loads() ? Mistake::kParityOfRoom : Mistake::kParityOfStage)) parity ^= 1;
    fibers_.waitUntil(
        [order = &cta_.order, barrier, parity] { return order->isOver(barrier, parity); });
    cta_.order.hear(barrier, thread_);
    if (is(Mistake::kEarlyRelease) && !loads() && thread_ % 32 == 0)
      cta_.order.arrive(barrier + 8 * static_cast<u32>(launch_.stages), thread_);
  }

  // ------------------------------------------------------------------------------- copies

  template <int Bytes>
  void copy(u32 to, const u8* from, int valid) const {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async has these sizes");
    if (to % Bytes != 0 || reinterpret_cast<uintptr_t>(from) % Bytes != 0)
      fail("a copy that is not aligned");
    if (valid < 0 || valid > Bytes) fail("a copy of more or less than it has");
    if (valid > 0) cta_.checkReadable(from, valid);
    Copy copied{to, Bytes, {}};
    copied.bytes.fill(is(Mistake::kNoZeros) ? 0x7f : 0);
    std::memcpy(copied.bytes.data(), from, valid);
    cta_.begin({copied});
    open_.push_back(copied);
  }
  void arriveWhenCopied(u32 barrier) const {
    cta_.arriveBehind(std::move(open_), barrier);
    open_.clear();
  }
  void loadBox(OperandBox box, u32 to, int64_t y, u32 barrier) const {
    if (to % (box.box.isSwizzled ? 1024 : 128) != 0)
      fail("a box that does not begin where the swizzle does");
    if (is(Mistake::kNoSwizzle)) box.box.isSwizzled = false;
    cta_.bring(box, to, y, barrier);
  }
  const Launch& launch() const { return launch_; }

  u32 loadWord(u32 address) const {
    u32 word;
    read(address, &word, 4);
    return word;
  }
  void loadPair(u32& low, u32& high, u32 address) const {
    u32 words[2];
    read(address, words, 8);
    low = words[0], high = words[1];
  }
  u32 fromLane(u32 value, int distance) const {
    return fibers_.exchange(__LINE__, {value})[thread_ % 32 ^ distance][0];
  }

  // ldmatrix: lane 8 i + r has the address of row r of matrix i; lane l gets bytes, or codes that
  // become bytes, 4 (l % 4) to 4 (l % 4) + 3 of row l / 4.
  template <int Bits>
  void loadMatrices(u32 (&words)[4], u32 address) const {
    if (is(Mistake::kOtherChunk) && thread_ % 32 < 16) address ^= 16;
    const auto& shown = fibers_.exchange(1000 + Bits, {address});
    for (int matrix = 0; matrix < 4; matrix++) {
      const int from = is(Mistake::kRowsSwapped) && matrix % 3 != 0 ? 3 - matrix : matrix;
      const u32 row = shown[from * 8 + thread_ % 32 / 4][0];
      if (row % 16 != 0) fail("a row of ldmatrix that is not aligned");
      u8 bytes[16] = {};
      // Of a row with padding only the codes are there.
      readShared(row, bytes, 2 * Bits);
      words[matrix] = 0;
      for (int i = 0; i < 4; i++) {
        const int bit = (thread_ % 4 * 4 + i) * Bits;
        const u32 code =
            (bytes[bit / 8] | bytes[(bit / 8 + 1) % 16] << 8) >> bit % 8 & ((1 << Bits) - 1);
        words[matrix] |= code << (8 * i);
      }
    }
  }

  template <class T>
  void multiplyAdd(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1, u32 scaleA, u32 scaleB) const {
    const Registers warp = {
        fibers_.exchange(__LINE__, {a[0], a[1], a[2], a[3], b0, b1, scaleA, scaleB}),
        launch_.mistake};
    u32 bits[4];
    std::memcpy(bits, d, sizeof bits);
    blockscale::multiplyAdd(T::form(), thread_ % 32, warp, {}, bits);
    std::memcpy(d, bits, sizeof bits);
  }

  Output toOutput(float value) const {
    if constexpr (sizeof(Output) == 4) return value;
    else return blockscope::floatToHalf(value);
  }
  u32 toPair(float left, float right) const {
    return blockscope::floatToHalf(left) | u32{blockscope::floatToHalf(right)} << 16;
  }
  void storeFour(Output* to, const u32 (&words)[4]) const { storeIn(launch_.c, to, words, 16); }
  void storeTwo(Output* to, float left, float right) const {
    const Output pair[2] = {toOutput(left), toOutput(right)};
    storeIn(launch_.c, to, pair, sizeof pair);
  }

 private:
  struct Registers {
    const WarpBlock::ShownByAll& shown;
    Mistake mistake;
    u32 a(int lane, int word) const { return shown[lane][word]; }
    u32 b(int lane, int word) const { return shown[lane][4 + word]; }
    u32 scaleA(int lane) const {
      if (mistake == Mistake::kScaleLanesSwapped) lane ^= 1;
      return mistake == Mistake::kScaleByte ? std::rotr(shown[lane][6], 8) : shown[lane][6];
    }
    u32 scaleB(int lane) const {
      return shown[mistake == Mistake::kNextColumnsScale ? lane ^ 4 : lane][7];
    }
  };

  void read(u32 address, void* to, size_t bytes) const {
    if (address % bytes != 0) fail("a load that is not aligned");
    readShared(address, to, bytes);
  }
  void readShared(u32 address, void* to, size_t bytes) const {
    cta_.shared.read(address, to, bytes, static_cast<size_t>(thread_), cta_.order.of(thread_));
  }
  bool is(Mistake mistake) const { return launch_.mistake == mistake; }
  bool loads() const { return thread_ >= launch_.multiplyingThreads; }
  [[noreturn]] static void fail(const char* what) { throw std::runtime_error(what); }

  Cta& cta_;
  const Launch& launch_;
  WarpBlock& fibers_;
  int thread_;
  mutable std::vector<Copy> open_;  // of this thread, behind which it has not arrived
};

// The four tensor maps of a launch.
template <typename Output>
struct Maps {
  const Machine<Output>* machine;

  template <class T>
  void loadA(u32 to, int k, int row, u32 barrier) const {
    loadCodes<T>(machine->launch().a, to, k, row, barrier);
  }
  template <class T>
  void loadB(u32 to, int k, int row, u32 barrier) const {
    loadCodes<T>(machine->launch().b, to, k, row, barrier);
  }
  template <class T>
  void loadScalesA(u32 to, int group, int block, u32 barrier) const {
    machine->loadBox(boxOfScales(machine->launch().a, T::kScaleGroups, 1, group), to, block,
                     barrier);
  }
  template <class T>
  void loadScalesB(u32 to, int group, int block, u32 barrier) const {
    machine->loadBox(boxOfScales(machine->launch().b, T::kScaleGroups, 1, group), to, block,
                     barrier);
  }

 private:
  template <class T>
  void loadCodes(const ScaledMatrix& of, u32 to, int k, int row, u32 barrier) const {
    machine->loadBox(boxOfCodes(of, T::kDepth == 64, T::kRowBytes, 128, k), to, row, barrier);
  }
};

// Every block of a launch, one after the other; `body` takes the thread's machine.
template <typename Output, typename Body>
void launch(const Launch& of, Body body) {
  for (int number = 0; number < of.blocks; number++) {
    Cta cta(of, number);
    cta.block.run([&] { body(Machine<Output>(cta)); }, [&] { return cta.step(); });
  }
}

}  // namespace fibers
