#include "roofs.h"

#include <algorithm>
#include <functional>

#include "launch.h"

namespace blockscope::cuda {

namespace {

constexpr int kThreads = 256, kBlocksPerMultiprocessor = 8, kVectorBytes = 16;
constexpr int kWarmups = 3, kRuns = 20;
constexpr int64_t kLargest = int64_t{1} << 30;

struct Bench {
  const DeviceContext& context;
  const CancelFlag& cancel;
  Stream stream;

  // The shortest of several runs, in nanoseconds.
  double shortestNs(const Launch& launch) const {
    prepareLaunch(context, launch);
    const Event start(context), stop(context);
    double best = 0;
    for (int run = 0; run < kWarmups + kRuns; run++) {
      cancel.throwIfRequested();
      start.record(stream);
      enqueueLaunch(context, launch, stream);
      stop.record(stream);
      stream.wait("Measuring memory");
      const double ns = stop.nanosecondsSince(start);
      if (run >= kWarmups && (best == 0 || ns < best)) best = ns;
    }
    return best;
  }
};

}  // namespace

std::vector<Roof> measureRoofs(const DeviceContext& context, const Kernels& kernels,
                               const CancelFlag& cancel, const Progress& progress) {
  context.enter();
  auto report = [&](double fraction) {
    cancel.throwIfRequested();
    if (progress) progress(fraction, "roofs");
  };
  report(0);
  const DeviceFacts& facts = context.facts();
  const auto module = kernels.support(context, "support-bandwidth");
  const int64_t bytes = std::min(kLargest, static_cast<int64_t>(context.freeBytes()) / 4) /
                        kVectorBytes * kVectorBytes;
  const DeviceBuffer from(context, static_cast<size_t>(bytes), "memory to be read");
  const DeviceBuffer to(context, static_cast<size_t>(bytes), "memory to be written");
  const Bench bench{context, cancel, Stream(context)};
  Launch launch;
  launch.grid[0] = static_cast<unsigned>(facts.multiprocessors * kBlocksPerMultiprocessor);
  launch.block[0] = kThreads;

  auto read = [&](const char* level, int64_t size, int passes, const std::string& how) -> Roof {
    launch.name = "reading memory";
    launch.function = module->function("readAll");
    launch.arguments = {from.address(), size / kVectorBytes, int32_t{passes}, to.address()};
    const double ns = bench.shortestNs(launch);
    return {"memory", level, static_cast<double>(size) * passes / ns * 1e9, "measured",
            "Measured here: " + how};
  };
  std::vector<Roof> roofs;
  roofs.push_back(read("dram", bytes, 1, "reading " + std::to_string(bytes >> 20) + " MiB."));
  report(0.5);
  launch.name = "copying memory";
  launch.function = module->function("copyAll");
  launch.arguments = {from.address(), to.address(), bytes / kVectorBytes};
  const double copyNs = bench.shortestNs(launch);
  roofs.push_back({"memory", "dram-copy", 2.0 * static_cast<double>(bytes) / copyNs * 1e9,
                   "measured", "Measured here: copying, bytes read and written together."});
  report(0.75);
  // A quarter of the L2, so that both of its halves hold what they read.
  if (facts.l2Bytes > 0)
    roofs.push_back(read("l2", facts.l2Bytes / 4 / kVectorBytes * kVectorBytes, 50,
                         "reading a quarter of the L2 again and again."));
  report(1);
  return roofs;
}

}  // namespace blockscope::cuda
