#include "calls.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "clock.h"
#include "ranges.h"

namespace blockscope::inject {

namespace {

// The call that this thread is in, and its path, once asked for.
thread_local bool isWithin = false;
thread_local bool hasPath = false;
thread_local uint32_t pathOfCall = 0;
thread_local uint32_t threadId = 0;

void countCall(Session& mine, const LaunchRecord& record) {
  if (record.flags & kCallFailed) return mine.count(failedLaunches);
  if (record.flags & kCallCaptured) return mine.count(capturedLaunches);
  switch (record.kind) {
    case CallKind::kKernel:
      return mine.count(kernelLaunches);
    case CallKind::kCopy:
      return mine.count(copyCalls);
    case CallKind::kSet:
      return mine.count(setCalls);
    case CallKind::kGraph:
      mine.count(graphLaunches);
  }
}

}  // namespace

void beginCall() {
  isWithin = true;
  hasPath = false;
}

void endCall() { isWithin = false; }

bool isInCall() { return isWithin; }

uint32_t currentPath(Session& mine) {
  if (!mine.options.python) return openPath();
  if (isWithin && hasPath) return pathOfCall;
  const uint32_t ranges = openPath();
  bool isForgotten = false;
  const uint32_t path = mine.python.path(mine.lock, mine.names, mine.shard, ranges, isForgotten);
  if (isForgotten) mine.count(forgottenStacks);
  if (isWithin && path != ranges) mine.count(pythonCalls);
  hasPath = true;
  return pathOfCall = path;
}

void addCall(Session& mine, LaunchRecord record, const char* function) {
  if (threadId == 0) threadId = static_cast<uint32_t>(syscall(SYS_gettid));
  record.durationNs = static_cast<uint32_t>(
      std::min<uint64_t>(realTimeNs() - record.startNs, std::numeric_limits<uint32_t>::max()));
  countCall(mine, record);
  const std::lock_guard guard(mine.lock);
  record.thread = mine.names.thread(threadId);
  record.call = mine.names.call(function);
  mine.shard.add(record);
}

}  // namespace blockscope::inject
