#include "memoryRoofs.h"

#include <algorithm>

namespace blockscope {

namespace {

constexpr int kWarmups = 3, kRuns = 20;

double shortestOf(const CancelFlag& cancel, const std::function<double()>& timed) {
  double best = 0;
  for (int run = 0; run < kWarmups + kRuns; run++) {
    cancel.throwIfRequested();
    const double ns = timed();
    if (run >= kWarmups && (best == 0 || ns < best)) best = ns;
  }
  return best;
}

double medianOf(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

std::vector<TimedRead> timedReads(const MemoryBench& bench,
                                  const std::function<void(double)>& report) {
  MeasureRequest request;
  request.cold = true;
  request.warmupNs = 5e6, request.minTimeNs = 20e6, request.timeoutNs = 200e6;
  request.minSamples = 7, request.maxSamples = 1000, request.maxRelativeStdev = 0.005;
  std::vector<int64_t> sizes;
  for (int64_t size = kFewestRoofBytes; size < bench.bytes; size *= 2) sizes.push_back(size);
  sizes.push_back(bench.bytes);
  std::vector<TimedRead> reads;
  for (const int64_t size : sizes) {
    report(static_cast<double>(reads.size()) / static_cast<double>(sizes.size()));
    const CachePlan plan = planColdIn(bench.bytes, size, bench.lastCacheBytes);
    reads.push_back({size, medianOf(bench.readCold(request, size, plan).samplesNs)});
  }
  return reads;
}

}  // namespace

int64_t roofBytes(int64_t most, int64_t freeBytes) {
  return std::min(most, freeBytes / 4) / kRoofVectorBytes * kRoofVectorBytes;
}

std::vector<Roof> measureMemoryRoofs(const MemoryBench& bench, const CancelFlag& cancel,
                                     const Progress& progress) {
  auto report = [&](double fraction) {
    cancel.throwIfRequested();
    if (progress) progress(fraction, "roofs");
  };
  const auto mib = [](int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  std::vector<TimedRead> reads = timedReads(bench, [&](double part) { report(0.7 * part); });
  const auto rateOf = [](double bytes, double ns) { return bytes / ns * 1e9; };
  std::vector<Roof> roofs;
  roofs.push_back({"memory", "dram",
                   rateOf(static_cast<double>(reads.back().bytes), reads.back().ns), "measured",
                   "Measured here: reading " + mib(bench.bytes) + ".", std::move(reads)});
  report(0.7);
  const double copyNs = shortestOf(cancel, [&] { return bench.copy(bench.bytes); });
  roofs.push_back({"memory", "dram-copy", rateOf(2.0 * static_cast<double>(bench.bytes), copyNs),
                   "measured", "Measured here: copying, bytes read and written together."});
  report(0.85);
  // A quarter of the L2, so that both of its halves hold what they read.
  if (bench.l2Bytes > 0) {
    constexpr int kPasses = 50;
    const int64_t bytes = bench.l2Bytes / 4 / kRoofVectorBytes * kRoofVectorBytes;
    const double ns = shortestOf(cancel, [&] { return bench.read(bytes, kPasses); });
    roofs.push_back({"memory", "l2", rateOf(static_cast<double>(bytes) * kPasses, ns), "measured",
                     "Measured here: reading a quarter of the L2 again and again."});
  }
  report(1);
  return roofs;
}

}  // namespace blockscope
