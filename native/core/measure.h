// The sampling loop of method bs-3 (docs/measurement.md), over whatever produces one sample.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backend.h"

namespace blockscope {

struct Sample {
  double ns = 0;
  double mhz = 0;        // 0: not known
  bool discard = false;  // throttled by heat or hardware: not counted, at most max(10, n / 2) times
  double preparedNs = 0;  // before it, to make it what it is: no time limit counts this
};

// Warms up, then samples until a stop rule holds. Fills samplesNs, samplesMHz, discarded,
// stopReason and warmupNs.
Measurement sampleUntilSteady(const MeasureRequest&, const std::function<Sample()>& take,
                              const CancelFlag&, const Progress&);

// The same where one sample stands for several launches: the time asked for is shared among them.
// `take` gives the time of one of them. Fills launchesPerSample, and says "grouped" of several.
Measurement sampleGrouped(const MeasureRequest&, int launchesPerSample,
                          const std::function<Sample()>& take, const CancelFlag&, const Progress&);

// Operand sets to take in turn so that the last cache before memory holds none of them when it is
// read again: 1 when one alone is beyond 5 caches, else 1 + ceil(3 cache / bytes). 1 too where the
// size of the cache is not known (0).
int64_t coldSets(int64_t bytesPerSet, int64_t cacheBytes);

// What a measurement on a GPU does about that cache.
struct CachePlan {
  int64_t sets = 1;
  bool flush = false;  // twice the cache is written before each sample
  std::string mode = "hot";
};

// Cold: by operand sets in turn, at most 512 of them: tens of thousands of tiny ones take longer to
// make than to measure. Where that is too few, or 40 % of the free memory too little for them, the
// cache is flushed as well.
CachePlan planCold(int64_t bytesPerSet, int64_t cacheBytes, int64_t freeBytes);
// The same for sets that lie one behind another in so much memory.
CachePlan planColdIn(int64_t memoryBytes, int64_t bytesPerSet, int64_t cacheBytes);

// One sample of short launches is of several of them, and samples differ in what they read:
// `samples` of `launches` each take every set once (or each sample takes every set equally often).
struct Grouping {
  int launches = 1;
  int samples = 1;
};

// Below 200 us, where what two events add to a launch between them (some 2 us on an H100) is felt:
// launches of about 200 us together, 8 to 512, and then as many more as it takes to go through the
// sets evenly. After a flush no set is taken twice, so that each launch finds its own in memory.
Grouping groupingOf(double launchNs, const CachePlan&);

// Back to back for at least `ns`, without a pause and without holding the device back (some hundred
// launches of graphs fill a held queue, and the driver then waits for the device): kPartsAhead
// parts of work are always queued. `queue` queues one and marks its end in that slot, `elapsed`
// waits for the mark and tells the time since the start. Returns how many parts were queued.
constexpr int64_t kPartsAhead = 3;
int64_t queueAhead(double ns, const std::function<void(size_t slot)>& queue,
                   const std::function<double(size_t slot)>& elapsed);
// Samples of which a part is made: some 20 ms, longer than they take to queue.
int64_t samplesOfPart(double sampleNs);
// The same on a GPU's stream: `queueSample` puts there what takes some `sampleNs`. The time of all,
// and how many samples they are. Event and its owner: a backend's own.
template <class Event, class Owner, class Stream>
std::pair<double, int64_t> backToBack(const Owner& owner, const Stream& stream,
                                      const std::string& what, double ns, double sampleNs,
                                      const std::function<void()>& queueSample) {
  const int64_t part = samplesOfPart(sampleNs);
  const Event start(owner), stop(owner);
  std::vector<Event> ends;
  for (int64_t i = 0; i < kPartsAhead; i++) ends.emplace_back(owner);
  start.record(stream);
  const int64_t parts = queueAhead(
      ns,
      [&](size_t slot) {
        for (int64_t i = 0; i < part; i++) queueSample();
        ends[slot].record(stream);
      },
      [&](size_t slot) {
        ends[slot].wait(what);
        return ends[slot].nanosecondsSince(start);
      });
  stop.record(stream);
  stream.wait(what);
  return {stop.nanosecondsSince(start), parts * part};
}

}  // namespace blockscope
