#include "sampler.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace blockscope::cuda {

namespace {

constexpr int64_t kHoldTimeoutNs = 5'000'000'000;
constexpr double kGroupNs = 200e3;
// %globaltimer may tick coarsely (up to 1 us): over shorter spans it gives no clock.
constexpr double kClockFromNs = 100e3;
constexpr double kThrottledBelow =
    0.75;  // of the highest multiprocessor clock, with a thermal or hardware reason

struct Stamp {  // timing.cu
  uint64_t nanoseconds, cycles;
};

}  // namespace

int64_t coldSets(int64_t bytesPerSet, int64_t l2Bytes) {
  if (bytesPerSet >= 5 * l2Bytes) return 1;
  return 1 + (3 * l2Bytes + bytesPerSet - 1) / bytesPerSet;
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
      stop_(context) {
  const auto& api = context.api();
  void* host = nullptr;
  context.check(api.memHostAlloc(&host, 2 * sizeof(int), driver::kHostAllocMapped),
                "Allocating host memory");
  flags_ = static_cast<int*>(host);
  context.check(api.memHostGetDevicePointer(&deviceFlags_, host, 0), "Mapping host memory");
}

Sampler::~Sampler() {
  if (context_.lost()) return;
  if (graph_) context_.api().graphExecDestroy(graph_);
  context_.api().memFreeHost(flags_);
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
  volatile int* go = flags_;
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
  driver::Handle graph = nullptr;
  context_.check(api.streamBeginCapture(stream_.handle(), driver::kCaptureThreadLocal),
                 "Capturing a graph");
  try {
    for (int i = 0; i < launchesPerSample_; i++) enqueueOnce();
  } catch (...) {
    api.streamEndCapture(stream_.handle(), &graph);
    throw;
  }
  context_.check(api.streamEndCapture(stream_.handle(), &graph), "Capturing a graph of " + what_);
  const int result = api.graphInstantiate(&graph_, graph, 0);
  api.graphDestroy(graph);
  context_.check(result, "Preparing a graph of " + what_);
  // The first launch of a graph uploads it.
  timed([this] { context_.check(context_.api().graphLaunch(graph_, stream_.handle()), what_); },
        nullptr);
}

Sample Sampler::take(const Monitor& monitor) {
  Sample sample;
  const double ns =
      graph_ ? timed(
                   [this] {
                     context_.check(context_.api().graphLaunch(graph_, stream_.handle()), what_);
                   },
                   &sample.mhz)
             : timed([this] { enqueueOnce(); }, &sample.mhz);
  sample.ns = ns / launchesPerSample_;
  const bool slow = sample.mhz > 0 && sample.mhz < kThrottledBelow * monitor.maximumMHz();
  sample.discard = slow && monitor.throttledNow();
  if (sample.discard) std::this_thread::sleep_for(std::chrono::milliseconds(50));
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
            if (graph_) context_.check(context_.api().graphLaunch(graph_, stream_.handle()), what_);
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
