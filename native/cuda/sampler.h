// Takes timing samples of one operation on the device, or of whatever is put on the stream, as
// docs/measurement.md says: events around launches on a stream that is held back until all is
// queued, operand sets in turn, the multiprocessor clock beside.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "../core/measure.h"
#include "kernels.h"
#include "launch.h"
#include "monitor.h"

namespace blockscope::cuda {

class Sampler {
 public:
  // `enqueue` puts the operation on the stream with one of as many operand sets as the plan has.
  Sampler(const DeviceContext&, const Kernels&, const Stream&,
          std::function<void(size_t set)> enqueue, std::string what, const CachePlan&);

  // Times one launch, to choose between single and grouped samples, and prepares the latter.
  void chooseGrouping();
  int launchesPerSample() const { return grouping_.launches; }
  // One sample, time per operation.
  Sample take(const Monitor&);
  // Back to back for at least `ns`; the time and count of all.
  std::pair<double, int64_t> sustain(double ns);

 private:
  void enqueueOnce();
  void buildGraphs();
  void enqueueSample();
  // Everything `queue` puts on the stream between two events, in nanoseconds; `mhz` gets the clock.
  double timed(const std::function<void()>& queue, double* mhz);
  Launch stampLaunch(int which) const;

  const DeviceContext& context_;
  const Stream& stream_;
  std::function<void(size_t)> enqueue_;
  std::string what_;
  CachePlan plan_;
  size_t next_ = 0;
  DeviceBuffer flush_, stamps_;
  std::unique_ptr<Module> module_;
  Event start_, stop_;
  Owned<void*> flags_;  // host memory the device reads: two ints, go and timed out
  driver::DevicePointer deviceFlags_ = 0;
  // Of a sample each: together they take every operand set, since a graph takes the same ones
  // again.
  std::vector<Owned<driver::Handle>> graphs_;
  size_t nextGraph_ = 0;
  Grouping grouping_;
};

}  // namespace blockscope::cuda
