#include "context.h"

#include <cstdio>
#include <cstdlib>
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
  const bool instance =
      libraries().nvmlInfo.found &&
      libraries().nvml.deviceGetHandleByUuid(("MIG-" + text).c_str(), &found) == 0;
  return (instance ? "MIG-" : "GPU-") + text;
}

// After these (illegal address, trap, launch failure and the like) a context stays broken for good.
bool breaksContext(int result) { return result >= driver::kIllegalAddress && result < 721; }

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

// ----------------------------------------------------------------------------------------------------------
// context

DeviceContext::DeviceContext(const DeviceFacts& facts) : facts_(facts) {
  driver::Device device = 0;
  int result = api().deviceGet(&device, facts.index);
  if (result == driver::kSuccess) result = api().primaryCtxRetain(&handle_, device);
  // Taken by another process, out of order or gone: this GPU cannot be used.
  if (result != driver::kSuccess && result != driver::kOutOfMemory && !breaksContext(result))
    throw Error(ErrorKind::kUnavailable, facts.name + " cannot be used: CUDA error " +
                                             describeResult(result) + ".");
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

// -----------------------------------------------------------------------------------------------------------
// memory

DeviceBuffer::DeviceBuffer(const DeviceContext& context, size_t bytes, const std::string& what)
    : context_(&context), bytes_(bytes) {
  if (bytes == 0) return;
  const int result = context.api().memAlloc(&address_, bytes);
  if (result == driver::kOutOfMemory) {
    address_ = 0;
    throw Error(ErrorKind::kDevice, "Not enough memory on " + context.facts().name + " for " +
                                        what + ": " + gibibytes(bytes) + " needed, " +
                                        gibibytes(context.freeBytes()) + " free.");
  }
  context.check(result, "Allocating " + what);
}

DeviceBuffer::~DeviceBuffer() {
  if (address_ && !context_->lost()) context_->api().memFree(address_);
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void DeviceBuffer::write(const void* from, size_t bytes, size_t offset) {
  if (bytes)
    context_->check(context_->api().memcpyHtoD(address_ + offset, from, bytes),
                    "Copying to the GPU");
}

void DeviceBuffer::read(void* to, size_t bytes, size_t offset) const {
  if (bytes)
    context_->check(context_->api().memcpyDtoH(to, address_ + offset, bytes),
                    "Copying from the GPU");
}

// -----------------------------------------------------------------------------------------------
// streams and events

Stream::Stream(const DeviceContext& context) : context_(context) {
  context.check(context.api().streamCreate(&handle_, driver::kStreamNonBlocking),
                "Creating a stream");
}

Stream::~Stream() {
  if (!context_.lost()) context_.api().streamDestroy(handle_);
}

void Stream::wait(const std::string& what, std::chrono::duration<double> limit) const {
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const int result = context_.api().streamQuery(handle_);
    if (result == driver::kSuccess) return;
    if (result != driver::kNotReady) context_.check(result, what);
    const auto waited = std::chrono::steady_clock::now() - start;
    if (waited > limit) {
      context_.markLost();
      throw Error(ErrorKind::kDevice, what + " did not end within " +
                                          std::to_string(static_cast<int>(limit.count())) +
                                          " s; the GPU was given up.");
    }
    if (waited > std::chrono::milliseconds(2))
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

Event::Event(const DeviceContext& context) : context_(context) {
  context.check(context.api().eventCreate(&handle_, 0), "Creating an event");
}

Event::~Event() {
  if (!context_.lost()) context_.api().eventDestroy(handle_);
}

void Event::record(const Stream& stream) const {
  context_.check(context_.api().eventRecord(handle_, stream.handle()), "Recording an event");
}

double Event::nanosecondsSince(const Event& start) const {
  float milliseconds = 0;
  context_.check(context_.api().eventElapsedTime(&milliseconds, start.handle_, handle_),
                 "Reading an event");
  return milliseconds * 1e6;
}

// ----------------------------------------------------------------------------------------------------------
// modules

Module::Module(const DeviceContext& context, const std::string& image, const std::string& what)
    : context_(context), what_(what) {
  context.check(context.api().moduleLoadData(&handle_, image.data()), "Loading " + what);
}

Module::~Module() {
  if (!context_.lost()) context_.api().moduleUnload(handle_);
}

driver::Handle Module::function(const std::string& name) const {
  driver::Handle function = nullptr;
  if (context_.api().moduleGetFunction(&function, handle_, name.c_str()) != driver::kSuccess)
    throw Error(ErrorKind::kUsage,
                what_ + " has no function \"" + name + "\"; declare it extern \"C\" __global__.");
  return function;
}

}  // namespace blockscope::cuda
