// The machine of the tcgen05 product (gemm.cuh) on GPUs without tensor memory, from sm_90 on: its
// mbarriers, clusters and TMA are the GPU's own, tensor memory lies in global memory
// (tensorCore.cuh) and further warps of the first CTA of each pair stand for the tensor core. They
// begin what is issued when a commit is behind it, and take their time: whoever does not wait meets
// it.
#pragma once

#include "common/tcgen05/emulatedEnvironment.cuh"
#include "common/tcgen05/threadOrder.cuh"

namespace tcgen05 {

// What the kernel is given.
struct EmulatedProblem {
  const TensorMap *a, *b, *aScales, *bScales;
  const u8 *aCodes, *bCodes, *aScaleBytes, *bScaleBytes;
  Problem of;
};

template <class T>
class EmulatedMachine {
 public:
  typedef ::Output Output;
  typedef GpuEnvironment<T> Environment;
  typedef typename Environment::Workspace Workspace;
  typedef typename TensorCore<Environment>::Operation Operation;

  // `workspace` has one of each CTA.
  __device__ EmulatedMachine(const EmulatedProblem& problem, Workspace* workspace, Fault* fault)
      : problem_(problem),
        environment_{fault,
                     {workspace + group() * T::kCtas,
                      T::kCtas == 2 ? workspace + group() * T::kCtas + 1 : nullptr}},
        core_(environment_, &environment_.workspaces[0]->tensor,
              T::kCtas == 2 ? &environment_.workspaces[1]->tensor : nullptr, rank()) {}

  __device__ static int thread() { return threadIdx.x; }
  __device__ static int group() { return blockIdx.x / T::kCtas; }
  __device__ static int groups() { return gridDim.x / T::kCtas; }
  __device__ static int rank() { return T::kCtas == 1 ? 0 : (int)clusterRank(); }
  __device__ static bool isLeader() { return electOne(); }
  __device__ static u32 sharedStart() { return (dynamicSharedStart() + 1023) & ~1023u; }
  __device__ static u32 loadWord(u32 address) { return ::loadWord(address); }

  // ------------------------------------------------------------------------------- threads

  // Of those that share a tile; the tensor core's warps have a barrier of their own.
  __device__ void syncAll() const {
    order_.mayTell(environment_, "a barrier of all threads");
    __threadfence();
    if (T::kCtas == 2) meetOther();
    syncThreads(1, T::kThreads);
    __threadfence();
    order_.isFenced = false;
  }
  __device__ static void initBarrier(u32 barrier, u32 arrivals) {
    ::initBarrier(barrier, arrivals);
  }
  __device__ static void publishBarriers() { ::publishBarriers(); }
  __device__ void expect(u32 barrier, u32 bytes) const {
    if (environment_.isFaulted()) return;
    own().boxes.announce(barrier, bytes);
    expectBytes(barrier, bytes);
  }
  __device__ static u32 ofFirst(u32 address) { return rank() == 0 ? address : address | kOfFirst; }
  __device__ void arrive(u32 barrier) const {
    if (!order_.mayTell(environment_, "an mbarrier")) return;
    if (environment_.isFaulted()) return;
    Environment::arriveIn(barrier & ~kOfFirst, toldBy(barrier));
    // Whoever waited for it goes first: a thread may be slow.
    __nanosleep(1000 * 1000);
  }
  __device__ __noinline__ void wait(u32 barrier, u32 parity) const {
    if (!environment_.waitUntil(
            [&] { return isOver(barrier, parity); },
            "a commit, an arrival or a copy is missing: a thread waits for the mbarrier at byte ",
            barrier))
      return;
    __threadfence();
    u32 brought = 0;
    for (int cta = 0; cta < T::kCtas; cta++)
      brought += environment_.workspaces[cta]->boxes.makeKnown(barrier, rank());
    const u32 announced = own().boxes.takeAnnounced(barrier);
    if (brought != announced)
      environment_.fail(Sentence("the mbarrier at byte ", barrier, " waits for ", announced,
                                 " bytes where copies bring ", brought));
    __threadfence();
    order_.isFenced = false;
  }
  __device__ void fenceBeforeSync() const { order_.hasLoaded = false; }
  __device__ void fenceAfterSync() const { order_.isFenced = true; }

  // ------------------------------------------------------------------------------- copies

  __device__ void loadA(u32 to, int k, int row, u32 barrier) const {
    loadCodes<T::kA>(to, problem_.a,
                     {problem_.aCodes, problem_.of.M, bytesOf(problem_.of.K, T::kA)}, k, row,
                     T::kRowsA, barrier);
  }
  __device__ void loadB(u32 to, int k, int row, u32 barrier) const {
    loadCodes<T::kB>(to, problem_.b,
                     {problem_.bCodes, problem_.of.N, bytesOf(problem_.of.K, T::kB)}, k, row,
                     T::kRowsB, barrier);
  }
  __device__ void loadScalesA(u32 to, int group, int block, u32 barrier) const {
    loadScales(to, problem_.aScales,
               {problem_.aScaleBytes, ceilDiv(problem_.of.M, 128), groupsOfK()}, group, block, 1,
               barrier);
  }
  __device__ void loadScalesB(u32 to, int group, int block, u32 barrier) const {
    loadScales(to, problem_.bScales,
               {problem_.bScaleBytes, ceilDiv(problem_.of.N, 128), groupsOfK()}, group, block,
               T::kScaledB / 128, barrier);
  }

  // ------------------------------------------------------------------------------- tensor memory

  template <int Columns>
  __device__ void allocate(u32 address) const {
    if (thread() % 32 == 0) {
      const u32 column = core_.allocate(Columns);
      core_.relinquish();
      storeWord(address, column);
    }
    __syncwarp();
  }
  template <int Columns>
  __device__ void free(u32 tensor) const {
    if (thread() % 32 == 0 && !environment_.isFaulted() &&
        order_.mayUse(environment_, "tcgen05.dealloc"))
      core_.free(tensor, Columns);
    __syncwarp();
  }
  __device__ __noinline__ void copyScales(u32 column, u64 descriptor) const {
    if (!environment_.isFaulted() && order_.mayUse(environment_, "tcgen05.cp"))
      core_.issue(ScaleCopy{column, descriptor});
  }
  template <class Tile>
  __device__ __noinline__ void multiplyAdd(u32 d, u64 a, u64 b, u32 instruction, u32 scalesA,
                                           u32 scalesB, bool adds) const {
    if (environment_.isFaulted() || !order_.mayUse(environment_, "tcgen05.mma")) return;
    const Form form = decodedInstruction(T::form().vector, instruction).form;
    if (form.a != T::kA || form.b != T::kB || form.scale != T::form().scale)
      environment_.fail(Sentence("tcgen05.mma: its types are not those of the operands"));
    else core_.issue(Multiply{T::form().vector, d, a, b, instruction, scalesA, scalesB, adds});
  }
  __device__ __noinline__ void commit(u32 barrier, u16 mask) const {
    if (!environment_.isFaulted()) core_.issue(typename Environment::Commit{barrier, mask});
  }
  __device__ __noinline__ void loadSums(u32 (&sums)[32], u32 address) const {
    UNROLL
    for (int i = 0; i < 32; i++) sums[i] = 0x7fc0dead;
    if (!environment_.isFaulted() && order_.mayUse(environment_, "tcgen05.ld"))
      core_.load(thread() / 32, thread() % 32, address, 32, arriving_);
    order_.hasLoaded = true;
    __syncwarp();
  }
  __device__ void waitForLoads(u32 (&sums)[32]) const {
    __syncwarp();
    if (thread() % 32 == 0) core_.waitForLoads(thread() / 32);
    UNROLL
    for (int i = 0; i < 32; i++) sums[i] = arriving_[i];
  }

  // ------------------------------------------------------------------------------- stores

  __device__ static float number(u32 bits) { return __uint_as_float(bits); }
  __device__ static u32 bits(float number) { return __float_as_uint(number); }
  __device__ static Output toOutput(float value) { return ::toOutput(value); }
  __device__ static u32 toPair(float left, float right) { return toOutputPair(left, right); }
  __device__ static void storeFour(Output* to, const u32 (&words)[4]) {
    *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
  }

  // ------------------------------------------------------------------------------- beside the
  // kernel

  // By all threads, before anything else.
  __device__ void begin() const {
    u32* words = reinterpret_cast<u32*>(&own());
    for (u32 i = threadIdx.x; i < sizeof(Workspace) / 4; i += blockDim.x) words[i] = 0;
    syncEverybody();
  }
  // By the warps that stand for the tensor core; of a pair the first CTA's do the work of both.
  __device__ void runTensorCore() const {
    if (rank() != 0) return;
    const int workers = blockDim.x - T::kThreads, worker = threadIdx.x - T::kThreads;
    Workspace& shared = own();
    for (u32 ended = 0;;) {
      if (worker == 0) {
        while (shared.tensor.committed == ended && !shared.isOver && !environment_.isFaulted())
          __nanosleep(200);
        shared.granted = environment_.isFaulted() ? ended : shared.tensor.committed;
        __threadfence();
      }
      syncThreads(2, workers);
      const u32 granted = shared.granted;
      __threadfence();
      if (granted == ended) return;
      for (; ended != granted; ended++) {
        core_.work(core_.oldest(), worker, workers);
        __threadfence();
        syncThreads(2, workers);
        if (worker == 0) core_.end();
        syncThreads(2, workers);
      }
    }
  }
  // By the others, after everything else.
  __device__ void end() const {
    syncThreads(1, T::kThreads);
    if (threadIdx.x == 0) {
      // Copies that nobody waited for may be under way.
      if (environment_.isFaulted()) __nanosleep(1000 * 1000);
      __threadfence();
      own().isOver = 1;
    }
  }
  // By all threads.
  __device__ void finish() const {
    syncEverybody();
    if (threadIdx.x == 0 && !environment_.isFaulted()) core_.finish();
  }

 protected:
  __device__ Workspace& own() const { return *environment_.workspaces[rank()]; }
  __device__ static void syncEverybody() {
    __threadfence();
    __syncthreads();
    if (T::kCtas == 2) syncCluster();
    __threadfence();
  }
  // The CTA whose mbarrier this is.
  __device__ static u32 toldBy(u32 barrier) { return barrier & kOfFirst ? 0u : (u32)rank(); }

  __device__ static int bytesOf(int k, int format) { return k * storageBits(format) / 8; }
  __device__ int groupsOfK() const { return ceilDiv(problem_.of.K, T::kScaleBlock * kScaleGroup); }

  // False: the copy is not to be.
  __device__ __noinline__ bool beginCopy(u32 to, u32 bytes, u32 counted, u32 barrier) const {
    if (environment_.isFaulted()) return false;
    Boxes& boxes = own().boxes;
    const int at = boxes.placeOf(to), mine = rank();
    if (at < 0) return environment_.fail(Sentence("more boxes than the model has room for"));
    if (at < (int)boxes.count) {
      if (!boxes.boxes[at].isKnown)
        return environment_.fail(Sentence("two copies at once to byte ", to));
      if (core_.isUnderWay([&](const Operation& one) { return one.pieces.boxes[mine] >> at & 1; }))
        return environment_.fail(
            Sentence("a copy over what the tensor core still reads at byte ", to));
    }
    boxes.begin(at, to, bytes, counted, barrier & ~kOfFirst, (int)toldBy(barrier));
    return true;
  }
  __device__ static void tell(u32 barrier, u32 bytes) {
    __threadfence();
    completeBytes(atCta(barrier & ~kOfFirst, toldBy(barrier)), bytes);
  }
  template <int Format>
  __device__ __noinline__ void loadCodes(u32 to, const TensorMap* map, CodeRows from, int k,
                                         int row, int rows, u32 barrier) const {
    constexpr bool kPacked = T::form().depth() == 64;
    constexpr int kPieceBytes = kPacked ? 16 : 2 * storageBits(Format);
    if (to % 1024 != 0) {
      environment_.fail(Sentence("a box that does not begin where the swizzle does"));
      return;
    }
    const u32 bytes = (u32)(rows * 8 * kPieceBytes);
    if (!beginCopy(to, (u32)rows * 128, bytes, barrier)) return;
    const int first = bytesOf(k, Format);
    // sm_90 pads no codes, and tells no other CTA.
    if (kPieceBytes == 16 && toldBy(barrier) == (u32)rank()) {
      ::loadBox(to, map, first, row, barrier);
    } else {
      copyBox<kPieceBytes>(to, from, first, row, rows);
      tell(barrier, bytes);
    }
  }
  __device__ __noinline__ void loadScales(u32 to, const TensorMap* map, ScaleBlocks from, int group,
                                          int block, int blocks, u32 barrier) const {
    const u32 bytes = (u32)(blocks * T::kGroups * kScaleGroupBytes);
    if (!beginCopy(to, bytes, bytes, barrier)) return;
    if (toldBy(barrier) == (u32)rank()) {
      loadScaleBox(to, map, group, block, barrier);
    } else {
      copyScaleBox(to, from, group, T::kGroups, block, blocks);
      tell(barrier, bytes);
    }
  }
  // Of both CTAs, once all threads of each are here.
  __device__ void meetOther() const {
    syncThreads(1, T::kThreads);
    if (threadIdx.x != 0) return;
    const u32 mine = own().met + 1;
    own().met = mine;
    __threadfence();
    Workspace& other = *environment_.workspaces[1 - rank()];
    // What the other one waits for is the cause: it is told first.
    environment_.waitUntil([&] { return other.met >= mine; },
                           "the other CTA does not come to the barrier of all threads ", mine,
                           2 * Environment::kPatience);
  }

  EmulatedProblem problem_;
  Environment environment_;
  mutable TensorCore<Environment> core_;
  mutable ThreadOrder order_;
  mutable u32 arriving_[32];
};

// The kernel: `problem` and the rest as its parameters are.
template <class T, class Machine = EmulatedMachine<T>>
__device__ inline void runEmulated(const EmulatedProblem& problem, u8* workspace, u8* fault,
                                   float factor, Output* c) {
  static_assert(sizeof(typename Machine::Workspace) <= TENSOR_BYTES,
                "fits the manifest's workspace");
  const Machine machine(problem, reinterpret_cast<typename Machine::Workspace*>(workspace),
                        reinterpret_cast<Fault*>(fault));
  machine.begin();
  if (threadIdx.x < T::kThreads) {
    run<T>(machine, problem.of, factor, c);
    machine.end();
  } else {
    machine.runTensorCore();
  }
  machine.finish();
}

}  // namespace tcgen05
