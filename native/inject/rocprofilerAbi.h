// What the injected library uses of rocprofiler-sdk, written down here, since nothing of ROCm is
// needed to build it. Source: ROCm/rocm-systems, projects/rocprofiler-sdk/source/include/
// rocprofiler-sdk: fwd.h, registration.h, callback_tracing.h, buffer_tracing.h, agent.h,
// hip/api_args.h, as of versions 0.5.0, 0.6.0, 1.0.0 and 1.1.0. native/test/rocprofilerAbi.cpp
// checks it where ROCm is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace blockscope::inject::rocprofiler {

constexpr int kSuccess = 0;
constexpr int kBufferBusy = 14;  // ROCPROFILER_STATUS_ERROR_BUFFER_BUSY

// rocprofiler_callback_tracing_kind_t
constexpr int kHipRuntimeCalls = 5;
constexpr int kMarkerCalls = 7;
constexpr int kCodeObjects = 10;
constexpr int kDispatchCalls = 12;
// rocprofiler_buffer_tracing_kind_t, and the category of all of them
constexpr uint32_t kTracingRecords = 1;
constexpr int kCopyRecords = 10;
constexpr int kDispatchRecords = 11;

constexpr int kPhaseEnter = 1, kPhaseExit = 2;  // rocprofiler_callback_phase_t
constexpr int kKernelSymbol = 2;  // ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER
constexpr int kEnqueue = 1;       // ROCPROFILER_KERNEL_DISPATCH_ENQUEUE
// rocprofiler_memory_copy_operation_t
constexpr int kHostToHost = 1, kHostToDevice = 2, kDeviceToHost = 3, kDeviceToDevice = 4;
constexpr int kLossless = 2;   // ROCPROFILER_BUFFER_POLICY_LOSSLESS
constexpr int kAgentGpu = 2;   // ROCPROFILER_AGENT_TYPE_GPU
constexpr int kAgentInfo = 1;  // ROCPROFILER_AGENT_INFO_VERSION_0

struct Extent {  // rocprofiler_dim3_t
  uint32_t x, y, z;
};

// rocprofiler_correlation_id_t: with the call that made this one since 1.0.
struct Correlation {
  uint64_t internal, external, ancestor;
};
struct CorrelationBefore1 {
  uint64_t internal, external;
};

// rocprofiler_callback_tracing_record_t, which callbacks get by value.
template <typename Id>
struct CallbackRecord {
  uint64_t context, thread;
  Id correlation;
  int32_t kind, operation, phase;
  void* payload;
};
static_assert(offsetof(CallbackRecord<Correlation>, payload) == 56);
static_assert(offsetof(CallbackRecord<CorrelationBefore1>, payload) == 48);
template <typename Id>
using Callback = void (*)(CallbackRecord<Id> record, uint64_t* user, void* data);

struct RecordHeader {  // rocprofiler_record_header_t
  uint32_t category, kind;
  void* payload;
};
using BufferCallback = void (*)(uint64_t context, uint64_t buffer, RecordHeader** headers,
                                size_t count, void* data, uint64_t dropped);

struct DispatchInfo {  // rocprofiler_kernel_dispatch_info_t, without what is kept free
  uint64_t size, agent, queue, kernel, dispatch;
  uint32_t privateSegment, groupSegment;
  Extent workgroup, grid;  // in work-items, both
};

struct DispatchCall {  // rocprofiler_callback_tracing_kernel_dispatch_data_t
  uint64_t size, start, end;
  DispatchInfo info;
};

// rocprofiler_buffer_tracing_kernel_dispatch_record_t. Correlations of records have no ancestor in
// any version.
struct DispatchRecord {
  uint64_t size;
  int32_t kind, operation;
  CorrelationBefore1 correlation;
  uint64_t thread, start, end;
  DispatchInfo info;
};
static_assert(offsetof(DispatchRecord, info) == 56);

struct CopyRecord {  // rocprofiler_buffer_tracing_memory_copy_record_t up to the bytes
  uint64_t size;
  int32_t kind, operation;
  CorrelationBefore1 correlation;
  uint64_t thread, start, end, target, source, bytes;
};
static_assert(sizeof(CopyRecord) == 80);

struct KernelSymbol {  // ..._code_object_kernel_symbol_register_data_t up to the registers
  uint64_t size, kernel, codeObject;
  const char* name;
  uint64_t object;
  uint32_t kernargSize, kernargAlignment, groupSegment, privateSegment;
  uint32_t scalarRegisters, vectorRegisters, accumulationRegisters;
};
static_assert(offsetof(KernelSymbol, accumulationRegisters) == 64);

// rocprofiler_callback_tracing_hip_api_data_t is its size, the arguments, whose union grows from
// version to version, and last a union of results: of 24 bytes, with a hipError_t in front.
constexpr size_t kHipResultBytes = 24;
// rocprofiler_callback_tracing_marker_api_data_t has the message of a push behind its size.
struct MarkerCall {
  uint64_t size;
  const char* message;
};

struct Agent {  // rocprofiler_agent_v0_t up to the numbers of nodes
  uint64_t size, id;
  int32_t type;
  uint32_t cpuCores, simds, memoryBanks, caches, links, cpuCoreBase, simdBase, wavesPerSimd;
  uint32_t ldsKb, gdsKb, gws, waveSize, xccs, computeUnits, arrays, shaderBanks, arraysPerEngine;
  uint32_t unitsPerArray, simdsPerUnit, scratchSlots, gfxVersion;
  uint16_t vendor, deviceId;
  uint32_t location, domain, renderMinor, sdmaEngines, xgmiEngines, queuesPerEngine, computeQueues;
  uint32_t cpuClockMhz, gpuClockMhz, sdmaFirmware, firmware, capability, unitsPerEngine;
  uint32_t wavesPerUnit, family, workgroupMost, gridMost;
  uint64_t localMemory, hive, gpu;
  Extent workgroupMostByDimension, gridMostByDimension;
  const void *banks, *cacheList, *linkList;
  const char *name, *vendorName, *productName, *modelName;
  uint32_t node;
  int32_t logicalNode, logicalNodeOfType;
};
using AgentsCallback = int (*)(int version, const void** agents, size_t count, void* data);

struct ConfigureResult {  // rocprofiler_tool_configure_result_t
  size_t size;
  int (*initialize)(void* finalize, void* data);
  void (*finalize)(void* data);
  void* data;
};

#define BLOCKSCOPE_INJECT_ROCPROFILER(X)                                       \
  X(getVersion, "rocprofiler_get_version", (uint32_t*, uint32_t*, uint32_t*))  \
  X(getTimestamp, "rocprofiler_get_timestamp", (uint64_t*))                    \
  X(createContext, "rocprofiler_create_context", (uint64_t*))                  \
  X(startContext, "rocprofiler_start_context", (uint64_t))                     \
  X(stopContext, "rocprofiler_stop_context", (uint64_t))                       \
  X(createBuffer, "rocprofiler_create_buffer",                                 \
    (uint64_t, size_t, size_t, int, BufferCallback, void*, uint64_t*))         \
  X(flushBuffer, "rocprofiler_flush_buffer", (uint64_t))                       \
  X(traceCalls, "rocprofiler_configure_callback_tracing_service",              \
    (uint64_t, int, const int32_t*, size_t, void*, void*))                     \
  X(traceRecords, "rocprofiler_configure_buffer_tracing_service",              \
    (uint64_t, int, const int32_t*, size_t, uint64_t))                         \
  X(listOperations, "rocprofiler_iterate_callback_tracing_kind_operations",    \
    (int, int (*)(int, int32_t, void*), void*))                                \
  X(nameOfOperation, "rocprofiler_query_callback_tracing_kind_operation_name", \
    (int, int32_t, const char**, uint64_t*))                                   \
  X(listAgents, "rocprofiler_query_available_agents", (int, AgentsCallback, size_t, void*))

struct Api {
#define BLOCKSCOPE_MEMBER(member, symbol, parameters) int(*member) parameters = nullptr;
  BLOCKSCOPE_INJECT_ROCPROFILER(BLOCKSCOPE_MEMBER)
#undef BLOCKSCOPE_MEMBER
  const char* (*nameOfStatus)(int) = nullptr;  // rocprofiler_get_status_string
};

}  // namespace blockscope::inject::rocprofiler
