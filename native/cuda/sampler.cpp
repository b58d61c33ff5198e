#include "sampler.h"

#include <algorithm>
#include <cmath>

namespace blockscope::cuda {

namespace {

constexpr int64_t kHoldTimeoutNs = 5'000'000'000;
constexpr double kGroupNs = 200e3;
// %globaltimer may tick coarsely (up to 1 us): over shorter spans it gives no clock.
constexpr double kClockFromNs = 100e3;

struct Stamp {  // timing.cu
  uint64_t nanoseconds, cycles;
};

}  // namespace

int64_t coldSets(int64_t bytesPerSet, int64_t l2Bytes) {
  if (bytesPerSet >= 5 * l2Bytes) return 1;
  return 1 + (3 * l2Bytes + bytesPerSet - 1) / bytesPerSet;
}

std::string coldText(int64_t sets) {
  return "cold: " + std::to_string(sets) + (sets == 1 ? " operand set" : " operand sets");
}

int groupSize(double estimateNs) {
  return static_cast<int>(std::clamp(std::ceil(kGroupNs / std::max(estimateNs, 1.0)), 8.0, 512.0));
}

Sampler::Sampler(const DeviceContext& context, const Kernels& kernels, const Stream& stream,
                 Operation& operation, std::string what, size_t sets, DeviceBuffer flush)
    : context_(context),
      stream_(stream),
      operation_(operation),
      what_(std::move(what)),
      sets_(sets),
      flush_(std::move(flush)),
      stamps_(context, 2 * sizeof(Stamp), "the time stamps"),
      module_(kernels.support(context, "support-timing")),
      start_(context),
      stop_(context),
      flags_(context, context.api().memFreeHost),
      graph_(context, context.api().graphExecDestroy) {
  const auto& api = context.api();
  context.check(flags_.make([&](auto* to) {
    return api.memHostAlloc(to, 2 * sizeof(int), driver::kHostAllocMapped);
  }),
                "Allocating host memory");
  context.check(api.memHostGetDevicePointer(&deviceFlags_, flags_.get(), 0), "Mapping host memory");
}

void Sampler::enqueueOnce() {
  operation_.enqueue(next_, stream_);
  next_ = (next_ + 1) % sets_;
}

Launch Sampler::stampLaunch(int which) const {
  Launch launch;
  launch.name = "the time stamp";
  launch.function = module_->function("stamp");
  launch.grid = {static_cast<unsigned>(2 * context_.facts().multiprocessors), 1, 1};
  launch.arguments = {stamps_.address() + which * sizeof(Stamp)};
  return launch;
}

double Sampler::timed(const std::function<void()>& queue, double* mhz) {
  const auto& api = context_.api();
  if (flush_.bytes() > 0)
    context_.check(api.memsetD8Async(flush_.address(), 0, flush_.bytes(), stream_.handle()),
                   "Flushing the L2 cache");
  volatile int* go = static_cast<int*>(flags_.get());
  go[0] = 0;
  go[1] = 0;
  Launch hold;
  hold.name = "the blocking kernel";
  hold.function = module_->function("hold");
  hold.arguments = {deviceFlags_, deviceFlags_ + sizeof(int), kHoldTimeoutNs};
  enqueueLaunch(context_, hold, stream_);
  try {
    enqueueLaunch(context_, stampLaunch(0), stream_);
    start_.record(stream_);
    queue();
    stop_.record(stream_);
    enqueueLaunch(context_, stampLaunch(1), stream_);
  } catch (...) {
    go[0] = 1;
    throw;
  }
  go[0] = 1;
  stream_.wait(what_);
  if (go[1] != 0)
    throw Error(
        ErrorKind::kDevice,
        what_ +
            " cannot be timed: its launches wait for the device while the stream is held back.");
  if (mhz) {
    Stamp stamps[2];
    stamps_.read(stamps, sizeof stamps);
    const double ns = static_cast<double>(stamps[1].nanoseconds - stamps[0].nanoseconds);
    *mhz = ns >= kClockFromNs ? static_cast<double>(stamps[1].cycles - stamps[0].cycles) / ns * 1e3
                              : 0;
  }
  return stop_.nanosecondsSince(start_);
}

void Sampler::chooseGrouping() {
  // The first launch of a library's kernel may load code, which waits for the device: not while the
  // stream is held.
  enqueueOnce();
  stream_.wait(what_);
  const double estimate = timed([this] { enqueueOnce(); }, nullptr);
  if (estimate >= kGroupBelowNs || flush_.bytes() > 0) return;
  launchesPerSample_ = groupSize(estimate);
  buildGraph();
}

void Sampler::buildGraph() {
  const auto& api = context_.api();
  Owned<driver::Handle> graph(context_, api.graphDestroy);
  context_.check(api.streamBeginCapture(stream_.handle(), driver::kCaptureThreadLocal),
                 "Capturing a graph");
  try {
    for (int i = 0; i < launchesPerSample_; i++) enqueueOnce();
  } catch (...) {
    graph.make([&](auto* to) { return api.streamEndCapture(stream_.handle(), to); });
    throw;
  }
  context_.check(graph.make([&](auto* to) { return api.streamEndCapture(stream_.handle(), to); }),
                 "Capturing a graph of " + what_);
  context_.check(graph_.make([&](auto* to) { return api.graphInstantiate(to, graph.get(), 0); }),
                 "Preparing a graph of " + what_);
  // The first launch of a graph uploads it.
  timed(
      [this] { context_.check(context_.api().graphLaunch(graph_.get(), stream_.handle()), what_); },
      nullptr);
}

Sample Sampler::take(const Monitor& monitor) {
  Sample sample;
  const double ns =
      graph_.get()
          ? timed(
                [this] {
                  context_.check(context_.api().graphLaunch(graph_.get(), stream_.handle()), what_);
                },
                &sample.mhz)
          : timed([this] { enqueueOnce(); }, &sample.mhz);
  sample.ns = ns / launchesPerSample_;
  sample.discard = monitor.isThrottledAt(sample.mhz);
  return sample;
}

std::pair<double, int64_t> Sampler::sustain(double ns) {
  double total = 0;
  int64_t count = 0;
  int chunk = 8;
  while (total < ns) {
    const double part = timed(
        [&] {
          for (int i = 0; i < chunk; i++) {
            if (graph_.get())
              context_.check(context_.api().graphLaunch(graph_.get(), stream_.handle()), what_);
            else enqueueOnce();
          }
        },
        nullptr);
    total += part;
    count += int64_t{chunk} * launchesPerSample_;
    // About 100 ms at a time: gaps between chunks do not show. The launch queue (1024) must not
    // fill while it is held.
    chunk = static_cast<int>(std::clamp(100e6 / (part / chunk), 1.0, 128.0));
  }
  return {total, count};
}

}  // namespace blockscope::cuda
