#include "sampler.h"

namespace blockscope::hip {

Sampler::Sampler(const Device& device, const Stream& stream, std::function<void(size_t)> enqueue,
                 std::string what, const CachePlan& plan)
    : device_(device),
      stream_(stream),
      enqueue_(std::move(enqueue)),
      what_(std::move(what)),
      plan_(plan),
      flush_(device, plan.flush ? static_cast<size_t>(2 * lastCacheBytes(device.facts())) : 0,
             "the cache flush"),
      start_(device),
      stop_(device) {}

void Sampler::enqueue(int64_t launches) {
  for (int64_t i = 0; i < launches; i++) {
    enqueue_(next_);
    next_ = (next_ + 1) % static_cast<size_t>(plan_.sets);
  }
}

double Sampler::timed(int64_t launches) {
  if (plan_.flush)
    device_.check(device_.api().memsetAsync(flush_.address(), 0, flush_.bytes(), stream_.handle()),
                  "Flushing the cache");
  start_.record(stream_);
  enqueue(launches);
  stop_.record(stream_);
  stream_.wait(what_);
  return stop_.nanosecondsSince(start_);
}

void Sampler::chooseGrouping() {
  // The first launch may still load code; the second says whether one alone is too short to be
  // timed.
  timed(1);
  launches_ = groupingOf(timed(1), plan_).launches;
}

Sample Sampler::take(const Monitor& monitor) {
  const double ns = timed(launches_) / launches_, mhz = monitor.clockNow();
  return {ns, mhz, monitor.isThrottledAt(mhz)};
}

std::pair<double, int64_t> Sampler::sustain(double ns, const CancelFlag& cancel) {
  return backToBack<Event>(device_, stream_, what_, ns, timed(1), [&] {
    cancel.throwIfRequested();
    enqueue(1);
  });
}

}  // namespace blockscope::hip
