// What the emulated tcgen05 product (common/tcgen05/emulatedMachine.cuh) needs of a GPU from sm_90
// on, on a CPU: threads are fibers, shared memory and mbarriers are each CTA's own, TMA brings its
// boxes late. Then the source itself. OUTPUT is float32.
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "../../resources/kernels/cuda/common/types.cuh"
#include "fiberBlock.h"
#include "mbarriers.h"

// A box of a tensor: `boxRows` rows of 128 bytes of codes, or runs of 512 bytes of scales.
struct TensorMap {
  const u8* start;
  int rows, rowBytes, boxRows;  // of codes
  int blocks, groups, boxBlocks, boxGroups;
};

namespace gpu {

// An address without the CTA that it is of.
inline uint32_t local(uint32_t address) { return address & 0xffffff; }

struct Copy {
  u32 barrier, bytes;
  std::vector<std::pair<u32, std::array<u8, 16>>> pieces;
};
struct Cta {
  std::vector<u8> shared;
  Mbarriers barriers;
  struct Named {
    int arrived = 0;
    unsigned generation = 0;
  };
  std::map<int, Named> named;  // barriers of some of the threads
  std::vector<Copy> copies;    // under way
};

// The CTAs of a cluster that run, of `grid` in all.
struct Cluster {
  static constexpr u32 kSharedStart = 1040;
  fibers::Block<32, 1> block;
  int threads, grid, first;
  std::vector<Cta> ctas;
  u64 time = 0;

  Cluster(int threads, int size, int grid, int first, size_t sharedBytes)
      : block(threads, size), threads(threads), grid(grid), first(first), ctas(size) {
    for (Cta& cta : ctas) cta.shared.resize(kSharedStart + sharedBytes);
  }
  int rank() const { return block.current() / threads; }
  Cta& own() { return ctas[rank()]; }
  // A shared::cluster address names its CTA, one of shared::cta lies in the thread's own.
  Cta& at(u32 address) { return address >> 24 == 0 ? own() : ctas.at((address >> 24) - 1); }
  u8* bytes(u32 address, size_t count) {
    std::vector<u8>& shared = at(address).shared;
    if ((address & 0xffffff) + count > shared.size() || address % count != 0)
      throw std::runtime_error("shared memory is reached at " + std::to_string(address));
    return shared.data() + (address & 0xffffff);
  }
  // Others go first, and a copy may end.
  void pause() {
    time += 1000;
    if (time % 64000 == 0)
      for (Cta& cta : ctas)
        if (!cta.copies.empty()) {
          const Copy copy = cta.copies.back();
          cta.copies.pop_back();
          for (const auto& [to, piece] : copy.pieces)
            std::memcpy(cta.shared.data() + to, piece.data(), 16);
          cta.barriers.complete(copy.barrier, copy.bytes);
        }
    block.waitUntil([] { return true; });
  }
};
inline Cluster* running = nullptr;

struct Coordinate {
  unsigned (*value)();
  operator unsigned() const { return value(); }
};
struct Index {
  Coordinate x;
};

}  // namespace gpu

// ------------------------------------------------------------------------------- CUDA

inline const gpu::Index threadIdx{
    {[] { return static_cast<unsigned>(gpu::running->block.current() % gpu::running->threads); }}};
inline const gpu::Index blockIdx{
    {[] { return static_cast<unsigned>(gpu::running->first + gpu::running->rank()); }}};
inline const gpu::Index blockDim{{[] { return static_cast<unsigned>(gpu::running->threads); }}};
inline const gpu::Index gridDim{{[] { return static_cast<unsigned>(gpu::running->grid); }}};

struct uint4 {
  u32 x, y, z, w;
};
inline uint4 make_uint4(u32 x, u32 y, u32 z, u32 w) { return {x, y, z, w}; }
inline float __uint_as_float(u32 bits) { return std::bit_cast<float>(bits); }
inline u32 __float_as_uint(float value) { return std::bit_cast<u32>(value); }
inline u32 atomicCAS(u32* at, u32 before, u32 after) {
  const u32 was = *at;
  if (was == before) *at = after;
  return was;
}
inline void __threadfence() {}
inline void __syncthreads() { gpu::running->block.sync(); }
inline void __syncwarp() { gpu::running->block.exchange(0, {}); }
inline void __nanosleep(unsigned ns) {
  for (unsigned i = 0; i < ns / 10000 + 1; i++) gpu::running->pause();
}

// -------------------------------------------------------------------------------
// common/pipeline.cuh

typedef float Output;
inline Output toOutput(float value) { return value; }
inline u32 toOutputPair(float, float) { throw std::runtime_error("C is float32"); }

inline u32 clusterRank() { return static_cast<u32>(gpu::running->rank()); }
inline void syncCluster() { gpu::running->block.syncCluster(); }
inline bool electOne() { return threadIdx.x % 32 == 0; }
inline u32 loadWord(u32 address) {
  u32 word;
  std::memcpy(&word, gpu::running->bytes(address, 4), 4);
  return word;
}
inline void initBarrier(u32 barrier, u32 arrivals) {
  gpu::running->own().barriers.init(gpu::local(barrier), static_cast<int>(arrivals));
}
inline void publishBarriers() {}
inline void expectBytes(u32 barrier, u32 bytes) {
  gpu::running->own().barriers.arrive(gpu::local(barrier), bytes);
}
inline void arriveHere(u32 barrier) { gpu::running->own().barriers.arrive(gpu::local(barrier)); }
inline void arriveAt(u32 barrier, u32 rank) {
  gpu::running->ctas.at(rank).barriers.arrive(gpu::local(barrier));
}
// PTX ISA, "Swizzling modes": pieces of a row of 128 bytes exchanged by its number.
inline void loadBox(u32 to, const TensorMap* map, int x, int y, u32 barrier) {
  gpu::Copy copy{gpu::local(barrier), static_cast<u32>(map->boxRows * 128), {}};
  for (int row = 0; row < map->boxRows; row++)
    for (int piece = 0; piece < 8; piece++) {
      std::array<u8, 16> bytes{};
      const int first = x + piece * 16;
      if (y + row < map->rows && first < map->rowBytes)
        std::memcpy(bytes.data(), map->start + (y + row) * map->rowBytes + first, 16);
      copy.pieces.push_back(
          {gpu::local(to) + static_cast<u32>(row * 128 + (piece ^ row % 8) * 16), bytes});
    }
  gpu::running->own().copies.push_back(copy);
}

// ------------------------------------------------------------------------------- emulatedPtx.cuh

namespace tcgen05 {

inline u64 nanoseconds() {
  gpu::running->pause();
  return gpu::running->time;
}
inline u32 inCta(u32 address, u32 rank) { return gpu::local(address) | (rank + 1) << 24; }
// As on a GPU, a thread's own addresses say which CTA's they are.
inline u32 dynamicSharedStart() { return inCta(gpu::Cluster::kSharedStart, clusterRank()); }
inline void loadPiece(u32 (&words)[4], u32 address) {
  std::memcpy(words, gpu::running->bytes(address, 16), 16);
}
inline void storePiece(u32 address, const u32 (&words)[4]) {
  std::memcpy(gpu::running->bytes(address, 16), words, 16);
}
inline void storeWord(u32 address, u32 word) {
  std::memcpy(gpu::running->bytes(address, 4), &word, 4);
}
inline void syncThreads(int barrier, int count) {
  gpu::Cta::Named& named = gpu::running->own().named[barrier];
  const unsigned generation = named.generation;
  if (++named.arrived == count) {
    named.arrived = 0, named.generation++;
    return;
  }
  gpu::running->block.waitUntil([&named, generation] { return named.generation != generation; });
}
inline bool isOver(u32 barrier, u32 parity) {
  return gpu::running->own().barriers.isOver(gpu::local(barrier), parity);
}
inline void completeBytes(u32 barrier, u32 bytes) {
  gpu::running->at(barrier).barriers.complete(gpu::local(barrier), bytes);
}
inline void loadScaleBox(u32 to, const TensorMap* map, int group, int block, u32 barrier) {
  gpu::Copy copy{gpu::local(barrier), static_cast<u32>(map->boxBlocks * map->boxGroups * 512), {}};
  for (int i = block; i < block + map->boxBlocks; i++)
    for (int j = group; j < group + map->boxGroups; j++)
      for (int at = 0; at < 512; at += 16, to += 16) {
        std::array<u8, 16> bytes{};
        if (i < map->blocks && j < map->groups)
          std::memcpy(bytes.data(), map->start + (i * map->groups + j) * 512 + at, 16);
        copy.pieces.push_back({gpu::local(to), bytes});
      }
  gpu::running->own().copies.push_back(copy);
}

}  // namespace tcgen05

// ------------------------------------------------------------------------------- the source

#define __device__
#define __noinline__
#define TENSOR_BYTES 393216
#include "../../resources/kernels/cuda/common/tcgen05/emulatedMachine.cuh"
#undef __device__
#undef __noinline__
