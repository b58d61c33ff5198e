// The hand-written declarations of native/cuda/api against the real headers, where a CUDA toolkit
// is installed.
#include "check.h"

#if __has_include(<cuda.h>) && __has_include(<cupti.h>)
#include <cuda.h>
#include <cupti.h>
#include <library_types.h>
#if CUPTI_API_VERSION >= 130000
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#endif

#include "../cuda/api/cublasLt.h"
#include "../cuda/api/cupti.h"
#include "../cuda/api/driver.h"
#include "../cuda/libraryMatmul.h"
#include "../inject/cuptiAbi.h"
#include "../inject/cuptiCounters.h"

namespace driver = blockscope::cuda::driver;
namespace cupti = blockscope::cuda::cupti;
using blockscope::cuda::MatmulType;

#define SAME(mine, theirs) static_assert(static_cast<int>(mine) == static_cast<int>(theirs))

SAME(driver::kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(driver::kNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(driver::kNotReady, CUDA_ERROR_NOT_READY);
SAME(driver::kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
SAME(driver::kNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
SAME(driver::kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(driver::kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(driver::kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(driver::kAssert, CUDA_ERROR_ASSERT);
SAME(driver::kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME(driver::kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME(driver::kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME(driver::kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
SAME(driver::kInvalidPc, CUDA_ERROR_INVALID_PC);
SAME(driver::kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME(driver::kExternalDevice, CUDA_ERROR_EXTERNAL_DEVICE);
#if CUDA_VERSION >= 13000
SAME(driver::kContained, CUDA_ERROR_CONTAINED);
SAME(driver::kTensorMemoryLeak, CUDA_ERROR_TENSOR_MEMORY_LEAK);
#endif
SAME(driver::kSystemNotReady, CUDA_ERROR_SYSTEM_NOT_READY);
SAME(driver::kSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME(driver::kCompatNotSupported, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
SAME(driver::kClockRateKHz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(driver::kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(driver::kEccEnabled, CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
SAME(driver::kMemoryClockRateKHz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME(driver::kMemoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME(driver::kL2CacheBytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(driver::kComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(driver::kComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(driver::kMaxSharedMemoryPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(driver::kFunctionMaxDynamicSharedBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(driver::kFunctionNonPortableClusterAllowed,
     CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
SAME(driver::kLaunchClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(driver::kLaunchProgrammaticStreamSerialization,
     CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME(driver::kHostAllocMapped, CU_MEMHOSTALLOC_DEVICEMAP);
SAME(driver::kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(driver::kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(driver::kU8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME(driver::kU16, CU_TENSOR_MAP_DATA_TYPE_UINT16);
SAME(driver::kU32, CU_TENSOR_MAP_DATA_TYPE_UINT32);
SAME(driver::kF16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME(driver::kF32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME(driver::kBf16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
#if CUDA_VERSION >= 12080
SAME(driver::k16U4, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B);
SAME(driver::k16U6, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B);
#endif
SAME(driver::kSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
SAME(driver::kPromote256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
SAME(cupti::kActivityConcurrentKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(cupti::kFlushForced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME(MatmulType::kE4m3, CUDA_R_8F_E4M3);
SAME(MatmulType::kE5m2, CUDA_R_8F_E5M2);
SAME(MatmulType::kE2m1, CUDA_R_4F_E2M1);
SAME(MatmulType::kBf16, CUDA_R_16BF);
SAME(MatmulType::kF16, CUDA_R_16F);

static_assert(sizeof(driver::TensorMap) == sizeof(CUtensorMap));
static_assert(alignof(driver::TensorMap) >= alignof(CUtensorMap));
static_assert(sizeof(driver::LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(driver::LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(driver::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(driver::LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(driver::LaunchConfig, attributeCount) == offsetof(CUlaunchConfig, numAttrs));
static_assert(sizeof(driver::Uuid) == sizeof(CUuuid));

#define FIELD(mine, theirs) \
  static_assert(offsetof(cupti::ActivityKernel, mine) == offsetof(CUpti_ActivityKernel10, theirs))
FIELD(registersPerThread, registersPerThread);
FIELD(start, start);
FIELD(end, end);
FIELD(streamId, streamId);
FIELD(gridX, gridX);
FIELD(blockX, blockX);
FIELD(staticSharedMemory, staticSharedMemory);
FIELD(dynamicSharedMemory, dynamicSharedMemory);
FIELD(gridId, gridId);
FIELD(name, name);

namespace inject = blockscope::inject::cupti;
SAME(inject::kErrorMaxLimitReached, CUPTI_ERROR_MAX_LIMIT_REACHED);
#if CUPTI_API_VERSION >= 130000
SAME(inject::kErrorMultipleSubscribers, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
#endif
SAME(inject::kActivityCopy, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(inject::kActivitySet, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(inject::kActivityGraphTrace, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
SAME(inject::kAttributeZeroedBuffer, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
SAME(inject::kDomainDriver, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(inject::kDomainResource, CUPTI_CB_DOMAIN_RESOURCE);
SAME(inject::kDomainSynchronize, CUPTI_CB_DOMAIN_SYNCHRONIZE);
SAME(inject::kDomainState, CUPTI_CB_DOMAIN_STATE);
SAME(inject::kSiteEnter, CUPTI_API_ENTER);
SAME(inject::kContextDestroyStarting, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
SAME(inject::kGraphNodeCreated, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME(inject::kGraphNodeCloned, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
SAME(inject::kNodeKernel, CU_GRAPH_NODE_TYPE_KERNEL);
SAME(inject::kNodeCopy, CU_GRAPH_NODE_TYPE_MEMCPY);
SAME(inject::kNodeSet, CU_GRAPH_NODE_TYPE_MEMSET);
static_assert(inject::kMostCallbackIds > CUPTI_DRIVER_TRACE_CBID_SIZE);

#define AT(mine, member, theirs, named) \
  static_assert(offsetof(inject::mine, member) == offsetof(theirs, named))
AT(CallbackData, functionReturnValue, CUpti_CallbackData, functionReturnValue);
AT(CallbackData, context, CUpti_CallbackData, context);
AT(CallbackData, correlationData, CUpti_CallbackData, correlationData);
AT(CallbackData, correlationId, CUpti_CallbackData, correlationId);
AT(ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
AT(GraphData, node, CUpti_GraphData, node);
AT(GraphData, originalNode, CUpti_GraphData, originalNode);
AT(GraphData, nodeType, CUpti_GraphData, nodeType);
AT(ActivityKernelGraph, graphNodeId, CUpti_ActivityKernel10, graphNodeId);
AT(ActivityKernelGraph, graphId, CUpti_ActivityKernel10, graphId);
AT(ActivityKernelGraph, clusterX, CUpti_ActivityKernel10, clusterX);
AT(ActivityKernelGraph, graphNodeId, CUpti_ActivityKernel9, graphNodeId);
AT(ActivityKernelGraph, graphId, CUpti_ActivityKernel9, graphId);
AT(ActivityKernelGraph, clusterX, CUpti_ActivityKernel9, clusterX);
AT(ActivityCopy, bytes, CUpti_ActivityMemcpy6, bytes);
AT(ActivityCopy, correlationId, CUpti_ActivityMemcpy6, correlationId);
AT(ActivityCopy, graphNodeId, CUpti_ActivityMemcpy6, graphNodeId);
AT(ActivityCopy, graphId, CUpti_ActivityMemcpy6, graphId);
AT(ActivitySet, bytes, CUpti_ActivityMemset4, bytes);
AT(ActivitySet, memoryKind, CUpti_ActivityMemset4, memoryKind);
AT(ActivitySet, graphNodeId, CUpti_ActivityMemset4, graphNodeId);
AT(ActivitySet, graphId, CUpti_ActivityMemset4, graphId);
AT(ActivityGraphTrace, correlationId, CUpti_ActivityGraphTrace2, correlationId);
AT(ActivityGraphTrace, graphId, CUpti_ActivityGraphTrace2, graphId);
AT(ActivityGraphTrace, streamId, CUpti_ActivityGraphTrace2, streamId);

#if CUPTI_API_VERSION >= 130000
SAME(inject::kErrorHardwareBusy, CUPTI_ERROR_HARDWARE_BUSY);
SAME(inject::kErrorVirtualized, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
SAME(inject::kErrorPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME(inject::kErrorVirtualPrivileges, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME(inject::kErrorConfidential, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
SAME(inject::kErrorMig, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
SAME(inject::kErrorWsl, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
SAME(inject::kRangeProfiler, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
SAME(inject::kAutoRange, CUPTI_AutoRange);
SAME(inject::kKernelReplay, CUPTI_KernelReplay);
#define SIZED(mine, theirs, member, named)                        \
  static_assert(inject::mine::sizeOf() == theirs##_STRUCT_SIZE && \
                offsetof(inject::mine, member) == offsetof(theirs, named))
SIZED(ProfilerInitialize, CUpti_Profiler_Initialize_Params, reserved, pPriv);
SIZED(ChipName, CUpti_Device_GetChipName_Params, name, pChipName);
SIZED(Availability, CUpti_Profiler_GetCounterAvailability_Params, image, pCounterAvailabilityImage);
SIZED(HostInitialize, CUpti_Profiler_Host_Initialize_Params, host, pHostObject);
SIZED(HostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params, host, pHostObject);
SIZED(AddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, names, ppMetricNames);
SIZED(ConfigSize, CUpti_Profiler_Host_GetConfigImageSize_Params, bytes, configImageSize);
SIZED(ConfigImage, CUpti_Profiler_Host_GetConfigImage_Params, image, pConfigImage);
SIZED(Passes, CUpti_Profiler_Host_GetNumOfPasses_Params, passes, numOfPasses);
SIZED(Evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params, values, pMetricValues);
SIZED(RangeEnable, CUpti_RangeProfiler_Enable_Params, profiler, pRangeProfilerObject);
SIZED(RangeStart, CUpti_RangeProfiler_Start_Params, profiler, pRangeProfilerObject);
SIZED(RangeStart, CUpti_RangeProfiler_Disable_Params, profiler, pRangeProfilerObject);
SIZED(RangeStop, CUpti_RangeProfiler_Stop_Params, level, targetNestingLevel);
SIZED(RangeConfig, CUpti_RangeProfiler_SetConfig_Params, mostRanges, maxRangesPerPass);
SIZED(RangeDecode, CUpti_RangeProfiler_DecodeData_Params, dropped, numOfRangeDropped);
SIZED(RangeDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params, mostNodes,
      maxNumRangeTreeNodes);
SIZED(RangeDataInitialize, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, data,
      pCounterData);
SIZED(RangeDataInfo, CUpti_RangeProfiler_GetCounterDataInfo_Params, ranges, numTotalRanges);
#endif

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
namespace lt = blockscope::cuda::cublaslt;
SAME(lt::Attribute::kId, CUBLASLT_ALGO_CONFIG_ID);
SAME(lt::Attribute::kTile, CUBLASLT_ALGO_CONFIG_TILE_ID);
SAME(lt::Attribute::kSplitK, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
SAME(lt::Attribute::kReduction, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME);
SAME(lt::Attribute::kSwizzle, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING);
SAME(lt::Attribute::kCustomOption, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION);
SAME(lt::Attribute::kStages, CUBLASLT_ALGO_CONFIG_STAGES_ID);
SAME(lt::Attribute::kCluster, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID);
static_assert(sizeof(lt::Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(lt::HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(lt::HeuristicResult, wavesCount) ==
              offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));

// At the borders of each kind: what lies between follows from how they are counted.
void wordsAreThoseOfTheHeader() {
#define TILE(words) CHECK(lt::tileWords(CUBLASLT_MATMUL_TILE_##words) == #words)
  TILE(8x8), TILE(256x32), TILE(8x128), TILE(768x64), TILE(64x16), TILE(64x760), TILE(128x8);
  TILE(128x512), TILE(192x336), TILE(256x256), TILE(384x168), TILE(768x80), TILE(256x512);
  TILE(256x1024), TILE(512x512), TILE(512x1024);
  CHECK(CUBLASLT_MATMUL_TILE_END == 635);
#define STAGES(words) CHECK(lt::stagesWords(CUBLASLT_MATMUL_STAGES_##words) == #words)
  STAGES(16x1), STAGES(128x6), STAGES(32x10), STAGES(8x5), STAGES(8x3), STAGES(64xAUTO);
  STAGES(768xAUTO);
#define CLUSTER(words) CHECK(lt::clusterWords(CUBLASLT_CLUSTER_SHAPE_##words) == #words)
  CLUSTER(AUTO), CLUSTER(1x1x1), CLUSTER(2x1x1), CLUSTER(1x16x1), CLUSTER(15x1x1);
  CLUSTER(3x4x1), CLUSTER(1x15x1);
}
#else
void wordsAreThoseOfTheHeader() {}
#endif

int main() {
  wordsAreThoseOfTheHeader();
  CHECK(sizeof(cupti::ActivityKernel) < sizeof(CUpti_ActivityKernel10));
  return summary();
}
#else
int main() {
  std::printf("no CUDA headers on this machine: nothing to compare\n");
  return summary();
}
#endif
