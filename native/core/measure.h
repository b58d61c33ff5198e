// The sampling loop of method bs-1 (docs/measurement.md), over whatever produces one sample.
#pragma once

#include <functional>

#include "backend.h"

namespace blockscope {

struct Sample {
  double ns = 0;
  double mhz = 0;        // 0: not known
  bool discard = false;  // throttled by heat or hardware: not counted, at most max(10, n / 2) times
};

// Warms up, then samples until a stop rule holds. Fills samplesNs, samplesMHz, discarded,
// stopReason and warmupNs.
Measurement sampleUntilSteady(const MeasureRequest&, const std::function<Sample()>& take,
                              const CancelFlag&, const Progress&);

// The same where one sample stands for several launches: the time asked for is shared among them.
// `take` gives the time of one of them. Fills launchesPerSample, and says "grouped" of several.
Measurement sampleGrouped(const MeasureRequest&, int launchesPerSample,
                          const std::function<Sample()>& take, const CancelFlag&, const Progress&);

}  // namespace blockscope
