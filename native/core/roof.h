// Limits of a device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fields.h"

namespace blockscope {

// What a plain read of so many bytes takes, none of which a cache holds: the median of samples that
// are taken as kernels' are.
struct TimedRead {
  int64_t bytes = 0;
  double ns = 0;
  BLOCKSCOPE_FIELDS(bytes, ns)
};

// A limit of a device: arithmetic of a class of instruction, or reading of a level of memory.
struct Roof {
  std::string kind;  // "compute", "memory"
  std::string of;    // an instruction, as Capability has it, or a level: "l1", "l2", "l3", "dram"
  double rate = 0;   // FLOP/s or byte/s
  std::string basis = "measured";
  std::string source;                                // how: one sentence
  std::optional<std::vector<TimedRead>> reads = {};  // of a GPU's "dram", from few bytes to many
  BLOCKSCOPE_FIELDS(kind, of, rate, basis, source, reads)
};

}  // namespace blockscope
