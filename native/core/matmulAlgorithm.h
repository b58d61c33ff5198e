// The algorithm that a vendor's matmul library chose for an operation, in the library's own words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fields.h"

namespace blockscope {

struct MatmulAlgorithm {
  int64_t id = 0;    // of cuBLASLt's algorithm, of hipBLASLt's solution
  std::string name;  // of hipBLASLt's solution; empty: the library has no names
  // "128x256" of its C, which is ours transposed; "64xAUTO": K of a stage and how many; "2x1x1".
  // Empty: the library does not tell.
  std::string tile, stages, cluster;
  std::optional<int64_t> splitK, swizzle, customOption;
  std::string reduction;  // of split K's parts: "none", "in place", "in its sums", "in C's type"
  int64_t workspaceBytes = 0;
  double waves = 0;            // 1: fills the device once
  int rank = 1, proposed = 1;  // its place among those that the library's heuristic gave
  BLOCKSCOPE_FIELDS(id, name, tile, stages, cluster, splitK, swizzle, customOption, reduction,
                    workspaceBytes, waves, rank, proposed)
};

}  // namespace blockscope
