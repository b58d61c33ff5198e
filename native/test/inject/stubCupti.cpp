// A CUPTI whose device takes time and whose records come as STUB_CUPTI says:
//   (unset)    once complete, at a flush
//   late       only at the forced flush of the end
//   burst      none, then five hundred at once
//   shuffled   each delivery backwards
//   twice      every record of a kernel two times
//   bad-times  every third kernel ends before it began
//   never      no record at all, and none counted as dropped
//   dropped    every fourth is dropped, and counted so
// STUB_CUPTI_MEASURED, records of launches that counters measure:
//   (unset)    without times, at the forced flush of the end, as CUPTI 13.0 on an H200
//   never      none
//   timed      as any other
// STUB_CUPTI_ERROR: what a subscription is answered with; STUB_CUPTI_ENABLE: what the first record
// asked for. STUB_CUPTI_CLOCK: ns that its clock is off.
#include "stubCupti.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "../../inject/clock.h"
#include "../../inject/cuptiAbi.h"

namespace abi = blockscope::inject::cupti;

namespace {

const char* const kFunctions[] = {"cuInit",           "cuLaunchKernel",  "cuLaunchKernelEx",
                                  "cuLaunchHostFunc", "cuGraphLaunch",   "cuMemcpyHtoD_v2",
                                  "cuMemsetD8_v2",    "cuCtxSynchronize"};
constexpr uint32_t kFunctionCount = sizeof kFunctions / sizeof *kFunctions;

struct Record {
  uint64_t start, end;
  uint32_t correlation;
  StubWork work;
  bool isMeasured = false;  // by counters
};

// Never destroyed: the capture's last flush comes when destructors of this library may have run.
struct Stub {
  std::mutex lock;
  abi::Callback callback = nullptr;
  abi::BufferRequested requested = nullptr;
  abi::BufferCompleted completed = nullptr;
  bool isCalledBack[64] = {}, isNodeAsked = false, isSyncAsked = false;
  bool isEnabled[64] = {};
  std::atomic<uint32_t> correlation{0};
  std::vector<Record> pending;
  std::map<uint32_t, uint64_t> streamEnds;
  size_t dropped = 0;
  uint64_t seen = 0;
  std::string mode = std::getenv("STUB_CUPTI") ? std::getenv("STUB_CUPTI") : "";
  std::string measured =
      std::getenv("STUB_CUPTI_MEASURED") ? std::getenv("STUB_CUPTI_MEASURED") : "";
  long long clockOff =
      std::getenv("STUB_CUPTI_CLOCK") ? std::atoll(std::getenv("STUB_CUPTI_CLOCK")) : 0;
};
Stub& stub() {
  static Stub* const made = new Stub;
  return *made;
}

uint64_t now() { return blockscope::inject::realTimeNs(); }
uint64_t deviceTime(uint64_t ns) { return ns + static_cast<uint64_t>(stub().clockOff); }

struct KernelRecord {  // as long as CUpti_ActivityKernel10
  abi::ActivityKernelGraph graph;
  char rest[216 - sizeof(abi::ActivityKernelGraph)];
};
struct CopyRecord {
  abi::ActivityCopy copy;
  char rest[96 - sizeof(abi::ActivityCopy)];
};
struct SetRecord {
  abi::ActivitySet set;
  char rest[88 - sizeof(abi::ActivitySet)];
};
static_assert(sizeof(KernelRecord) == 216);

size_t sizeOfKind(int kind) {
  return kind == abi::kActivityConcurrentKernel ? sizeof(KernelRecord)
         : kind == abi::kActivityCopy           ? sizeof(CopyRecord)
         : kind == abi::kActivitySet            ? sizeof(SetRecord)
                                                : sizeof(abi::ActivityGraphTrace);
}

void encode(uint8_t* at, const Record& from) {
  const StubWork& work = from.work;
  std::memset(at, 0, sizeOfKind(work.kind));
  const uint64_t start = from.start ? deviceTime(from.start) : 0;
  const uint64_t end = from.end ? deviceTime(from.end) : 0;
  if (work.kind == abi::kActivityConcurrentKernel) {
    auto& record = *reinterpret_cast<abi::ActivityKernelGraph*>(at);
    auto& kernel = record.common;
    kernel.kind = work.kind;
    kernel.start = start;
    kernel.end = end;
    kernel.contextId = 1;
    kernel.streamId = work.stream;
    kernel.gridX = static_cast<int>(work.grid[0]);
    kernel.gridY = static_cast<int>(work.grid[1]);
    kernel.gridZ = static_cast<int>(work.grid[2]);
    kernel.blockX = static_cast<int>(work.block[0]);
    kernel.blockY = static_cast<int>(work.block[1]);
    kernel.blockZ = static_cast<int>(work.block[2]);
    kernel.registersPerThread = 40;
    kernel.staticSharedMemory = 1024;
    kernel.dynamicSharedMemory = 2048;
    kernel.correlationId = from.correlation;
    kernel.name = work.name;
    record.graphNodeId = work.node;
    record.graphId = work.graph;
  } else if (work.kind == abi::kActivityCopy) {
    auto& copy = *reinterpret_cast<abi::ActivityCopy*>(at);
    copy.kind = work.kind;
    copy.copyKind = 1;
    copy.sourceKind = 1;
    copy.targetKind = 3;
    copy.bytes = work.bytes;
    copy.start = start;
    copy.end = end;
    copy.contextId = 1;
    copy.streamId = work.stream;
    copy.correlationId = from.correlation;
  } else if (work.kind == abi::kActivitySet) {
    auto& set = *reinterpret_cast<abi::ActivitySet*>(at);
    set.kind = work.kind;
    set.bytes = work.bytes;
    set.start = start;
    set.end = end;
    set.contextId = 1;
    set.streamId = work.stream;
    set.correlationId = from.correlation;
    set.memoryKind = 3;
  } else {
    auto& trace = *reinterpret_cast<abi::ActivityGraphTrace*>(at);
    trace.kind = work.kind;
    trace.start = start;
    trace.end = end;
    trace.contextId = 1;
    trace.streamId = work.stream;
    trace.graphId = work.graph;
    trace.correlationId = from.correlation;
  }
}

void deliver(const std::vector<Record>& records) {
  Stub& mine = stub();
  uint8_t* buffer = nullptr;
  size_t size = 0, most = 0, used = 0;
  for (const Record& record : records) {
    const size_t needed = sizeOfKind(record.work.kind);
    if (buffer != nullptr && used + needed > size) {
      mine.completed(nullptr, 0, buffer, size, used);
      buffer = nullptr;
    }
    if (buffer == nullptr) {
      used = 0;
      mine.requested(&buffer, &size, &most);
      if (buffer == nullptr) return;
    }
    encode(buffer + used, record);
    used += needed;
  }
  if (buffer != nullptr) mine.completed(nullptr, 0, buffer, size, used);
}

// What the device is done with, or all of it; as the mode has it.
std::vector<Record> taken(bool isForced) {
  Stub& mine = stub();
  std::vector<Record> records, rest;
  const std::lock_guard guard(mine.lock);
  const uint64_t time = now();
  const bool isHeld =
      !isForced && (mine.mode == "late" || (mine.mode == "burst" && mine.pending.size() < 500));
  if (isHeld) return records;
  for (Record record : mine.pending) {
    const bool isDone = record.end <= time;
    if ((!isDone || record.isMeasured) && !isForced) {
      rest.push_back(record);
      continue;
    }
    if (!isDone) record.end = 0;
    const uint64_t number = ++mine.seen;
    if (mine.mode == "never") continue;
    if (mine.mode == "dropped" && number % 4 == 0) {
      mine.dropped++;
      continue;
    }
    if (mine.mode == "bad-times" && number % 3 == 0) record.end = record.start - 1000;
    records.push_back(record);
    if (mine.mode == "twice") records.push_back(record);
  }
  mine.pending = rest;
  if (mine.mode == "shuffled") std::reverse(records.begin(), records.end());
  return records;
}

int call(const char* function, const char* symbol, const void* params, StubCallBody body,
         void* user) {
  Stub& mine = stub();
  const uint32_t correlation = ++mine.correlation;
  uint32_t id = 0;
  while (id < kFunctionCount && std::strcmp(kFunctions[id], function) != 0) id++;
  const bool isAsked = mine.callback != nullptr && id < kFunctionCount && mine.isCalledBack[id + 1];
  uint64_t data = 0;
  int result = 0;
  abi::CallbackData call{};
  call.site = abi::kSiteEnter;
  call.functionName = function;
  call.functionParams = params;
  call.symbolName = symbol;
  call.functionReturnValue = &result;
  call.context = &mine;
  call.correlationData = &data;
  call.correlationId = correlation;
  if (isAsked) mine.callback(nullptr, abi::kDomainDriver, id + 1, &call);
  result = body(correlation, user);
  call.site = 1;
  if (isAsked) mine.callback(nullptr, abi::kDomainDriver, id + 1, &call);
  return result;
}

}  // namespace

#ifdef WITHOUT_COUNTERS
bool stubCountersRan(const StubWork&) { return false; }
#else
bool stubCountersRan(const StubWork& work);
#endif

namespace {

void run(uint32_t correlation, const StubWork& work) {
  Stub& mine = stub();
  const std::lock_guard guard(mine.lock);
  uint64_t& streamEnd = mine.streamEnds[work.stream];
  const bool isMeasured = stubCountersRan(work);
  const uint64_t start = std::max(now() + 1000, streamEnd);
  streamEnd = start + work.durationNs;
  // With a record per graph its nodes have none.
  const bool isHidden = work.node != 0 && mine.isEnabled[abi::kActivityGraphTrace];
  if (!mine.isEnabled[work.kind] || isHidden || (isMeasured && mine.measured == "never")) return;
  if (isMeasured && mine.measured != "timed")
    mine.pending.push_back({0, 0, correlation, work, true});
  else mine.pending.push_back({start, streamEnd, correlation, work});
}

void node(bool isClone, StubGraph& graph, StubNode& made, StubNode* original) {
  Stub& mine = stub();
  if (mine.callback == nullptr || !mine.isNodeAsked) return;
  abi::GraphData data{};
  data.graph = &graph;
  data.node = &made;
  data.originalNode = original;
  data.nodeType = made.type;
  abi::ResourceData resource{&mine, nullptr, &data};
  mine.callback(nullptr, abi::kDomainResource,
                isClone ? abi::kGraphNodeCloned : abi::kGraphNodeCreated, &resource);
}

void synchronise() {
  Stub& mine = stub();
  uint64_t end = 0;
  {
    const std::lock_guard guard(mine.lock);
    for (const auto& [stream, streamEnd] : mine.streamEnds) end = std::max(end, streamEnd);
  }
  while (now() <= end) usleep(200);
  if (mine.callback != nullptr && mine.isSyncAsked)
    mine.callback(nullptr, abi::kDomainSynchronize, 1, &mine);
}

}  // namespace

extern "C" {

const StubCupti* stubCupti() {
  static const StubCupti hooks{call, run, node, synchronise};
  return &hooks;
}

int cuptiGetVersion(uint32_t* version) {
  *version = 130001;
  return 0;
}
int cuptiGetTimestamp(uint64_t* ns) {
  *ns = deviceTime(now());
  return 0;
}
int cuptiGetResultString(int result, const char** text) {
  *text = result == 35   ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
          : result == 15 ? "CUPTI_ERROR_NOT_INITIALIZED"
                         : "CUPTI_ERROR";
  return 0;
}
int cuptiSubscribe(void** subscriber, abi::Callback callback, void*) {
  if (const char* error = std::getenv("STUB_CUPTI_ERROR")) return std::atoi(error);
  if (stub().callback != nullptr) return abi::kErrorMultipleSubscribers;
  stub().callback = callback;
  *subscriber = &stub();
  return 0;
}
int cuptiUnsubscribe(void*) {
  stub().callback = nullptr;
  return 0;
}
int cuptiEnableCallback(uint32_t isOn, void*, int domain, uint32_t id) {
  if (domain == abi::kDomainDriver) stub().isCalledBack[id] = isOn;
  if (domain == abi::kDomainResource && id == abi::kGraphNodeCloned) stub().isNodeAsked = isOn;
  return 0;
}
int cuptiEnableDomain(uint32_t isOn, void*, int domain) {
  if (domain == abi::kDomainSynchronize) stub().isSyncAsked = isOn;
  return 0;
}
int cuptiGetCallbackName(int, uint32_t id, const char** name) {
  if (id == 0 || id > kFunctionCount) return 7;
  *name = kFunctions[id - 1];
  return 0;
}
int cuptiGetGraphId(void* graph, uint32_t* id) {
  *id = static_cast<StubGraph*>(graph)->id;
  return 0;
}
int cuptiGetGraphExecId(void* executable, uint32_t* id) { return cuptiGetGraphId(executable, id); }
int cuptiGetGraphNodeId(void* made, uint64_t* id) {
  *id = static_cast<StubNode*>(made)->id;
  return 0;
}
int cuptiActivitySetAttribute(int, size_t*, void*) { return 0; }
int cuptiActivityRegisterCallbacks(abi::BufferRequested requested, abi::BufferCompleted completed) {
  stub().requested = requested;
  stub().completed = completed;
  return 0;
}
int cuptiActivityEnable(int kind) {
  if (const char* error = std::getenv("STUB_CUPTI_ENABLE")) return std::atoi(error);
  stub().isEnabled[kind] = true;
  return 0;
}
int cuptiActivityDisable(int kind) {
  stub().isEnabled[kind] = false;
  return 0;
}
int cuptiActivityFlushAll(uint32_t flag) {
  if (stub().requested != nullptr) deliver(taken((flag & abi::kFlushForced) != 0));
  return 0;
}
int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, abi::Activity** record) {
  uint8_t* next = buffer;
  if (*record != nullptr) next = reinterpret_cast<uint8_t*>(*record) + sizeOfKind((*record)->kind);
  if (next >= buffer + valid) return abi::kErrorMaxLimitReached;
  *record = reinterpret_cast<abi::Activity*>(next);
  return 0;
}
int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) {
  const std::lock_guard guard(stub().lock);
  *dropped = stub().dropped;
  stub().dropped = 0;
  return 0;
}
}
