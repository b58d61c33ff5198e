// One AMD GPU in use: memory, a stream, events, modules. Nothing is freed once the device was lost.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "../core/backend.h"
#include "../core/owned.h"
#include "libraries.h"

namespace blockscope::hip {

struct DeviceFacts {
  int index = 0;
  std::string name, uuid, pciAddress;
  std::string architecture;  // "gfx950", without its features
  int computeUnits = 0, waveSize = 0;
  int64_t totalBytes = 0, ldsBytes = 0, l2Bytes = 0;
  int64_t clockKHz = 0, memoryClockKHz = 0, memoryBusBits = 0;
};

// Of the last cache before memory.
int64_t lastCacheBytes(const DeviceFacts&);

// Throws Error(kUnavailable) when the runtime does not answer for this GPU.
DeviceFacts readDeviceFacts(int index);

class Device {
 public:
  explicit Device(DeviceFacts facts) : facts_(std::move(facts)) {}

  const DeviceFacts& facts() const { return facts_; }
  const runtime::Api& api() const { return libraries().runtime; }
  // Makes it this thread's. Throws Error(kDevice) once it is lost.
  void enter() const;
  // Throws Error(kDevice) unless `result` is success. `doing` begins the sentence: "Kernel x".
  // After an error that breaks the device for this process it counts as lost.
  void check(int result, const std::string& doing) const;
  bool lost() const { return lost_; }
  void markLost() const { lost_ = true; }
  size_t freeBytes() const;

 private:
  DeviceFacts facts_;
  mutable std::atomic<bool> lost_{false};
};

using Owned = blockscope::Owned<void*, Device>;

class Buffer {
 public:
  Buffer() = default;
  // `what` names it when memory is short: "the operands". No bytes: no memory, a null address.
  Buffer(const Device&, size_t bytes, const std::string& what);

  uint8_t* address() const { return static_cast<uint8_t*>(memory_.get()); }
  size_t bytes() const { return bytes_; }
  void write(const Device&, const void* from, size_t bytes, size_t offset = 0) const;
  void read(const Device&, void* to, size_t bytes, size_t offset = 0) const;

 private:
  Owned memory_;
  size_t bytes_ = 0;
};

class Stream {
 public:
  explicit Stream(const Device&);
  runtime::Handle handle() const { return handle_.get(); }
  // Waits for all that was queued; work that takes longer than the watchdog's time loses the
  // device.
  void wait(const std::string& what) const;

 private:
  const Device& device_;
  Owned handle_;
};

class Event {
 public:
  explicit Event(const Device&);
  void record(const Stream&) const;
  // Waits until what was queued before it has ended, as Stream::wait.
  void wait(const std::string& what) const;
  double nanosecondsSince(const Event& start) const;

 private:
  const Device& device_;
  Owned handle_;
};

}  // namespace blockscope::hip
