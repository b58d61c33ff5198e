// What the model of tensor memory (tensorCore.cuh) asks of a GPU from sm_90 on: where its memory
// lies, which shared memory it may read, how it waits and tells.
//
// The first thing that is found wrong is written to `fault`. From then on nobody waits, and the
// kernel comes to its end with whatever sums there are.
#pragma once

#include "common/tcgen05/emulatedCopies.cuh"
#include "common/tcgen05/gemm.cuh"
#include "common/tcgen05/tensorCore.cuh"

namespace tcgen05 {

// 256 bytes of a workspace that is cleared before the launch.
struct Fault {
  char text[Sentence::kRoom];
  u32 isTaken;

  __device__ void note(const Sentence& what) {
    if (atomicCAS(&isTaken, 0u, 1u) != 0) return;
    for (int i = 0; i < what.length; i++) text[i] = what.text[i];
  }
};

// What the model asks of a GPU.
template <class T>
struct GpuEnvironment {
  struct Commit {
    u32 barrier;
    u16 mask;
  };
  struct Pieces {
    u32 boxes[2];  // of each CTA, a bit to a box
    // The box that was found last: the next bytes are most often in it.
    int cta;
    u32 start, bytes;
  };
  static constexpr int kWarps = T::kThreads / 32;
  typedef TensorMemory<Operation<Commit, Pieces>, kWarps> Memory;
  // Of one CTA, in global memory.
  struct Workspace {
    Memory tensor;
    Boxes boxes;
    volatile u32 isOver, granted, met;
  };
  static constexpr u64 kPatience = 500 * 1000 * 1000;

  Fault* fault;
  Workspace* workspaces[2];

  __device__ bool isFaulted() const { return *(volatile u32*)&fault->isTaken != 0; }
  __device__ __noinline__ bool fail(Sentence what) const {
    what.add(" (block ");
    what.add(blockIdx.x);
    what.add(", thread ");
    what.add(threadIdx.x);
    what.add(")");
    fault->note(what);
    return false;
  }
  // False: something is wrong, at last that nothing moves any more.
  template <class IsThere>
  __device__ bool waitUntil(IsThere isThere, const char* what, u32 number,
                            u64 patience = kPatience) const {
    u64 since = nanoseconds();
    u32 seen = progress();
    while (!isThere()) {
      if (isFaulted()) return false;
      const u64 now = nanoseconds();
      const u32 moved = progress();
      if (moved != seen) seen = moved, since = now;
      else if (now - since > patience) return fail(Sentence(what, number));
    }
    return true;
  }
  template <class IsThere>
  __device__ bool waitForRoom(IsThere isThere) const {
    return waitUntil(
        isThere, "the tensor core has more work than a commit is behind: ", (u32)Memory::kUnderWay);
  }
  __device__ static void fence() { __threadfence(); }

  __device__ __noinline__ bool use(Pieces& pieces, int cta, u32 address) const {
    if (cta == pieces.cta && address - pieces.start < pieces.bytes) return true;
    const Boxes& boxes = workspaces[cta]->boxes;
    const int at = boxes.find(address);
    if (at < 0) return fail(Sentence("the tensor core reads what nobody wrote at byte ", address));
    const volatile Boxes::Box& box = boxes.boxes[at];
    if (!box.isKnown)
      return fail(
          Sentence("the tensor core reads under a copy that is not waited for at byte ", address));
    pieces.boxes[cta] |= 1u << at;
    pieces.cta = cta, pieces.start = box.to, pieces.bytes = box.bytes;
    return true;
  }
  __device__ static void release(const Pieces&) {}
  __device__ static void piece(int cta, u32 address, u32 (&words)[4]) {
    loadPiece(words, T::kCtas == 1 ? address : atCta(address, (u32)cta));
  }
  template <class Line>
  __device__ static u32 sumOf(const Form&, Line& line, u32 before) {
    // issue() lets no other form pass; the compiler knows this one.
    line.form = T::form();
    return blockscale::sumOf(T::form(), line, before);
  }
  __device__ void arrive(const Commit& commit) const {
    for (int rank = 0; rank < 16; rank++) {
      if (!(commit.mask >> rank & 1)) continue;
      if (rank >= T::kCtas) {
        fail(Sentence("CTA ", rank, " is told of a cluster of ", +T::kCtas));
        return;
      }
      arriveIn(commit.barrier, (u32)rank);
    }
  }
  __device__ static void arriveIn(u32 barrier, u32 rank) {
    __threadfence();
    if (T::kCtas == 1) arriveHere(barrier);
    else arriveAt(barrier, rank);
  }

 private:
  // Whatever moves, moves it.
  __device__ u32 progress() const {
    return workspaces[0]->tensor.ended + workspaces[0]->tensor.issued + workspaces[0]->boxes.begun +
           (T::kCtas == 2 ? workspaces[1]->boxes.begun : 0);
  }
};

}  // namespace tcgen05
