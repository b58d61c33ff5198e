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
  auto read = [&](const char* level, int64_t bytes, int passes, const std::string& how) -> Roof {
    const double ns = shortestOf(cancel, [&] { return bench.read(bytes, passes); });
    return {"memory", level, static_cast<double>(bytes) * passes / ns * 1e9, "measured",
            "Measured here: " + how};
  };
  report(0);
  std::vector<Roof> roofs;
  roofs.push_back(
      read("dram", bench.bytes, 1, "reading " + std::to_string(bench.bytes >> 20) + " MiB."));
  report(0.5);
  const double copyNs = shortestOf(cancel, [&] { return bench.copy(bench.bytes); });
  roofs.push_back({"memory", "dram-copy", 2.0 * static_cast<double>(bench.bytes) / copyNs * 1e9,
                   "measured", "Measured here: copying, bytes read and written together."});
  report(0.75);
  // A quarter of the L2, so that both of its halves hold what they read.
  if (bench.l2Bytes > 0)
    roofs.push_back(read("l2", bench.l2Bytes / 4 / kRoofVectorBytes * kRoofVectorBytes, 50,
                         "reading a quarter of the L2 again and again."));
  report(1);
  return roofs;
}

}  // namespace blockscope
