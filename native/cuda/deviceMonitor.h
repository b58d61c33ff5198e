// What a GPU does while it is measured: a thread reads it 20 times a second through whatever
// library knows it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "../core/backend.h"

namespace blockscope {

struct MonitorReading {
  std::optional<double> watts, celsius;
  double mhz = 0;  // of the multiprocessors; 0: not known
  bool powerCapped = false;
  bool thermal = false;  // heat or hardware holds the clock down
};

struct MonitorSummary {
  double meanWatts = 0, meanTemperatureC = 0;
  bool powerCapped = false, thermal = false, contended = false;
};

class DeviceMonitor {
 public:
  using Read = std::function<MonitorReading()>;

  // Starts reading; without a function nothing is read and everything stays 0.
  explicit DeviceMonitor(Read read);
  // Ends at once, whatever of the period is left: a gate measures thousands of times.
  ~DeviceMonitor();
  DeviceMonitor(const DeviceMonitor&) = delete;

  // Forgets what was seen: the start of a new measurement. Reads once, so that a measurement
  // shorter than the period has a reading too.
  void restart();
  MonitorSummary summary() const;
  // True where a sample at this clock (0: not known) is not to be counted: it is far below the
  // highest, and the last reading had heat or hardware for a reason. Waits a little then, so that
  // the device can recover before the next.
  bool isThrottledAt(double mhz, double highestMHz) const;
  // Of the last reading, MHz; 0: not known.
  double clockNow() const { return clockNow_; }

 private:
  void readLoop();
  void readOnce();

  const Read read_;
  mutable std::mutex mutex_, reading_;
  std::mutex stopping_;
  std::condition_variable stopped_;
  bool stop_ = false;
  MonitorSummary sums_;
  int wattReadings_ = 0, temperatureReadings_ = 0;
  std::atomic<bool> throttledNow_{false};
  std::atomic<double> clockNow_{0};
  std::thread thread_;
};

// What the summary says of a measurement: means, and a badge for each thing that disturbed it.
void applySummary(const MonitorSummary&, Measurement&);
// `count` launches back to back that took `ns` together, at `watts` (0: not known).
void applySustained(double ns, int64_t count, double watts, Measurement&);

// Mean power of a span, from a counter of energy that is looked at often. A driver brings the
// counter up to date only now and then (NVML's about ten times a second), so half a second by the
// counter's ends alone can be a fifth off: the span is from its first change to its last.
class EnergyChanges {
 public:
  using Clock = std::chrono::steady_clock;
  void look(double joules, Clock::time_point now);
  // 0: the counter changed less than three times.
  double watts() const;

 private:
  struct Look {
    double joules = 0;
    Clock::time_point at;
  };
  std::optional<double> last_;
  int changes_ = 0;
  Look firstChange_, lastChange_;
};

// Looks at such a counter for as long as it lives, in a thread of its own: a look can take longer
// than a device has work queued for.
class PowerMeter {
 public:
  explicit PowerMeter(std::function<double()> joules);
  ~PowerMeter();
  PowerMeter(const PowerMeter&) = delete;
  // Ends the looking.
  double watts();

 private:
  const std::function<double()> joules_;
  std::atomic<bool> stop_{false};
  EnergyChanges changes_;
  std::thread thread_;
};

}  // namespace blockscope
