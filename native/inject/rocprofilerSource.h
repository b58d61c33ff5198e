// rocprofiler-sdk as the source of records, for programs on AMD's GPUs: callbacks of HIP's calls,
// of roctx's ranges and of dispatches put into queues; buffered records of dispatches and copies.
// Not run on an AMD GPU yet.
#pragma once

#include <atomic>
#include <string>
#include <unordered_map>
#include <vector>

#include "recordSource.h"
#include "rocprofilerAbi.h"

namespace blockscope::inject {

class RocprofilerSource final : public RecordSource {
 public:
  // An address within the library that called, whose functions are used: never those of a second.
  void calledFrom(const void* address) { caller_ = address; }

  std::optional<SourceFailure> open() override;
  std::optional<SourceFailure> start() override;
  void flush() override;
  void awaitDevice(uint64_t mostNs) override;
  void flushAll() override { flush(); }
  void close() override;
  uint64_t expectedKernels() const override;

  // What callbacks come to.
  struct Event {
    uint64_t correlation;
    int32_t kind, operation, phase;
    void* payload;
    uint64_t* user;
  };
  void onEvent(const Event& event);
  void onRecords(rocprofiler::RecordHeader** headers, size_t count, uint64_t dropped);

 private:
  struct Kernel {
    std::string name;
    int64_t registers, staticShared;
  };
  struct Gpu {
    uint32_t number;
    std::string facts;  // a line of the shard, until it is written
  };
  std::optional<SourceFailure> resolve();
  std::optional<SourceFailure> configure();
  SourceFailure failure(const char* what, int status) const;
  void readOperations();
  void readAgents();
  void measureClock();
  uint64_t systemTime(uint64_t ns) const { return ns == 0 ? 0 : ns + clockOff_.load(); }

  void onHipCall(const Event& event);
  void onMarker(const Event& event);
  void onKernelSymbol(const rocprofiler::KernelSymbol& symbol);
  void onEnqueued(const Event& event);
  void takeDispatch(const rocprofiler::DispatchRecord& record);
  void takeCopy(const rocprofiler::CopyRecord& record);
  uint32_t placeOf(uint64_t agent, uint64_t queue);

  const void* caller_ = nullptr;
  rocprofiler::Api api_;
  std::string path_;
  uint32_t version_[3] = {};
  uint64_t namesContext_ = 0, recordsContext_ = 0, buffer_ = 0;
  // By operation: what a HIP function is, and its name; filled before callbacks come.
  std::vector<uint8_t> hipKinds_;
  std::vector<std::string> hipNames_;
  int32_t pushOperation_ = -1, popOperation_ = -1;
  // Added to times of the library, whose clock stands still for no step of the system's and knows
  // none of its corrections: measured again with each flush.
  std::atomic<uint64_t> clockOff_{0};
  // Under the session's lock.
  std::unordered_map<uint64_t, Kernel> kernels_;
  std::unordered_map<uint64_t, Gpu> gpus_;         // by agent
  std::unordered_map<uint64_t, uint32_t> queues_;  // numbered from 1
  uint64_t dropped_ = 0;                           // as far as it is counted
};

RocprofilerSource& rocprofilerSource();

}  // namespace blockscope::inject
