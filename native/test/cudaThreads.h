// Words of CUDA about the threads of a block, which are fibers, for kernels' sources on a CPU.
#pragma once

#include <cstring>

#include "cudaWords.h"
#include "fiberBlock.h"

namespace gpu {

using Block = fibers::Block<32, 4>;
// The block, or the cluster of blocks, that runs, and its place in the launch, whose rows have
// `across` blocks; 0: it has one.
struct Running {
  Block* block = nullptr;
  int first = 0, blocks = 1, across = 0;
};
inline Running running;
inline Block& block() { return *running.block; }
inline int lane() { return block().thread() % 32; }
inline int numberOfBlock() { return running.first + block().rank(); }

struct Coordinate {
  int (*value)();
  operator unsigned() const { return static_cast<unsigned>(value()); }
};
struct Index {
  Coordinate x;
};
struct IndexOfTwo {
  Coordinate x, y;
};

// What lane `lane` of the running thread's warp shows at the same `place`.
template <typename T>
T ofLane(int place, T value, int lane) {
  Block::Shown words = {};
  static_assert(sizeof(T) <= sizeof words);
  std::memcpy(words.data(), &value, sizeof(T));
  std::memcpy(&value, block().exchange(place, words)[static_cast<size_t>(lane)].data(), sizeof(T));
  return value;
}
template <typename T, typename Choose>
T reduced(int place, unsigned lanes, T value, Choose choose) {
  const auto& all = block().exchangeOfSome(lanes, place, {static_cast<uint32_t>(value)});
  for (size_t lane = 0; lane < 32; lane++)
    if (lanes >> lane & 1) value = choose(value, static_cast<T>(all[lane][0]));
  return value;
}

}  // namespace gpu

inline const gpu::Index threadIdx{{[] { return gpu::block().thread(); }}};
inline const gpu::Index blockDim{{[] { return gpu::block().threadsOfCta(); }}};
inline const gpu::IndexOfTwo blockIdx{
    {[] {
      return gpu::running.across == 0 ? gpu::numberOfBlock()
                                      : gpu::numberOfBlock() % gpu::running.across;
    }},
    {[] { return gpu::running.across == 0 ? 0 : gpu::numberOfBlock() / gpu::running.across; }}};
inline const gpu::IndexOfTwo gridDim{
    {[] { return gpu::running.across == 0 ? gpu::running.blocks : gpu::running.across; }},
    {[] { return gpu::running.across == 0 ? 1 : gpu::running.blocks / gpu::running.across; }}};

inline void __syncwarp() { gpu::block().exchange(0, {}); }
inline void __syncthreads() { gpu::block().sync(); }
inline int __syncthreads_or(int condition) {
  static int any;
  any = 0;
  __syncthreads();
  any |= condition != 0;
  __syncthreads();
  const int result = any;
  __syncthreads();
  return result;
}
template <typename T>
T __shfl_xor_sync(unsigned, T value, int lanes) {
  return gpu::ofLane(11, value, gpu::lane() ^ lanes);
}
template <typename T>
T __shfl_sync(unsigned, T value, int lane) {
  return gpu::ofLane(12, value, lane);
}
inline unsigned __ballot_sync(unsigned, bool condition) {
  const auto& all = gpu::block().exchange(13, {condition});
  unsigned result = 0;
  for (size_t lane = 0; lane < 32; lane++) result |= all[lane][0] << lane;
  return result;
}
inline bool __any_sync(unsigned lanes, bool condition) {
  return __ballot_sync(lanes, condition) != 0;
}
template <typename T>
T __reduce_min_sync(unsigned lanes, T value) {
  return gpu::reduced(14, lanes, value, [](T a, T b) { return std::min(a, b); });
}
template <typename T>
T __reduce_max_sync(unsigned lanes, T value) {
  return gpu::reduced(15, lanes, value, [](T a, T b) { return std::max(a, b); });
}
