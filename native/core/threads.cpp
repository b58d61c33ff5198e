#include "threads.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace blockscope {

int coreCount() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

void parallelFor(int64_t count, const CancelFlag& cancel, const std::function<void(int64_t)>& body) {
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failureMutex;
  auto work = [&] {
    try {
      for (int64_t i = next++; i < count; i = next++) {
        cancel.throwIfRequested();
        body(i);
      }
    } catch (...) {
      next = count;
      std::lock_guard lock(failureMutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  const int64_t helpers = std::min<int64_t>(coreCount(), count) - 1;
  try {
    for (int64_t i = 0; i < helpers; i++) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // The system gives no more threads: those there are do it.
  }
  work();
  for (auto& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace blockscope
