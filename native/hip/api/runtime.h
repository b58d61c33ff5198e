// The part of the HIP runtime API used here: own declarations, so that no AMD header is needed to
// build. Source: hip_runtime_api.h of HIP 6.0 to 7.1 (ROCm/clr), values and layouts since 6.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace blockscope::hip::runtime {

using Handle = void*;  // hipModule_t, hipFunction_t, hipStream_t, hipEvent_t

// hipError_t values that are told apart.
enum Result : int {
  kSuccess = 0,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kNotReady = 600,
  // After these the device stays broken for this process.
  kEccUncorrectable = 214,
  kIllegalAddress = 700,
  kLaunchTimeout = 702,
  kAssert = 710,
  kLaunchFailed = 719,
};

// hipMemcpyKind, hipStreamNonBlocking
constexpr int kHostToDevice = 1, kDeviceToHost = 2;
constexpr unsigned kStreamNonBlocking = 1;

// hipDeviceProp_tR0600, 1472 bytes: the members that are read, by their place.
struct alignas(8) DeviceProperties {
  char bytes[1472];

  template <typename T>
  T at(size_t offset) const {
    T value;
    std::memcpy(&value, bytes + offset, sizeof value);
    return value;
  }
  const char* name() const { return bytes; }        // 256 bytes
  const char* uuid() const { return bytes + 256; }  // 16 hexadecimal digits, no end
  size_t totalBytes() const { return at<size_t>(288); }
  size_t ldsBytesPerBlock() const { return at<size_t>(296); }
  int waveSize() const { return at<int>(308); }
  int clockKHz() const { return at<int>(348); }
  int computeUnits() const { return at<int>(388); }
  int memoryClockKHz() const { return at<int>(608); }
  int memoryBusBits() const { return at<int>(612); }
  int l2Bytes() const { return at<int>(616); }
  const char* architecture() const { return bytes + 1160; }  // "gfx950:sramecc+:xnack-"
};

// Member, exported symbol, result, parameters.
#define BLOCKSCOPE_HIP_FUNCTIONS(X)                                                                \
  X(init, "hipInit", int, (unsigned))                                                              \
  X(runtimeGetVersion, "hipRuntimeGetVersion", int, (int*))                                        \
  X(getErrorName, "hipGetErrorName", const char*, (int))                                           \
  X(getErrorString, "hipGetErrorString", const char*, (int))                                       \
  X(getDeviceCount, "hipGetDeviceCount", int, (int*))                                              \
  X(getDeviceProperties, "hipGetDevicePropertiesR0600", int, (DeviceProperties*, int))             \
  X(deviceGetPciBusId, "hipDeviceGetPCIBusId", int, (char*, int, int))                             \
  X(setDevice, "hipSetDevice", int, (int))                                                         \
  X(memGetInfo, "hipMemGetInfo", int, (size_t*, size_t*))                                          \
  X(malloc, "hipMalloc", int, (void**, size_t))                                                    \
  X(free, "hipFree", int, (void*))                                                                 \
  X(memcpy, "hipMemcpy", int, (void*, const void*, size_t, int))                                   \
  X(memset, "hipMemset", int, (void*, int, size_t))                                                \
  X(memsetAsync, "hipMemsetAsync", int, (void*, int, size_t, Handle))                              \
  X(moduleLoadData, "hipModuleLoadData", int, (Handle*, const void*))                              \
  X(moduleUnload, "hipModuleUnload", int, (Handle))                                                \
  X(moduleGetFunction, "hipModuleGetFunction", int, (Handle*, Handle, const char*))                \
  X(moduleLaunchKernel, "hipModuleLaunchKernel", int,                                              \
    (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, \
     void**))                                                                                      \
  X(streamCreate, "hipStreamCreateWithFlags", int, (Handle*, unsigned))                            \
  X(streamDestroy, "hipStreamDestroy", int, (Handle))                                              \
  X(streamQuery, "hipStreamQuery", int, (Handle))                                                  \
  X(eventCreate, "hipEventCreate", int, (Handle*))                                                 \
  X(eventDestroy, "hipEventDestroy", int, (Handle))                                                \
  X(eventRecord, "hipEventRecord", int, (Handle, Handle))                                          \
  X(eventQuery, "hipEventQuery", int, (Handle))                                                    \
  X(eventElapsedTime, "hipEventElapsedTime", int, (float*, Handle, Handle))

struct Api {
#define BLOCKSCOPE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
  BLOCKSCOPE_HIP_FUNCTIONS(BLOCKSCOPE_MEMBER)
#undef BLOCKSCOPE_MEMBER
};

}  // namespace blockscope::hip::runtime
