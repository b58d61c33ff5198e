// rocprofiler-sdk and roctx of the machine of stubHip.cpp: loads what ROCP_TOOL_LIBRARIES names and
// delivers as STUB_ROCPROFILER says, in the words of stubCupti.cpp.
// STUB_ROCPROFILER_VERSION: as which version it answers, 1.0.0 where unset.
// STUB_ROCPROFILER_REFUSES: the kind of calls whose tracing it refuses.
#include "stubRocprofiler.h"

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace stub {

namespace {

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
const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

struct Sdk {
  std::mutex lock;
  std::vector<Context> contexts = std::vector<Context>(1);
  abi::BufferCallback onBuffer = nullptr;
  std::atomic<uint64_t> correlation{0};
  std::vector<Record> pending;
  std::string mode = variable("STUB_ROCPROFILER");
  unsigned version[3] = {1, 0, 0};
  uint64_t seen = 0, dropped = 0;
  abi::ConfigureResult* tool = nullptr;
};
Sdk& sdk() {
  static Sdk* const made = new Sdk;
  return *made;
}

template <typename Id>
void call(const Service& service, Id id, int operation, int phase, void* payload, uint64_t* user) {
  abi::CallbackRecord<Id> record{
      1, static_cast<uint64_t>(gettid()), id, service.kind, operation, phase, payload};
  reinterpret_cast<abi::Callback<Id>>(service.callback)(record, user, nullptr);
}

const Service* serviceOf(int kind, int operation) {
  for (const Context& context : sdk().contexts) {
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

std::vector<Record> taken() {
  Sdk& mine = sdk();
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

}  // namespace

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t newCorrelation() { return ++sdk().correlation; }

bool isTraced(int kind, int operation) { return serviceOf(kind, operation) != nullptr; }

void callBack(int kind, int operation, int phase, uint64_t correlation, void* payload,
              uint64_t* user) {
  const Service* service = serviceOf(kind, operation);
  if (service == nullptr) return;
  if (sdk().version[0] == 0)
    call(*service, abi::CorrelationBefore1{correlation, 0}, operation, phase, payload, user);
  else call(*service, abi::Correlation{correlation, 0, 0}, operation, phase, payload, user);
}

bool hasRecords() {
  const auto& contexts = sdk().contexts;
  return std::any_of(contexts.begin(), contexts.end(),
                     [](const Context& context) { return context.isActive && context.hasBuffer; });
}

void addRecord(const Record& record) {
  const std::lock_guard guard(sdk().lock);
  sdk().pending.push_back(record);
}

void startTools() {
  Sdk& mine = sdk();
  if (const char* version = variable("STUB_ROCPROFILER_VERSION"); *version)
    std::sscanf(version, "%u.%u.%u", &mine.version[0], &mine.version[1], &mine.version[2]);
  std::atexit([] {
    if (sdk().tool) sdk().tool->finalize(nullptr);
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

}  // namespace stub

using namespace stub;

extern "C" {

// rocprofiler-sdk

int rocprofiler_get_version(uint32_t* major, uint32_t* minor, uint32_t* patch) {
  *major = sdk().version[0];
  *minor = sdk().version[1];
  *patch = sdk().version[2];
  return 0;
}
int rocprofiler_get_timestamp(uint64_t* ns) {
  *ns = now();
  return 0;
}
const char* rocprofiler_get_status_string(int) { return "Service has already been configured"; }
int rocprofiler_create_context(uint64_t* context) {
  *context = sdk().contexts.size();
  sdk().contexts.emplace_back();
  return 0;
}
int rocprofiler_start_context(uint64_t context) {
  sdk().contexts[context].isActive = true;
  return 0;
}
int rocprofiler_stop_context(uint64_t context) {
  sdk().contexts[context].isActive = false;
  return 0;
}
int rocprofiler_create_buffer(uint64_t, size_t, size_t, int, abi::BufferCallback callback, void*,
                              uint64_t* buffer) {
  sdk().onBuffer = callback;
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
    sdk().onBuffer(1, 1, pointers.data(), pointers.size(), nullptr, sdk().dropped);
  }).join();
  return 0;
}
int rocprofiler_configure_callback_tracing_service(uint64_t context, int kind,
                                                   const int32_t* operations, size_t count,
                                                   void* callback, void*) {
  if (std::atoi(variable("STUB_ROCPROFILER_REFUSES")) == kind) return 15;
  sdk().contexts[context].services.push_back(
      {kind, std::vector<int32_t>(operations, operations + count), callback});
  return 0;
}
int rocprofiler_configure_buffer_tracing_service(uint64_t context, int, const int32_t*, size_t,
                                                 uint64_t) {
  sdk().contexts[context].hasBuffer = true;
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
}
