#include "activity.h"

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "deviceFacts.h"
#include "launchWindow.h"
#include "session.h"

namespace blockscope::inject {

namespace {

// Small: CUPTI hands out a buffer when it is full or all of it is done, and a SIGKILL loses the
// rest.
constexpr size_t kBufferBytes = 64 << 10;
constexpr int kMostBuffers = 1024;  // 64 MiB, however far the device is behind

std::atomic<int> buffersOut{0};

// Under the lock, as what is below up to takeRecord.
void takeKernel(Session& mine, const cupti::ActivityKernelGraph& graph) {
  const cupti::ActivityKernel& kernel = graph.common;
  if (!launchWindow.holds(kernel.correlationId)) return mine.count(outsideRecords);
  const uint32_t name = mine.names.kernelName(kernel.name ? kernel.name : "");
  if (!mine.keeps(name)) return mine.count(filteredRecords);
  const LaunchShape shape{{kernel.gridX, kernel.gridY, kernel.gridZ},
                          {kernel.blockX, kernel.blockY, kernel.blockZ},
                          {graph.clusterX, graph.clusterY, graph.clusterZ},
                          kernel.registersPerThread,
                          kernel.staticSharedMemory,
                          kernel.dynamicSharedMemory,
                          kernel.localMemoryPerThread};
  if (kernel.end == 0) mine.count(unfinishedRecords);
  mine.count(kernelRecords);
  mine.shard.add(KernelRecord{kernel.start, kernel.end, graph.graphNodeId, kernel.correlationId,
                              mine.names.shape(name, shape),
                              mine.names.place(kernel.deviceId, kernel.contextId, kernel.streamId),
                              graph.graphId});
}

template <typename Activity>
void takeMemory(Session& mine, const Activity& from, MemoryRecord record, Counter counter) {
  if (!launchWindow.holds(from.correlationId)) return mine.count(outsideRecords);
  record.startNs = from.start;
  record.endNs = from.end;
  record.bytes = from.bytes;
  record.node = from.graphNodeId;
  record.correlation = from.correlationId;
  record.place = mine.names.place(from.deviceId, from.contextId, from.streamId);
  record.graph = from.graphId;
  if (from.end == 0) mine.count(unfinishedRecords);
  mine.count(counter);
  mine.shard.add(record);
}

void takeGraph(Session& mine, const cupti::ActivityGraphTrace& graph) {
  if (!launchWindow.holds(graph.correlationId)) return mine.count(outsideRecords);
  if (graph.end == 0) mine.count(unfinishedRecords);
  mine.count(graphRecords);
  mine.shard.addGraph(KernelRecord{
      graph.start, graph.end, 0, graph.correlationId, 0,
      mine.names.place(graph.deviceId, graph.contextId, graph.streamId), graph.graphId});
}

void takeRecord(Session& mine, const cupti::Activity* record) {
  MemoryRecord memory{};
  switch (record->kind) {
    case cupti::kActivityConcurrentKernel:
      return takeKernel(mine, *reinterpret_cast<const cupti::ActivityKernelGraph*>(record));
    case cupti::kActivityCopy: {
      const auto& copy = *reinterpret_cast<const cupti::ActivityCopy*>(record);
      memory.kind = cupti::kActivityCopy;
      memory.copyKind = copy.copyKind;
      memory.sourceKind = copy.sourceKind;
      memory.targetKind = copy.targetKind;
      return takeMemory(mine, copy, memory, copyRecords);
    }
    case cupti::kActivitySet: {
      const auto& set = *reinterpret_cast<const cupti::ActivitySet*>(record);
      memory.kind = cupti::kActivitySet;
      memory.targetKind = static_cast<uint8_t>(set.memoryKind);
      return takeMemory(mine, set, memory, setRecords);
    }
    case cupti::kActivityGraphTrace:
      return takeGraph(mine, *reinterpret_cast<const cupti::ActivityGraphTrace*>(record));
    default:
      return mine.count(otherRecords);
  }
}

// The device of a record of any kind that is asked for.
uint32_t deviceOf(const cupti::Activity* record) {
  switch (record->kind) {
    case cupti::kActivityConcurrentKernel:
      return reinterpret_cast<const cupti::ActivityKernel*>(record)->deviceId;
    case cupti::kActivityCopy:
      return reinterpret_cast<const cupti::ActivityCopy*>(record)->deviceId;
    case cupti::kActivitySet:
      return reinterpret_cast<const cupti::ActivitySet*>(record)->deviceId;
    default:
      return reinterpret_cast<const cupti::ActivityGraphTrace*>(record)->deviceId;
  }
}

// Driver and CUPTI are asked before the lock is taken: threads that launch wait for it within them.
void takeBuffer(Session& mine, void* context, uint32_t stream, uint8_t* buffer, size_t valid) {
  static std::atomic<uint64_t> knownDevices{0};
  std::vector<const cupti::Activity*> records;
  std::vector<std::string> facts;
  cupti::Activity* record = nullptr;
  while (valid > 0 && mine.cupti.activityGetNextRecord(buffer, valid, &record) == cupti::kSuccess) {
    records.push_back(record);
    const uint32_t device = deviceOf(record);
    const uint64_t bit = device < 64 ? 1ull << device : 0;
    if ((knownDevices.load(std::memory_order_relaxed) & bit) == bit) continue;
    if ((knownDevices.fetch_or(bit) & bit) == 0) facts.push_back(deviceFacts(device));
  }
  size_t dropped = 0;
  if (mine.cupti.activityGetNumDropped(context, stream, &dropped) == cupti::kSuccess && dropped > 0)
    mine.count(droppedRecords, dropped);
  const std::lock_guard guard(mine.lock);
  for (const std::string& line : facts) mine.shard.text(line);
  for (const cupti::Activity* each : records) takeRecord(mine, each);
}

}  // namespace

void onBufferRequested(uint8_t** buffer, size_t* size, size_t* maxRecords) noexcept {
  *size = 0;
  *maxRecords = 0;
  // Zeroed, as CUPTI was told that it is.
  *buffer = buffersOut.fetch_add(1) < kMostBuffers
                ? static_cast<uint8_t*>(std::calloc(1, kBufferBytes))
                : nullptr;
  if (*buffer != nullptr) {
    *size = kBufferBytes;
    return;
  }
  buffersOut.fetch_sub(1);
  session().count(refusedBuffers);
}

void onBufferCompleted(void* context, uint32_t stream, uint8_t* buffer, size_t,
                       size_t valid) noexcept {
  Session& mine = session();
  try {
    if (mine.isCaptured()) takeBuffer(mine, context, stream, buffer, valid);
  } catch (...) {
    // Out of memory: what is lost is what the counts lack.
  }
  std::free(buffer);
  buffersOut.fetch_sub(1);
}

int registerActivity() {
  Session& mine = session();
  uint8_t isZeroed = 1;
  size_t size = sizeof isZeroed;
  // Not known to older versions, which zero what needs it themselves.
  mine.cupti.activitySetAttribute(cupti::kAttributeZeroedBuffer, &size, &isZeroed);
  return mine.cupti.activityRegisterCallbacks(onBufferRequested, onBufferCompleted);
}

namespace {

// Not KERNEL (3), which lets no two kernels run at once.
constexpr int kKinds[] = {cupti::kActivityConcurrentKernel, cupti::kActivityCopy,
                          cupti::kActivitySet};

}  // namespace

int enableActivity() {
  Session& mine = session();
  for (const int kind : kKinds)
    if (const int error = mine.cupti.activityEnable(kind)) return error;
  return mine.options.wholeGraphs ? mine.cupti.activityEnable(cupti::kActivityGraphTrace) : 0;
}

void disableActivity() {
  Session& mine = session();
  for (const int kind : kKinds) mine.cupti.activityDisable(kind);
  if (mine.options.wholeGraphs) mine.cupti.activityDisable(cupti::kActivityGraphTrace);
}

}  // namespace blockscope::inject
