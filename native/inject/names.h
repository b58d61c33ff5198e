// Numbers for what repeats from record to record: call paths, threads, calls, shapes of launches,
// streams. Each is written into the shard once, ahead of the records that use it. Under the lock of
// the shard.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shardWriter.h"

namespace blockscope::inject {

struct LaunchShape {
  std::array<int64_t, 3> grid, block, cluster;
  int64_t registers, staticShared, dynamicShared, local;
  bool operator==(const LaunchShape&) const = default;
};

enum class PathKind : uint8_t { kRange, kPython };

class Names {
 public:
  explicit Names(ShardWriter& shard) : shard_(shard) {}

  // Path 0 is that without a range.
  uint32_t path(uint32_t parent, std::string_view name, PathKind kind = PathKind::kRange);
  // The path of ranges, once more below another.
  uint32_t below(uint32_t parent, uint32_t ranges);
  uint32_t thread(uint32_t tid);
  uint16_t call(const char* function);
  uint32_t kernelName(std::string_view name);
  std::string_view kernelNameOf(uint32_t id) const { return *kernelNames_[id]; }
  uint32_t shape(uint32_t kernel, const LaunchShape& shape);
  uint32_t place(uint32_t device, uint32_t context, uint32_t stream);
  // Paths outlive a fork and come before the start of CUDA: a shard that is opened gets all of
  // them.
  void writePaths();
  // Of a forked child: what was written went into its parent's shard.
  void forget();

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  template <typename Value>
  using ByText = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;
  struct WordsHash {
    template <size_t N>
    size_t operator()(const std::array<int64_t, N>& words) const {
      uint64_t hash = 0xcbf29ce484222325u;
      for (const int64_t word : words) hash = (hash ^ static_cast<uint64_t>(word)) * 0x100000001b3u;
      return hash ^ (hash >> 29);
    }
  };
  void writePath(uint32_t id) const;

  struct Path {
    uint32_t parent;
    PathKind kind;
    std::string name;
  };
  ShardWriter& shard_;
  std::vector<Path> paths_;
  std::unordered_map<uint64_t, ByText<uint32_t>> childPaths_;  // by parent and kind
  std::unordered_map<uint32_t, uint32_t> threads_;
  ByText<uint16_t> calls_;
  ByText<uint32_t> kernels_;
  std::vector<const std::string*> kernelNames_;
  std::unordered_map<std::array<int64_t, 14>, uint32_t, WordsHash> shapes_;
  std::unordered_map<std::array<int64_t, 3>, uint32_t, WordsHash> places_;
};

}  // namespace blockscope::inject
