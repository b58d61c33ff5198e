// A machine with HIP in place of CUDA, for the same program: what it asks of the driver becomes
// calls of HIP, roctx has ranges, and within is a rocprofiler-sdk that loads what
// ROCP_TOOL_LIBRARIES names and delivers as STUB_ROCPROFILER says, in the words of stubCupti.cpp.
// STUB_ROCPROFILER_VERSION: as which version it answers, 1.0.0 where unset.
// STUB_ROCPROFILER_REFUSES: the kind of calls whose tracing it refuses.
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "../../inject/rocprofilerAbi.h"

namespace abi = blockscope::inject::rocprofiler;

namespace {

constexpr uint64_t kGpu = 77, kCpu = 55;  // agents
enum Hip { kInit, kLaunch, kHostFunction, kGraphLaunch, kCopy, kSet, kWait, kHipFunctions };
const char* const kHipNames[] = {
    "hipInit",       "hipLaunchKernel", "hipLaunchHostFunc",   "hipGraphLaunch",
    "hipMemcpyHtoD", "hipMemset",       "hipDeviceSynchronize"};
const char* const kMarkerNames[] = {"roctxMarkA", "roctxRangePushA", "roctxRangePop"};

struct Service {
  int kind;
  std::vector<int32_t> operations;
  void* callback;
};
struct Context {
  bool isActive = false, hasBuffer = false;
  std::vector<Service> services;
};
struct Record {
  uint32_t kind;
  abi::DispatchRecord dispatch;
  abi::CopyRecord copy;
  uint64_t end() const { return kind == abi::kDispatchRecords ? dispatch.end : copy.end; }
};

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

struct Stub {
  std::mutex lock;
  std::vector<Context> contexts = std::vector<Context>(1);
  abi::BufferCallback onBuffer = nullptr;
  std::atomic<uint64_t> correlation{0}, dispatch{0};
  std::map<std::string, uint64_t> kernels;
  std::map<void*, uint64_t> streamEnds;
  std::vector<Record> pending;
  std::string mode = variable("STUB_ROCPROFILER");
  unsigned version[3] = {1, 0, 0};
  uint64_t seen = 0, dropped = 0;
  abi::ConfigureResult* tool = nullptr;
  bool isCapturing = false;
};
Stub& stub() {
  static Stub* const made = new Stub;
  return *made;
}

thread_local uint64_t latest = 0;

// Not the system's clock, as in the library: HSA's.
uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

template <typename Id>
void call(const Service& service, Id id, int operation, int phase, void* payload, uint64_t* user) {
  abi::CallbackRecord<Id> record{
      1, static_cast<uint64_t>(gettid()), id, service.kind, operation, phase, payload};
  reinterpret_cast<abi::Callback<Id>>(service.callback)(record, user, nullptr);
}

const Service* serviceOf(int kind, int operation) {
  for (const Context& context : stub().contexts) {
    if (!context.isActive) continue;
    for (const Service& service : context.services) {
      const auto& wanted = service.operations;
      if (service.kind == kind &&
          std::find(wanted.begin(), wanted.end(), operation) != wanted.end())
        return &service;
    }
  }
  return nullptr;
}

void callBack(int kind, int operation, int phase, uint64_t correlation, void* payload,
              uint64_t* user) {
  const Service* service = serviceOf(kind, operation);
  if (service == nullptr) return;
  if (stub().version[0] == 0)
    call(*service, abi::CorrelationBefore1{correlation, 0}, operation, phase, payload, user);
  else call(*service, abi::Correlation{correlation, 0, 0}, operation, phase, payload, user);
}

bool hasRecords() {
  const auto& contexts = stub().contexts;
  return std::any_of(contexts.begin(), contexts.end(),
                     [](const Context& context) { return context.isActive && context.hasBuffer; });
}

struct HipData {  // rocprofiler_callback_tracing_hip_api_data_t
  uint64_t size, arguments[11];
  int result, unused[5];
};

int hip(int function, const std::function<int()>& body) {
  const uint64_t before = latest;
  if (serviceOf(abi::kHipRuntimeCalls, function)) latest = ++stub().correlation;
  HipData data{sizeof data, {}, 0, {}};
  uint64_t user = 0;
  callBack(abi::kHipRuntimeCalls, function, abi::kPhaseEnter, latest, &data, &user);
  data.result = body();
  callBack(abi::kHipRuntimeCalls, function, abi::kPhaseExit, latest, &data, &user);
  latest = before;
  return data.result;
}

uint64_t kernelOf(const std::string& name) {
  Stub& mine = stub();
  const auto [found, isNew] = mine.kernels.try_emplace(name, 100 + mine.kernels.size());
  if (!isNew) return found->second;
  const std::string symbol = name + ".kd";
  abi::KernelSymbol data{};
  data.size = sizeof data;
  data.kernel = found->second;
  data.name = symbol.c_str();
  data.groupSegment = 1024;
  data.vectorRegisters = 96;
  data.accumulationRegisters = 32;
  uint64_t user = 0;
  callBack(abi::kCodeObjects, abi::kKernelSymbol, abi::kPhaseEnter, 0, &data, &user);
  return found->second;
}

void enqueue(const std::string& name, abi::Extent blocks, abi::Extent threads, void* stream,
             uint64_t ns) {
  Stub& mine = stub();
  const uint64_t correlation = latest ? latest : ++mine.correlation;
  abi::DispatchInfo info{};
  info.size = sizeof info;
  info.agent = kGpu;
  info.queue = 0x7f0000001000u + reinterpret_cast<uintptr_t>(stream);
  info.kernel = kernelOf(name);
  info.dispatch = ++mine.dispatch;
  info.privateSegment = 16;
  info.groupSegment = 3072;
  info.workgroup = threads;
  info.grid = {blocks.x * threads.x, blocks.y * threads.y, blocks.z * threads.z};
  abi::DispatchCall data{sizeof data, 0, 0, info};
  uint64_t user = 0;
  callBack(abi::kDispatchCalls, abi::kEnqueue, abi::kPhaseEnter, correlation, &data, &user);
  const std::lock_guard guard(mine.lock);
  uint64_t& streamEnd = mine.streamEnds[stream];
  const uint64_t start = std::max(now() + 1000, streamEnd);
  streamEnd = start + ns;
  if (!hasRecords()) return;
  Record record{};
  record.kind = abi::kDispatchRecords;
  // As long as the library's, with what it keeps free.
  record.dispatch = {sizeof(abi::DispatchRecord) + 56,
                     abi::kDispatchRecords,
                     2,
                     {correlation, 0},
                     static_cast<uint64_t>(gettid()),
                     start,
                     streamEnd,
                     info};
  mine.pending.push_back(record);
}

std::vector<Record> taken() {
  Stub& mine = stub();
  const std::lock_guard guard(mine.lock);
  std::vector<Record> records, rest;
  // "late": all at once, when the last is done and nothing was added for a while.
  const uint64_t time = now() - (mine.mode == "late" ? 50000000 : 0);
  if (mine.mode == "burst" && mine.pending.size() < 500 && !mine.pending.empty() &&
      mine.pending.back().end() + 50000000 > time)
    return records;
  for (Record record : mine.pending) {
    if (record.end() > time) {
      rest.push_back(record);
      continue;
    }
    const uint64_t number = ++mine.seen;
    if (mine.mode == "never") continue;
    if (mine.mode == "dropped" && number % 4 == 0) {
      mine.dropped++;
      continue;
    }
    if (mine.mode == "bad-times" && number % 3 == 0)
      record.dispatch.end = record.dispatch.start - 1000;
    records.push_back(record);
    if (mine.mode == "twice") records.push_back(record);
  }
  mine.pending = rest;
  if (mine.mode == "shuffled") std::reverse(records.begin(), records.end());
  return records;
}

int list(int kind, int (*callback)(int, int32_t, void*), void* data) {
  const int count = kind == abi::kMarkerCalls ? 3 : kHipFunctions;
  for (int i = 0; i < count; i++) callback(kind, i, data);
  return 0;
}

void startTools() {
  Stub& mine = stub();
  if (const char* version = variable("STUB_ROCPROFILER_VERSION"); *version)
    std::sscanf(version, "%u.%u.%u", &mine.version[0], &mine.version[1], &mine.version[2]);
  std::atexit([] {
    if (stub().tool) stub().tool->finalize(nullptr);
  });
  // The library looks there, and among what the process has loaded already.
  const char* path = variable("ROCP_TOOL_LIBRARIES");
  void* library = *path ? dlopen(path, RTLD_LAZY) : nullptr;
  using Configure = abi::ConfigureResult* (*)(uint32_t, const char*, uint32_t, void*);
  const auto configure =
      reinterpret_cast<Configure>(dlsym(library ? library : RTLD_DEFAULT, "rocprofiler_configure"));
  if (configure) mine.tool = configure(10000, "1.0.0", 0, nullptr);
  if (mine.tool) mine.tool->initialize(nullptr, mine.tool->data);
}

std::vector<std::string> captured;

}  // namespace

extern "C" {

// rocprofiler-sdk

int rocprofiler_get_version(uint32_t* major, uint32_t* minor, uint32_t* patch) {
  *major = stub().version[0];
  *minor = stub().version[1];
  *patch = stub().version[2];
  return 0;
}
int rocprofiler_get_timestamp(uint64_t* ns) {
  *ns = now();
  return 0;
}
const char* rocprofiler_get_status_string(int) { return "Service has already been configured"; }
int rocprofiler_create_context(uint64_t* context) {
  *context = stub().contexts.size();
  stub().contexts.emplace_back();
  return 0;
}
int rocprofiler_start_context(uint64_t context) {
  stub().contexts[context].isActive = true;
  return 0;
}
int rocprofiler_stop_context(uint64_t context) {
  stub().contexts[context].isActive = false;
  return 0;
}
int rocprofiler_create_buffer(uint64_t, size_t, size_t, int, abi::BufferCallback callback, void*,
                              uint64_t* buffer) {
  stub().onBuffer = callback;
  *buffer = 1;
  return 0;
}
// On a thread of its own, as the library has one for it.
int rocprofiler_flush_buffer(uint64_t) {
  std::thread([] {
    std::vector<Record> records = taken();
    std::vector<abi::RecordHeader> headers;
    std::vector<abi::RecordHeader*> pointers;
    for (Record& record : records) {
      void* payload = &record.copy;
      if (record.kind == abi::kDispatchRecords) payload = &record.dispatch;
      headers.push_back({abi::kTracingRecords, record.kind, payload});
    }
    for (abi::RecordHeader& header : headers) pointers.push_back(&header);
    stub().onBuffer(1, 1, pointers.data(), pointers.size(), nullptr, stub().dropped);
  }).join();
  return 0;
}
int rocprofiler_configure_callback_tracing_service(uint64_t context, int kind,
                                                   const int32_t* operations, size_t count,
                                                   void* callback, void*) {
  if (std::atoi(variable("STUB_ROCPROFILER_REFUSES")) == kind) return 15;
  stub().contexts[context].services.push_back(
      {kind, std::vector<int32_t>(operations, operations + count), callback});
  return 0;
}
int rocprofiler_configure_buffer_tracing_service(uint64_t context, int, const int32_t*, size_t,
                                                 uint64_t) {
  stub().contexts[context].hasBuffer = true;
  return 0;
}
int rocprofiler_iterate_callback_tracing_kind_operations(int kind,
                                                         int (*callback)(int, int32_t, void*),
                                                         void* data) {
  return list(kind, callback, data);
}
int rocprofiler_query_callback_tracing_kind_operation_name(int kind, int32_t operation,
                                                           const char** name, uint64_t*) {
  *name = kind == abi::kMarkerCalls ? kMarkerNames[operation] : kHipNames[operation];
  return 0;
}
int rocprofiler_query_available_agents(int version, abi::AgentsCallback callback, size_t,
                                       void* data) {
  static abi::Agent cpu{}, gpu{};
  cpu.id = kCpu;
  cpu.type = 1;
  gpu.id = kGpu;
  gpu.type = abi::kAgentGpu;
  gpu.computeUnits = 256;
  gpu.gfxVersion = 90500;
  gpu.gpuClockMhz = 2400;
  gpu.gpu = 0x1234;
  gpu.productName = "Stub Instinct";
  gpu.logicalNodeOfType = 3;
  const void* agents[] = {&cpu, &gpu};
  return callback(version, agents, 2, data);
}

// roctx

int roctxRangePushA(const char* message) {
  abi::MarkerCall data{sizeof data, message};
  uint64_t user = 0;
  callBack(abi::kMarkerCalls, 1, abi::kPhaseEnter, 0, &data, &user);
  callBack(abi::kMarkerCalls, 1, abi::kPhaseExit, 0, &data, &user);
  return 0;
}
int roctxRangePop() {
  abi::MarkerCall data{sizeof data, nullptr};
  uint64_t user = 0;
  callBack(abi::kMarkerCalls, 2, abi::kPhaseEnter, 0, &data, &user);
  callBack(abi::kMarkerCalls, 2, abi::kPhaseExit, 0, &data, &user);
  return 0;
}

// What the program asks of a driver

int cuInit(unsigned) {
  static std::once_flag isDone;
  std::call_once(isDone, startTools);
  return hip(kInit, [] { return 0; });
}
int cuLaunchKernel(void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                   unsigned blockY, unsigned blockZ, unsigned, void* stream, void** parameters,
                   void**) {
  const auto& name = *static_cast<const std::string*>(function);
  return hip(kLaunch, [&] {
    if (blockX > 1024) return 1;
    if (stub().isCapturing) {
      captured.push_back(name);
      return 0;
    }
    enqueue(name, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, stream,
            *static_cast<const uint64_t*>(parameters[0]));
    return 0;
  });
}
int cuMemcpyHtoD_v2(uint64_t, const void*, size_t bytes) {
  return hip(kCopy, [&] {
    if (!hasRecords()) return 0;
    const uint64_t start = now();
    Record record{};
    record.kind = abi::kCopyRecords;
    // 1.0 has two addresses more.
    record.copy = {sizeof(abi::CopyRecord) + 16,
                   abi::kCopyRecords,
                   abi::kHostToDevice,
                   {latest, 0},
                   0,
                   start,
                   start + 3000,
                   kGpu,
                   kCpu,
                   bytes};
    const std::lock_guard guard(stub().lock);
    stub().pending.push_back(record);
    return 0;
  });
}
// A kernel of the runtime's own, as HIP sets memory.
int cuMemsetD8_v2(uint64_t, unsigned char, size_t) {
  return hip(kSet, [] {
    enqueue("__amd_rocclr_fillBufferAligned", {8, 1, 1}, {256, 1, 1}, nullptr, 2000);
    return 0;
  });
}
int cuStreamBeginCapture_v2(void*, int) {
  captured.clear();
  stub().isCapturing = true;
  return 0;
}
int cuStreamEndCapture(void*, void** graph) {
  stub().isCapturing = false;
  *graph = &captured;
  return 0;
}
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  *executable = graph;
  return 0;
}
int cuGraphLaunch(void* executable, void* stream) {
  return hip(kGraphLaunch, [&] {
    for (const std::string& name : *static_cast<std::vector<std::string>*>(executable))
      enqueue(name, {264, 2, 1}, {128, 1, 1}, stream, 2000);
    return 0;
  });
}
int cuCtxSynchronize() {
  return hip(kWait, [] {
    uint64_t end = 0;
    {
      const std::lock_guard guard(stub().lock);
      for (const auto& [stream, streamEnd] : stub().streamEnds) end = std::max(end, streamEnd);
    }
    while (now() <= end) usleep(200);
    return 0;
  });
}
}
