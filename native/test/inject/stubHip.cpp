// A machine with HIP in place of CUDA, for the same program: what it asks of the driver becomes
// calls of HIP, and stubRocprofiler.cpp hears of them.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "stubRocprofiler.h"

using namespace stub;

namespace {

struct Device {
  std::mutex lock;
  std::map<std::string, uint64_t> kernels;
  std::map<void*, uint64_t> streamEnds;
  std::atomic<uint64_t> dispatches{0};
  bool isCapturing = false;
  std::vector<std::string> captured;
};
// Never destroyed: tools end after the program's own objects.
Device& device() {
  static Device* const made = new Device;
  return *made;
}

thread_local uint64_t latest = 0;

struct HipData {  // rocprofiler_callback_tracing_hip_api_data_t
  uint64_t size, arguments[11];
  int result, unused[5];
};

int hip(int function, const std::function<int()>& body) {
  const uint64_t before = latest;
  if (isTraced(abi::kHipRuntimeCalls, function)) latest = newCorrelation();
  HipData data{sizeof data, {}, 0, {}};
  uint64_t user = 0;
  callBack(abi::kHipRuntimeCalls, function, abi::kPhaseEnter, latest, &data, &user);
  data.result = body();
  callBack(abi::kHipRuntimeCalls, function, abi::kPhaseExit, latest, &data, &user);
  latest = before;
  return data.result;
}

uint64_t kernelOf(const std::string& name) {
  auto& kernels = device().kernels;
  const auto [found, isNew] = kernels.try_emplace(name, 100 + kernels.size());
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
  Device& mine = device();
  const uint64_t correlation = latest ? latest : newCorrelation();
  abi::DispatchInfo info{};
  info.size = sizeof info;
  info.agent = kGpu;
  info.queue = 0x7f0000001000u + reinterpret_cast<uintptr_t>(stream);
  info.kernel = kernelOf(name);
  info.dispatch = ++mine.dispatches;
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
  addRecord(record);
}

}  // namespace

extern "C" {

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
    if (device().isCapturing) {
      device().captured.push_back(name);
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
    addRecord(record);
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
  device().captured.clear();
  device().isCapturing = true;
  return 0;
}
int cuStreamEndCapture(void*, void** graph) {
  device().isCapturing = false;
  *graph = &device().captured;
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
      const std::lock_guard guard(device().lock);
      for (const auto& [stream, streamEnd] : device().streamEnds) end = std::max(end, streamEnd);
    }
    while (now() <= end) usleep(200);
    return 0;
  });
}
}
