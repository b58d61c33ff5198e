// The machine of the block-scaled kernel (common/blockScale/gemm.cuh) whose threads are fibers of a
// CPU: what PTX says of cp.async, ldmatrix and mma.sync, with addresses, alignment and order
// checked.
#pragma once

#include <bit>

#include "../../resources/kernels/cuda/common/blockScale/emulation.cuh"
#include "../core/outputs.h"
#include "fiberBlock.h"
#include "memorySpan.h"

namespace fibers {

using WarpBlock = Block<32, 12>;

// What a kernel or an instruction could do wrong; each must be seen.
enum class Mistake {
  kNone,
  kNoBarrier,          // warps do not wait for one another
  kEarlyRead,          // the last group of copies is not waited for
  kNoZeros,            // copies beyond the matrix leave what was there
  kScaleLanesSwapped,  // A's scales from the other lane of the pair
  kNextColumnsScale,   // B's scales from the neighbouring column
  kScaleByte,          // the wrong byte of A's scale register
  kRowsSwapped,        // ldmatrix gives matrices 1 and 2 in each other's place
  kOtherChunk,         // half of the lanes give ldmatrix the neighbouring 16 bytes
};

struct Launch {
  int blocks;
  size_t sharedBytes;
  std::vector<Span> readable;
  Span c;
  Mistake mistake = Mistake::kNone;
};

template <typename OutputOfC>
class Machine {
 public:
  typedef OutputOfC Output;

  Machine(const Launch& launch, WarpBlock& block, SharedMemory& shared, int number)
      : launch_(launch),
        fibers_(block),
        shared_(shared),
        number_(number),
        thread_(block.current()) {}

  int thread() const { return thread_; }
  int block() const { return number_; }
  int blocks() const { return launch_.blocks; }
  u32 sharedStart() const { return 0; }
  void sync() const {
    if (launch_.mistake != Mistake::kNoBarrier) fibers_.sync();
  }

  template <int Bytes>
  void copy(u32 to, const u8* from, int valid) const {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async has these sizes");
    if (to % Bytes != 0 || reinterpret_cast<uintptr_t>(from) % Bytes != 0)
      fail("a copy that is not aligned");
    if (valid < 0 || valid > Bytes) fail("a copy of more or less than it has");
    if (valid > 0) checkReadable(launch_.readable, from, valid);
    Copy copied{to, Bytes, {}};
    copied.bytes.fill(launch_.mistake == Mistake::kNoZeros ? 0x7f : 0);
    std::memcpy(copied.bytes.data(), from, valid);
    shared_.beginCopy(to, Bytes, thread_, fibers_.epoch());
    open_.push_back(copied);
  }
  void commitCopies() const {
    groups_.push_back(std::move(open_));
    open_.clear();
  }
  template <int Pending>
  void waitForCopies() const {
    for (size_t left = launch_.mistake == Mistake::kEarlyRead ? Pending + 1 : Pending;
         groups_.size() > left; groups_.pop_front())
      for (const Copy& one : groups_.front())
        shared_.endCopy(one.to, one.bytes.data(), one.count, thread_, fibers_.epoch());
  }

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
    if (launch_.mistake == Mistake::kOtherChunk && thread_ % 32 < 16) address ^= 16;
    const auto& shown = fibers_.exchange(1000 + Bits, {address});
    for (int matrix = 0; matrix < 4; matrix++) {
      const int from =
          launch_.mistake == Mistake::kRowsSwapped && matrix % 3 != 0 ? 3 - matrix : matrix;
      const u32 row = shown[from * 8 + thread_ % 32 / 4][0];
      if (row % 16 != 0) fail("a row of ldmatrix that is not aligned");
      u8 bytes[16] = {};
      // Of a row with padding only the codes are there.
      shared_.read(row, bytes, 2 * Bits, thread_, fibers_.epoch());
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
    shared_.read(address, to, bytes, thread_, fibers_.epoch());
  }
  [[noreturn]] static void fail(const char* what) { throw std::runtime_error(what); }

  const Launch& launch_;
  WarpBlock& fibers_;
  SharedMemory& shared_;
  int number_, thread_;
  // Copies of this thread: those of no group yet, and groups that are under way.
  mutable std::vector<Copy> open_;
  mutable std::deque<std::vector<Copy>> groups_;
};

// Every block of a launch, one after the other; `body` takes the thread's machine.
template <typename Output, typename Body>
void launch(const Launch& of, int threads, Body body) {
  for (int number = 0; number < of.blocks; number++) {
    WarpBlock block(threads);
    SharedMemory shared(of.sharedBytes);
    block.run([&] { body(Machine<Output>(of, block, shared, number)); });
  }
}

}  // namespace fibers
