// --counters: what the device's own counters say of each kernel, measured once, at its first
// launch: CUPTI runs that launch as often as the metrics need passes and restores memory in
// between. Its activity record then has no times (seen with CUPTI 13.0 on an H200: both are 0, and
// it comes at the forced flush of the end alone).
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cuptiAbi.h"
#include "cuptiCounters.h"

namespace blockscope::inject {

struct Session;

class KernelCounters {
 public:
  // Comma-separated names of metrics; none: nothing is measured.
  void ask(const std::string& metrics);
  bool isAsked() const { return !metrics_.empty(); }

  // Around each call that launches kernels. Others wait meanwhile: what they launch would be
  // counted with it.
  void begin(Session& mine, const cupti::CallbackData& call);
  void end(Session& mine, const cupti::CallbackData& call, bool hasFailed);
  void forgetContext(void* context);
  // At the end of the capture the program launches as if it had never been measured.
  void close();
  // Of a forked child: contexts and shard are its parent's.
  void forget();
  // A fork waits for a launch that is measured.
  void lock() { launching_.lock(); }
  void unlock() { launching_.unlock(); }

 private:
  struct Profiler {
    void *host = nullptr, *profiler = nullptr;
    uint32_t set = 0;  // of metrics, in the shard
    std::vector<const char*> names;
    std::vector<uint8_t> config, data;
  };
  Profiler* profilerOf(Session& mine, void* context);
  bool open(Session& mine, void* context, Profiler& made);
  bool configure(Session& mine, Profiler& made, const char* chip, const uint8_t* availability);
  bool start(Session& mine, Profiler& profiler);
  void read(Session& mine, Profiler& profiler, const cupti::CallbackData& call);
  void disable(Profiler& profiler);
  bool refuse(Session& mine, const char* what, int error);
  void say(Session& mine, const std::string& reason);

  cupti::CounterApi api_;
  std::vector<std::string> metrics_;
  std::mutex launching_;
  // All under that lock.
  bool isResolved_ = false, isRefused_ = false;
  uint32_t sets_ = 0;
  std::unordered_map<void*, Profiler> profilers_;
  std::unordered_set<std::string> measured_;
  Profiler* measuring_ = nullptr;
};

}  // namespace blockscope::inject
