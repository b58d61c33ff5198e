// Work on all cores: every item once, by threads that are kept.
#include "../core/threads.h"

#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

using namespace blockscope;

namespace {

// Counts the threads that ever ran an item.
std::atomic<int> threadsSeen{0};
void noteThread() {
  thread_local const bool noted = (threadsSeen++, true);
  (void)noted;
}

void everyItemRunsOnce() {
  for (const int64_t count : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> runs(count);
    parallelFor(count, CancelFlag(), [&](int64_t i) { runs[i]++; });
    bool once = true;
    for (const auto& run : runs) once = once && run == 1;
    CHECK(once);
  }
}

void callsFromItemsAndFromManyThreadsEnd() {
  std::atomic<int64_t> sum{0};
  auto nested = [&] {
    parallelFor(16, CancelFlag(), [&](int64_t) {
      parallelFor(16, CancelFlag(), [&](int64_t inner) { sum += inner; });
    });
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; i++) callers.emplace_back(nested);
  for (std::thread& caller : callers) caller.join();
  CHECK(sum == 4 * 16 * 120);
}

void threadsAreKept() {
  threadsSeen = 0;
  for (int call = 0; call < 500; call++)
    parallelFor(64, CancelFlag(), [&](int64_t) { noteThread(); });
  // The caller and one helper for every other core.
  CHECK(threadsSeen >= 1 && threadsSeen <= coreCount());
}

void failuresAndCancelsReachTheCaller() {
  bool failed = false;
  try {
    parallelFor(100, CancelFlag(), [](int64_t i) {
      if (i == 40) throw Error(ErrorKind::kDevice, "broken");
    });
  } catch (const Error& error) {
    failed = std::string(error.what()) == "broken";
  }
  CHECK(failed);
  CancelFlag cancel;
  std::atomic<int> ran{0};
  bool cancelled = false;
  try {
    parallelFor(1'000'000, cancel, [&](int64_t) {
      ran++;
      cancel.request();
    });
  } catch (const Error& error) {
    cancelled = error.kind == ErrorKind::kCancelled;
  }
  CHECK(cancelled && ran < 1000);
  everyItemRunsOnce();
}

}  // namespace

int main() {
  everyItemRunsOnce();
  callsFromItemsAndFromManyThreadsEnd();
  threadsAreKept();
  failuresAndCancelsReachTheCaller();
  return summary();
}
