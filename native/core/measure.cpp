#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>

namespace blockscope {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMostSets = 512;
constexpr double kMemoryShare = 0.4;
constexpr double kGroupBelowNs = 200e3;
constexpr double kGroupNs = 200e3;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Mean and relative standard deviation (Bessel) of a growing set, by Welford's update.
class Spread {
 public:
  void add(double x) {
    count_++;
    const double delta = x - mean_;
    mean_ += delta / count_;
    squares_ += delta * (x - mean_);
  }
  double relative() const {
    return count_ < 2 || mean_ == 0 ? INFINITY : std::sqrt(squares_ / (count_ - 1)) / mean_;
  }

 private:
  double count_ = 0, mean_ = 0, squares_ = 0;
};

// nvbench's rule for inherently noisy kernels: when the noise estimates themselves have settled
// (relative standard deviation below 5 % over the last 512, looked at every 16 samples once there
// are more than 64), more samples do not help.
class NoiseHistory {
 public:
  bool settledAfter(double noise) {
    if (std::isfinite(noise)) history_.push_back(noise);
    if (history_.size() > 512) history_.pop_front();
    if (history_.size() <= 64 || ++seen_ % 16 != 0) return false;
    Spread spread;
    for (const double x : history_) spread.add(x);
    return spread.relative() < 0.05;
  }

 private:
  std::deque<double> history_;
  int seen_ = 0;
};

}  // namespace

Measurement sampleUntilSteady(const MeasureRequest& request, const std::function<Sample()>& take,
                              const CancelFlag& cancel, const Progress& progress) {
  Measurement result;
  auto report = [&](double fraction, const char* phase) {
    if (progress) progress(std::min(1.0, fraction), phase);
  };
  const int fixed = request.warmupLaunches;
  auto isWarm = [&](int launches) {
    return fixed > 0 ? launches >= fixed : launches >= 3 && result.warmupNs >= request.warmupNs;
  };
  for (int launches = 0; !isWarm(launches); launches++) {
    cancel.throwIfRequested();
    report(0.2 * (fixed > 0 ? static_cast<double>(launches) / fixed
                            : result.warmupNs / std::max(1.0, request.warmupNs)),
           "warm-up");
    result.warmupNs += std::max(1.0, take().ns);
  }
  const Clock::time_point start = Clock::now();
  Spread spread;
  NoiseHistory noise;
  double total = 0, preparedNs = 0;
  while (result.stopReason.empty()) {
    cancel.throwIfRequested();
    const Sample sample = take();
    preparedNs += sample.preparedNs;
    const int count = static_cast<int>(result.samplesNs.size());
    if (sample.discard && result.discarded < std::max(10, count / 2)) {
      result.discarded++;
      continue;
    }
    result.samplesNs.push_back(sample.ns);
    if (sample.mhz > 0) result.samplesMHz.push_back(sample.mhz);
    total += sample.ns;
    spread.add(sample.ns);
    const int taken = count + 1;
    if (request.fixedSamples > 0) {
      report(0.2 + 0.8 * taken / request.fixedSamples, "sampling");
      if (taken >= request.fixedSamples) result.stopReason = "fixed";
      continue;
    }
    const double byCount = static_cast<double>(taken) / request.minSamples,
                 byTime = total / request.minTimeNs;
    report(0.2 + 0.8 * std::min(byCount, byTime), "sampling");
    const bool settled = noise.settledAfter(spread.relative());
    const bool enough = taken >= request.minSamples && total >= request.minTimeNs;
    if (enough && spread.relative() < request.maxRelativeStdev)
      result.stopReason = "relative stdev";
    else if (enough && settled) result.stopReason = "noise stable";
    else if (taken >= request.maxSamples) result.stopReason = "sample limit";
    else if (secondsSince(start) * 1e9 - preparedNs > request.timeoutNs)
      result.stopReason = "timed out";
  }
  if (request.fixedSamples == 0 && spread.relative() > 0.05) result.badges.push_back("noisy");
  return result;
}

Measurement sampleGrouped(const MeasureRequest& request, int launchesPerSample,
                          const std::function<Sample()>& take, const CancelFlag& cancel,
                          const Progress& progress) {
  MeasureRequest perLaunch = request;
  perLaunch.warmupNs /= launchesPerSample;
  perLaunch.warmupLaunches = (request.warmupLaunches + launchesPerSample - 1) / launchesPerSample;
  perLaunch.minTimeNs /= launchesPerSample;
  Measurement result = sampleUntilSteady(perLaunch, take, cancel, progress);
  result.warmupNs *= launchesPerSample;
  result.launchesPerSample = launchesPerSample;
  if (launchesPerSample > 1) result.badges.push_back("grouped");
  return result;
}

int64_t coldSets(int64_t bytesPerSet, int64_t cacheBytes) {
  if (bytesPerSet >= 5 * cacheBytes) return 1;
  return 1 + (3 * cacheBytes + bytesPerSet - 1) / bytesPerSet;
}

namespace {

// `most`: sets that there is memory for; fewer than are wanted are as good as one.
CachePlan planned(int64_t wanted, int64_t most) {
  const int64_t few = std::min(wanted, kMostSets), sets = few <= most ? few : 1;
  const bool flush = sets < wanted;
  if (sets == 1 && flush) return {sets, flush, "cold: cache flush"};
  const std::string inTurn =
      "cold: " + std::to_string(sets) + (sets == 1 ? " operand set" : " operand sets");
  return {sets, flush, inTurn + (flush ? ", cache flush" : "")};
}

}  // namespace

CachePlan planCold(int64_t bytesPerSet, int64_t cacheBytes, int64_t freeBytes) {
  const auto more = static_cast<int64_t>(kMemoryShare * static_cast<double>(freeBytes));
  return planned(coldSets(bytesPerSet, cacheBytes), 1 + more / bytesPerSet);
}

CachePlan planColdIn(int64_t memoryBytes, int64_t bytesPerSet, int64_t cacheBytes) {
  return planned(coldSets(bytesPerSet, cacheBytes), memoryBytes / bytesPerSet);
}

Grouping groupingOf(double launchNs, const CachePlan& plan) {
  if (launchNs >= kGroupBelowNs) return {};
  const auto sets = static_cast<int>(plan.sets);
  const auto wanted =
      static_cast<int>(std::clamp(std::ceil(kGroupNs / std::max(launchNs, 1.0)), 8.0, 512.0));
  if (plan.flush) return {std::min(wanted, sets), 1};
  if (sets <= wanted) return {(wanted + sets - 1) / sets * sets, 1};
  const int samples = sets / wanted;
  return {sets / samples, samples};
}

int64_t queueAhead(double ns, const std::function<void(size_t)>& queue,
                   const std::function<double(size_t)>& elapsed) {
  for (int64_t parts = 0;; parts++) {
    const auto slot = static_cast<size_t>(parts % kPartsAhead);
    if (parts >= kPartsAhead && elapsed(slot) >= ns) return parts;
    queue(slot);
  }
}

int64_t samplesOfPart(double sampleNs) {
  constexpr double kPartNs = 20e6;
  return std::max(int64_t{1}, static_cast<int64_t>(kPartNs / sampleNs));
}

}  // namespace blockscope
