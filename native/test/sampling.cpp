// The stop rules of method bs-1, over samples made up here, and the thread pool under everything.
#include <algorithm>
#include <stdexcept>

#include "../core/measure.h"
#include "../core/threads.h"
#include "check.h"

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
  const Measurement noisy = sample(quick(), [&] {
    return Sample{i++ % 2 ? 500.0 : 1000.0, 0, false};
  });
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

}  // namespace

int main() {
  steadySamplesStopAtTheMinimum();
  noisySamplesStopWhenTheNoiseIsKnown();
  limitsAreKept();
  throttledSamplesAreDiscardedButNeverAll();
  cancellingStops();
  everyItemIsDoneOnce();
  whatABodyThrowsArrives();
  return summary();
}
