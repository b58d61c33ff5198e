// The part of the CUDA driver API used here: own declarations, so that no CUDA header is needed to
// build. Source: cuda.h of CUDA 13.0 (values and layouts unchanged since 12.0);
// native/test/cudaAbi.cpp checks them against it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace blockscope::cuda::driver {

using Device = int;
using DevicePointer = uint64_t;  // CUdeviceptr
using Handle = void*;  // CUcontext, CUmodule, CUfunction, CUstream, CUevent, CUgraph, CUgraphExec

// CUresult values that are told apart.
enum Result : int {
  kSuccess = 0,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kNotReady = 600,
  // After these the context stays broken for good.
  kEccUncorrectable = 214,
  kNvlinkUncorrectable = 220,
  kContained = 226,
  kIllegalAddress = 700,
  kLaunchTimeout = 702,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kTensorMemoryLeak = 721,
  kExternalDevice = 911,
  kSystemNotReady = 802,
  kSystemDriverMismatch = 803,
  kCompatNotSupported = 804,
};

// CUdevice_attribute
enum Attribute : int {
  kClockRateKHz = 13,
  kMultiprocessorCount = 16,
  kKernelExecTimeout = 17,
  kPciBusId = 33,
  kPciDeviceId = 34,
  kEccEnabled = 32,
  kMemoryClockRateKHz = 36,
  kMemoryBusWidth = 37,
  kL2CacheBytes = 38,
  kMaxSharedMemoryPerMultiprocessor = 81,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedMemoryPerBlockOptin = 97,
  kPciDomainId = 50,
};

// CUfunction_attribute
constexpr int kFunctionSharedBytesStatic = 1;
constexpr int kFunctionRegisters = 4;
constexpr int kFunctionMaxDynamicSharedBytes = 8;
constexpr int kFunctionNonPortableClusterAllowed = 14;

// CUlaunchAttributeID
constexpr int kLaunchClusterDimension = 4;
constexpr int kLaunchProgrammaticStreamSerialization = 6;

struct LaunchAttribute {  // CUlaunchAttribute
  int id = 0;
  char pad[4] = {};
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
  } value = {};
};

struct LaunchConfig {  // CUlaunchConfig
  unsigned gridX = 1, gridY = 1, gridZ = 1;
  unsigned blockX = 1, blockY = 1, blockZ = 1;
  unsigned sharedBytes = 0;
  Handle stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attributeCount = 0;
};

struct alignas(128) TensorMap {  // CUtensorMap; 64 before CUDA 13
  uint64_t opaque[16];
};

// CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion
// k16U4, k16U6: 16 packed codes, brought to 16 bytes with padding behind (sm_100 and later).
enum TensorMapElement : int {
  kU8 = 0,
  kU16 = 1,
  kU32 = 2,
  kF16 = 6,
  kF32 = 7,
  kBf16 = 9,
  k16U4 = 14,
  k16U6 = 15
};
enum TensorMapSwizzle : int { kSwizzleNone = 0, kSwizzle32 = 1, kSwizzle64 = 2, kSwizzle128 = 3 };
enum TensorMapPromotion : int {
  kPromoteNone = 0,
  kPromote64 = 1,
  kPromote128 = 2,
  kPromote256 = 3
};

struct Uuid {  // CUuuid
  unsigned char bytes[16];
};

// CU_MEMHOSTALLOC_DEVICEMAP, CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
constexpr unsigned kHostAllocMapped = 2;
constexpr unsigned kStreamNonBlocking = 1;
constexpr int kCaptureThreadLocal = 1;

// Member, exported symbol, parameters. Every function returns CUresult.
#define BLOCKSCOPE_DRIVER_FUNCTIONS(X)                                                          \
  X(init, "cuInit", (unsigned))                                                                 \
  X(driverGetVersion, "cuDriverGetVersion", (int*))                                             \
  X(getErrorName, "cuGetErrorName", (int, const char**))                                        \
  X(getErrorString, "cuGetErrorString", (int, const char**))                                    \
  X(deviceGetCount, "cuDeviceGetCount", (int*))                                                 \
  X(deviceGet, "cuDeviceGet", (Device*, int))                                                   \
  X(deviceGetName, "cuDeviceGetName", (char*, int, Device))                                     \
  X(deviceGetUuid, "cuDeviceGetUuid_v2", (Uuid*, Device))                                       \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int*, int, Device))                            \
  X(deviceTotalMem, "cuDeviceTotalMem_v2", (size_t*, Device))                                   \
  X(primaryCtxRetain, "cuDevicePrimaryCtxRetain", (Handle*, Device))                            \
  X(primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (Device))                                \
  X(ctxSetCurrent, "cuCtxSetCurrent", (Handle))                                                 \
  X(memGetInfo, "cuMemGetInfo_v2", (size_t*, size_t*))                                          \
  X(memAlloc, "cuMemAlloc_v2", (DevicePointer*, size_t))                                        \
  X(memFree, "cuMemFree_v2", (DevicePointer))                                                   \
  X(memHostAlloc, "cuMemHostAlloc", (void**, size_t, unsigned))                                 \
  X(memHostGetDevicePointer, "cuMemHostGetDevicePointer_v2", (DevicePointer*, void*, unsigned)) \
  X(memFreeHost, "cuMemFreeHost", (void*))                                                      \
  X(memcpyHtoD, "cuMemcpyHtoD_v2", (DevicePointer, const void*, size_t))                        \
  X(memcpyDtoH, "cuMemcpyDtoH_v2", (void*, DevicePointer, size_t))                              \
  X(memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (DevicePointer, DevicePointer, size_t, Handle))    \
  X(memsetD8Async, "cuMemsetD8Async", (DevicePointer, unsigned char, size_t, Handle))           \
  X(moduleLoadData, "cuModuleLoadData", (Handle*, const void*))                                 \
  X(moduleUnload, "cuModuleUnload", (Handle))                                                   \
  X(moduleGetFunction, "cuModuleGetFunction", (Handle*, Handle, const char*))                   \
  X(funcGetAttribute, "cuFuncGetAttribute", (int*, int, Handle))                                \
  X(funcSetAttribute, "cuFuncSetAttribute", (Handle, int, int))                                 \
  X(launchKernelEx, "cuLaunchKernelEx", (const LaunchConfig*, Handle, void**, void**))          \
  X(streamCreate, "cuStreamCreate", (Handle*, unsigned))                                        \
  X(streamDestroy, "cuStreamDestroy_v2", (Handle))                                              \
  X(streamQuery, "cuStreamQuery", (Handle))                                                     \
  X(streamSynchronize, "cuStreamSynchronize", (Handle))                                         \
  X(streamBeginCapture, "cuStreamBeginCapture_v2", (Handle, int))                               \
  X(streamEndCapture, "cuStreamEndCapture", (Handle, Handle*))                                  \
  X(graphInstantiate, "cuGraphInstantiateWithFlags", (Handle*, Handle, unsigned long long))     \
  X(graphLaunch, "cuGraphLaunch", (Handle, Handle))                                             \
  X(graphExecDestroy, "cuGraphExecDestroy", (Handle))                                           \
  X(graphDestroy, "cuGraphDestroy", (Handle))                                                   \
  X(eventCreate, "cuEventCreate", (Handle*, unsigned))                                          \
  X(eventDestroy, "cuEventDestroy_v2", (Handle))                                                \
  X(eventRecord, "cuEventRecord", (Handle, Handle))                                             \
  X(eventQuery, "cuEventQuery", (Handle))                                                       \
  X(eventElapsedTime, "cuEventElapsedTime", (float*, Handle, Handle))                           \
  X(tensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                             \
    (TensorMap*, int, uint32_t, void*, const uint64_t*, const uint64_t*, const uint32_t*,       \
     const uint32_t*, int, int, int, int))

// Those that an older driver may lack (CUDA 12.4).
#define BLOCKSCOPE_NEW_DRIVER_FUNCTIONS(X) \
  X(funcGetParamInfo, "cuFuncGetParamInfo", (Handle, size_t, size_t*, size_t*))

struct Api {
#define BLOCKSCOPE_MEMBER(member, symbol, parameters) int(*member) parameters = nullptr;
  BLOCKSCOPE_DRIVER_FUNCTIONS(BLOCKSCOPE_MEMBER)
  BLOCKSCOPE_NEW_DRIVER_FUNCTIONS(BLOCKSCOPE_MEMBER)
#undef BLOCKSCOPE_MEMBER
};

}  // namespace blockscope::cuda::driver
