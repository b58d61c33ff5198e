#include "context.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>

namespace blockscope::cuda {

namespace {

std::string uuidText(const driver::Uuid& uuid) {
  std::string text;
  for (int i = 0; i < 16; i++) {
    char part[4];
    std::snprintf(part, sizeof part, "%02x", uuid.bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += part;
  }
  // The driver gives a MIG instance's own identity without saying that it is one; NVML knows it
  // by the prefix.
  nvml::Device found = nullptr;
  const bool instance = libraries().nvmlInfo.found && libraries().nvml.deviceGetHandleByUuid(
                                                          ("MIG-" + text).c_str(), &found) == 0;
  return (instance ? "MIG-" : "GPU-") + text;
}

bool breaksContext(int result) {
  switch (result) {
    case driver::kEccUncorrectable:
    case driver::kNvlinkUncorrectable:
    case driver::kContained:
    case driver::kIllegalAddress:
    case driver::kLaunchTimeout:
    case driver::kContextIsDestroyed:
    case driver::kAssert:
    case driver::kHardwareStackError:
    case driver::kIllegalInstruction:
    case driver::kMisalignedAddress:
    case driver::kInvalidAddressSpace:
    case driver::kInvalidPc:
    case driver::kLaunchFailed:
    case driver::kTensorMemoryLeak:
    case driver::kExternalDevice:
      return true;
    default:
      return false;
  }
}

std::string gibibytes(size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GiB", bytes / 1073741824.0);
  return text;
}

}  // namespace

std::chrono::duration<double> watchdog() {
  const char* seconds = std::getenv("BLOCKSCOPE_WATCHDOG_SECONDS");
  const double value = seconds ? std::atof(seconds) : 0;
  return std::chrono::duration<double>(value > 0 ? value : 30);
}

DeviceFacts readDeviceFacts(int index) {
  const auto& api = libraries().driver;
  auto need = [&](int result) {
    if (result != driver::kSuccess)
      throw Error(ErrorKind::kUnavailable, "GPU " + std::to_string(index) +
                                               " cannot be read: CUDA error " +
                                               describeResult(result) + ".");
  };
  driver::Device device = 0;
  need(api.deviceGet(&device, index));
  auto attribute = [&](int id) {
    int value = 0;
    return api.deviceGetAttribute(&value, id, device) == driver::kSuccess ? value : 0;
  };
  DeviceFacts facts;
  facts.index = index;
  char name[256] = {};
  need(api.deviceGetName(name, sizeof name, device));
  facts.name = name;
  driver::Uuid uuid{};
  if (api.deviceGetUuid(&uuid, device) == driver::kSuccess) facts.uuid = uuidText(uuid);
  facts.major = attribute(driver::kComputeCapabilityMajor);
  facts.minor = attribute(driver::kComputeCapabilityMinor);
  facts.multiprocessors = attribute(driver::kMultiprocessorCount);
  facts.l2Bytes = attribute(driver::kL2CacheBytes);
  facts.maxSharedBytes = attribute(driver::kMaxSharedMemoryPerBlockOptin);
  facts.clockKHz = attribute(driver::kClockRateKHz);
  facts.memoryClockKHz = attribute(driver::kMemoryClockRateKHz);
  facts.memoryBusBits = attribute(driver::kMemoryBusWidth);
  facts.ecc = attribute(driver::kEccEnabled) != 0;
  size_t total = 0;
  if (api.deviceTotalMem(&total, device) == driver::kSuccess)
    facts.totalBytes = static_cast<int64_t>(total);
  return facts;
}

// ----------------------------------------------------------------------------------------- context

DeviceContext::DeviceContext(const DeviceFacts& facts) : facts_(facts) {
  driver::Device device = 0;
  int result = api().deviceGet(&device, facts.index);
  if (result == driver::kSuccess) result = api().primaryCtxRetain(&handle_, device);
  // Taken by another process, out of order or gone: this GPU cannot be used.
  const bool wreck = result == driver::kEccUncorrectable || !breaksContext(result);
  if (result != driver::kSuccess && result != driver::kOutOfMemory && wreck)
    throw Error(ErrorKind::kUnavailable,
                facts.name + " cannot be used: CUDA error " + describeResult(result) + ".");
  check(result, "Opening " + facts.name);
}

DeviceContext::~DeviceContext() {
  driver::Device device = 0;
  if (!lost_ && handle_ && api().deviceGet(&device, facts_.index) == driver::kSuccess)
    api().primaryCtxRelease(device);
}

void DeviceContext::enter() const {
  if (lost_)
    throw Error(ErrorKind::kDevice,
                facts_.name + " was lost by an earlier error of this process; restart the engine.");
  check(api().ctxSetCurrent(handle_), "Using " + facts_.name);
}

void DeviceContext::check(int result, const std::string& doing) const {
  if (result == driver::kSuccess) return;
  if (breaksContext(result)) lost_ = true;
  if (result == driver::kIllegalAddress)
    throw Error(ErrorKind::kDevice, doing + " read or wrote outside its memory: CUDA error " +
                                        describeResult(result) + ".");
  cuda::check(result, doing);
}

size_t DeviceContext::freeBytes() const {
  size_t free = 0, total = 0;
  check(api().memGetInfo(&free, &total), "Asking for free memory");
  return free;
}

// ------------------------------------------------------------------------------------------ memory

DeviceBuffer::DeviceBuffer(const DeviceContext& context, size_t bytes, const std::string& what)
    : address_(context, context.api().memFree), bytes_(bytes) {
  if (bytes == 0) return;
  const int result = address_.make([&](auto* to) { return context.api().memAlloc(to, bytes); });
  if (result == driver::kOutOfMemory) {
    throw Error(ErrorKind::kDevice, "Not enough memory on " + context.facts().name + " for " +
                                        what + ": " + gibibytes(bytes) + " needed, " +
                                        gibibytes(context.freeBytes()) + " free.");
  }
  context.check(result, "Allocating " + what);
}

void DeviceBuffer::write(const void* from, size_t bytes, size_t offset) {
  if (bytes == 0) return;
  const DeviceContext& context = address_.owner();
  context.check(context.api().memcpyHtoD(address() + offset, from, bytes), "Copying to the GPU");
  // From pageable memory that copy may still be on its way, in the default stream, for which the
  // streams of this program do not wait.
  context.check(context.api().streamSynchronize(nullptr), "Copying to the GPU");
}

void DeviceBuffer::read(void* to, size_t bytes, size_t offset) const {
  if (bytes == 0) return;
  const DeviceContext& context = address_.owner();
  context.check(context.api().memcpyDtoH(to, address() + offset, bytes), "Copying from the GPU");
}

// ------------------------------------------------------------------------------ streams and events

namespace {

// Asks `query` until it says that the work has ended.
void waitFor(const DeviceContext& context, const std::string& what,
             std::chrono::duration<double> limit, const std::function<int()>& query) {
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const int result = query();
    if (result == driver::kSuccess) return;
    if (result != driver::kNotReady) context.check(result, what);
    const auto waited = std::chrono::steady_clock::now() - start;
    if (waited > limit) {
      context.markLost();
      throw Error(ErrorKind::kDevice, what + " did not end within " +
                                          std::to_string(static_cast<int>(limit.count())) +
                                          " s; the GPU was given up.");
    }
    if (waited > std::chrono::milliseconds(2))
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace

Stream::Stream(const DeviceContext& context)
    : context_(context), handle_(context, context.api().streamDestroy) {
  context.check(handle_.make([&](auto* to) {
    return context.api().streamCreate(to, driver::kStreamNonBlocking);
  }),
                "Creating a stream");
}

void Stream::wait(const std::string& what, std::chrono::duration<double> limit) const {
  waitFor(context_, what, limit, [this] { return context_.api().streamQuery(handle()); });
}

Event::Event(const DeviceContext& context)
    : context_(context), handle_(context, context.api().eventDestroy) {
  context.check(handle_.make([&](auto* to) { return context.api().eventCreate(to, 0); }),
                "Creating an event");
}

void Event::record(const Stream& stream) const {
  context_.check(context_.api().eventRecord(handle_.get(), stream.handle()), "Recording an event");
}

void Event::wait(const std::string& what, std::chrono::duration<double> limit) const {
  waitFor(context_, what, limit, [this] { return context_.api().eventQuery(handle_.get()); });
}

double Event::nanosecondsSince(const Event& start) const {
  float milliseconds = 0;
  context_.check(context_.api().eventElapsedTime(&milliseconds, start.handle_.get(), handle_.get()),
                 "Reading an event");
  return milliseconds * 1e6;
}

// ----------------------------------------------------------------------------------------- modules

Module::Module(const DeviceContext& context, const std::string& image, const std::string& what)
    : context_(context), what_(what), handle_(context, context.api().moduleUnload) {
  context.check(
      handle_.make([&](auto* to) { return context.api().moduleLoadData(to, image.data()); }),
      "Loading " + what);
}

driver::Handle Module::function(const std::string& name) const {
  driver::Handle function = nullptr;
  if (context_.api().moduleGetFunction(&function, handle_.get(), name.c_str()) != driver::kSuccess)
    throw Error(ErrorKind::kUsage,
                what_ + " has no function \"" + name + "\"; declare it extern \"C\" __global__.");
  return function;
}

}  // namespace blockscope::cuda
