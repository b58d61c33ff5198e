// The capture of this process: made once, never destroyed, since the driver, CUPTI and threads of
// the program call in until the very end.
#pragma once

#include <regex.h>
#include <semaphore.h>

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "counters.h"
#include "cuptiAbi.h"
#include "names.h"
#include "pythonPaths.h"
#include "recordSource.h"
#include "shardWriter.h"

namespace blockscope::inject {

// What `blockscope capture` asks for, by variables that children inherit.
struct Options {
  std::string folder;        // BLOCKSCOPE_CAPTURE_FOLDER; empty: nothing is captured
  std::string range;         // BLOCKSCOPE_CAPTURE_RANGE: record while this NVTX range is open
  std::string kernels;       // BLOCKSCOPE_CAPTURE_KERNELS: POSIX extended regular expression
  std::string only;          // BLOCKSCOPE_CAPTURE_ONLY: name of the program
  std::string counters;      // BLOCKSCOPE_CAPTURE_COUNTERS: metrics, comma-separated
  bool wholeGraphs = false;  // BLOCKSCOPE_CAPTURE_GRAPHS=1: a record per launch of a graph
  bool python = false;       // BLOCKSCOPE_CAPTURE_PYTHON=1: the Python frames of each launch
  static Options ofEnvironment();
};

// Kernel, copy and set nodes of an executable graph.
struct GraphContent {
  uint64_t kernels = 0, copies = 0, sets = 0;
};

struct Session {
  // Guards the shard, the names and what belongs to graphs.
  std::mutex lock;
  ShardWriter shard;
  Names names{shard};
  PythonPaths python;
  KernelCounters counters;
  Options options;
  Control* control = nullptr;
  int pid = 0;  // of the process that is captured; a forked child is another

  RecordSource* source = nullptr;

  cupti::Api cupti;
  void* subscriber = nullptr;
  // Whether launches count now; with a range to wait for, only while one is open.
  std::atomic<bool> isRecording{false};
  std::atomic<int> openRanges{0};

  std::unordered_map<uint64_t, uint32_t> nodes;  // the path that each was made in
  std::unordered_map<uint32_t, GraphContent> graphs;
  std::vector<void*> contexts;
  regex_t kernelFilter;
  std::vector<int8_t> isKernelKept;  // by kernel name: -1 unknown

  sem_t wake, done;
  std::atomic<bool> isFinishing{false};

  // A forked child is not.
  bool isCaptured() const { return pid != 0; }
  // What `blockscope capture` asks for, from another process.
  ControlState asked() const {
    return std::atomic_ref(control->state).load(std::memory_order_relaxed);
  }
  // Launches that begin now are part of the capture.
  bool takesLaunches() const {
    return isRecording.load(std::memory_order_relaxed) && asked() == ControlState::kRecording &&
           (options.range.empty() || openRanges.load(std::memory_order_relaxed) > 0);
  }
  // Whether --kernels asks for the kernel of this number. Under the lock.
  bool keeps(uint32_t kernel);
  void count(Counter counter, uint64_t amount = 1) {
    std::atomic_ref(shard.header()->counters[counter]).fetch_add(amount, std::memory_order_relaxed);
  }
  uint64_t counted(Counter counter) {
    return std::atomic_ref(shard.header()->counters[counter]).load(std::memory_order_relaxed);
  }
};

Session& session();

// Called when CUDA or HIP starts, with whose records there are; false where nothing is captured.
bool startCapture(RecordSource& source);
// A synchronisation has ended: what is complete is handed out and written, now and then.
void onSynchronised(Session& mine);
// Waits for the device, takes in what is left and writes it: at the end of the process.
void finishCapture();

}  // namespace blockscope::inject
