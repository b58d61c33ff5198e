#include "monitor.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>

namespace blockscope::hip {

namespace {

template <typename T>
bool isTold(T value) {
  return value != std::numeric_limits<T>::max();
}

struct PciAddress {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
};

// "0000:05:00.0"
std::optional<PciAddress> parsePciAddress(const std::string& text) {
  PciAddress found;
  const int count = std::sscanf(text.c_str(), "%x:%x:%x.%u", &found.domain, &found.bus,
                                &found.device, &found.function);
  if (count != 4) return std::nullopt;
  return found;
}

ReadMetrics amdSmiReader(const PciAddress& at) {
  const auto& api = libraries().amdSmi;
  // amdsmi_bdf_t
  const uint64_t bdf = at.function | at.device << 3 | at.bus << 8 | uint64_t{at.domain} << 16;
  smi::Processor processor = nullptr;
  if (api.processorFromBdf(bdf, &processor) != 0 || !processor) return nullptr;
  return [&api, processor]() -> std::optional<smi::Metrics> {
    smi::Metrics metrics = {};
    if (api.metricsInfo(processor, &metrics) != 0) return std::nullopt;
    return metrics;
  };
}

ReadMetrics rocmSmiReader(const PciAddress& at) {
  const auto& api = libraries().rocmSmi;
  // rsmi_dev_pci_id_get; bits 28 to 31 are the partition of a divided GPU.
  constexpr uint64_t kPartition = 0xfull << 28;
  const uint64_t wanted = at.function | at.device << 3 | at.bus << 8 | uint64_t{at.domain} << 32;
  uint32_t count = 0;
  if (api.deviceCount(&count) != 0) return nullptr;
  for (uint32_t index = 0; index < count; index++) {
    uint64_t id = 0;
    if (api.pciId(index, &id) != 0 || (id & ~kPartition) != wanted) continue;
    return [&api, index]() -> std::optional<smi::Metrics> {
      smi::Metrics metrics = {};
      if (api.metricsInfo(index, &metrics) != 0) return std::nullopt;
      return metrics;
    };
  }
  return nullptr;
}

DeviceMonitor::Read readerOf(const ReadMetrics& metrics) {
  if (!metrics) return nullptr;
  return [metrics, before = std::optional<smi::Metrics>()]() mutable {
    const auto seen = metrics();
    const MonitorReading reading = seen ? readingOf(*seen, before) : MonitorReading{};
    before = seen;
    return reading;
  };
}

}  // namespace

ReadMetrics metricsReader(const std::string& pciAddress) {
  const auto address = parsePciAddress(pciAddress);
  if (!address || !libraries().smiInfo.found) return nullptr;
  return libraries().amdSmi.metricsInfo ? amdSmiReader(*address) : rocmSmiReader(*address);
}

MonitorReading readingOf(const smi::Metrics& metrics, const std::optional<smi::Metrics>& before) {
  MonitorReading reading;
  const int revision = metrics.formatRevision() == 1 ? metrics.contentRevision() : 0;
  if (isTold(metrics.hotspotCelsius())) reading.celsius = metrics.hotspotCelsius();
  else if (isTold(metrics.edgeCelsius())) reading.celsius = metrics.edgeCelsius();
  if (revision >= 4 && isTold(metrics.currentWatts())) reading.watts = metrics.currentWatts();
  else if (isTold(metrics.averageWatts())) reading.watts = metrics.averageWatts();
  if (revision >= 4)
    for (int die = 0; die < smi::kDies; die++)
      if (isTold(metrics.currentMHzOf(die)))
        reading.mhz = std::max<double>(reading.mhz, metrics.currentMHzOf(die));
  if (reading.mhz == 0 && isTold(metrics.currentMHz())) reading.mhz = metrics.currentMHz();
  if (revision >= 3 && isTold(metrics.throttleStatus())) {
    reading.powerCapped = (metrics.throttleStatus() & smi::kThrottledByPower) != 0;
    reading.thermal = (metrics.throttleStatus() & smi::kThrottledByHeat) != 0;
  }
  if (revision >= 6 && before) {
    const auto grew = [](uint64_t then, uint64_t now) {
      return isTold(then) && isTold(now) && now > then;
    };
    reading.powerCapped |= grew(before->powerResidency(), metrics.powerResidency());
    for (size_t i = 0; i < std::size(smi::Metrics::kHeatResidencies); i++)
      reading.thermal |= grew(before->heatResidency(i), metrics.heatResidency(i));
  }
  return reading;
}

double joulesOf(const smi::Metrics& metrics) {
  const uint64_t energy = metrics.energy();
  return isTold(energy) ? static_cast<double>(energy) * smi::kEnergyUnitJoules : 0;
}

Monitor::Monitor(const DeviceFacts& facts)
    : highestMHz_(facts.clockKHz / 1000.0),
      metrics_(metricsReader(facts.pciAddress)),
      readings_(readerOf(metrics_)) {}

double Monitor::joules() const {
  const auto seen = metrics_ ? metrics_() : std::nullopt;
  return seen ? joulesOf(*seen) : 0;
}

}  // namespace blockscope::hip
