// What the emulated tcgen05 product (common/tcgen05/emulatedMachine.cuh) needs of a GPU from sm_90
// on, on a CPU: threads are fibers, shared memory and mbarriers are each CTA's own, TMA brings its
// boxes late. Then the source itself. OUTPUT is float32.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../resources/kernels/cuda/common/types.cuh"
#include "copyEngine.h"
#include "cudaThreads.h"
#include "mbarriers.h"

// Of codes, or of scales: runs of 512 bytes.
struct TensorMap {
  fibers::Matrix matrix;
  fibers::Box box;
};

namespace gpu {

struct Cta {
  std::vector<u8> shared;
  Mbarriers barriers;
};

// The CTAs of a cluster that run.
struct Cluster {
  static constexpr u32 kSharedStart = 1040;
  Block block;
  std::vector<Cta> ctas;
  fibers::CopiesUnderWay copies;
  u64 time = 0;

  Cluster(int threads, int size, size_t sharedBytes) : block(threads, size), ctas(size) {
    for (Cta& cta : ctas) cta.shared.resize(kSharedStart + sharedBytes);
  }
  Cta& own() { return ctas[block.rank()]; }
  Cta& at(u32 address) { return ctas.at(fibers::rankOfAddress(address, block.rank())); }
  u8* bytes(u32 address, size_t count) {
    std::vector<u8>& shared = at(address).shared;
    const u32 place = fibers::localAddress(address);
    if (place + count > shared.size() || address % count != 0)
      throw std::runtime_error("shared memory is reached at " + std::to_string(address));
    return shared.data() + place;
  }
  void load(u32 to, const TensorMap& map, int64_t x, int64_t y, u32 barrier) {
    const int rank = block.rank();
    copies.begin({rank, map.box.pieces(map.matrix, x, y, fibers::localAddress(to)),
                  fibers::mappedAddress(barrier, rank), map.box.bytesOfMatrix()});
  }
  // Others go first, and copies may end.
  void pause() {
    time += 1000;
    for (size_t i = 0; time % 64000 == 0 && i < ctas.size() && !copies.empty(); i++) {
      const fibers::BoxCopy copy = copies.take(copies.nextChance());
      for (const fibers::Piece& piece : copy.pieces)
        std::memcpy(ctas[copy.rank].shared.data() + piece.place, piece.bytes.data(),
                    piece.bytes.size());
      at(copy.barrier).barriers.complete(fibers::localAddress(copy.barrier), copy.bytes);
    }
    block.waitUntil([] { return true; });
  }
};
inline Cluster* cluster = nullptr;

// Cluster number `index` of a launch of `count`.
template <typename Kernel>
void run(Cluster& one, int index, int count, Kernel kernel) {
  cluster = &one;
  const auto size = static_cast<int>(one.ctas.size());
  running = {&one.block, index * size, count * size};
  one.block.run(kernel);
}

}  // namespace gpu

inline void __nanosleep(unsigned ns) {
  for (unsigned i = 0; i < ns / 10000 + 1; i++) gpu::cluster->pause();
}

// -------------------------------------------------------------------------------
// common/pipeline.cuh

typedef float Output;
inline Output toOutput(float value) { return value; }
inline u32 toOutputPair(float, float) { throw std::runtime_error("C is float32"); }

inline u32 clusterRank() { return static_cast<u32>(gpu::block().rank()); }
inline void syncCluster() { gpu::block().syncCluster(); }
inline bool electOne() { return gpu::lane() == 0; }
inline u32 loadWord(u32 address) {
  u32 word;
  std::memcpy(&word, gpu::cluster->bytes(address, 4), 4);
  return word;
}
inline void storeWord(u32 address, u32 word) {
  std::memcpy(gpu::cluster->bytes(address, 4), &word, 4);
}
// As on a GPU, a thread's own addresses say which CTA's they are.
inline u32 dynamicSharedStart() {
  return fibers::mappedAddress(gpu::Cluster::kSharedStart, gpu::block().rank());
}
inline void initBarrier(u32 barrier, u32 arrivals) {
  gpu::cluster->own().barriers.init(fibers::localAddress(barrier), static_cast<int>(arrivals));
}
inline void publishBarriers() {}
inline void expectBytes(u32 barrier, u32 bytes) {
  gpu::cluster->own().barriers.arrive(fibers::localAddress(barrier), bytes);
}
inline void arriveHere(u32 barrier) {
  gpu::cluster->own().barriers.arrive(fibers::localAddress(barrier));
}
inline u32 atCta(u32 address, u32 rank) {
  return fibers::mappedAddress(address, static_cast<int>(rank));
}
inline void arriveAt(u32 barrier, u32 rank) {
  gpu::cluster->ctas.at(rank).barriers.arrive(fibers::localAddress(barrier));
}
inline void loadBox(u32 to, const TensorMap* map, int x, int y, u32 barrier) {
  gpu::cluster->load(to, *map, x, y, barrier);
}

// ------------------------------------------------------------------------------- emulatedPtx.cuh

namespace tcgen05 {

inline u64 nanoseconds() {
  gpu::cluster->pause();
  return gpu::cluster->time;
}
inline void loadPiece(u32 (&words)[4], u32 address) {
  std::memcpy(words, gpu::cluster->bytes(address, 16), 16);
}
inline void storePiece(u32 address, const u32 (&words)[4]) {
  std::memcpy(gpu::cluster->bytes(address, 16), words, 16);
}
inline void syncThreads(int barrier, int count) { gpu::block().syncSome(barrier, count); }
inline bool isOver(u32 barrier, u32 parity) {
  return gpu::cluster->own().barriers.isOver(fibers::localAddress(barrier), parity);
}
inline void completeBytes(u32 barrier, u32 bytes) {
  gpu::cluster->at(barrier).barriers.complete(fibers::localAddress(barrier), bytes);
}
inline void loadScaleBox(u32 to, const TensorMap* map, int group, int block, u32 barrier) {
  gpu::cluster->load(to, *map, group * 512, block, barrier);
}

}  // namespace tcgen05

// ------------------------------------------------------------------------------- the source

#define __noinline__
#define TENSOR_BYTES 393216
#include "../../resources/kernels/cuda/common/tcgen05/emulatedMachine.cuh"
#undef __noinline__
