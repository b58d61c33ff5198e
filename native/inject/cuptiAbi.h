// What the injected library uses of CUPTI's callback and activity interfaces beyond
// cuda/api/cupti.h. Source: cupti_callbacks.h and cupti_activity.h of CUDA 13.0;
// CUpti_ActivityKernel9 (CUDA 12.8) and 10 agree in every field read here. native/test/cudaAbi.cpp
// checks both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../cuda/api/cupti.h"

namespace blockscope::inject::cupti {

using cuda::cupti::Activity;
using cuda::cupti::ActivityKernel;
using cuda::cupti::BufferCompleted;
using cuda::cupti::BufferRequested;
using cuda::cupti::kActivityConcurrentKernel;
using cuda::cupti::kFlushForced;

constexpr int kSuccess = 0;
constexpr int kErrorMaxLimitReached = 12;      // CUPTI_ERROR_MAX_LIMIT_REACHED: no further record
constexpr int kErrorMultipleSubscribers = 39;  // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED

// CUpti_ActivityKind
constexpr int kActivityCopy = 1;
constexpr int kActivitySet = 2;
constexpr int kActivityGraphTrace = 51;

constexpr int kAttributeZeroedBuffer = 5;  // CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER

// CUpti_CallbackDomain
constexpr int kDomainDriver = 1;
constexpr int kDomainResource = 3;
constexpr int kDomainSynchronize = 4;
constexpr int kDomainState = 6;
// CUpti_ApiCallbackSite
constexpr int kSiteEnter = 0;
// CUpti_CallbackIdResource
constexpr uint32_t kContextDestroyStarting = 2;
constexpr uint32_t kGraphNodeCreated = 13;
constexpr uint32_t kGraphNodeCloned = 20;
// Above every id of a driver function; later versions have more than this one's 807.
constexpr uint32_t kMostCallbackIds = 2048;

// CUgraphNodeType
constexpr int kNodeKernel = 0;
constexpr int kNodeCopy = 1;
constexpr int kNodeSet = 2;

struct CallbackData {  // CUpti_CallbackData
  int site;
  const char* functionName;
  const void* functionParams;
  const void* functionReturnValue;
  const char* symbolName;
  void* context;
  uint32_t contextUid;
  uint64_t* correlationData;
  uint32_t correlationId;
};

struct ResourceData {  // CUpti_ResourceData
  void* context;
  void* handle;
  void* descriptor;
};

struct GraphData {  // CUpti_GraphData
  void *graph, *originalGraph;
  void *node, *originalNode;
  int nodeType;
  void* dependency;
  void* graphExec;
};

#pragma pack(push, 8)
struct ActivityKernelGraph {  // CUpti_ActivityKernel9 and 10 up to the cluster
  ActivityKernel common;
  char unread[144 - sizeof(ActivityKernel)];
  uint64_t graphNodeId;
  char unreadPolicy[4];
  uint32_t graphId;
  char unreadChannel[16];
  uint32_t clusterX, clusterY, clusterZ;
};

struct ActivityCopy {  // CUpti_ActivityMemcpy4 to 6
  int kind;
  uint8_t copyKind, sourceKind, targetKind, flags;
  uint64_t bytes, start, end;
  uint32_t deviceId, contextId, streamId, correlationId;
  char unread[16];
  uint64_t graphNodeId;
  uint32_t graphId;
};

struct ActivitySet {  // CUpti_ActivityMemset3 and 4
  int kind;
  uint32_t value;
  uint64_t bytes, start, end;
  uint32_t deviceId, contextId, streamId, correlationId;
  uint16_t flags, memoryKind;
  char unread[12];
  uint64_t graphNodeId;
  uint32_t graphId;
};

struct ActivityGraphTrace {  // CUpti_ActivityGraphTrace and 2
  int kind;
  uint32_t correlationId;
  uint64_t start, end;
  uint32_t deviceId, graphId, contextId, streamId;
};
#pragma pack(pop)

using Callback = void (*)(void* user, int domain, uint32_t id, const void* data);

#define BLOCKSCOPE_INJECT_CUPTI(X)                                                       \
  X(getVersion, "cuptiGetVersion", (uint32_t*))                                          \
  X(getTimestamp, "cuptiGetTimestamp", (uint64_t*))                                      \
  X(getResultString, "cuptiGetResultString", (int, const char**))                        \
  X(subscribe, "cuptiSubscribe", (void**, Callback, void*))                              \
  X(unsubscribe, "cuptiUnsubscribe", (void*))                                            \
  X(enableCallback, "cuptiEnableCallback", (uint32_t, void*, int, uint32_t))             \
  X(enableDomain, "cuptiEnableDomain", (uint32_t, void*, int))                           \
  X(getCallbackName, "cuptiGetCallbackName", (int, uint32_t, const char**))              \
  X(getGraphId, "cuptiGetGraphId", (void*, uint32_t*))                                   \
  X(getGraphExecId, "cuptiGetGraphExecId", (void*, uint32_t*))                           \
  X(getGraphNodeId, "cuptiGetGraphNodeId", (void*, uint64_t*))                           \
  X(activitySetAttribute, "cuptiActivitySetAttribute", (int, size_t*, void*))            \
  X(activityRegisterCallbacks, "cuptiActivityRegisterCallbacks",                         \
    (BufferRequested, BufferCompleted))                                                  \
  X(activityEnable, "cuptiActivityEnable", (int))                                        \
  X(activityDisable, "cuptiActivityDisable", (int))                                      \
  X(activityFlushAll, "cuptiActivityFlushAll", (uint32_t))                               \
  X(activityGetNextRecord, "cuptiActivityGetNextRecord", (uint8_t*, size_t, Activity**)) \
  X(activityGetNumDropped, "cuptiActivityGetNumDroppedRecords", (void*, uint32_t, size_t*))

struct Api {
#define BLOCKSCOPE_MEMBER(member, symbol, parameters) int(*member) parameters = nullptr;
  BLOCKSCOPE_INJECT_CUPTI(BLOCKSCOPE_MEMBER)
#undef BLOCKSCOPE_MEMBER
};

}  // namespace blockscope::inject::cupti
