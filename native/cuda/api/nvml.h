// The part of NVML used here. Source: NVML API reference (nvml.h), unchanged between versions 11
// and 13.
#pragma once

namespace blockscope::cuda::nvml {

using Device = void*;

// nvmlReturn_t
constexpr int kLibraryMismatch = 18;  // NVML_ERROR_LIB_RM_VERSION_MISMATCH

// nvmlClockType_t, nvmlTemperatureSensors_t
constexpr int kClockSm = 1;
constexpr int kClockMemory = 2;
constexpr int kTemperatureGpu = 0;

// nvmlClocksEventReason* bits
constexpr unsigned long long kReasonSwPowerCap = 0x4;
constexpr unsigned long long kReasonHwSlowdown = 0x8;
constexpr unsigned long long kReasonSwThermal = 0x20;
constexpr unsigned long long kReasonHwThermal = 0x40;
constexpr unsigned long long kReasonHwPowerBrake = 0x80;

struct ProcessInfo {  // nvmlProcessInfo_t, version 2 (nvmlDeviceGetComputeRunningProcesses_v3)
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId;
  unsigned computeInstanceId;
};

#define BLOCKSCOPE_NVML_FUNCTIONS(X)                                                          \
  X(init, "nvmlInit_v2", int, ())                                                             \
  X(systemGetDriverVersion, "nvmlSystemGetDriverVersion", int, (char*, unsigned))             \
  X(deviceGetHandleByUuid, "nvmlDeviceGetHandleByUUID", int, (const char*, Device*))          \
  X(deviceGetClockInfo, "nvmlDeviceGetClockInfo", int, (Device, int, unsigned*))              \
  X(deviceGetMaxClockInfo, "nvmlDeviceGetMaxClockInfo", int, (Device, int, unsigned*))        \
  X(deviceGetPowerUsage, "nvmlDeviceGetPowerUsage", int, (Device, unsigned*))                 \
  X(deviceGetEnforcedPowerLimit, "nvmlDeviceGetEnforcedPowerLimit", int, (Device, unsigned*)) \
  X(deviceGetTotalEnergyConsumption, "nvmlDeviceGetTotalEnergyConsumption", int,              \
    (Device, unsigned long long*))                                                            \
  X(deviceGetTemperature, "nvmlDeviceGetTemperature", int, (Device, int, unsigned*))          \
  X(deviceGetClocksEventReasons, "nvmlDeviceGetCurrentClocksThrottleReasons", int,            \
    (Device, unsigned long long*))                                                            \
  X(deviceGetMigMode, "nvmlDeviceGetMigMode", int, (Device, unsigned*, unsigned*))            \
  X(deviceGetComputeRunningProcesses, "nvmlDeviceGetComputeRunningProcesses_v3", int,         \
    (Device, unsigned*, ProcessInfo*))

struct Api {
#define BLOCKSCOPE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
  BLOCKSCOPE_NVML_FUNCTIONS(BLOCKSCOPE_MEMBER)
#undef BLOCKSCOPE_MEMBER
};

}  // namespace blockscope::cuda::nvml
