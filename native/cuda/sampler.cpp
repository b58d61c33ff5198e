#include "sampler.h"

#include <algorithm>
#include <cmath>

namespace blockscope::cuda {

namespace {

constexpr int64_t kHoldTimeoutNs = 5'000'000'000;
// %globaltimer may tick coarsely (up to 1 us): over shorter spans it gives no clock.
constexpr double kClockFromNs = 100e3;

struct Stamp {  // timing.cu
  uint64_t nanoseconds, cycles;
};

}  // namespace

Sampler::Sampler(const DeviceContext& context, const Kernels& kernels, const Stream& stream,
                 std::function<void(size_t)> enqueue, std::string what, const CachePlan& plan)
    : context_(context),
      stream_(stream),
      enqueue_(std::move(enqueue)),
      what_(std::move(what)),
      plan_(plan),
      flush_(context, plan.flush ? static_cast<size_t>(2 * context.facts().l2Bytes) : 0,
             "the cache flush"),
      stamps_(context, 2 * sizeof(Stamp), "the time stamps"),
      module_(kernels.support(context, "support-timing")),
      start_(context),
      stop_(context),
      flags_(context, context.api().memFreeHost) {
  const auto& api = context.api();
  context.check(flags_.make([&](auto* to) {
    return api.memHostAlloc(to, 2 * sizeof(int), driver::kHostAllocMapped);
  }),
                "Allocating host memory");
  context.check(api.memHostGetDevicePointer(&deviceFlags_, flags_.get(), 0), "Mapping host memory");
}

void Sampler::enqueueOnce() {
  enqueue_(next_);
  next_ = (next_ + 1) % static_cast<size_t>(plan_.sets);
}

void Sampler::enqueueSample() {
  if (graphs_.empty()) return enqueueOnce();
  context_.check(context_.api().graphLaunch(graphs_[nextGraph_].get(), stream_.handle()), what_);
  nextGraph_ = (nextGraph_ + 1) % graphs_.size();
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
  grouping_ = groupingOf(estimate, plan_);
  if (grouping_.launches > 1) buildGraphs();
}

void Sampler::buildGraphs() {
  const auto& api = context_.api();
  for (int sample = 0; sample < grouping_.samples; sample++) {
    Owned<driver::Handle> graph(context_, api.graphDestroy);
    context_.check(api.streamBeginCapture(stream_.handle(), driver::kCaptureThreadLocal),
                   "Capturing a graph");
    try {
      for (int i = 0; i < grouping_.launches; i++) enqueueOnce();
    } catch (...) {
      graph.make([&](auto* to) { return api.streamEndCapture(stream_.handle(), to); });
      throw;
    }
    context_.check(graph.make([&](auto* to) { return api.streamEndCapture(stream_.handle(), to); }),
                   "Capturing a graph of " + what_);
    Owned<driver::Handle> ready(context_, api.graphExecDestroy);
    context_.check(ready.make([&](auto* to) { return api.graphInstantiate(to, graph.get(), 0); }),
                   "Preparing a graph of " + what_);
    graphs_.push_back(std::move(ready));
  }
  // The first launch of a graph uploads it.
  for (size_t i = 0; i < graphs_.size(); i++) timed([this] { enqueueSample(); }, nullptr);
}

Sample Sampler::take(const Monitor& monitor) {
  Sample sample;
  sample.ns = timed([this] { enqueueSample(); }, &sample.mhz) / grouping_.launches;
  sample.discard = monitor.isThrottledAt(sample.mhz);
  return sample;
}

std::pair<double, int64_t> Sampler::sustain(double ns) {
  const auto [took, samples] =
      backToBack<Event>(context_, stream_, what_, ns, timed([this] { enqueueSample(); }, nullptr),
                        [this] { enqueueSample(); });
  return {took, samples * grouping_.launches};
}

}  // namespace blockscope::cuda
