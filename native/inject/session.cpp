#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "clock.h"
#include "json.h"
#include "processFacts.h"

namespace blockscope::inject {

namespace {

constexpr uint64_t kPeriodNs = 100000000;     // what a SIGKILL loses at most of a device with gaps
constexpr uint64_t kFlushAfterNs = 20000000;  // at a synchronisation, at most this often
constexpr uint64_t kLongestWaitNs = 10ull * 1000000000;

// Null in the many processes that only inherit this library: they end without making anything.
std::atomic<Session*> existing{nullptr};

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

timespec inFuture(uint64_t ns) {
  const uint64_t until = realTimeNs() + ns;
  return {static_cast<time_t>(until / 1000000000), static_cast<long>(until % 1000000000)};
}

// Whether it was posted before the time was over.
bool waitFor(sem_t& semaphore, uint64_t ns) {
  const timespec until = inFuture(ns);
  while (sem_timedwait(&semaphore, &until) != 0)
    if (errno != EINTR) return false;
  return true;
}

Control* mapControl(const std::string& folder) {
  const int file = open((folder + "/control").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* page = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (page == MAP_FAILED) return nullptr;
  auto* control = static_cast<Control*>(page);
  return std::memcmp(control->magic, kControlMagic, sizeof kControlMagic) == 0 ? control : nullptr;
}

void add(uint32_t& counter) { std::atomic_ref(counter).fetch_add(1); }

// A fork between another thread's lock and unlock would leave the child's lock closed for good.
void beforeFork() {
  session().counters.lock();
  session().lock.lock();
}
void afterForkInParent() {
  session().lock.unlock();
  session().counters.unlock();
}
void afterForkInChild() {
  Session& mine = session();
  mine.isRecording = false;
  mine.pid = 0;
  mine.shard.forget();
  mine.names.forget();
  mine.python.forget();
  mine.counters.forget();
  mine.contexts.clear();
  afterForkInParent();
}

void fail(Session& mine, const SourceFailure& failure) {
  const std::lock_guard guard(mine.lock);
  mine.shard.text(JsonLine().text("failed", failure.reason).take());
  mine.shard.flush();
  mine.shard.header()->sourceError = failure.error;
  mine.shard.header()->state = ShardState::kFailed;
}

void writeBeginning(Session& mine) {
  const std::lock_guard guard(mine.lock);
  static constexpr const char* kNames[] = {
#define BLOCKSCOPE_TEXT(name) #name,
      BLOCKSCOPE_SHARD_COUNTERS(BLOCKSCOPE_TEXT)
#undef BLOCKSCOPE_TEXT
  };
  mine.shard.text(JsonLine().texts("counters", kNames).take());
  mine.shard.text(processFacts());
  mine.names.writePaths();
  mine.shard.flush();
}

void startRecording(Session& mine) {
  if (const auto failure = mine.source->start()) return fail(mine, *failure);
  mine.shard.header()->state = ShardState::kRecording;
  mine.isRecording = true;
}

enum class Ending { kOfCapture, kOfProcess };

// At the end of the process the source is left as it is: what else ends there may still call it.
void endRecording(Session& mine, Ending ending) {
  mine.isRecording = false;
  mine.source->flushAll();
  if (ending == Ending::kOfCapture) mine.source->close();
  const std::lock_guard guard(mine.lock);
  if (mine.options.python) mine.python.sayAtEnd(mine.shard);
  mine.shard.flush();
  mine.shard.header()->endNs = realTimeNs();
  mine.shard.header()->state = ShardState::kEnded;
}

// What was launched before the end of the window is still taken in; then the program runs on as if
// it had never been watched.
class Follower {
 public:
  explicit Follower(Session& mine) : mine_(mine) {}
  void run() {
    while (!isOver_) {
      const bool isLast = waitFor(mine_.wake, kPeriodNs);
      if (isLast) {
        if (mine_.shard.header()->state == ShardState::kRecording) {
          mine_.source->awaitDevice(kLongestWaitNs - kPeriodNs);
          endRecording(mine_, Ending::kOfProcess);
        }
        break;
      }
      step();
    }
    sem_post(&mine_.done);
  }

 private:
  void step() {
    const ControlState asked = mine_.asked();
    const ShardState state = mine_.shard.header()->state;
    if (state == ShardState::kWaiting) {
      if (asked == ControlState::kRecording) startRecording(mine_);
      if (asked == ControlState::kEnded) {
        mine_.source->close();
        mine_.shard.header()->state = ShardState::kEnded;
        isOver_ = true;
      }
      return;
    }
    if (state != ShardState::kRecording) {
      isOver_ = true;
      return;
    }
    mine_.source->flush();
    {
      const std::lock_guard guard(mine_.lock);
      mine_.shard.flush();
    }
    if (asked != ControlState::kEnded) return;
    if (endingSinceNs_ == 0) endingSinceNs_ = realTimeNs();
    const uint64_t found = mine_.counted(kernelRecords) + mine_.counted(filteredRecords);
    const bool hasAll = found >= mine_.source->expectedKernels();
    if (!hasAll && realTimeNs() - endingSinceNs_ < kLongestWaitNs) return;
    endRecording(mine_, Ending::kOfCapture);
    isOver_ = true;
  }

  Session& mine_;
  bool isOver_ = false;
  uint64_t endingSinceNs_ = 0;
};

void* follow(void* mine) {
  Follower(*static_cast<Session*>(mine)).run();
  return nullptr;
}

// The program's signals go to its own threads.
bool startFollower(Session& mine) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, nullptr, follow, &mine);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) pthread_detach(thread);
  return error == 0;
}

}  // namespace

Options Options::ofEnvironment() {
  return {
      variable("BLOCKSCOPE_CAPTURE_FOLDER"),         variable("BLOCKSCOPE_CAPTURE_RANGE"),
      variable("BLOCKSCOPE_CAPTURE_KERNELS"),        variable("BLOCKSCOPE_CAPTURE_ONLY"),
      variable("BLOCKSCOPE_CAPTURE_COUNTERS"),       *variable("BLOCKSCOPE_CAPTURE_GRAPHS") != '\0',
      *variable("BLOCKSCOPE_CAPTURE_PYTHON") != '\0'};
}

Session& session() {
  static Session* const made = [] {
    auto* mine = new Session;
    mine->options = Options::ofEnvironment();
    mine->counters.ask(mine->options.counters);
    if (!mine->options.folder.empty()) {
      sem_init(&mine->wake, 0, 0);
      sem_init(&mine->done, 0, 0);
      pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
    }
    return existing = mine;
  }();
  return *made;
}

bool Session::keeps(uint32_t kernel) {
  if (options.kernels.empty()) return true;
  if (kernel >= isKernelKept.size()) isKernelKept.resize(kernel + 1, -1);
  int8_t& kept = isKernelKept[kernel];
  if (kept < 0) {
    const std::string name(names.kernelNameOf(kernel));
    kept = regexec(&kernelFilter, name.c_str(), 0, nullptr, 0) == 0;
  }
  return kept != 0;
}

void onSynchronised(Session& mine) {
  static std::atomic<uint64_t> lastNs{0};
  const uint64_t now = realTimeNs();
  uint64_t last = lastNs.load(std::memory_order_relaxed);
  if (now - last < kFlushAfterNs || !lastNs.compare_exchange_strong(last, now)) return;
  mine.source->flush();
  const std::lock_guard guard(mine.lock);
  mine.shard.flush();
}

bool startCapture(RecordSource& source) {
  Session& mine = session();
  if (mine.options.folder.empty() || mine.isCaptured()) return false;
  mine.control = mapControl(mine.options.folder);
  if (mine.control == nullptr) return false;
  if (!isProgramNamed(mine.options.only)) {
    add(mine.control->passedOver);
    return false;
  }
  add(mine.control->started);
  if (const int error = mine.shard.open(mine.options.folder)) {
    mine.control->shardErrno = static_cast<uint32_t>(error);
    add(mine.control->withoutShard);
    return false;
  }
  writeBeginning(mine);
  if (!mine.options.kernels.empty() &&
      regcomp(&mine.kernelFilter, mine.options.kernels.c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
    fail(mine, {0, "--kernels is no POSIX extended regular expression."});
    return false;
  }
  mine.source = &source;
  if (const auto failure = source.open()) {
    fail(mine, *failure);
    return false;
  }
  mine.pid = getpid();
  if (mine.asked() == ControlState::kRecording) startRecording(mine);
  if (!startFollower(mine)) {
    mine.isRecording = false;
    source.close();
    fail(mine, {0, "the system gave no thread for the capture."});
    return false;
  }
  std::atexit(finishCapture);
  return true;
}

void finishCapture() {
  Session* mine = existing;
  // A child between vfork and exec shares this memory and is another process.
  if (mine == nullptr || mine->pid != getpid() || mine->isFinishing.exchange(true)) return;
  sem_post(&mine->wake);
  waitFor(mine->done, kLongestWaitNs);
}

}  // namespace blockscope::inject
