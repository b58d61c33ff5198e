// One GPU in use: its primary context, memory, streams, events and modules. Everything here frees
// what it holds, except after the device was lost: then the driver would block or fail, and the
// process is to be ended anyway.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../core/backend.h"
#include "../core/owned.h"
#include "libraries.h"

namespace blockscope::cuda {

// How long a single operation may run before it counts as hung: BLOCKSCOPE_WATCHDOG_SECONDS, else
// 30 s.
std::chrono::duration<double> watchdog();

struct DeviceFacts {
  int index = 0;
  std::string name, uuid;  // "GPU-xxxxxxxx-...", of a MIG instance "MIG-..."
  int major = 0, minor = 0, multiprocessors = 0;
  int64_t l2Bytes = 0, totalBytes = 0, maxSharedBytes = 0;
  int64_t clockKHz = 0, memoryClockKHz = 0, memoryBusBits = 0;
  bool ecc = false;

  // Two transfers a clock of the memory.
  int64_t memoryGBs() const { return memoryClockKHz * 2 * (memoryBusBits / 8) / 1'000'000; }
};

// Throws Error(kUnavailable) when the driver does not answer for this GPU.
DeviceFacts readDeviceFacts(int index);

class DeviceContext {
 public:
  // Throws Error(kUnavailable) when the GPU is taken, out of order or gone.
  explicit DeviceContext(const DeviceFacts&);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;

  const DeviceFacts& facts() const { return facts_; }
  const driver::Api& api() const { return libraries().driver; }
  // Makes the context current on this thread. Throws Error(kDevice) once the device is lost.
  void enter() const;
  // Throws Error(kDevice) unless `result` is success. `doing` begins the sentence: "Kernel mma".
  // After an error that breaks the context the device counts as lost.
  void check(int result, const std::string& doing) const;
  bool lost() const { return lost_; }
  void markLost() const { lost_ = true; }
  size_t freeBytes() const;

 private:
  DeviceFacts facts_;
  driver::Handle handle_ = nullptr;
  // Found out by whichever thread checks a result; the context is shared by all of them.
  mutable std::atomic<bool> lost_{false};
};

template <typename T>
using Owned = blockscope::Owned<T, DeviceContext>;

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  // `what` names it in the error when memory is short: "the operands".
  DeviceBuffer(const DeviceContext&, size_t bytes, const std::string& what);

  driver::DevicePointer address() const { return address_.get(); }
  size_t bytes() const { return bytes_; }
  // Whatever stream reads it afterwards finds what was written.
  void write(const void* from, size_t bytes, size_t offset = 0);
  void read(void* to, size_t bytes, size_t offset = 0) const;

 private:
  Owned<driver::DevicePointer> address_;
  size_t bytes_ = 0;
};

class Stream {
 public:
  explicit Stream(const DeviceContext&);
  driver::Handle handle() const { return handle_.get(); }
  // Waits for all that was queued. Work on a GPU cannot be stopped: when it takes longer than
  // `limit`, the device counts as lost and Error(kDevice) names `what`.
  void wait(const std::string& what, std::chrono::duration<double> limit = watchdog()) const;

 private:
  const DeviceContext& context_;
  Owned<driver::Handle> handle_;
};

class Event {
 public:
  explicit Event(const DeviceContext&);
  void record(const Stream&) const;
  // Waits until what was queued before it has ended, as Stream::wait.
  void wait(const std::string& what, std::chrono::duration<double> limit = watchdog()) const;
  // Nanoseconds from `start` to this; both must have happened.
  double nanosecondsSince(const Event& start) const;

 private:
  const DeviceContext& context_;
  Owned<driver::Handle> handle_;
};

class Module {
 public:
  Module(const DeviceContext&, const std::string& image, const std::string& what);
  // Throws Error(kUsage) when the module has no such function.
  driver::Handle function(const std::string& name) const;

 private:
  const DeviceContext& context_;
  std::string what_;
  Owned<driver::Handle> handle_;
};

}  // namespace blockscope::cuda
