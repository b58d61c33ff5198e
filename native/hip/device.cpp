#include "device.h"

#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "../cuda/context.h"

namespace blockscope::hip {

namespace {

bool breaksDevice(int result) {
  switch (result) {
    case runtime::kEccUncorrectable:
    case runtime::kIllegalAddress:
    case runtime::kLaunchTimeout:
    case runtime::kAssert:
    case runtime::kLaunchFailed:
      return true;
    default:
      return false;
  }
}

std::string gibibytes(size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

}  // namespace

// CDNA3 and CDNA4 have 256 MB of Infinity Cache behind their L2 (CDNA 3 and CDNA 4 architecture
// white papers).
int64_t lastCacheBytes(const DeviceFacts& facts) {
  const bool hasInfinityCache =
      facts.architecture.rfind("gfx94", 0) == 0 || facts.architecture.rfind("gfx95", 0) == 0;
  return hasInfinityCache ? int64_t{256} << 20 : facts.l2Bytes;
}

DeviceFacts readDeviceFacts(int index) {
  const auto& api = libraries().runtime;
  runtime::DeviceProperties properties = {};
  if (const int result = api.getDeviceProperties(&properties, index); result != 0)
    throw Error(ErrorKind::kUnavailable, "AMD GPU " + std::to_string(index) +
                                             " cannot be read: HIP error " +
                                             describeResult(result) + ".");
  DeviceFacts facts;
  facts.index = index;
  facts.name = properties.name();
  facts.uuid = "GPU-" + std::string(properties.uuid(), strnlen(properties.uuid(), 16));
  const std::string architecture = properties.architecture();
  facts.architecture = architecture.substr(0, architecture.find(':'));
  facts.computeUnits = properties.computeUnits(), facts.waveSize = properties.waveSize();
  facts.totalBytes = static_cast<int64_t>(properties.totalBytes());
  facts.ldsBytes = static_cast<int64_t>(properties.ldsBytesPerBlock());
  facts.l2Bytes = properties.l2Bytes(), facts.clockKHz = properties.clockKHz();
  facts.memoryClockKHz = properties.memoryClockKHz();
  facts.memoryBusBits = properties.memoryBusBits();
  char address[64] = {};
  if (api.deviceGetPciBusId(address, sizeof address, index) == 0) facts.pciAddress = address;
  return facts;
}

void Device::enter() const {
  if (lost_)
    throw Error(ErrorKind::kDevice,
                facts_.name + " was lost after an error and needs a new engine process.");
  check(api().setDevice(facts_.index), "Choosing " + facts_.name);
}

void Device::check(int result, const std::string& doing) const {
  if (result == runtime::kSuccess) return;
  const bool isLost = breaksDevice(result);
  if (isLost) markLost();
  std::string why;
  if (result == runtime::kNoBinaryForGpu || result == runtime::kInvalidImage)
    why = " The machine code is not for " + facts_.architecture + ".";
  throw Error(ErrorKind::kDevice,
              doing + " failed: HIP error " + describeResult(result) + "." + why);
}

size_t Device::freeBytes() const {
  size_t free = 0, total = 0;
  check(api().memGetInfo(&free, &total), "Asking for free memory");
  return free;
}

Buffer::Buffer(const Device& device, size_t bytes, const std::string& what)
    : memory_(device, device.api().free), bytes_(bytes) {
  if (bytes == 0) return;
  const int result = memory_.make([&](void** made) { return device.api().malloc(made, bytes); });
  if (result == runtime::kOutOfMemory)
    throw Error(ErrorKind::kDevice, "Not enough memory on " + device.facts().name + " for " + what +
                                        ": " + gibibytes(bytes) + " are needed, " +
                                        gibibytes(device.freeBytes()) +
                                        " are free. Choose a smaller shape.");
  device.check(result, "Allocating " + what);
}

void Buffer::write(const Device& device, const void* from, size_t bytes, size_t offset) const {
  if (bytes > 0)
    device.check(device.api().memcpy(address() + offset, from, bytes, runtime::kHostToDevice),
                 "Copying to the device");
}

void Buffer::read(const Device& device, void* to, size_t bytes, size_t offset) const {
  if (bytes > 0)
    device.check(device.api().memcpy(to, address() + offset, bytes, runtime::kDeviceToHost),
                 "Copying from the device");
}

namespace {

// Asks `query` until it says that the work has ended.
void waitFor(const Device& device, const std::string& what, const std::function<int()>& query) {
  const auto limit = cuda::watchdog();
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    const int result = query();
    if (result != runtime::kNotReady) return device.check(result, what);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (taken > limit) {
      device.markLost();
      throw Error(ErrorKind::kDevice, what + " did not end within " +
                                          std::to_string(static_cast<int>(limit.count())) +
                                          " s; the GPU is given up.");
    }
    if (taken > std::chrono::milliseconds(2))
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace

Stream::Stream(const Device& device)
    : device_(device), handle_(device, device.api().streamDestroy) {
  device.check(handle_.make([&](void** made) {
    return device.api().streamCreate(made, runtime::kStreamNonBlocking);
  }),
               "Creating a stream");
}

void Stream::wait(const std::string& what) const {
  waitFor(device_, what, [this] { return device_.api().streamQuery(handle()); });
}

Event::Event(const Device& device) : device_(device), handle_(device, device.api().eventDestroy) {
  device.check(handle_.make([&](void** made) { return device.api().eventCreate(made); }),
               "Creating an event");
}

void Event::record(const Stream& stream) const {
  device_.check(device_.api().eventRecord(handle_.get(), stream.handle()), "Recording an event");
}

void Event::wait(const std::string& what) const {
  waitFor(device_, what, [this] { return device_.api().eventQuery(handle_.get()); });
}

double Event::nanosecondsSince(const Event& start) const {
  float milliseconds = 0;
  device_.check(device_.api().eventElapsedTime(&milliseconds, start.handle_.get(), handle_.get()),
                "Reading events");
  return milliseconds * 1e6;
}

}  // namespace blockscope::hip
