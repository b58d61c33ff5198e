// Takes timing samples of what is put on a stream, as docs/measurement.md says: between two events,
// operand sets in turn.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "../core/measure.h"
#include "monitor.h"

namespace blockscope::hip {

class Sampler {
 public:
  // `enqueue` puts one operation on the stream with one of as many operand sets as the plan has.
  Sampler(const Device&, const Stream&, std::function<void(size_t set)> enqueue, std::string what,
          const CachePlan&);

  // Times one launch, to choose between single and grouped samples.
  void chooseGrouping();
  int launchesPerSample() const { return launches_; }
  // One sample, time per operation.
  Sample take(const Monitor&);
  // Back to back for at least `ns`; the time and count of all.
  std::pair<double, int64_t> sustain(double ns, const CancelFlag&);

 private:
  void enqueue(int64_t launches);
  double timed(int64_t launches);

  const Device& device_;
  const Stream& stream_;
  std::function<void(size_t)> enqueue_;
  std::string what_;
  CachePlan plan_;
  size_t next_ = 0;
  Buffer flush_;
  Event start_, stop_;
  int launches_ = 1;
};

}  // namespace blockscope::hip
