// The part of CUPTI's activity API used here. Source: cupti_activity.h of CUDA 13.0. The kernel
// record grows with every version but only at its end (CUpti_ActivityKernel4 to Kernel10 agree up
// to `name`); native/test/cudaAbi.cpp checks it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace blockscope::cuda::cupti {

constexpr int kActivityConcurrentKernel = 10;  // CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
constexpr unsigned kFlushForced = 1;           // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED

#pragma pack(push, 8)
struct Activity {
  int kind;
};

struct ActivityKernel {  // the common beginning of CUpti_ActivityKernel4 and later
  int kind;
  uint8_t cacheConfig;
  uint8_t sharedMemoryConfig;
  uint16_t registersPerThread;
  int partitionedGlobalCacheRequested;
  int partitionedGlobalCacheExecuted;
  uint64_t start, end, completed;
  uint32_t deviceId, contextId, streamId;
  int32_t gridX, gridY, gridZ;
  int32_t blockX, blockY, blockZ;
  int32_t staticSharedMemory, dynamicSharedMemory;
  uint32_t localMemoryPerThread, localMemoryTotal, correlationId;
  int64_t gridId;
  const char* name;
};
#pragma pack(pop)

using BufferRequested = void (*)(uint8_t** buffer, size_t* size, size_t* maxRecords);
using BufferCompleted = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                                 size_t valid);

#define BLOCKSCOPE_CUPTI_FUNCTIONS(X)                                  \
  X(getVersion, "cuptiGetVersion", int, (uint32_t*))                   \
  X(getResultString, "cuptiGetResultString", int, (int, const char**)) \
  X(activityRegisterCallbacks, "cuptiActivityRegisterCallbacks", int,  \
    (BufferRequested, BufferCompleted))                                \
  X(activityEnable, "cuptiActivityEnable", int, (int))                 \
  X(activityDisable, "cuptiActivityDisable", int, (int))               \
  X(activityFlushAll, "cuptiActivityFlushAll", int, (uint32_t))        \
  X(activityGetNextRecord, "cuptiActivityGetNextRecord", int, (uint8_t*, size_t, Activity**))

struct Api {
#define BLOCKSCOPE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
  BLOCKSCOPE_CUPTI_FUNCTIONS(BLOCKSCOPE_MEMBER)
#undef BLOCKSCOPE_MEMBER
};

}  // namespace blockscope::cuda::cupti
