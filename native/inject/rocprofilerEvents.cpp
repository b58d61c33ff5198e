// What rocprofiler-sdk calls back with: calls, ranges, names of kernels, dispatches, records.
#include <algorithm>

#include "calls.h"
#include "clock.h"
#include "hipCalls.h"
#include "launchWindow.h"
#include "ranges.h"
#include "rocprofilerSource.h"
#include "session.h"

namespace blockscope::inject {

namespace {

namespace abi = rocprofiler;

// Dispatches of the capture whose record has not come.
LaunchWindow dispatches;

// Of the call that this thread is in: its number, and how many kernels it has put into queues.
thread_local uint64_t callCorrelation = 0;
thread_local uint32_t enqueuedByCall = 0;

uint32_t narrow(uint64_t correlation) { return static_cast<uint32_t>(correlation); }

// HSA counts work-items, CUDA and HIP blocks.
int64_t blocks(uint32_t grid, uint32_t workgroup) {
  return workgroup == 0 ? grid : (int64_t{grid} + workgroup - 1) / workgroup;
}

// As CUPTI numbers kinds of copies and of memory; what HSA does not say is 0.
struct CopyWay {
  uint8_t kind, source, target;
};
CopyWay wayOf(int operation) {
  constexpr uint8_t kDevice = 3;
  switch (operation) {
    case abi::kHostToDevice:
      return {1, 0, kDevice};
    case abi::kDeviceToHost:
      return {2, kDevice, 0};
    case abi::kDeviceToDevice:
      return {8, kDevice, kDevice};
    case abi::kHostToHost:
      return {9, 0, 0};
    default:
      return {0, 0, 0};
  }
}

}  // namespace

void RocprofilerSource::onEvent(const Event& event) {
  switch (event.kind) {
    case abi::kHipRuntimeCalls:
      return onHipCall(event);
    case abi::kMarkerCalls:
      return onMarker(event);
    case abi::kDispatchCalls:
      if (event.phase == abi::kPhaseEnter) onEnqueued(event);
      return;
    case abi::kCodeObjects:
      if (event.operation == abi::kKernelSymbol && event.phase == abi::kPhaseEnter)
        onKernelSymbol(*static_cast<const abi::KernelSymbol*>(event.payload));
      return;
    default:
      return;
  }
}

void RocprofilerSource::onHipCall(const Event& event) {
  const auto operation = static_cast<size_t>(event.operation);
  if (operation >= hipKinds_.size() || hipKinds_[operation] == kNoHipCall) return;
  Session& mine = session();
  if (hipKinds_[operation] == kHipWaits) {
    if (event.phase == abi::kPhaseExit && mine.isRecording) onSynchronised(mine);
    return;
  }
  if (event.phase == abi::kPhaseEnter) {
    beginCall();
    const bool isTaken = mine.takesLaunches();
    // Marked before a queue has it: a record may be there ahead of the call's end.
    launchWindow.mark(narrow(event.correlation), isTaken);
    callCorrelation = event.correlation;
    enqueuedByCall = 0;
    *event.user = isTaken ? realTimeNs() : 0;
    return;
  }
  if (event.phase != abi::kPhaseExit) return;
  const uint64_t start = *event.user;
  const uint32_t path = start == 0 ? 0 : currentPath(mine);
  endCall();
  const bool hasEnqueued = callCorrelation == event.correlation && enqueuedByCall > 0;
  callCorrelation = 0;
  if (start == 0) return;
  const auto kind = static_cast<CallKind>(hipKinds_[operation]);
  const auto* payload = static_cast<const uint8_t*>(event.payload);
  const uint64_t size = *reinterpret_cast<const uint64_t*>(payload);
  const int result = size < abi::kHipResultBytes
                         ? 0
                         : *reinterpret_cast<const int*>(payload + size - abi::kHipResultBytes);
  // A launch that enqueues nothing was captured into a graph.
  const bool onlyAdds = kind == CallKind::kKernel && !hasEnqueued;
  LaunchRecord record{};
  record.startNs = start;
  record.correlation = narrow(event.correlation);
  record.path = path;
  record.kind = kind;
  record.flags = static_cast<uint8_t>(result != 0 ? kCallFailed : onlyAdds ? kCallCaptured : 0);
  addCall(mine, record, hipNames_[operation].c_str());
}

void RocprofilerSource::onMarker(const Event& event) {
  if (event.operation == pushOperation_ && event.phase == abi::kPhaseEnter)
    pushRange(static_cast<const abi::MarkerCall*>(event.payload)->message);
  if (event.operation == popOperation_ && event.phase == abi::kPhaseExit) popRange();
}

void RocprofilerSource::onKernelSymbol(const abi::KernelSymbol& symbol) {
  std::string name(symbol.name ? symbol.name : "");
  // The symbol is that of the kernel's descriptor.
  if (name.ends_with(".kd")) name.resize(name.size() - 3);
  Session& mine = session();
  const std::lock_guard guard(mine.lock);
  kernels_[symbol.kernel] = {std::move(name),
                             int64_t{symbol.vectorRegisters} + symbol.accumulationRegisters,
                             symbol.groupSegment};
}

// On the thread that launches, or, where the runtime keeps one for that, on its own.
void RocprofilerSource::onEnqueued(const Event& event) {
  Session& mine = session();
  const uint32_t correlation = narrow(event.correlation);
  const bool isOfCall = isInCall() && event.correlation == callCorrelation;
  if (!isOfCall) launchWindow.mark(correlation, mine.takesLaunches());
  const bool isTaken = launchWindow.holds(correlation);
  const auto& call = *static_cast<const abi::DispatchCall*>(event.payload);
  dispatches.mark(narrow(call.info.dispatch), isTaken);
  if (!isTaken) return;
  if (isOfCall) enqueuedByCall++;
  mine.count(enqueuedKernels);
}

uint32_t RocprofilerSource::placeOf(uint64_t agent, uint64_t queue) {
  Session& mine = session();
  uint32_t device = 0;
  if (const auto found = gpus_.find(agent); found != gpus_.end()) {
    Gpu& gpu = found->second;
    device = gpu.number;
    if (!gpu.facts.empty()) mine.shard.text(gpu.facts);
    gpu.facts.clear();
  }
  const uint32_t lane =
      queue == 0
          ? 0
          : queues_.try_emplace(queue, static_cast<uint32_t>(queues_.size()) + 1).first->second;
  return mine.names.place(device, 0, lane);
}

void RocprofilerSource::takeDispatch(const abi::DispatchRecord& record) {
  Session& mine = session();
  const uint32_t correlation = narrow(record.correlation.internal);
  const uint32_t dispatch = narrow(record.info.dispatch);
  if (!launchWindow.holds(correlation)) return mine.count(outsideRecords);
  if (!dispatches.holds(dispatch)) return mine.count(repeatedRecords);
  dispatches.mark(dispatch, false);
  static const Kernel kUnknown{"", 0, 0};
  const auto found = kernels_.find(record.info.kernel);
  const Kernel& kernel = found == kernels_.end() ? kUnknown : found->second;
  const uint32_t name = mine.names.kernelName(kernel.name);
  if (!mine.keeps(name)) return mine.count(filteredRecords);
  const auto& [size, agent, queue, id, number, privateSegment, groupSegment, workgroup, grid] =
      record.info;
  const int64_t shared = groupSegment;
  const LaunchShape shape{
      {blocks(grid.x, workgroup.x), blocks(grid.y, workgroup.y), blocks(grid.z, workgroup.z)},
      {workgroup.x, workgroup.y, workgroup.z},
      {0, 0, 0},
      kernel.registers,
      std::min(kernel.staticShared, shared),
      std::max<int64_t>(0, shared - kernel.staticShared),
      privateSegment};
  if (record.end == 0) mine.count(unfinishedRecords);
  mine.count(kernelRecords);
  mine.shard.add(inject::KernelRecord{systemTime(record.start), systemTime(record.end), 0,
                                      correlation, mine.names.shape(name, shape),
                                      placeOf(agent, queue), 0});
}

void RocprofilerSource::takeCopy(const abi::CopyRecord& record) {
  Session& mine = session();
  const uint32_t correlation = narrow(record.correlation.internal);
  if (!launchWindow.holds(correlation)) return mine.count(outsideRecords);
  const auto [kind, source, target] = wayOf(record.operation);
  // The GPU's side of the two.
  const uint64_t agent = gpus_.contains(record.target) ? record.target : record.source;
  MemoryRecord memory{};
  memory.startNs = systemTime(record.start);
  memory.endNs = systemTime(record.end);
  memory.bytes = record.bytes;
  memory.correlation = correlation;
  memory.place = placeOf(agent, 0);
  memory.kind = 1;
  memory.copyKind = kind;
  memory.sourceKind = source;
  memory.targetKind = target;
  if (record.end == 0) mine.count(unfinishedRecords);
  mine.count(copyRecords);
  mine.shard.add(memory);
}

void RocprofilerSource::onRecords(abi::RecordHeader** headers, size_t count, uint64_t dropped) {
  Session& mine = session();
  const std::lock_guard guard(mine.lock);
  // The library counts from its beginning.
  if (dropped > dropped_) mine.count(droppedRecords, dropped - dropped_);
  dropped_ = std::max(dropped, dropped_);
  for (size_t i = 0; i < count; i++) {
    const abi::RecordHeader& header = *headers[i];
    const auto size = *static_cast<const uint64_t*>(header.payload);
    const bool isTracing = header.category == abi::kTracingRecords;
    if (isTracing && header.kind == abi::kDispatchRecords && size >= sizeof(abi::DispatchRecord))
      takeDispatch(*static_cast<const abi::DispatchRecord*>(header.payload));
    else if (isTracing && header.kind == abi::kCopyRecords && size >= sizeof(abi::CopyRecord))
      takeCopy(*static_cast<const abi::CopyRecord*>(header.payload));
    else mine.count(otherRecords);
  }
}

}  // namespace blockscope::inject
