// Where the records of a capture come from: CUPTI or rocprofiler-sdk. The session starts, follows
// and ends it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace blockscope::inject {

struct SourceFailure {
  int error = 0;  // the library's own; 0 where it gave none
  std::string reason;
};

class RecordSource {
 public:
  // Finds the library, says in the shard which, and asks for its callbacks; nothing is recorded
  // yet. Where that fails the program runs on as if it had never been asked.
  virtual std::optional<SourceFailure> open() = 0;
  // Records of launches that begin from now on.
  virtual std::optional<SourceFailure> start() = 0;
  // Hands out the records that are complete.
  virtual void flush() = 0;
  // The end of the process is near: returns when the device has ended what was launched, or after
  // `mostNs`, as far as it can be told.
  virtual void awaitDevice(uint64_t mostNs) = 0;
  // Hands out all that there will ever be, unfinished ones too.
  virtual void flushAll() = 0;
  // The program runs on and is no longer watched.
  virtual void close() = 0;
  // Kernels that must have run, by what was seen when they were launched.
  virtual uint64_t expectedKernels() const = 0;
};

}  // namespace blockscope::inject
