// How fast a GPU reads and copies its memory: what is timed, and what is said of it, on any GPU.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "measure.h"

namespace blockscope {

// Bytes that a thread moves at a time, and what a grid to fill the GPU is made of.
constexpr int kRoofVectorBytes = 16, kRoofThreads = 256, kRoofBlocksPerMultiprocessor = 8;
constexpr int64_t kFewestRoofBytes = int64_t{1} << 18;

struct MemoryBench {
  int64_t bytes;  // to be read: a multiple of kRoofVectorBytes, beyond every cache
  int64_t l2Bytes, lastCacheBytes;  // 0: none is known
  // Samples of a read of `bytes`, from another place of the memory for each of the plan's sets.
  std::function<Measurement(const MeasureRequest&, int64_t bytes, const CachePlan&)> readCold;
  // Nanoseconds of one run that reads `bytes` from the start of memory `passes` times; of one that
  // copies them.
  std::function<double(int64_t bytes, int passes)> read;
  std::function<double(int64_t bytes)> copy;
};

// Half of what is free at most, for what is read and what is written: `most`, or less.
int64_t roofBytes(int64_t most, int64_t freeBytes);

// "dram" and "l2" for reading, "dram-copy" for bytes read and written together. "dram" has reads
// from kFewestRoofBytes, each size twice the one before, up to all of the memory, which gives its
// rate. About a second.
std::vector<Roof> measureMemoryRoofs(const MemoryBench&, const CancelFlag&, const Progress&);

}  // namespace blockscope
