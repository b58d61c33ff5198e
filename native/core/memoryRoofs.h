// How fast a GPU reads and copies its memory: what is timed, and what is said of it, on any GPU.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend.h"

namespace blockscope {

// Bytes that a thread moves at a time, and what a grid to fill the GPU is made of.
constexpr int kRoofVectorBytes = 16, kRoofThreads = 256, kRoofBlocksPerMultiprocessor = 8;

struct MemoryBench {
  int64_t bytes;    // to be read: a multiple of kRoofVectorBytes, beyond every cache
  int64_t l2Bytes;  // 0: none is known
  // Nanoseconds of one run that reads `bytes` from the start of memory `passes` times; of one that
  // copies them.
  std::function<double(int64_t bytes, int passes)> read;
  std::function<double(int64_t bytes)> copy;
};

// Half of what is free at most, for what is read and what is written: `most`, or less.
int64_t roofBytes(int64_t most, int64_t freeBytes);

// "dram" and "l2" for reading, "dram-copy" for bytes read and written together. About a second.
std::vector<Roof> measureMemoryRoofs(const MemoryBench&, const CancelFlag&, const Progress&);

}  // namespace blockscope
