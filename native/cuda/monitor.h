// Clocks, power, temperature and the reasons the clock is held down, read by a thread 20 times a
// second through NVML.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "libraries.h"

namespace blockscope::cuda {

struct MonitorSummary {
  double meanWatts = 0, meanTemperatureC = 0;
  bool powerCapped = false, thermal = false, contended = false;
};

class Monitor {
 public:
  // Starts reading. Without NVML nothing is read and everything stays 0.
  explicit Monitor(const std::string& uuid);
  ~Monitor();
  Monitor(const Monitor&) = delete;

  // Forgets what was seen: the start of a new measurement.
  void restart();
  MonitorSummary summary() const;
  // True while the last reading had a thermal or hardware reason for a lower clock.
  bool throttledNow() const { return throttledNow_; }
  unsigned maximumMHz() const { return maximumMHz_; }
  // Energy used since the driver was loaded, in joules; 0 when it is not offered.
  double joules() const;

 private:
  void readLoop();
  void read();

  nvml::Device device_ = nullptr;
  unsigned maximumMHz_ = 0;
  mutable std::mutex mutex_;
  double wattsSum_ = 0, temperatureSum_ = 0;
  int readings_ = 0, cappedReadings_ = 0, thermalReadings_ = 0;
  unsigned processes_ = 0;
  std::atomic<bool> throttledNow_{false}, stop_{false};
  std::thread thread_;
};

}  // namespace blockscope::cuda
