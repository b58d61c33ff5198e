#include "monitor.h"

#include <chrono>

namespace blockscope::cuda {

namespace {

constexpr auto kPeriod = std::chrono::milliseconds(50);
constexpr unsigned long long kThrottleReasons = nvml::kReasonHwSlowdown | nvml::kReasonSwThermal |
                                                nvml::kReasonHwThermal | nvml::kReasonHwPowerBrake;

}  // namespace

Monitor::Monitor(const std::string& uuid) {
  if (!libraries().nvmlInfo.found) return;
  const auto& api = libraries().nvml;
  if (api.deviceGetHandleByUuid(uuid.c_str(), &device_) != 0) {
    device_ = nullptr;
    return;
  }
  api.deviceGetMaxClockInfo(device_, nvml::kClockSm, &maximumMHz_);
  thread_ = std::thread([this] { readLoop(); });
}

Monitor::~Monitor() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void Monitor::readLoop() {
  while (!stop_) {
    read();
    std::this_thread::sleep_for(kPeriod);
  }
}

void Monitor::read() {
  const auto& api = libraries().nvml;
  unsigned milliwatts = 0, temperature = 0;
  unsigned long long reasons = 0;
  const bool complete = api.deviceGetPowerUsage(device_, &milliwatts) == 0 &&
                        api.deviceGetTemperature(device_, nvml::kTemperatureGpu, &temperature) == 0;
  api.deviceGetClocksEventReasons(device_, &reasons);
  throttledNow_ = (reasons & kThrottleReasons) != 0;
  const std::lock_guard lock(mutex_);
  cappedReadings_ += (reasons & nvml::kReasonSwPowerCap) != 0;
  thermalReadings_ += throttledNow_;
  if (!complete) return;
  wattsSum_ += milliwatts / 1000.0;
  temperatureSum_ += temperature;
  readings_++;
}

void Monitor::restart() {
  nvml::ProcessInfo processes[64];
  unsigned count = 64;
  const bool known =
      device_ && libraries().nvml.deviceGetComputeRunningProcesses(device_, &count, processes) == 0;
  const std::lock_guard lock(mutex_);
  wattsSum_ = temperatureSum_ = 0;
  readings_ = cappedReadings_ = thermalReadings_ = 0;
  processes_ = known ? count : 0;
}

MonitorSummary Monitor::summary() const {
  const std::lock_guard lock(mutex_);
  MonitorSummary result;
  if (readings_ > 0) {
    result.meanWatts = wattsSum_ / readings_;
    result.meanTemperatureC = temperatureSum_ / readings_;
  }
  result.powerCapped = cappedReadings_ > 0;
  result.thermal = thermalReadings_ > 0;
  // This process is one of them, under a number that a container need not know.
  result.contended = processes_ > 1;
  return result;
}

double Monitor::joules() const {
  unsigned long long millijoules = 0;
  if (!device_ || libraries().nvml.deviceGetTotalEnergyConsumption(device_, &millijoules) != 0)
    return 0;
  return millijoules / 1000.0;
}

}  // namespace blockscope::cuda
