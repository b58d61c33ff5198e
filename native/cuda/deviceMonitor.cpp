#include "deviceMonitor.h"

#include <chrono>

namespace blockscope {

namespace {

constexpr auto kPeriod = std::chrono::milliseconds(50);
constexpr double kThrottledBelow = 0.75;  // of the highest clock

}  // namespace

DeviceMonitor::DeviceMonitor(Read read) : read_(std::move(read)) {
  if (read_) thread_ = std::thread([this] { readLoop(); });
}

DeviceMonitor::~DeviceMonitor() {
  {
    const std::lock_guard lock(stopping_);
    stop_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void DeviceMonitor::readLoop() {
  std::unique_lock lock(stopping_);
  while (!stop_) {
    lock.unlock();
    readOnce();
    lock.lock();
    stopped_.wait_for(lock, kPeriod, [this] { return stop_; });
  }
}

void DeviceMonitor::readOnce() {
  // Readers keep what they saw before, to tell what changed: one at a time.
  const std::lock_guard one(reading_);
  const MonitorReading seen = read_();
  throttledNow_ = seen.thermal;
  clockNow_ = seen.mhz;
  const std::lock_guard lock(mutex_);
  sums_.powerCapped |= seen.powerCapped;
  sums_.thermal |= seen.thermal;
  if (seen.watts) sums_.meanWatts += *seen.watts, wattReadings_++;
  if (seen.celsius) sums_.meanTemperatureC += *seen.celsius, temperatureReadings_++;
}

void DeviceMonitor::restart() {
  if (!read_) return;
  {
    const std::lock_guard lock(mutex_);
    sums_ = {};
    wattReadings_ = temperatureReadings_ = 0;
  }
  readOnce();
}

bool DeviceMonitor::isThrottledAt(double mhz, double highestMHz) const {
  const bool isThrottled = mhz > 0 && mhz < kThrottledBelow * highestMHz && throttledNow_;
  if (isThrottled) std::this_thread::sleep_for(kPeriod);
  return isThrottled;
}

MonitorSummary DeviceMonitor::summary() const {
  const std::lock_guard lock(mutex_);
  MonitorSummary result = sums_;
  if (wattReadings_ > 0) result.meanWatts /= wattReadings_;
  if (temperatureReadings_ > 0) result.meanTemperatureC /= temperatureReadings_;
  return result;
}

void applySummary(const MonitorSummary& seen, Measurement& result) {
  result.meanWatts = seen.meanWatts;
  result.meanTemperatureC = seen.meanTemperatureC;
  if (seen.powerCapped) result.badges.push_back("power-capped");
  if (seen.thermal) result.badges.push_back("thermal");
  if (seen.contended) result.badges.push_back("contended");
}

void applySustained(double ns, int64_t count, double joules, Measurement& result) {
  const auto launches = static_cast<double>(count);
  result.sustainedNs = ns / launches;
  result.sustainedCount = count;
  result.sustainedWatts = joules / (ns * 1e-9);
  result.joulesPerLaunch = joules / launches;
}

}  // namespace blockscope
