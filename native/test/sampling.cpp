// The stop rules of method bs-3, over samples made up here, and the thread pool under everything.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../core/measure.h"
#include "../core/threads.h"
#include "../cuda/deviceMonitor.h"
#include "check.h"
#include "readJson.h"

using namespace blockscope;

namespace {

const CancelFlag kNever;

MeasureRequest quick() {
  MeasureRequest request;
  request.warmupNs = 1000;
  request.minSamples = 20, request.maxSamples = 10000;
  request.maxRelativeStdev = 0.005;
  request.timeoutNs = 5e9;
  return request;
}

Measurement sample(const MeasureRequest& request, const std::function<Sample()>& take) {
  return sampleUntilSteady(request, take, kNever, nullptr);
}

void steadySamplesStopAtTheMinimum() {
  const Measurement steady = sample(quick(), [] { return Sample{500, 1000, false}; });
  CHECK(steady.stopReason == "relative stdev");
  CHECK(steady.samplesNs.size() == 20 && steady.samplesMHz.size() == 20);
  CHECK(steady.warmupNs >= 1500);  // at least three launches
  MeasureRequest counted = quick();
  counted.warmupLaunches = 2;
  CHECK(sample(counted, [] { return Sample{500, 0, false}; }).warmupNs == 1000);
  MeasureRequest longer = quick();
  longer.minTimeNs = 50000;
  CHECK(sample(longer, [] { return Sample{500, 0, false}; }).samplesNs.size() == 100);
}

void noisySamplesStopWhenTheNoiseIsKnown() {
  int i = 0;
  const Measurement noisy =
      sample(quick(), [&] { return Sample{i++ % 2 ? 500.0 : 1000.0, 0, false}; });
  CHECK(noisy.stopReason == "noise stable");
  CHECK(noisy.samplesNs.size() > 64 && noisy.samplesNs.size() < 2000);
  CHECK(std::count(noisy.badges.begin(), noisy.badges.end(), "noisy") == 1);
}

void limitsAreKept() {
  double growing = 1;
  auto rising = [&] { return Sample{growing *= 1.01, 0, false}; };
  MeasureRequest request = quick();
  request.warmupNs = 0;
  request.maxSamples = 50;
  CHECK(sample(request, rising).stopReason == "sample limit");
  request.timeoutNs = 0;
  request.minSamples = 1000;
  CHECK(sample(request, rising).stopReason == "timed out");
  // What a sample needs before it is nobody's time.
  request.timeoutNs = 1e6;
  request.minSamples = request.maxSamples = 20;
  auto prepared = [&] {
    const auto start = std::chrono::steady_clock::now();
    double ns = 0;
    while (ns < 1e6)
      ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
               .count();
    return Sample{growing *= 1.01, 0, false, ns};
  };
  CHECK(sample(request, prepared).stopReason == "sample limit");
  request.fixedSamples = 7;
  const Measurement fixed = sample(request, rising);
  CHECK(fixed.stopReason == "fixed" && fixed.samplesNs.size() == 7);
}

void throttledSamplesAreDiscardedButNeverAll() {
  const Measurement hot = sample(quick(), [] { return Sample{500, 0, true}; });
  CHECK(hot.discarded == 10);
  CHECK(hot.samplesNs.size() == 20);
}

void cancellingStops() {
  CancelFlag cancel;
  int taken = 0;
  bool stopped = false;
  try {
    sampleUntilSteady(
        quick(),
        [&] {
          if (++taken == 5) cancel.request();
          return Sample{500, 0, false};
        },
        cancel, nullptr);
  } catch (const Error& error) {
    stopped = error.kind == ErrorKind::kCancelled;
  }
  CHECK(stopped && taken == 5);
}

void everyItemIsDoneOnce() {
  for (const int64_t count : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> seen(count);
    parallelFor(count, kNever, [&](int64_t i) { seen[i]++; });
    CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& times) { return times == 1; }));
  }
  CHECK(coreCount() >= 1);
}

void whatABodyThrowsArrives() {
  std::string message;
  try {
    parallelFor(100, kNever, [](int64_t i) {
      if (i == 40) throw std::runtime_error("item 40");
    });
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  CHECK(message == "item 40");
}

constexpr int64_t kCache = 60 << 20, kFree = int64_t{100} << 30;

void coldSetsAreBeyondTheCache() {
  CHECK(coldSets(5 * kCache, kCache) == 1);
  CHECK(coldSets(kCache, kCache) == 4);
  CHECK(coldSets(2 * kCache + 1, kCache) == 3);
  CHECK(coldSets(1, 0) == 1);
}

// The host of Python kernels plans alike: test/unit/providers/samplePlans.test.ts reads the same
// file.
void plansAreThoseOfPythonKernels() {
  const Json plans = readJson("../../test/fixtures/sampling/plans.json");
  for (const Json& one : plans["cold"].list) {
    const CachePlan plan = planCold(static_cast<int64_t>(one["bytes"].number),
                                    static_cast<int64_t>(one["cache"].number),
                                    static_cast<int64_t>(one["free"].number));
    CHECK(plan.sets == int(one["sets"]) && plan.flush == (one["flushes"].number != 0));
    CHECK(plan.mode == one["text"].text);
  }
  for (const Json& one : plans["groups"].list) {
    const Grouping grouping =
        groupingOf(one["ns"].number, {int(one["sets"]), one["flushes"].number != 0, ""});
    CHECK(grouping.launches == int(one["launches"]) && grouping.samples == int(one["samples"]));
  }
  CHECK(plans["cold"].list.size() > 5 && plans["groups"].list.size() > 5);
}

// Bytes of other sets that are read between two uses of one, or since the flush, at the least.
int64_t coldBytes(int64_t bytesPerSet, double launchNs) {
  const CachePlan plan = planCold(bytesPerSet, kCache, kFree);
  const Grouping grouping = groupingOf(launchNs, plan);
  const auto sets = static_cast<size_t>(plan.sets);
  const auto length = static_cast<size_t>(grouping.launches) * grouping.samples;
  std::vector<int64_t> used(sets, -1);
  int64_t least = INT64_MAX, flushed = 0;
  for (size_t launch = 0; launch < 4 * length; launch++) {
    if (plan.flush && launch % grouping.launches == 0) flushed = static_cast<int64_t>(launch);
    // Graphs are replayed: what they read was settled when they were made.
    int64_t& last = used[launch % length % sets];
    const auto now = static_cast<int64_t>(launch);
    if (last >= flushed) least = std::min(least, (now - last - 1) * bytesPerSet);
    last = now;
  }
  return least;
}

void groupedLaunchesFindTheirOperandsInMemory() {
  for (const int64_t bytes : {4 << 10, 96 << 10, 400 << 10, 1 << 20, 3 << 20, 11 << 20, 50 << 20})
    for (const double ns : {1e3, 3e3, 5e3, 12e3, 19e3, 50e3, 150e3})
      // What is rounded off where sets are shared out among samples: an eighth.
      CHECK(coldBytes(bytes, ns) >= 3 * kCache * 7 / 8 - bytes);
}

// What a device does is read 20 times a second; a measurement that is over does not wait for that.
void aMonitorEndsAtOnce() {
  constexpr int kMonitors = 40;
  int readings = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kMonitors; i++) {
    std::atomic<int> seen{0};
    DeviceMonitor monitor([&] {
      seen++;
      return MonitorReading();
    });
    monitor.restart();
    readings += seen > 0;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CHECK(readings == kMonitors);
  CHECK(took.count() < kMonitors * 0.05 / 2);
}

// 700 W on a counter that follows ten times a second, looked at every 5 ms for half a second: by
// its ends 20 % too much or too little, by its changes within a look's distance.
void powerIsThatBetweenChangesOfTheCounter() {
  using std::chrono::milliseconds;
  const EnergyChanges::Clock::time_point start;
  for (const int phase : {0, 37, 98}) {
    EnergyChanges meter;
    for (int ms = 0; ms <= 500; ms += 5)
      meter.look(700.0 * ((ms + phase) / 100) * 0.1, start + milliseconds(ms));
    CHECK(std::abs(meter.watts() - 700) < 700 * 5.0 / 400);
  }
  EnergyChanges still, hardly;
  for (int i = 0; i < 9; i++) still.look(0, start + milliseconds(i));
  hardly.look(1, start);
  hardly.look(2, start + milliseconds(1));
  hardly.look(3, start + milliseconds(2));
  CHECK(still.watts() == 0 && hardly.watts() == 0);
}

// A counter that follows time itself, one watt, whatever a look takes.
void aMeterLooksByItself() {
  const auto start = EnergyChanges::Clock::now();
  PowerMeter meter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return std::chrono::duration<double>(EnergyChanges::Clock::now() - start).count();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(std::abs(meter.watts() - 1) < 0.5);
}

// A device that takes 20 ms for a part: it never runs out of work, and no more is queued than that.
void workIsQueuedAhead() {
  int64_t queued = 0, ended = 0, least = kPartsAhead, most = 0;
  const int64_t parts = queueAhead(
      500e6,
      [&](size_t slot) {
        CHECK(slot == static_cast<size_t>(queued % kPartsAhead));
        most = std::max(most, ++queued - ended);
      },
      [&](size_t slot) {
        CHECK(slot == static_cast<size_t>(ended % kPartsAhead));
        least = std::min(least, queued - ++ended);
        return 20e6 * static_cast<double>(ended);
      });
  CHECK(parts == queued && ended == 25 && queued == 25 + kPartsAhead - 1);
  CHECK(least == kPartsAhead - 1 && most == kPartsAhead);
  CHECK(samplesOfPart(1e6) == 20 && samplesOfPart(11e9) == 1);
}

}  // namespace

int main() {
  workIsQueuedAhead();
  powerIsThatBetweenChangesOfTheCounter();
  aMeterLooksByItself();
  aMonitorEndsAtOnce();
  steadySamplesStopAtTheMinimum();
  noisySamplesStopWhenTheNoiseIsKnown();
  limitsAreKept();
  throttledSamplesAreDiscardedButNeverAll();
  cancellingStops();
  coldSetsAreBeyondTheCache();
  plansAreThoseOfPythonKernels();
  groupedLaunchesFindTheirOperandsInMemory();
  everyItemIsDoneOnce();
  whatABodyThrowsArrives();
  return summary();
}
