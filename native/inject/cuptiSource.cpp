#include "cuptiSource.h"

#include "activity.h"
#include "clock.h"
#include "deviceFacts.h"
#include "json.h"
#include "launches.h"
#include "openCupti.h"
#include "session.h"

namespace blockscope::inject {

namespace {

// CUPTI's clock beside the system's: other processes' records are put beside these by the latter.
void writeClock(Session& mine, const OpenedCupti& opened) {
  uint64_t device = 0;
  const uint64_t before = realTimeNs();
  mine.cupti.getTimestamp(&device);
  const uint64_t after = realTimeNs();
  const std::lock_guard guard(mine.lock);
  mine.shard.text(JsonLine()
                      .text("cupti", opened.path)
                      .number("version", opened.version)
                      .number("driver", driverVersion())
                      .wide("realTimeNs", before + (after - before) / 2)
                      .wide("cuptiNs", device)
                      .take());
  mine.shard.flush();
}

class CuptiSource final : public RecordSource {
 public:
  std::optional<SourceFailure> open() override {
    Session& mine = session();
    opened_ = openCupti(mine.cupti, onCallback);
    if (!opened_.isOpen) return SourceFailure{opened_.error, opened_.reason};
    mine.subscriber = opened_.subscriber;
    writeClock(mine, opened_);
    int error = registerActivity();
    if (error == cupti::kSuccess) error = enableCallbacks();
    if (error == cupti::kSuccess) return {};
    mine.cupti.unsubscribe(mine.subscriber);
    return SourceFailure{
        error, "CUPTI refuses the callbacks of launches (error " + std::to_string(error) + ")."};
  }
  std::optional<SourceFailure> start() override {
    const int error = enableActivity();
    isStarted_ = error == 0;
    if (isStarted_) return {};
    const char* name = nullptr;
    session().cupti.getResultString(error, &name);
    return SourceFailure{error, std::string("CUPTI records nothing here: ") + (name ? name : "?") +
                                    olderDriver(opened_) + "."};
  }
  void flush() override { session().cupti.activityFlushAll(0); }
  void awaitDevice(uint64_t) override { synchroniseContexts(); }
  void flushAll() override { session().cupti.activityFlushAll(cupti::kFlushForced); }
  void close() override {
    Session& mine = session();
    mine.counters.close();
    if (isStarted_) disableActivity();
    mine.cupti.unsubscribe(mine.subscriber);
  }
  uint64_t expectedKernels() const override {
    Session& mine = session();
    return mine.counted(kernelLaunches) +
           (mine.options.wholeGraphs ? 0 : mine.counted(graphKernels));
  }

 private:
  OpenedCupti opened_;
  bool isStarted_ = false;
};

}  // namespace

RecordSource& cuptiSource() {
  static auto* const made = new CuptiSource;
  return *made;
}

}  // namespace blockscope::inject
