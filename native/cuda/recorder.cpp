#include "recorder.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "libraries.h"

namespace blockscope::cuda {

namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr size_t kBufferAlignment = 8;

// CUPTI calls back from its own threads, without a user pointer: one collection at a time in the
// process, and a lock of its own for what those threads write meanwhile.
std::mutex collectionMutex;

class Collected {
 public:
  void add(LaunchRecord record) {
    const std::lock_guard lock(mutex_);
    records_.push_back(std::move(record));
  }
  std::vector<LaunchRecord> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(records_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<LaunchRecord> records_;
};
Collected collected;

void provideBuffer(uint8_t** buffer, size_t* size, size_t* maxRecords) {
  *buffer = static_cast<uint8_t*>(
      ::operator new (kBufferBytes, std::align_val_t{kBufferAlignment}, std::nothrow));
  *size = *buffer ? kBufferBytes : 0;
  *maxRecords = 0;
}

void takeRecord(const cupti::ActivityKernel& kernel) {
  LaunchRecord record;
  record.name = kernel.name ? kernel.name : "";
  record.startNs = static_cast<int64_t>(kernel.start);
  record.endNs = static_cast<int64_t>(kernel.end);
  record.stream = kernel.streamId;
  const int32_t grid[] = {kernel.gridX, kernel.gridY, kernel.gridZ},
                block[] = {kernel.blockX, kernel.blockY, kernel.blockZ};
  for (int i = 0; i < 3; i++) {
    record.grid[i] = static_cast<uint32_t>(grid[i]);
    record.block[i] = static_cast<uint32_t>(block[i]);
  }
  record.registersPerThread = kernel.registersPerThread;
  record.sharedMemoryBytes =
      static_cast<uint32_t>(kernel.staticSharedMemory + kernel.dynamicSharedMemory);
  collected.add(std::move(record));
}

void takeBuffer(void*, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  cupti::Activity* activity = nullptr;
  while (libraries().cupti.activityGetNextRecord(buffer, valid, &activity) == 0)
    if (activity->kind == cupti::kActivityConcurrentKernel)
      takeRecord(*reinterpret_cast<const cupti::ActivityKernel*>(activity));
  ::operator delete (buffer, std::align_val_t{kBufferAlignment});
}

}  // namespace

std::vector<LaunchRecord> recordLaunches(const std::function<void()>& work) {
  const auto& api = libraries().cupti;
  if (!libraries().cuptiInfo.found) return {};
  const std::lock_guard lock(collectionMutex);
  collected.take();
  static const bool registered = api.activityRegisterCallbacks(provideBuffer, takeBuffer) == 0;
  if (!registered || api.activityEnable(cupti::kActivityConcurrentKernel) != 0) return {};
  try {
    work();
  } catch (...) {
    api.activityDisable(cupti::kActivityConcurrentKernel);
    throw;
  }
  api.activityFlushAll(cupti::kFlushForced);
  api.activityDisable(cupti::kActivityConcurrentKernel);
  std::vector<LaunchRecord> records = collected.take();
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.startNs < b.startNs; });
  return records;
}

}  // namespace blockscope::cuda
