// Power, temperature and the reasons the clock is held down, through NVML.
#pragma once

#include <string>

#include "deviceMonitor.h"
#include "libraries.h"

namespace blockscope::cuda {

class Monitor {
 public:
  // Starts reading. Without NVML nothing is read and everything stays 0. Beside this process
  // `companions` may hold the device without contending for it.
  Monitor(const std::string& uuid, int companions);

  // Forgets what was seen: the start of a new measurement.
  void restart();
  MonitorSummary summary() const;
  bool isThrottledAt(double mhz) const { return readings_.isThrottledAt(mhz, maximumMHz_); }
  // Energy used since the driver was loaded, in joules; 0 when it is not offered.
  double joules() const;

 private:
  nvml::Device device_ = nullptr;
  unsigned maximumMHz_ = 0;
  const int companions_;
  int processes_ = 0;
  DeviceMonitor readings_;
};

}  // namespace blockscope::cuda
