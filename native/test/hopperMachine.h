// Clusters of sm_90 whose threads are fibers of a CPU: shared memory, barriers, the copy engine
// with its swizzles and multicast, and products of fp8 tiles in shared memory. Copies end when
// every thread waits; a product reads its operands when it is waited for.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../core/formats.h"
#include "../core/outputs.h"
#include "fiberBlock.h"
#include "mbarriers.h"
#include "memorySpan.h"

namespace hopper {

typedef uint32_t u32;

[[noreturn]] inline void fail(const std::string& what) { throw std::runtime_error(what); }

constexpr u32 kSharedStart = 1024;

inline const float* e4m3() {
  return blockscope::decodeTable(blockscope::NumberFormatId::kE4m3).data();
}
inline const float* e5m2() {
  return blockscope::decodeTable(blockscope::NumberFormatId::kE5m2).data();
}

// Rows of bytes; a box of `boxBytes` x `boxRows`, swizzled within its rows of 64 or 128 bytes.
struct TensorMap {
  uint8_t* start;
  int64_t rowBytes, rows;
  int boxBytes, boxRows, elementBytes;

  int swizzled(int row, int byte) const {
    const int chunk = byte / 16;
    // PTX ISA, "Swizzling modes".
    const int with = boxBytes == 128 ? row % 8 : row / 2 % 4;
    return row * boxBytes + (chunk ^ with) * 16 + byte % 16;
  }
};

// A wgmma: D of a thread (64 x 2 count of the warpgroup), tiles with a swizzle of 128 bytes.
struct Wgmma {
  float* d;
  int count;
  uint64_t a, b;
  bool accumulate;
  const float *ofA, *ofB;
};

struct Cta {
  explicit Cta(u32 bytes) : shared(kSharedStart + bytes) {}
  std::vector<uint8_t> shared;
  Mbarriers barriers;
  struct Meeting {
    int arrived = 0;
    unsigned generation = 0;
  };
  std::map<int, Meeting> warpgroups;  // by the number of the barrier

  uint8_t* at(u32 address, size_t bytes) {
    if (address < kSharedStart || address + bytes > shared.size())
      fail("an access outside shared memory at byte " + std::to_string(address));
    return &shared[address];
  }
  void write(u32 address, const void* from, size_t bytes) {
    std::memcpy(at(address, bytes), from, bytes);
  }
  float number(u32 address) {
    float value;
    std::memcpy(&value, at(address, 4), 4);
    return value;
  }
};

class Machine {
 public:
  static constexpr int kCluster = 2;
  Machine(int threads, u32 sharedBytes, const std::vector<fibers::Span>& readable)
      : block(threads, kCluster),
        threads_(threads),
        sharedBytes_(sharedBytes),
        readable_(readable),
        states_(static_cast<size_t>(threads) * kCluster) {
    for (int i = 0; i < kCluster; i++) ctas_.emplace_back(sharedBytes);
  }

  fibers::Block<32, 1> block;

  int thread() const { return block.current() % threads_; }
  int lane() const { return thread() % 32; }
  u32 rank() const { return static_cast<u32>(block.current() / threads_); }
  u32 sharedBytes() const { return sharedBytes_; }
  Cta& cta() { return ctas_[rank()]; }
  Cta& cta(u32 rank) { return ctas_.at(rank); }

  void wait(u32 barrier, u32 parity) {
    block.waitUntil(
        [this, of = &cta(), barrier, parity] { return of->barriers.isOver(barrier, parity); });
  }
  void syncWarpgroup(int barrier) {
    Cta::Meeting& meeting = cta().warpgroups[barrier];
    if (++meeting.arrived == 128) {
      meeting.arrived = 0, meeting.generation++;
      return;
    }
    block.waitUntil([of = &meeting, at = meeting.generation] { return of->generation != at; });
  }
  void syncWarp() { block.exchange(0, {}); }

  // ------------------------------------------------------------------------------- copies

  void load(u32 to, const TensorMap& map, int x, int y, u32 barrier, uint16_t mask) {
    if (to % 1024 != 0 && map.boxBytes == 128)
      fail("a box that does not begin where the swizzle does");
    Boxed box{to, barrier, mask, std::vector<uint8_t>(map.boxBytes * map.boxRows)};
    for (int row = 0; row < map.boxRows; row++)
      for (int byte = 0; byte < map.boxBytes; byte++) {
        const int64_t from = int64_t{x} * map.elementBytes + byte;
        const bool isInside = y + row >= 0 && y + row < map.rows && from < map.rowBytes;
        box.bytes[map.swizzled(row, byte)] =
            isInside ? map.start[(y + row) * map.rowBytes + from] : 0;
      }
    underWay_.push_back(std::move(box));
  }
  void store(const TensorMap& map, int x, int y, u32 from) {
    const uint8_t* box = cta().at(from, map.boxBytes * map.boxRows);
    for (int row = 0; row < map.boxRows; row++)
      for (int byte = 0; byte < map.boxBytes; byte++) {
        const int64_t to = int64_t{x} * map.elementBytes + byte;
        if (y + row < map.rows && to < map.rowBytes)
          map.start[(y + row) * map.rowBytes + to] = box[map.swizzled(row, byte)];
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
      cta().write(addresses[8 * matrix + lane() / 4][0] + lane() % 4 * 4, &words[matrix], 4);
  }

  void multiply(const Wgmma& product) { state().begun.push_back(product); }
  void commit() {
    state().groups.push_back(std::move(state().begun));
    state().begun.clear();
  }
  void waitForProducts(size_t pending) {
    for (auto& groups = state().groups; groups.size() > pending; groups.pop_front())
      for (const Wgmma& product : groups.front()) compute(product);
  }

  // Ends the oldest copy; false: there is none.
  bool step() {
    if (underWay_.empty()) return false;
    const Boxed box = std::move(underWay_.front());
    underWay_.pop_front();
    for (u32 to = 0; to < kCluster; to++) {
      if (!(box.mask >> to & 1)) continue;
      cta(to).write(box.to, box.bytes.data(), box.bytes.size());
      cta(to).barriers.complete(box.barrier, static_cast<int64_t>(box.bytes.size()));
    }
    return true;
  }

 private:
  struct Boxed {
    u32 to, barrier;
    uint16_t mask;
    std::vector<uint8_t> bytes;
  };
  struct ThreadState {
    std::vector<std::function<void()>> copies;
    std::vector<Wgmma> begun;
    std::deque<std::vector<Wgmma>> groups;
  };
  ThreadState& state() { return states_[block.current()]; }

  // 32 bytes of a row from `start` on, which lies in its first row of 128 bytes.
  void readRow(u32 start, int row, const float* values, float (&out)[32]) {
    const u32 first = start & ~127u, column = start % 128;
    for (int byte = 0; byte < 32; byte += 16) {
      const u32 address = first + static_cast<u32>(row) * 128;
      const u32 chunk = (column + byte) / 16 ^ (address >> 7 & 7);
      const uint8_t* codes = cta().at(address + chunk * 16, 16);
      for (int i = 0; i < 16; i++) out[byte + i] = values[codes[i]];
    }
  }
  void compute(const Wgmma& of) {
    const int warp = thread() / 32 % 4;
    float a[2][32], b[32];
    for (int half = 0; half < 2; half++)
      readRow(static_cast<u32>(of.a), warp * 16 + lane() / 4 + 8 * half, of.ofA, a[half]);
    for (int group = 0; group < of.count / 4; group++)
      for (int pair = 0; pair < 2; pair++) {
        readRow(static_cast<u32>(of.b), group * 8 + lane() % 4 * 2 + pair, of.ofB, b);
        for (int half = 0; half < 2; half++) {
          float sum = 0;
          for (int k = 0; k < 32; k++) sum += a[half][k] * b[k];
          float& d = of.d[4 * group + 2 * half + pair];
          d = of.accumulate ? d + sum : sum;
        }
      }
  }

  int threads_;
  u32 sharedBytes_;
  const std::vector<fibers::Span>& readable_;
  std::deque<Cta> ctas_;
  std::deque<ThreadState> states_;
  std::deque<Boxed> underWay_;
};

inline Machine* current = nullptr;
inline Machine& machine() { return *current; }

// What CUDA's variables say in the running thread.
inline int clusterNumber = 0, clusters = 1, threadsOfBlock = 0;
struct ThreadNumber {
  operator int() const { return machine().thread(); }
};
struct BlockNumber {
  operator int() const {
    return clusterNumber * Machine::kCluster + static_cast<int>(machine().rank());
  }
};

// Every cluster of a launch, one after the other.
inline void launch(int count, int threads, u32 sharedBytes,
                   const std::vector<fibers::Span>& readable, const std::function<void()>& kernel) {
  clusters = count, threadsOfBlock = threads;
  for (clusterNumber = 0; clusterNumber < count; clusterNumber++) {
    Machine one(threads, sharedBytes, readable);
    current = &one;
    one.block.run(kernel, [&] { return one.step(); });
  }
}

}  // namespace hopper

inline struct { hopper::ThreadNumber x; } threadIdx;
inline struct { hopper::BlockNumber x; } blockIdx;
inline struct {
  struct {
    operator int() const { return hopper::clusters * hopper::Machine::kCluster; }
  } x;
} gridDim;
inline struct {
  struct {
    operator int() const { return hopper::threadsOfBlock; }
  } x;
} blockDim;
