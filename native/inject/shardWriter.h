// Appends blocks to the shard of this process. Not thread-safe: one lock guards it and the names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shard.h"

namespace blockscope::inject {

class ShardWriter {
 public:
  // The file PID-START.shard in a folder, with its header page mapped, so that counters outlive a
  // SIGKILL. Returns 0 or an errno.
  int open(const std::string& folder);
  // A forked child has its parent's: drops it without writing.
  void forget();
  bool isOpen() const { return header_ != nullptr; }
  ShardHeader* header() { return header_; }

  void text(std::string_view line);
  void add(const LaunchRecord& record) { append(launches_, &record, sizeof record); }
  void add(const RangeRecord& record) { append(ranges_, &record, sizeof record); }
  void add(const KernelRecord& record) { append(kernels_, &record, sizeof record); }
  void addGraph(const KernelRecord& record) { append(graphs_, &record, sizeof record); }
  void add(const MemoryRecord& record) { append(memory_, &record, sizeof record); }
  // Texts first: what is in the file is explained there, ahead of it.
  void flush();

 private:
  struct Buffer {
    BlockKind kind;
    uint32_t recordBytes;
    Counter lost;
    std::vector<uint8_t> bytes;
  };
  void append(Buffer& buffer, const void* bytes, size_t size);
  void write(Buffer& buffer);

  int file_ = -1;
  uint64_t end_ = kHeaderBytes;
  ShardHeader* header_ = nullptr;
  Buffer texts_{BlockKind::kText, 0, unwrittenTexts, {}};
  Buffer launches_{BlockKind::kLaunches, sizeof(LaunchRecord), unwrittenLaunches, {}};
  Buffer ranges_{BlockKind::kRanges, sizeof(RangeRecord), unwrittenLaunches, {}};
  Buffer kernels_{BlockKind::kKernels, sizeof(KernelRecord), unwrittenRecords, {}};
  Buffer memory_{BlockKind::kMemory, sizeof(MemoryRecord), unwrittenRecords, {}};
  Buffer graphs_{BlockKind::kGraphs, sizeof(KernelRecord), unwrittenRecords, {}};
};

}  // namespace blockscope::inject
