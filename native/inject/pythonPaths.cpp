#include "pythonPaths.h"

#include "json.h"

namespace blockscope::inject {

namespace {

// Beyond it the outermost frames are left out: of a recursion.
constexpr size_t kMostFrames = 512;
constexpr size_t kMostPaths = 1 << 20;

}  // namespace

void PythonPaths::say(ShardWriter& shard) {
  if (isSaid_) return;
  isSaid_ = true;
  const std::string missing = frames_.missing();
  shard.text(missing.empty() ? JsonLine().text("python", frames_.version()).take()
                             : JsonLine().text("noPython", missing).take());
}

void PythonPaths::sayAtEnd(ShardWriter& shard) {
  std::call_once(isLookedFor_, [&] { frames_.find(); });
  say(shard);
}

uint32_t PythonPaths::path(std::mutex& lock, Names& names, ShardWriter& shard, uint32_t ranges,
                           bool& isForgotten) {
  std::call_once(isLookedFor_, [&] { frames_.find(); });
  PythonFrame frames[kMostFrames];
  const size_t count = frames_.walk(frames, kMostFrames);
  const uint64_t hash = count == 0 ? 0 : frames_.hash(frames, count);
  const std::lock_guard guard(lock);
  if (!isSaid_ && frames_.isDecided()) say(shard);
  if (count == 0) return ranges;
  auto found = ofFrames_.find(hash);
  if (found == ofFrames_.end()) {
    isForgotten = ofFrames_.size() >= kMostPaths;
    if (isForgotten) return ranges;
    uint32_t path =
        count < kMostFrames ? 0 : names.path(0, "<frames further out>", PathKind::kPython);
    for (size_t i = count; i-- > 0;)
      path = names.path(path, frames_.nameOf(frames[i]), PathKind::kPython);
    found = ofFrames_.emplace(hash, path).first;
  }
  if (ranges == 0) return found->second;
  const auto [joined, isNew] =
      withRanges_.try_emplace(uint64_t{found->second} << 32 | ranges, uint32_t{0});
  if (isNew) joined->second = names.below(found->second, ranges);
  return joined->second;
}

}  // namespace blockscope::inject
