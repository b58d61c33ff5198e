// The form of a shard: what one process of a capture leaves behind. Little-endian, append-only: a
// header page, then blocks of records of one kind. docs/capture.md describes it for other readers;
// src-shared/capture/shardForm.ts reads it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace blockscope::inject {

constexpr char kShardMagic[8] = {'B', 'S', 'C', 'A', 'P', 'T', '\x1a', '\n'};
constexpr uint32_t kShardVersion = 1;
constexpr uint32_t kHeaderBytes = 4096;
constexpr uint32_t kBlockMagic = 0x4b4c4221;  // "!BLK"

// Where a process stands.
enum class ShardState : uint32_t { kWaiting = 1, kRecording = 2, kEnded = 3, kFailed = 4 };

// What is counted, in the order of ShardHeader::counters; the shard itself names them, so that a
// reader of another version knows which is which.
#define BLOCKSCOPE_SHARD_COUNTERS(X)                                                          \
  X(kernelLaunches)   /* calls that returned 0, outside graph capture */                      \
  X(failedLaunches)   /* calls that returned an error: there is nothing to record */          \
  X(capturedLaunches) /* calls that only added a node to a graph */                           \
  X(graphLaunches)                                                                            \
  X(graphKernels) /* kernel nodes of the graphs launched, once per launch */                  \
  X(graphCopies)                                                                              \
  X(graphSets)                                                                                \
  X(copyCalls)                                                                                \
  X(setCalls)                                                                                 \
  X(kernelRecords) /* received and kept, unfinished ones too */                               \
  X(copyRecords)                                                                              \
  X(setRecords)                                                                               \
  X(graphRecords)                                                                             \
  X(outsideRecords)    /* of launches outside the window of the capture: not kept */          \
  X(filteredRecords)   /* of kernels that --kernels leaves out: not kept */                   \
  X(unfinishedRecords) /* the device had not ended them when they were asked for */           \
  X(otherRecords)      /* of kinds that nobody asked for */                                   \
  X(droppedRecords)    /* as CUPTI itself says */                                             \
  X(refusedBuffers)    /* asked for while kMostBuffers were out */                            \
  X(unwrittenRecords)  /* the disk took no more: records of kernels, copies, sets, graphs */  \
  X(unwrittenLaunches)                                                                        \
  X(unwrittenTexts)                                                                           \
  X(forgottenNodes)  /* graph nodes beyond kMostNodes: without the path of their capture */   \
  X(pythonCalls)     /* calls that launch something, made below a frame of Python */          \
  X(forgottenStacks) /* calls whose frames would have been a path too many */                 \
  X(enqueuedKernels) /* put into queues of HSA, by whatever call: what AMD's GPUs must run */ \
  X(repeatedRecords) /* of dispatches whose record had come: not kept */

enum Counter : int {
#define BLOCKSCOPE_NAME(name) name,
  BLOCKSCOPE_SHARD_COUNTERS(BLOCKSCOPE_NAME)
#undef BLOCKSCOPE_NAME
      kCounters
};

struct ShardHeader {
  char magic[8];
  uint32_t version, headerBytes;
  uint32_t pid, parentPid;
  uint64_t startNs;    // CLOCK_REALTIME
  uint64_t bodyBytes;  // whole blocks after the header
  ShardState state;
  int32_t sourceError;  // of what failed, as CUPTI or rocprofiler-sdk numbers it; 0 otherwise
  uint64_t endNs;       // when the capture of this process ended; 0 before
  uint64_t reserved;
  uint64_t counters[kCounters];
};
static_assert(offsetof(ShardHeader, counters) == 64);
static_assert(sizeof(ShardHeader) <= kHeaderBytes);

enum class BlockKind : uint32_t {
  kText = 1,  // lines of JSON: what the numbers in records stand for
  kLaunches = 2,
  kRanges = 3,
  kKernels = 4,
  kMemory = 5,
  kGraphs = 6,
};

struct BlockHeader {
  uint32_t magic;
  BlockKind kind;
  uint32_t bytes;    // of the payload, without the padding to 8 behind it
  uint32_t records;  // 0 in a block of text
};

enum class CallKind : uint8_t { kKernel = 0, kCopy = 1, kSet = 2, kGraph = 3 };
constexpr uint8_t kCallFailed = 1, kCallCaptured = 2;

struct LaunchRecord {
  uint64_t startNs;  // CLOCK_REALTIME, as are all times
  uint32_t durationNs;
  uint32_t correlation;
  uint32_t path, thread;
  uint32_t graph;  // of the executable that a graph launch runs
  uint16_t call;
  CallKind kind;
  uint8_t flags;
};
static_assert(sizeof(LaunchRecord) == 32);

struct RangeRecord {
  uint64_t startNs, endNs;
  uint32_t path, thread;
};
static_assert(sizeof(RangeRecord) == 24);

struct KernelRecord {  // of kGraphs too, whose node and shape are 0
  uint64_t startNs, endNs;
  uint64_t node;  // 0: of no graph
  uint32_t correlation, shape, place, graph;
};
static_assert(sizeof(KernelRecord) == 40);

struct MemoryRecord {
  uint64_t startNs, endNs, bytes, node;
  uint32_t correlation, place, graph;
  uint8_t kind;  // 1 copy, 2 set: as CUPTI numbers activities
  uint8_t copyKind, sourceKind, targetKind;
};
static_assert(sizeof(MemoryRecord) == 48);

// The one file of a capture that `blockscope capture` writes and every process maps.
constexpr char kControlMagic[8] = {'B', 'S', 'C', 'T', 'R', 'L', '\x1a', '\n'};
enum class ControlState : uint32_t { kWaiting = 0, kRecording = 1, kEnded = 2 };

struct Control {
  char magic[8];
  uint32_t version;
  ControlState state;
  // Counted by the processes: those that started CUDA or HIP, those that --only leaves out, those
  // that could not make a shard and the errno of the last.
  uint32_t started, passedOver, withoutShard, shardErrno;
};

}  // namespace blockscope::inject
