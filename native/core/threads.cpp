#include "threads.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#if defined(__linux__)
#include <sched.h>
#endif

namespace blockscope {

namespace {

// One parallelFor: items that its caller and any number of helpers take from.
class Batch {
 public:
  Batch(int64_t count, const CancelFlag& cancel, const std::function<void(int64_t)>& body)
      : count_(count), cancel_(cancel), body_(body) {}

  // Takes items until none is left.
  void work() {
    try {
      for (int64_t i = next_++; i < count_; i = next_++) {
        cancel_.throwIfRequested();
        body_(i);
      }
    } catch (...) {
      next_ = count_;
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  // False once the caller waits for the end: what the batch refers to may be gone soon.
  bool enter() {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    helpers_++;
    return true;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--helpers_ == 0) left_.notify_all();
  }
  // Waits for the helpers that entered, not for those that never came.
  void close() {
    std::unique_lock lock(mutex_);
    closed_ = true;
    left_.wait(lock, [this] { return helpers_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const int64_t count_;
  const CancelFlag& cancel_;
  const std::function<void(int64_t)>& body_;
  std::atomic<int64_t> next_{0};
  std::mutex mutex_;
  std::condition_variable left_;
  int helpers_ = 0;
  bool closed_ = false;
  std::exception_ptr failure_;
};

// Threads that help whoever asks. They are started when first needed and kept until the process
// ends.
class Pool {
 public:
  static Pool& ofProcess() {
    // Never destroyed: its threads wait in it until the very end.
    static Pool& pool = *new Pool;
    return pool;
  }

  void help(const std::shared_ptr<Batch>& batch, int64_t helpers) {
    {
      const std::lock_guard lock(mutex_);
      try {
        while (threads_ < helpers) {
          std::thread([this] { serve(); }).detach();
          threads_++;
        }
      } catch (const std::system_error&) {
        // The system gives no more threads: those there are do it.
      }
      for (int64_t i = 0; i < std::min(helpers, threads_); i++) waiting_.push_back(batch);
    }
    wanted_.notify_all();
  }

 private:
  [[noreturn]] void serve() {
    while (true) {
      std::unique_lock lock(mutex_);
      wanted_.wait(lock, [this] { return !waiting_.empty(); });
      const std::shared_ptr<Batch> batch = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      if (!batch->enter()) continue;
      batch->work();
      batch->leave();
    }
  }

  std::mutex mutex_;
  std::condition_variable wanted_;
  std::deque<std::shared_ptr<Batch>> waiting_;
  int64_t threads_ = 0;
};

}  // namespace

int coreCount() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

void parallelFor(int64_t count, const CancelFlag& cancel,
                 const std::function<void(int64_t)>& body) {
  const auto batch = std::make_shared<Batch>(count, cancel, body);
  const int64_t helpers = std::min<int64_t>(coreCount(), count) - 1;
  if (helpers > 0) Pool::ofProcess().help(batch, helpers);
  batch->work();
  batch->close();
}

}  // namespace blockscope
