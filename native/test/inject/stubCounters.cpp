// The range profiler of the stand-in of CUPTI: counts the kernels that run between start and stop.
// STUB_COUNTERS: what enabling it answers (35: not permitted). STUB_COUNTERS_WITHOUT: the beginning
// of metrics that the chip has not. A metric's value is its place, counted from 1, times the ns
// that the kernel takes; several kernels in one range are not told apart: NaN.
#include <cstdlib>
#include <cstring>
#include <limits>

#include "../../inject/cuptiCounters.h"
#include "stubCupti.h"

namespace abi = blockscope::inject::cupti;

namespace {

constexpr uint8_t kConfig = 0x43;
int started = 0, kernels = 0;
uint64_t durationNs = 0;
uint8_t* data = nullptr;

// Every struct is to be as long as the header's.
template <typename Parameters>
bool isWrong(const Parameters* parameters) {
  return parameters->size != Parameters::sizeOf() || parameters->reserved != nullptr;
}
constexpr int kInvalidParameter = 1;

int enabled() {
  const char* error = std::getenv("STUB_COUNTERS");
  return error ? std::atoi(error) : 0;
}

}  // namespace

// Whether the work is measured.
bool stubCountersRan(const StubWork& work) {
  if (!started || work.name == nullptr) return false;
  kernels++;
  durationNs = work.durationNs;
  return true;
}

extern "C" {

int cuptiProfilerInitialize(abi::ProfilerInitialize* p) {
  return isWrong(p) ? kInvalidParameter : 0;
}
int cuptiDeviceGetChipName(abi::ChipName* p) {
  p->name = "GH100";
  return isWrong(p) ? kInvalidParameter : 0;
}
int cuptiProfilerGetCounterAvailability(abi::Availability* p) {
  if (isWrong(p) || p->context == nullptr) return kInvalidParameter;
  p->bytes = 8;
  return 0;
}
int cuptiProfilerHostInitialize(abi::HostInitialize* p) {
  if (isWrong(p) || p->availability == nullptr || std::strcmp(p->chip, "GH100") != 0)
    return kInvalidParameter;
  p->host = &started;
  return 0;
}
int cuptiProfilerHostDeinitialize(abi::HostDeinitialize* p) {
  return isWrong(p) ? kInvalidParameter : 0;
}
int cuptiProfilerHostConfigAddMetrics(abi::AddMetrics* p) {
  if (isWrong(p) || p->host != &started) return kInvalidParameter;
  const char* without = std::getenv("STUB_COUNTERS_WITHOUT");
  for (size_t i = 0; i < p->count; i++)
    if (without && std::strncmp(p->names[i], without, std::strlen(without)) == 0)
      return kInvalidParameter;
  return 0;
}
int cuptiProfilerHostGetConfigImageSize(abi::ConfigSize* p) {
  p->bytes = 16;
  return isWrong(p) ? kInvalidParameter : 0;
}
int cuptiProfilerHostGetConfigImage(abi::ConfigImage* p) {
  if (isWrong(p) || p->bytes != 16) return kInvalidParameter;
  std::memset(p->image, kConfig, p->bytes);
  return 0;
}
int cuptiProfilerHostGetNumOfPasses(abi::Passes* p) {
  p->passes = 3;
  return isWrong(p) ? kInvalidParameter : 0;
}
int cuptiRangeProfilerEnable(abi::RangeEnable* p) {
  p->profiler = &kernels;
  return isWrong(p) || p->context == nullptr ? kInvalidParameter : enabled();
}
int cuptiRangeProfilerDisable(abi::RangeStart* p) { return isWrong(p) ? kInvalidParameter : 0; }
int cuptiRangeProfilerGetCounterDataSize(abi::RangeDataSize* p) {
  p->bytes = 32;
  return isWrong(p) || p->mostNodes < p->mostRanges ? kInvalidParameter : 0;
}
int cuptiRangeProfilerCounterDataImageInitialize(abi::RangeDataInitialize* p) {
  if (isWrong(p) || p->bytes != 32) return kInvalidParameter;
  std::memset(p->data, 0, p->bytes);
  return 0;
}
int cuptiRangeProfilerSetConfig(abi::RangeConfig* p) {
  const bool isBad = isWrong(p) || p->config[0] != kConfig || p->range != abi::kAutoRange ||
                     p->replay != abi::kKernelReplay || p->profiler != &kernels;
  data = p->data;
  return isBad ? kInvalidParameter : 0;
}
int cuptiRangeProfilerStart(abi::RangeStart* p) {
  if (isWrong(p) || started) return kInvalidParameter;
  started = 1;
  kernels = 0;
  return 0;
}
int cuptiRangeProfilerStop(abi::RangeStop* p) {
  if (isWrong(p) || !started) return kInvalidParameter;
  started = 0;
  p->isAllSubmitted = 1;
  return 0;
}
int cuptiRangeProfilerDecodeData(abi::RangeDecode* p) {
  if (isWrong(p) || data == nullptr) return kInvalidParameter;
  std::memcpy(data, &durationNs, sizeof durationNs);
  return 0;
}
int cuptiRangeProfilerGetCounterDataInfo(abi::RangeDataInfo* p) {
  p->ranges = kernels > 0;
  return isWrong(p) ? kInvalidParameter : 0;
}
int cuptiProfilerHostEvaluateToGpuValues(abi::Evaluate* p) {
  if (isWrong(p) || p->host != &started || p->range != 0) return kInvalidParameter;
  uint64_t ns = 0;
  std::memcpy(&ns, p->data, sizeof ns);
  for (size_t i = 0; i < p->count; i++)
    p->values[i] = kernels == 1 ? static_cast<double>(i + 1) * static_cast<double>(ns)
                                : std::numeric_limits<double>::quiet_NaN();
  return 0;
}
}
