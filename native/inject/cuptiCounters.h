// What is used of CUPTI's range profiler and of its host side, which knows the metrics of each
// chip. Source: cupti_range_profiler.h, cupti_profiler_host.h, cupti_profiler_target.h and
// cupti_target.h of CUDA 13.0 (they begin with 12.6); native/test/cudaAbi.cpp checks them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace blockscope::inject::cupti {

constexpr int kErrorHardwareBusy = 26;
constexpr int kErrorVirtualized = 33;
constexpr int kErrorPrivileges = 35;
constexpr int kErrorVirtualPrivileges = 40;
constexpr int kErrorConfidential = 41;
constexpr int kErrorMig = 43;
constexpr int kErrorWsl = 45;

constexpr int kRangeProfiler = 0;  // CUPTI_PROFILER_TYPE_RANGE_PROFILER
constexpr int kAutoRange = 1;      // CUPTI_AutoRange: each kernel is a range
constexpr int kKernelReplay = 2;   // CUPTI_KernelReplay: CUPTI runs it once for each pass

// CUPTI_PROFILER_STRUCT_SIZE: up to the end of the last member, without what pads the struct.
#define BLOCKSCOPE_SIZED(type, last) \
  static constexpr size_t sizeOf() { return offsetof(type, last) + sizeof(type::last); }

struct ProfilerInitialize {
  size_t size;
  void* reserved;
  BLOCKSCOPE_SIZED(ProfilerInitialize, reserved)
};
struct ChipName {
  size_t size;
  void* reserved;
  size_t device;
  const char* name;
  BLOCKSCOPE_SIZED(ChipName, name)
};
struct Availability {
  size_t size;
  void *reserved, *context;
  size_t bytes;
  uint8_t* image;
  BLOCKSCOPE_SIZED(Availability, image)
};
struct HostInitialize {
  size_t size;
  void* reserved;
  int type;
  const char* chip;
  const uint8_t* availability;
  void* host;
  BLOCKSCOPE_SIZED(HostInitialize, host)
};
struct HostDeinitialize {
  size_t size;
  void *reserved, *host;
  BLOCKSCOPE_SIZED(HostDeinitialize, host)
};
struct AddMetrics {
  size_t size;
  void *reserved, *host;
  const char** names;
  size_t count;
  BLOCKSCOPE_SIZED(AddMetrics, count)
};
struct ConfigSize {
  size_t size;
  void *reserved, *host;
  size_t bytes;
  BLOCKSCOPE_SIZED(ConfigSize, bytes)
};
struct ConfigImage {
  size_t size;
  void *reserved, *host;
  size_t bytes;
  uint8_t* image;
  BLOCKSCOPE_SIZED(ConfigImage, image)
};
struct Passes {
  size_t size;
  void* reserved;
  size_t bytes;
  uint8_t* image;
  size_t passes;
  BLOCKSCOPE_SIZED(Passes, passes)
};
struct Evaluate {
  size_t size;
  void *reserved, *host;
  const uint8_t* data;
  size_t bytes, range;
  const char** names;
  size_t count;
  double* values;
  BLOCKSCOPE_SIZED(Evaluate, values)
};
struct RangeEnable {
  size_t size;
  void *reserved, *context, *profiler;
  BLOCKSCOPE_SIZED(RangeEnable, profiler)
};
struct RangeStart {  // CUpti_RangeProfiler_Disable_Params too
  size_t size;
  void *reserved, *profiler;
  BLOCKSCOPE_SIZED(RangeStart, profiler)
};
struct RangeStop {
  size_t size;
  void *reserved, *profiler;
  size_t pass, level;
  uint8_t isAllSubmitted;
  BLOCKSCOPE_SIZED(RangeStop, isAllSubmitted)
};
struct RangeConfig {
  size_t size;
  void *reserved, *profiler;
  size_t configBytes;
  const uint8_t* config;
  size_t dataBytes;
  uint8_t* data;
  int range, replay;
  size_t mostRanges;
  uint16_t levels, minLevel;
  size_t pass;
  uint16_t targetLevel;
  BLOCKSCOPE_SIZED(RangeConfig, targetLevel)
};
struct RangeDecode {
  size_t size;
  void *reserved, *profiler;
  size_t dropped;
  BLOCKSCOPE_SIZED(RangeDecode, dropped)
};
struct RangeDataSize {
  size_t size;
  void *reserved, *profiler;
  const char** names;
  size_t count, mostRanges;
  uint32_t mostNodes;
  size_t bytes;
  BLOCKSCOPE_SIZED(RangeDataSize, bytes)
};
struct RangeDataInitialize {
  size_t size;
  void *reserved, *profiler;
  size_t bytes;
  uint8_t* data;
  BLOCKSCOPE_SIZED(RangeDataInitialize, data)
};
struct RangeDataInfo {
  size_t size;
  void* reserved;
  const uint8_t* data;
  size_t bytes, ranges;
  BLOCKSCOPE_SIZED(RangeDataInfo, ranges)
};
#undef BLOCKSCOPE_SIZED

#define BLOCKSCOPE_INJECT_COUNTERS(X)                                                    \
  X(initialize, "cuptiProfilerInitialize", ProfilerInitialize)                           \
  X(chipName, "cuptiDeviceGetChipName", ChipName)                                        \
  X(availability, "cuptiProfilerGetCounterAvailability", Availability)                   \
  X(hostInitialize, "cuptiProfilerHostInitialize", HostInitialize)                       \
  X(hostDeinitialize, "cuptiProfilerHostDeinitialize", HostDeinitialize)                 \
  X(addMetrics, "cuptiProfilerHostConfigAddMetrics", AddMetrics)                         \
  X(configSize, "cuptiProfilerHostGetConfigImageSize", ConfigSize)                       \
  X(configImage, "cuptiProfilerHostGetConfigImage", ConfigImage)                         \
  X(passes, "cuptiProfilerHostGetNumOfPasses", Passes)                                   \
  X(evaluate, "cuptiProfilerHostEvaluateToGpuValues", Evaluate)                          \
  X(enable, "cuptiRangeProfilerEnable", RangeEnable)                                     \
  X(disable, "cuptiRangeProfilerDisable", RangeStart)                                    \
  X(setConfig, "cuptiRangeProfilerSetConfig", RangeConfig)                               \
  X(start, "cuptiRangeProfilerStart", RangeStart)                                        \
  X(stop, "cuptiRangeProfilerStop", RangeStop)                                           \
  X(decode, "cuptiRangeProfilerDecodeData", RangeDecode)                                 \
  X(dataSize, "cuptiRangeProfilerGetCounterDataSize", RangeDataSize)                     \
  X(dataInitialize, "cuptiRangeProfilerCounterDataImageInitialize", RangeDataInitialize) \
  X(dataInfo, "cuptiRangeProfilerGetCounterDataInfo", RangeDataInfo)

struct CounterApi {
#define BLOCKSCOPE_MEMBER(member, symbol, Parameters) int (*member)(Parameters*) = nullptr;
  BLOCKSCOPE_INJECT_COUNTERS(BLOCKSCOPE_MEMBER)
#undef BLOCKSCOPE_MEMBER
};

}  // namespace blockscope::inject::cupti
