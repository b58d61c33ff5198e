#include "monitor.h"

namespace blockscope::cuda {

namespace {

constexpr unsigned long long kThrottleReasons = nvml::kReasonHwSlowdown | nvml::kReasonSwThermal |
                                                nvml::kReasonHwThermal | nvml::kReasonHwPowerBrake;

nvml::Device deviceOf(const std::string& uuid) {
  nvml::Device device = nullptr;
  if (!libraries().nvmlInfo.found) return nullptr;
  return libraries().nvml.deviceGetHandleByUuid(uuid.c_str(), &device) == 0 ? device : nullptr;
}

DeviceMonitor::Read readerOf(nvml::Device device) {
  if (!device) return nullptr;
  return [device] {
    const auto& api = libraries().nvml;
    unsigned milliwatts = 0, temperature = 0;
    unsigned long long reasons = 0;
    MonitorReading reading;
    if (api.deviceGetPowerUsage(device, &milliwatts) == 0 &&
        api.deviceGetTemperature(device, nvml::kTemperatureGpu, &temperature) == 0)
      reading.watts = milliwatts / 1000.0, reading.celsius = temperature;
    api.deviceGetClocksEventReasons(device, &reasons);
    reading.powerCapped = (reasons & nvml::kReasonSwPowerCap) != 0;
    reading.thermal = (reasons & kThrottleReasons) != 0;
    return reading;
  };
}

}  // namespace

Monitor::Monitor(const std::string& uuid, int companions)
    : device_(deviceOf(uuid)), companions_(companions), readings_(readerOf(device_)) {
  if (device_) libraries().nvml.deviceGetMaxClockInfo(device_, nvml::kClockSm, &maximumMHz_);
}

void Monitor::restart() {
  nvml::ProcessInfo processes[64];
  unsigned count = 64;
  const bool known =
      device_ && libraries().nvml.deviceGetComputeRunningProcesses(device_, &count, processes) == 0;
  processes_ = known ? static_cast<int>(count) : 0;
  readings_.restart();
}

MonitorSummary Monitor::summary() const {
  MonitorSummary result = readings_.summary();
  // This process is one of them, under a number that a container need not know.
  result.contended = processes_ > 1 + companions_;
  return result;
}

double Monitor::joules() const {
  unsigned long long millijoules = 0;
  if (!device_ || libraries().nvml.deviceGetTotalEnergyConsumption(device_, &millijoules) != 0)
    return 0;
  return millijoules / 1000.0;
}

}  // namespace blockscope::cuda
