// Takes timing samples of one operation on the device as docs/measurement.md says: events around
// launches on a stream that is held back until all is queued, operand sets in turn, the
// multiprocessor clock beside.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "../core/measure.h"
#include "kernels.h"
#include "launch.h"
#include "monitor.h"
#include "operation.h"

namespace blockscope::cuda {

// How many operand sets a cold measurement takes in turn: 1 when one set alone is beyond 5 L2, else
// 1 + ceil(3 L2 / bytes).
int64_t coldSets(int64_t bytesPerSet, int64_t l2Bytes);
// "cold: 3 operand sets"
std::string coldText(int64_t sets);
// Launches of one grouped sample: about 200 us together, 8 to 512.
int groupSize(double estimateNs);

// Below this, event resolution (about 0.5 us) is felt and launches are timed in groups.
constexpr double kGroupBelowNs = 20e3;

class Sampler {
 public:
  // `flush`: a buffer written before every sample instead of operand sets in turn; may be empty.
  Sampler(const DeviceContext&, const Kernels&, const Stream&, Operation&, std::string what,
          size_t sets, DeviceBuffer flush);

  // Times one launch, to choose between single and grouped samples, and prepares the latter.
  void chooseGrouping();
  int launchesPerSample() const { return launchesPerSample_; }
  // One sample, time per operation.
  Sample take(const Monitor&);
  // Back to back for at least `ns`; the time and count of all.
  std::pair<double, int64_t> sustain(double ns);

 private:
  void enqueueOnce();
  void buildGraph();
  // Everything `queue` puts on the stream between two events, in nanoseconds; `mhz` gets the clock.
  double timed(const std::function<void()>& queue, double* mhz);
  Launch stampLaunch(int which) const;

  const DeviceContext& context_;
  const Stream& stream_;
  Operation& operation_;
  std::string what_;
  size_t sets_, next_ = 0;
  DeviceBuffer flush_, stamps_;
  std::unique_ptr<Module> module_;
  Event start_, stop_;
  Owned<void*> flags_;  // host memory the device reads: two ints, go and timed out
  driver::DevicePointer deviceFlags_ = 0;
  Owned<driver::Handle> graph_;
  int launchesPerSample_ = 1;
};

}  // namespace blockscope::cuda
