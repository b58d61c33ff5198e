// --python: the Python frames that a launch was made from, as a path of the shard above its NVTX
// ranges.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "names.h"
#include "pythonFrames.h"

namespace blockscope::inject {

class PythonPaths {
 public:
  // The path of the calling thread's frames with its ranges below; the ranges alone where it runs
  // no Python. Takes the shard's lock. `isForgotten`: there were more paths than are kept.
  uint32_t path(std::mutex& lock, Names& names, ShardWriter& shard, uint32_t ranges,
                bool& isForgotten);
  // At the end, what was not said before. Under the lock.
  void sayAtEnd(ShardWriter& shard);
  // Of a forked child: its own shard is to say which Python it runs.
  void forget() { isSaid_ = false; }

 private:
  void say(ShardWriter& shard);

  std::once_flag isLookedFor_;
  PythonFrames frames_;
  bool isSaid_ = false;
  // Under the lock, as isSaid_: paths by the hash of their frames, and those with ranges below.
  std::unordered_map<uint64_t, uint32_t> ofFrames_;
  std::unordered_map<uint64_t, uint32_t> withRanges_;
};

}  // namespace blockscope::inject
