// Clocks, power, temperature and what holds the clock down, through AMD SMI or ROCm SMI.
#pragma once

#include <functional>
#include <optional>

#include "../cuda/deviceMonitor.h"
#include "device.h"

namespace blockscope::hip {

// Nothing when neither library is there or knows the GPU at this PCI address.
using ReadMetrics = std::function<std::optional<smi::Metrics>()>;
ReadMetrics metricsReader(const std::string& pciAddress);

// What a table of metrics says; where GPUs count how long they were held back (MI300 and later),
// what grew since the reading `before`.
MonitorReading readingOf(const smi::Metrics&, const std::optional<smi::Metrics>& before);
// Energy used since the driver was loaded, in joules; 0 when it is not told.
double joulesOf(const smi::Metrics&);

class Monitor {
 public:
  // Starts reading. Without a library nothing is read and everything stays 0.
  explicit Monitor(const DeviceFacts&);

  void restart() { readings_.restart(); }
  MonitorSummary summary() const { return readings_.summary(); }
  double clockNow() const { return readings_.clockNow(); }
  bool isThrottledAt(double mhz) const { return readings_.isThrottledAt(mhz, highestMHz_); }
  double joules() const;

 private:
  const double highestMHz_;
  const ReadMetrics metrics_;
  DeviceMonitor readings_;
};

}  // namespace blockscope::hip
