// Clusters of sm_90 whose threads are fibers of a CPU: shared memory, barriers, the copy engine
// with its swizzles and multicast, and products of fp8 and bf16 tiles in shared memory (PTX
// ISA 9.0, "mbarrier", "cp.async.bulk.tensor", "barrier.cluster", "wgmma"). Copies end when every
// thread waits, in any order; a product reads its operands when it is waited for, and registers of
// its A stay as they are until then. What lies in shared memory: hopperCta.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../core/formats.h"
#include "../core/outputs.h"
#include "copyEngine.h"
#include "cudaThreads.h"
#include "hopperCta.h"
#include "memorySpan.h"

namespace hopper {

inline const float* e4m3() {
  return blockscope::decodeTable(blockscope::NumberFormatId::kE4m3).data();
}
inline const float* e5m2() {
  return blockscope::decodeTable(blockscope::NumberFormatId::kE5m2).data();
}

// What a kernel could do wrong; each must be seen.
enum class Mistake {
  kNone,
  kNoPeersHalf,      // the second CTA brings nothing that both need
  kOwnBarrierAlone,  // who has read a stage tells its own CTA alone
  kEarlyRead,        // who multiplies does not wait for stages
  kEarlyTile,        // who fills stages does not wait for rows that others widen
  kEarlyWrite,       // who fills stages does not wait until they are empty
  kNotPublished,     // no fence between a thread's stores and the copy engine
  kEarlyChange,      // registers are written while a product still reads them
  kNoPredecessor,    // the kernel before is not waited for
  kNoClusterSync,    // CTAs begin and end by themselves
  kNoSwizzle,        // boxes lie in order
  kOtherChunk,       // half of the lanes give ldmatrix the neighbouring 16 bytes
  kOtherBlock,  // of every two boxes of rows that the kernel before made, each begins where the
                // other should
};

// Rows of bytes, and boxes of them.
struct TensorMap {
  uint8_t* start;
  int64_t rowBytes, rows;
  int boxBytes, boxRows, elementBytes;
  bool isSwizzled = true;
  bool isMade = false;     // by the kernel before, which griddepcontrol.wait waits for
  bool mayBeLeft = false;  // not all of a box need be read

  fibers::Box box() const { return {boxBytes, boxRows, isSwizzled}; }
};

// A wgmma: D of a thread (64 x 2 count of the warpgroup), tiles with a swizzle of 128 bytes.
// Without tables numbers are bf16. A may be in registers: a thread's own, and what its quad had.
struct Wgmma {
  float* d;
  int count;
  uint64_t a, b;
  bool accumulate;
  const float *ofA, *ofB;
  const u32* registers = nullptr;
  std::array<std::array<u32, 4>, 4> quad = {};
};

class Machine {
 public:
  Machine(int threads, u32 sharedBytes, const std::vector<fibers::Span>& readable, int size,
          Mistake mistake)
      : block(threads, size),
        mistake(mistake),
        sharedBytes_(sharedBytes),
        readable_(readable),
        states_(static_cast<size_t>(threads) * size) {
    for (int i = 0; i < size; i++) ctas_.emplace_back(sharedBytes);
  }

  gpu::Block block;
  const Mistake mistake;

  int thread() const { return block.thread(); }
  int lane() const { return thread() % 32; }
  int size() const { return static_cast<int>(ctas_.size()); }
  u32 rank() const { return static_cast<u32>(block.rank()); }
  u32 sharedBytes() const { return sharedBytes_; }
  Cta& cta() { return ctas_[rank()]; }
  // Of a CTA that is there, and still is.
  Cta& cta(u32 rank) {
    if (rank >= ctas_.size())
      fail("CTA " + std::to_string(rank) + " of a cluster of " + std::to_string(ctas_.size()));
    if (ctas_[rank].threadsEnded == block.threadsOfCta())
      fail("CTA " + std::to_string(rank) + " is used, which has ended");
    return ctas_[rank];
  }

  // The same for the running thread, which knows of others only what it has waited for.
  Cta& ctaOfThread(u32 rank) {
    if (rank != this->rank() && !state().hasMet)
      fail("CTA " + std::to_string(rank) + " is used, which may not be there yet");
    return cta(rank);
  }

  void wait(u32 barrier, u32 parity) {
    if (mistake == Mistake::kEarlyRead && thread() >= 128) return;
    if (mistake == Mistake::kEarlyWrite && thread() < 128) return;
    block.waitUntil(
        [this, of = &cta(), barrier, parity] { return of->barriers.isOver(barrier, parity); });
  }
  void arrive(u32 barrier) {
    const u32 rank = rankOf(barrier);
    if (mistake == Mistake::kOwnBarrierAlone && rank != this->rank()) return;
    ctaOfThread(rank).barriers.arrive(fibers::localAddress(barrier));
  }
  u32 rankOf(u32 address) const {
    return static_cast<u32>(fibers::rankOfAddress(address, block.rank()));
  }
  void syncCluster() {
    if (mistake == Mistake::kNoClusterSync) return block.sync();
    block.syncCluster();
    state().hasMet = true;
  }
  void arriveAtCluster() { block.arriveAtCluster(); }
  void waitForCluster() {
    if (mistake == Mistake::kNoClusterSync) return;
    block.waitForCluster();
    state().hasMet = true;
  }
  void waitForPredecessor() { state().hasWaited = mistake != Mistake::kNoPredecessor; }
  void end() { cta().threadsEnded++; }

  // ------------------------------------------------------------------------------- copies

  void load(u32 to, const TensorMap& map, int x, int y, u32 barrier, uint16_t mask) {
    if (to % (map.isSwizzled ? 8 * map.boxBytes : 128) != 0)
      fail("a box that does not begin where the swizzle does");
    if (int64_t{x} * map.elementBytes % 16 != 0)
      fail("a box that does not begin at a multiple of 16 bytes of a row");
    if (map.isMade && !state().hasWaited)
      fail("what the kernel before makes is loaded without a wait for it");
    if (mistake == Mistake::kNoPeersHalf && rank() == 1 && mask > 2) return;
    fibers::Box box = map.box();
    if (mistake == Mistake::kOtherBlock && map.isMade && map.isSwizzled) y ^= box.rows;
    if (mistake == Mistake::kNoSwizzle) box.isSwizzled = false;
    auto pieces =
        box.pieces({map.start, map.rowBytes, map.rows}, int64_t{x} * map.elementBytes, y, to);
    for (fibers::Piece& piece : pieces) piece.isOutside |= map.mayBeLeft;
    for (int of = 0; mask >> of != 0; of++) {
      if (!(mask >> of & 1)) continue;
      for (const fibers::Piece& piece : pieces)
        ctaOfThread(static_cast<u32>(of)).begin(piece.place);
      copies_.begin({of, pieces, fibers::mappedAddress(barrier, of), box.bytesOfMatrix()});
    }
  }
  // st.async
  void send(u32 address, u32 barrier, const void* from, size_t bytes) {
    if (rankOf(address) != rankOf(barrier)) fail("a number is sent and counted in different CTAs");
    Cta& to = ctaOfThread(rankOf(address));
    to.write(fibers::localAddress(address), from, bytes);
    to.barriers.complete(fibers::localAddress(barrier), static_cast<int>(bytes));
  }
  // For the copy engine to read.
  void storeForCopy(u32 address, const void* from, size_t bytes) {
    cta().write(address, from, bytes);
    cta().unpublished[address / 16]++;
    state().stored.push_back(address / 16);
  }
  void publish() {
    if (mistake == Mistake::kNotPublished) return;
    for (u32 piece : state().stored) cta().unpublished[piece]--;
    state().stored.clear();
  }
  void store(const TensorMap& map, int x, int y, u32 from) {
    const fibers::Box box = map.box();
    for (int row = 0; row < box.rows; row++)
      for (int byte = 0; byte < box.bytes; byte++) {
        const int64_t to = int64_t{x} * map.elementBytes + byte;
        if (y + row < map.rows && to < map.rowBytes)
          map.start[(y + row) * map.rowBytes + to] =
              cta().readAsync(from + box.place(row, byte / 16))[byte % 16];
      }
  }
  void copy(u32 to, const void* from, size_t bytes) {
    if (to % bytes != 0 || reinterpret_cast<uintptr_t>(from) % bytes != 0)
      fail("a copy of " + std::to_string(bytes) + " bytes that is not aligned");
    fibers::checkReadable(readable_, from, bytes);
    state().copies.push_back([this, of = &cta(), to, from, bytes] { of->write(to, from, bytes); });
  }
  void waitForCopies() {
    for (const auto& end : state().copies) end();
    state().copies.clear();
  }

  // ------------------------------------------------------------------------------- warps

  // stmatrix: lane 8 i + r gives the address of row r of matrix i.
  void storeMatrices(u32 address, const std::array<u32, 4>& words) {
    const auto& addresses = block.exchange(1, {address});
    for (int matrix = 0; matrix < 4; matrix++)
      storeForCopy(addresses[8 * matrix + lane() / 4][0] + lane() % 4 * 4, &words[matrix], 4);
  }
  // stmatrix, .trans: what a lane holds of a row belongs to two rows.
  void storeTurnedMatrices(u32 address, const std::array<u32, 4>& words) {
    const auto& addresses = block.exchange(1, {address});
    for (int matrix = 0; matrix < 4; matrix++)
      for (int half = 0; half < 2; half++) {
        const auto number = static_cast<uint16_t>(words[matrix] >> 16 * half);
        storeForCopy(addresses[8 * matrix + lane() % 4 * 2 + half][0] + lane() / 4 * 2, &number, 2);
      }
  }

  void multiply(const Wgmma& product) { state().begun.push_back(product); }
  // A of a thread in registers: PTX ISA, "Register Fragments for wgmma".
  void multiplyFromRegisters(Wgmma product, const u32 (&a)[4]) {
    const auto& shown = block.exchange(4, {a[0], a[1], a[2], a[3]});
    for (int of = 0; of < 4; of++)
      for (int i = 0; i < 4; i++) product.quad[of][i] = shown[lane() / 4 * 4 + of][i];
    product.registers = a;
    multiply(product);
  }
  void commit() {
    state().groups.push_back(std::move(state().begun));
    state().begun.clear();
  }
  void waitForProducts(size_t pending) {
    if (mistake == Mistake::kEarlyChange && pending > 0) pending++;
    for (auto& groups = state().groups; groups.size() > pending; groups.pop_front())
      for (const Wgmma& product : groups.front()) compute(product);
  }

  // Ends a copy, whichever chance says; false: there is none.
  bool step() {
    if (copies_.empty()) return false;
    fibers::BoxCopy copy = copies_.take(copies_.nextChance());
    Cta& to = cta(static_cast<u32>(copy.rank));
    for (const fibers::Piece& piece : copy.pieces) to.bring(piece);
    to.barriers.complete(fibers::localAddress(copy.barrier), copy.bytes);
    return true;
  }

 private:
  struct ThreadState {
    bool hasWaited = false, hasMet = false;
    std::vector<u32> stored;  // pieces, since the last fence
    std::vector<std::function<void()>> copies;
    std::vector<Wgmma> begun;
    std::deque<std::vector<Wgmma>> groups;
  };
  ThreadState& state() { return states_[block.current()]; }

  // 32 bytes of a row from `start` on, which lies in its first row of 128 bytes, as numbers; how
  // many.
  int readRow(u32 start, int row, const float* values, float (&out)[32]) {
    const u32 first = start & ~127u, column = start % 128;
    for (int byte = 0; byte < 32; byte += 16) {
      const u32 address = first + static_cast<u32>(row) * 128;
      const u32 chunk = (column + byte) / 16 ^ (address >> 7 & 7);
      const uint8_t* codes = cta().read(address + chunk * 16, 16);
      for (int i = 0; i < 16; i++)
        if (values) out[byte + i] = values[codes[i]];
        else if (i % 2 == 0)
          out[(byte + i) / 2] =
              __uint_as_float(static_cast<u32>(codes[i] << 16 | codes[i + 1] << 24));
    }
    return values ? 32 : 16;
  }
  // bf16 numbers of one of a lane's two rows.
  void readRegisters(const Wgmma& of, int half, float (&out)[32]) {
    const auto& own = of.quad[lane() % 4];
    if (!std::equal(own.begin(), own.end(), of.registers)) fail("registers change under a product");
    for (int k = 0; k < 16; k++) {
      const u32 word = of.quad[k % 8 / 2][half + k / 8 * 2];
      out[k] = __uint_as_float(k % 2 == 0 ? word << 16 : word & 0xffff0000);
    }
  }
  void compute(const Wgmma& of) {
    const int warp = thread() / 32 % 4;
    float a[2][32], b[32];
    for (int half = 0; half < 2; half++)
      if (of.registers) readRegisters(of, half, a[half]);
      else readRow(static_cast<u32>(of.a), warp * 16 + lane() / 4 + 8 * half, of.ofA, a[half]);
    for (int group = 0; group < of.count / 4; group++)
      for (int pair = 0; pair < 2; pair++) {
        const int count =
            readRow(static_cast<u32>(of.b), group * 8 + lane() % 4 * 2 + pair, of.ofB, b);
        for (int half = 0; half < 2; half++) {
          float sum = 0;
          for (int k = 0; k < count; k++) sum += a[half][k] * b[k];
          float& d = of.d[4 * group + 2 * half + pair];
          d = of.accumulate ? d + sum : sum;
        }
      }
  }

  u32 sharedBytes_;
  const std::vector<fibers::Span>& readable_;
  std::deque<Cta> ctas_;
  std::deque<ThreadState> states_;
  fibers::CopiesUnderWay copies_;
};

inline Machine* current = nullptr;
inline Machine& machine() { return *current; }

struct Launch {
  int clusters, size, threads;
  u32 sharedBytes;
  std::vector<fibers::Span> readable = {};  // by cp.async
  Mistake mistake = Mistake::kNone;
  bool isBackwards = false;
  int across = 0;  // blocks in a row of a grid of two dimensions
};

// Every cluster of a launch, one after the other, or the last first.
inline void launch(const Launch& of, const std::function<void()>& kernel) {
  for (int i = 0; i < of.clusters; i++) {
    const int cluster = of.isBackwards ? of.clusters - 1 - i : i;
    Machine one(of.threads, of.sharedBytes, of.readable, of.size, of.mistake);
    current = &one;
    gpu::running = {&one.block, cluster * of.size, of.clusters * of.size, of.across};
    one.block.run(
        [&] {
          kernel();
          one.end();
        },
        [&] { return one.step(); });
  }
}

}  // namespace hopper

// For memory of the threads' own, whose order is not checked.
inline uintptr_t __cvta_shared_to_generic(uint32_t address) {
  return reinterpret_cast<uintptr_t>(hopper::machine().cta().at(address, 4));
}
