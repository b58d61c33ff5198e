// What calls in the PTX of Triton's kernels for sm_100 come to: its instructions around tensor
// memory, by the machine of tcgen05-emulated. Triton writes shared memory by plain stores, and
// orders by barriers alone what tcgen05.fence would.
#include "common/tcgen05/emulatedMachine.cuh"
#include "thirdParty/scale.cuh"

namespace tcgen05 {

struct TritonTile {
  static constexpr int kThreads = THREADS, kCtas = CTAS, kA = A_FORMAT, kB = B_FORMAT;
  __device__ static constexpr Form form() {
    return blockscale::formOf(A_FORMAT, B_FORMAT, SCALE_FORMAT, SCALE_BLOCK);
  }
};

struct TritonMachine : EmulatedMachine<TritonTile> {
  typedef EmulatedMachine<TritonTile> Base;

  // A row of blocks lies behind the one before.
  __device__ TritonMachine(u8* workspace, u8* fault)
      : Base({}, reinterpret_cast<Workspace*>(workspace) + blockIdx.y * gridDim.x,
             reinterpret_cast<Fault*>(fault)) {
    static_assert(sizeof(Workspace) <= TENSOR_BYTES, "fits the manifest's workspace");
  }

  // All of shared memory is one box, which has been waited for.
  __device__ void begin() const {
    Base::begin();
    if (threadIdx.x == 0) {
      own().boxes.begin(0, dynamicSharedStart(), dynamicSharedBytes(), 0, 0, rank());
      own().boxes.boxes[0].isKnown = true;
    }
    syncEverybody();
  }

  // By a whole warp.
  __device__ void allocate(u32 address, int columns) const {
    if (thread() % 32 == 0) storeWord(address, core_.allocate(columns));
    __threadfence();
    __syncwarp();
  }
  __device__ void relinquish() const {
    if (thread() % 32 == 0) core_.relinquish();
  }
  __device__ void release(u32 tensor, int columns) const {
    if (thread() % 32 == 0 && !environment_.isFaulted()) core_.free(tensor, columns);
    __syncwarp();
  }
  __device__ void store(u32 address, const u32* words, int count) const {
    const int lane = thread() % 32;
    for (int turn = 0; turn < 2; turn++) {
      if ((lane == 0) == (turn == 0) && !environment_.isFaulted())
        core_.store(thread() / 32, lane, address, count, words);
      __syncwarp();
    }
    __threadfence();
  }
  __device__ void waitForStores() const {
    __syncwarp();
    if (thread() % 32 == 0) core_.waitForStores(thread() / 32);
    __threadfence();
    __syncwarp();
  }
  __device__ void load(u32 address, u32* words, int count) const {
    __threadfence();
    for (int i = 0; i < count; i++) words[i] = 0x7fc0dead;
    if (!environment_.isFaulted()) core_.load(thread() / 32, thread() % 32, address, count, words);
  }
  __device__ void waitForLoads() const {
    __syncwarp();
    if (thread() % 32 == 0) core_.waitForLoads(thread() / 32);
    __syncwarp();
  }
  __device__ void wait(u32 barrier, u32 parity) const {
    Base::wait(barrier, parity);
    fenceAfterSync();
  }
  // Of both CTAs.
  __device__ void meet() const {
    syncAll();
    fenceAfterSync();
  }
  __device__ void multiply(int vector, u32 d, u64 a, u64 b, u32 instruction, u32 scalesA,
                           u32 scalesB, bool adds) const {
    if (vector != TritonTile::form().vector)
      environment_.fail(Sentence("tcgen05.mma: of another kind than the operands"));
    else multiplyAdd<TritonTile>(d, a, b, instruction, scalesA, scalesB, adds);
  }
};

template <int Count>
struct alignas(16) Words {
  u32 of[Count];
};

}  // namespace tcgen05

#define ALL_THREADS (THREADS + TENSOR_THREADS)
#define BEGIN                                                \
  const tcgen05::TritonMachine machine(tensorMemory, fault); \
  machine.begin();                                           \
  if (threadIdx.x >= THREADS) {                              \
    machine.runTensorCore();                                 \
  } else {
#define END      \
  machine.end(); \
  }              \
  machine.finish();

#define CALLED extern "C" __device__ __noinline__ __attribute__((used))
typedef const tcgen05::TritonMachine Called;

CALLED void allocate(Called& machine, u32 address, u32 columns) {
  machine.allocate(address, (int)columns);
}
CALLED void relinquish(Called& machine) { machine.relinquish(); }
CALLED void release(Called& machine, u32 tensor, u32 columns) {
  machine.release(tensor, (int)columns);
}
CALLED void issueMultiply(Called& machine, u32 vector, u32 d, u64 a, u64 b, u32 instruction,
                          u32 scalesA, u32 scalesB, u32 adds) {
  machine.multiply((int)vector, d, a, b, instruction, scalesA, scalesB, adds != 0);
}
CALLED void commit(Called& machine, u32 barrier, u32 mask) { machine.commit(barrier, (u16)mask); }
CALLED void waitForBarrier(Called& machine, u32 barrier, u32 parity) {
  machine.wait(barrier, parity);
}
CALLED void waitForLoads(Called& machine) { machine.waitForLoads(); }
CALLED void waitForStores(Called& machine) { machine.waitForStores(); }
CALLED void meet(Called& machine) { machine.meet(); }

#define STORE(COUNT)                                                                     \
  CALLED void store_##COUNT(Called& machine, u32 address, tcgen05::Words<COUNT> words) { \
    machine.store(address, words.of, COUNT);                                             \
  }
#define LOAD(COUNT)                                                         \
  CALLED tcgen05::Words<COUNT> load_##COUNT(Called& machine, u32 address) { \
    tcgen05::Words<COUNT> words;                                            \
    machine.load(address, words.of, COUNT);                                 \
    return words;                                                           \
  }
