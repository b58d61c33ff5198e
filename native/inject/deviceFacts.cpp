#include "deviceFacts.h"

#include <dlfcn.h>

#include <vector>

#include "../cuda/api/driver.h"
#include "json.h"
#include "session.h"

namespace blockscope::inject {

namespace {

namespace driver = cuda::driver;

// The driver that called this library in: never a second one.
template <typename Function>
Function driverFunction(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void* found = library == nullptr ? nullptr : dlsym(library, name);
  return reinterpret_cast<Function>(found);
}

}  // namespace

std::string deviceFacts(uint32_t number) {
  JsonLine line;
  line.number("device", number);
  const auto get = driverFunction<int (*)(driver::Device*, int)>("cuDeviceGet");
  const auto name = driverFunction<int (*)(char*, int, driver::Device)>("cuDeviceGetName");
  const auto uuid = driverFunction<int (*)(driver::Uuid*, driver::Device)>("cuDeviceGetUuid_v2");
  const auto attribute = driverFunction<int (*)(int*, int, driver::Device)>("cuDeviceGetAttribute");
  driver::Device device = 0;
  if (get == nullptr || attribute == nullptr || get(&device, static_cast<int>(number)) != 0)
    return line.take();
  char text[256] = "";
  if (name != nullptr && name(text, sizeof text, device) == 0) line.text("name", text);
  driver::Uuid id{};
  if (uuid != nullptr && uuid(&id, device) == 0) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string digits;
    for (const unsigned char byte : id.bytes) {
      digits += kDigits[byte >> 4];
      digits += kDigits[byte & 15];
    }
    line.text("uuid", digits);
  }
  const auto put = [&](const char* key, int which) {
    int value = 0;
    if (attribute(&value, which, device) == 0) line.number(key, value);
  };
  put("major", driver::kComputeCapabilityMajor);
  put("minor", driver::kComputeCapabilityMinor);
  put("multiprocessors", driver::kMultiprocessorCount);
  put("clockRateKHz", driver::kClockRateKHz);
  put("memoryClockRateKHz", driver::kMemoryClockRateKHz);
  put("busWidthBits", driver::kMemoryBusWidth);
  return line.take();
}

void synchroniseContexts() {
  const auto push = driverFunction<int (*)(void*)>("cuCtxPushCurrent_v2");
  const auto pop = driverFunction<int (*)(void**)>("cuCtxPopCurrent_v2");
  const auto synchronise = driverFunction<int (*)()>("cuCtxSynchronize");
  if (push == nullptr || pop == nullptr || synchronise == nullptr) return;
  std::vector<void*> contexts;
  {
    Session& mine = session();
    const std::lock_guard guard(mine.lock);
    contexts = mine.contexts;
  }
  for (void* context : contexts) {
    if (push(context) != 0) continue;
    synchronise();
    pop(&context);
  }
}

uint32_t currentDevice() {
  const auto get = driverFunction<int (*)(driver::Device*)>("cuCtxGetDevice");
  driver::Device device = 0;
  return get != nullptr && get(&device) == 0 ? static_cast<uint32_t>(device) : 0;
}

bool isCapturing(void* stream) {
  const auto ask = driverFunction<int (*)(void*, int*)>("cuStreamIsCapturing");
  int status = 0;  // CU_STREAM_CAPTURE_STATUS_NONE
  return ask == nullptr || ask(stream, &status) != 0 || status != 0;
}

int driverVersion() {
  const auto version = driverFunction<int (*)(int*)>("cuDriverGetVersion");
  int value = 0;
  return version != nullptr && version(&value) == 0 ? value : 0;
}

}  // namespace blockscope::inject
