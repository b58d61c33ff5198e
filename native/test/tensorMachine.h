// The machine of the tcgen05 kernel (common/tcgen05/gemm.cuh) whose threads are fibers of a CPU,
// over the model of tensor memory (tensorCore.h): copies and products are under way until every
// thread waits, so that whoever does not wait for them meets them.
#pragma once

#include <bit>

#include "../../resources/kernels/cuda/common/tcgen05/threadOrder.cuh"
#include "../core/outputs.h"
#include "operandBoxes.h"
#include "tensorCluster.h"

namespace fibers {

template <class T, typename OutputOfC>
class TensorMachine {
 public:
  typedef OutputOfC Output;

  TensorMachine(const TensorLaunch& launch, TensorCluster& cluster, int number)
      : launch_(launch),
        cluster_(cluster),
        number_(number),
        rank_(cluster.block.rank()),
        cta_(cluster.cta(rank_)),
        thread_(cluster.block.thread()) {}

  int thread() const { return thread_; }
  int group() const { return number_; }
  int groups() const { return launch_.groups; }
  int rank() const { return rank_; }
  u32 ofFirst(u32 address) const { return mappedAddress(address, 0); }
  bool isLeader() const { return thread_ % 32 == 0; }
  u32 sharedStart() const { return TensorCluster::kStart; }
  u32 loadWord(u32 address) const {
    const auto found = cta_.words.find(address);
    if (found == cta_.words.end()) fail("a word of shared memory is read that nobody wrote");
    return found->second;
  }

  // ------------------------------------------------------------------------------- threads

  void syncAll() const {
    leave("a barrier of all threads");
    if (launch_.mistake == TensorMistake::kNoClusterSync) cluster_.block.sync();
    else cluster_.block.syncCluster();
    order_.isFenced = false;
  }
  void initBarrier(u32 barrier, int arrivals) const { cta_.barriers.init(barrier, arrivals); }
  void publishBarriers() const {}
  void expect(u32 barrier, int bytes) const {
    if (launch_.mistake == TensorMistake::kOwnBytesExpected) bytes = T::kArriving;
    if (launch_.mistake == TensorMistake::kNoHalfExpected) bytes -= T::kBytesOf(T::kRowsB, T::kB);
    cta_.barriers.arrive(barrier, bytes);
  }
  void arrive(u32 barrier) const {
    if (launch_.mistake == TensorMistake::kEarlyArrival) return;
    leave("an mbarrier");
    arriveAndRest(barrier);
  }
  void wait(u32 barrier, u32 parity) const {
    if (isLeftOut(barrier)) return;
    if (rankOfAddress(barrier, rank_) != rank_) fail("a wait at an mbarrier of another CTA");
    cluster_.block.waitUntil(
        [this, barrier, parity] { return cta_.barriers.isOver(barrier, parity); });
    order_.isFenced = false;
    if (launch_.mistake == TensorMistake::kEarlyArrival && isSums(barrier)) {
      arriveAndRest(ofFirst(barrier + 2 * 8));
    }
  }
  void fenceBeforeSync() const {
    if (launch_.mistake != TensorMistake::kNoFenceBefore) order_.hasLoaded = false;
  }
  void fenceAfterSync() const {
    if (launch_.mistake != TensorMistake::kNoFenceAfter) order_.isFenced = true;
  }

  // ------------------------------------------------------------------------------- copies

  // TMA: a box of 128 bytes of every row, 128-byte swizzle; narrow codes 16 to a chunk and padding.
  void loadA(u32 to, int k, int row, u32 barrier) const {
    loadBox(launch_.a, T::kRowsA, to, k, row, barrier);
  }
  void loadB(u32 to, int k, int row, u32 barrier) const {
    const TensorMistake mistake = launch_.mistake;
    if (rank_ == 1) {
      if (mistake == TensorMistake::kNoHalf || mistake == TensorMistake::kNoHalfExpected) return;
      if (mistake == TensorMistake::kOtherHalf) row += 8;
    }
    loadBox(launch_.b, T::kRowsB, to, k, row, barrier);
  }
  // 512 bytes for each group along K, of one and of several times 128 rows.
  void loadScalesA(u32 to, int group, int block, u32 barrier) const {
    loadScales(launch_.a, 1, to, group, block, barrier);
  }
  void loadScalesB(u32 to, int group, int block, u32 barrier) const {
    loadScales(launch_.b, T::kScaledB / 128, to, group, block, barrier);
  }

  // ------------------------------------------------------------------------------- tensor memory

  template <int Columns>
  void allocate(u32 address) const {
    cluster_.block.exchange(__LINE__, {address});
    if (!isLeader()) return;
    cta_.words[address] = cta_.core.allocate(Columns);
    cta_.core.relinquish();
    // A warp of each CTA of a pair does it, together.
    cta_.hasAllocated = rank_ == 0 || launch_.mistake != TensorMistake::kNoPeerAllocation;
    cluster_.block.waitUntil([this] { return cluster_.allHaveAllocated(); });
  }
  template <int Columns>
  void free(u32 tensor) const {
    cluster_.block.exchange(__LINE__, {tensor});
    checkFenced("tcgen05.dealloc");
    if (launch_.mistake == TensorMistake::kPeerKeeps && rank_ == 1) return;
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
      case TensorMistake::kHalfOfRows:
        one.instruction -= 8u << 24;
        break;
      default:
        break;
    }
    cta_.core.issue(one);
  }
  void commit(u32 barrier, u16 mask) const {
    if (launch_.mistake == TensorMistake::kNoCommit && isSums(barrier)) return;
    if (launch_.mistake == TensorMistake::kNoCommitToPeer) mask &= 1;
    if (launch_.mistake == TensorMistake::kCommitToPeerAlone) mask &= 2;
    if (launch_.mistake == TensorMistake::kStrangeMask) mask |= 4;
    cta_.core.commit([barrier, mask, cluster = &cluster_] {
      for (int rank = 0; rank < 16; rank++)
        if (mask >> rank & 1) cluster->arrive(mappedAddress(barrier, rank), 0);
    });
  }
  void loadSums(u32 (&sums)[32], u32 address) const {
    checkFenced("tcgen05.ld");
    const int warp = thread_ / 32;
    if (launch_.mistake == TensorMistake::kOtherRows) address = (address + (32u << 16)) & 0x7fffff;
    const auto& shown = cluster_.block.exchange(__LINE__, {address});
    if (shown[0][0] != address) fail("lanes of a warp load from several addresses");
    TensorCta::Loaded& loaded = cta_.loaded[warp];
    if (loaded.left == 0) loaded = {cta_.core.load(warp, address, 32), 32};
    loaded.left--;
    for (int i = 0; i < 32; i++) sums[i] = 0x7fc0dead, arriving_[i] = loaded.words[i][thread_ % 32];
    order_.hasLoaded = true;
  }
  void waitForLoads(u32 (&sums)[32]) const {
    if (launch_.mistake == TensorMistake::kNoLoadWait) return;
    cluster_.block.exchange(__LINE__, {});
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
  // Whoever waited for it goes first, and far: a thread may be slow, and a second CTA slower.
  void arriveAndRest(u32 barrier) const {
    for (int i = 0; i < 4 * rank_; i++) rest();
    cluster_.arrive(barrier, rank_);
    rest();
  }
  void rest() const {
    cluster_.resting++;
    cluster_.block.waitUntil([cluster = &cluster_, end = cluster_.steps + 40] {
      return cluster->isQuiet || cluster->steps >= end;
    });
  }
  static bool isSums(u32 barrier) {
    const u32 first = TensorCluster::kStart + T::kBarriersAt + 2 * T::kStages * 8;
    return barrier >= first && barrier < first + 16;
  }
  bool isLeftOut(u32 barrier) const {
    const u32 number = (barrier - TensorCluster::kStart - T::kBarriersAt) / 8;
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
  void leave(const char* where) const { order_.mayTell(environment_, where); }
  void checkFenced(const char* what) const { order_.mayUse(environment_, what); }

  void begin(const OperandBox& of, u32 to, int64_t y, u32 barrier) const {
    if (T::kCtas == 1 && rankOfAddress(barrier, rank_) != rank_)
      fail("a copy of cta_group::1 tells another CTA");
    if (launch_.mistake == TensorMistake::kPeersBarrier) barrier = localAddress(barrier);
    const auto pieces = of.box.pieces(of.of, of.x, y, to);
    for (const Piece& piece : pieces) cta_.shared.begin(piece.place);
    cluster_.copies.begin({rank_, pieces, mappedAddress(barrier, rankOfAddress(barrier, rank_)),
                           of.box.bytesOfMatrix()});
  }
  void loadBox(const ScaledMatrix& of, int rows, u32 to, int k, int row, u32 barrier) const {
    if (to % 1024 != 0) fail("a box that does not begin where the swizzle does");
    begin(boxOfCodes(of, T::form().depth() == 64, T::kRowBytes, rows, k), to, row, barrier);
  }
  void loadScales(const ScaledMatrix& of, int blocks, u32 to, int group, int block,
                  u32 barrier) const {
    begin(boxOfScales(of, T::kGroups, blocks, group), to, block, barrier);
  }
  [[noreturn]] static void fail(const std::string& what) { throw std::runtime_error(what); }

  const TensorLaunch& launch_;
  TensorCluster& cluster_;
  int number_, rank_;
  TensorCta& cta_;
  int thread_;
  mutable tcgen05::ThreadOrder order_;
  tensor::Environment environment_;  // to fail in
  mutable u32 arriving_[32] = {};
};

// Every CTA or pair of a launch, one after the other; `body` takes the thread's machine.
template <class T, typename Output, typename Body>
void launchTensor(const TensorLaunch& of, Body body) {
  for (int number = 0; number < of.groups; number++) {
    TensorCluster cluster(of, T::kThreads, T::kCtas);
    cluster.block.run(
        [&] {
          const TensorMachine<T, Output> machine(of, cluster, number);
          body(machine);
          cluster.cta(machine.rank()).threadsEnded++;
        },
        [&] { return cluster.step(); });
    cluster.finish();
  }
}

}  // namespace fibers
