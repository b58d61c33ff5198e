#include "deviceMonitor.h"

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

void applySustained(double ns, int64_t count, double watts, Measurement& result) {
  result.sustainedNs = ns / static_cast<double>(count);
  result.sustainedCount = count;
  result.sustainedWatts = watts;
  result.joulesPerLaunch = watts * result.sustainedNs * 1e-9;
}

void EnergyChanges::look(double joules, Clock::time_point now) {
  if (last_ && joules != *last_) {
    lastChange_ = {joules, now};
    if (changes_++ == 0) firstChange_ = lastChange_;
  }
  last_ = joules;
}

double EnergyChanges::watts() const {
  if (changes_ < 3) return 0;
  const std::chrono::duration<double> span = lastChange_.at - firstChange_.at;
  return (lastChange_.joules - firstChange_.joules) / span.count();
}

PowerMeter::PowerMeter(std::function<double()> joules)
    : joules_(std::move(joules)), thread_([this] {
        while (!stop_) {
          changes_.look(joules_(), EnergyChanges::Clock::now());
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      }) {}

PowerMeter::~PowerMeter() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

double PowerMeter::watts() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  return changes_.watts();
}

}  // namespace blockscope
