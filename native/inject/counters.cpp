#include "counters.h"

#include <dlfcn.h>

#include <string_view>

#include "deviceFacts.h"
#include "json.h"
#include "session.h"

namespace blockscope::inject {

namespace {

template <typename Parameters>
Parameters sized() {
  Parameters parameters{};
  parameters.size = Parameters::sizeOf();
  return parameters;
}

// What CUPTI launches itself, to run a kernel once more, comes within the call that is measured.
thread_local int callsDeep = 0;

// Why counters are refused, and what makes them work.
std::string reasonOf(int error, const char* what, const char* name) {
  switch (error) {
    case cupti::kErrorPrivileges:
    case cupti::kErrorVirtualPrivileges:
      return "the driver gives counters to administrators alone (ERR_NVGPUCTRPERM): run it as root "
             "or with CAP_SYS_ADMIN (in a container: --cap-add=SYS_ADMIN), or put `options nvidia "
             "NVreg_RestrictProfilingToAdminUsers=0` into /etc/modprobe.d/nvidia.conf of the host "
             "and load the driver anew" +
             std::string(error == cupti::kErrorVirtualPrivileges
                             ? "; a virtual GPU needs enable_profiling of its host too."
                             : ".");
    case cupti::kErrorHardwareBusy:
    case cupti::kErrorMultipleSubscribers:
      return "another profiler holds the GPU's counters: end ncu, nsys --gpu-metrics, DCGM's "
             "profiling (dcgmi profiling --pause) or the other capture.";
    case cupti::kErrorConfidential:
      return "confidential computing keeps the GPU's counters from everyone.";
    case cupti::kErrorMig:
      return "this CUPTI measures no counters on a MIG instance.";
    case cupti::kErrorWsl:
      return "this CUPTI measures no counters under WSL.";
    case cupti::kErrorVirtualized:
      return "this virtual GPU has no counters.";
    default:
      return std::string(what) + " answers " + (name ? name : "an error") + " (" +
             std::to_string(error) + ").";
  }
}

struct LaunchParameters {  // cuLaunchKernel_params and cuLaunchCooperativeKernel_params
  void* function;
  unsigned extents[7];
  void* stream;
};
struct LaunchConfig {  // CUlaunchConfig
  unsigned extents[7];
  void* stream;
};
struct LaunchExParameters {  // cuLaunchKernelEx_params
  const LaunchConfig* config;
};

// Whether the call is of a kind whose stream is known, and that stream.
bool streamOf(const cupti::CallbackData& call, void*& stream) {
  const std::string_view name(call.functionName == nullptr ? "" : call.functionName);
  if (call.functionParams == nullptr) return false;
  if (name.starts_with("cuLaunchKernelEx")) {
    stream = static_cast<const LaunchExParameters*>(call.functionParams)->config->stream;
    return true;
  }
  if (name != "cuLaunchKernel" && name != "cuLaunchKernel_ptsz" &&
      name != "cuLaunchCooperativeKernel" && name != "cuLaunchCooperativeKernel_ptsz")
    return false;
  stream = static_cast<const LaunchParameters*>(call.functionParams)->stream;
  return true;
}

// A launch that --kernels leaves out is not to be held up either.
bool isAskedFor(Session& mine, const char* kernel) {
  const std::lock_guard guard(mine.lock);
  return mine.keeps(mine.names.kernelName(kernel));
}

}  // namespace

void KernelCounters::ask(const std::string& metrics) {
  for (size_t at = 0; at < metrics.size();) {
    const size_t end = std::min(metrics.find(',', at), metrics.size());
    if (end > at) metrics_.push_back(metrics.substr(at, end - at));
    at = end + 1;
  }
}

void KernelCounters::say(Session& mine, const std::string& reason) {
  const std::lock_guard guard(mine.lock);
  mine.shard.text(JsonLine().text("noCounters", reason).take());
}

bool KernelCounters::refuse(Session& mine, const char* what, int error) {
  const char* name = nullptr;
  mine.cupti.getResultString(error, &name);
  isRefused_ = true;
  say(mine, reasonOf(error, what, name));
  return false;
}

bool KernelCounters::configure(Session& mine, Profiler& made, const char* chip,
                               const uint8_t* availability) {
  auto host = sized<cupti::HostInitialize>();
  host.type = cupti::kRangeProfiler;
  host.chip = chip;
  host.availability = availability;
  if (const int error = api_.hostInitialize(&host))
    return refuse(mine, "the host side of CUPTI's profiler (libnvperf_host.so)", error);
  made.host = host.host;
  std::vector<std::string> missing;
  for (const std::string& metric : metrics_) {
    const char* name = metric.c_str();
    auto add = sized<cupti::AddMetrics>();
    add.host = made.host;
    add.names = &name;
    add.count = 1;
    if (api_.addMetrics(&add) == cupti::kSuccess) made.names.push_back(name);
    else missing.push_back(metric);
  }
  if (!missing.empty()) {
    const std::lock_guard guard(mine.lock);
    mine.shard.text(JsonLine().texts("missingMetrics", missing).text("chip", chip).take());
  }
  if (made.names.empty()) {
    isRefused_ = true;
    say(mine, std::string(chip) + " has none of the metrics.");
    return false;
  }
  auto size = sized<cupti::ConfigSize>();
  size.host = made.host;
  if (const int error = api_.configSize(&size))
    return refuse(mine, "cuptiProfilerHostGetConfigImageSize", error);
  made.config.resize(size.bytes);
  auto image = sized<cupti::ConfigImage>();
  image.host = made.host;
  image.bytes = made.config.size();
  image.image = made.config.data();
  if (const int error = api_.configImage(&image))
    return refuse(mine, "cuptiProfilerHostGetConfigImage", error);
  auto passes = sized<cupti::Passes>();
  passes.bytes = made.config.size();
  passes.image = made.config.data();
  if (const int error = api_.passes(&passes))
    return refuse(mine, "cuptiProfilerHostGetNumOfPasses", error);
  made.set = sets_++;
  const std::lock_guard guard(mine.lock);
  mine.shard.text(JsonLine()
                      .number("metrics", made.set)
                      .texts("names", made.names)
                      .text("chip", chip)
                      .number("passes", static_cast<int64_t>(passes.passes))
                      .take());
  return true;
}

bool KernelCounters::open(Session& mine, void* context, Profiler& made) {
  if (!isResolved_) {
    // The CUPTI that is used already: a second copy could not share the GPU with it.
    Dl_info info;
    void* library = dladdr(reinterpret_cast<void*>(mine.cupti.getVersion), &info) != 0
                        ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                        : nullptr;
#define BLOCKSCOPE_RESOLVE(member, symbol, Parameters)                                       \
  api_.member = library == nullptr                                                           \
                    ? nullptr                                                                \
                    : reinterpret_cast<int (*)(cupti::Parameters*)>(dlsym(library, symbol)); \
  if (api_.member == nullptr) {                                                              \
    isRefused_ = true;                                                                       \
    say(mine, "this CUPTI has no function " symbol                                           \
              ": counters need that of CUDA 12.6 or "                                        \
              "later.");                                                                     \
    return false;                                                                            \
  }
    BLOCKSCOPE_INJECT_COUNTERS(BLOCKSCOPE_RESOLVE)
#undef BLOCKSCOPE_RESOLVE
    auto initialize = sized<cupti::ProfilerInitialize>();
    if (const int error = api_.initialize(&initialize))
      return refuse(mine, "cuptiProfilerInitialize", error);
    isResolved_ = true;
  }
  auto chip = sized<cupti::ChipName>();
  chip.device = currentDevice();
  if (const int error = api_.chipName(&chip)) return refuse(mine, "cuptiDeviceGetChipName", error);
  auto available = sized<cupti::Availability>();
  available.context = context;
  if (const int error = api_.availability(&available))
    return refuse(mine, "cuptiProfilerGetCounterAvailability", error);
  std::vector<uint8_t> image(available.bytes);
  available.image = image.data();
  if (const int error = api_.availability(&available))
    return refuse(mine, "cuptiProfilerGetCounterAvailability", error);
  if (!configure(mine, made, chip.name, image.data())) return false;
  auto enable = sized<cupti::RangeEnable>();
  enable.context = context;
  if (const int error = api_.enable(&enable))
    return refuse(mine, "cuptiRangeProfilerEnable", error);
  made.profiler = enable.profiler;
  auto size = sized<cupti::RangeDataSize>();
  size.profiler = made.profiler;
  size.names = made.names.data();
  size.count = made.names.size();
  size.mostRanges = 1;
  size.mostNodes = 1;
  if (const int error = api_.dataSize(&size))
    return refuse(mine, "cuptiRangeProfilerGetCounterDataSize", error);
  made.data.resize(size.bytes);
  return true;
}

KernelCounters::Profiler* KernelCounters::profilerOf(Session& mine, void* context) {
  const auto found = profilers_.find(context);
  if (found != profilers_.end()) return &found->second;
  Profiler& made = profilers_[context];
  return open(mine, context, made) ? &made : nullptr;
}

bool KernelCounters::start(Session& mine, Profiler& profiler) {
  auto data = sized<cupti::RangeDataInitialize>();
  data.profiler = profiler.profiler;
  data.bytes = profiler.data.size();
  data.data = profiler.data.data();
  if (const int error = api_.dataInitialize(&data))
    return refuse(mine, "cuptiRangeProfilerCounterDataImageInitialize", error);
  auto config = sized<cupti::RangeConfig>();
  config.profiler = profiler.profiler;
  config.configBytes = profiler.config.size();
  config.config = profiler.config.data();
  config.dataBytes = profiler.data.size();
  config.data = profiler.data.data();
  config.range = cupti::kAutoRange;
  config.replay = cupti::kKernelReplay;
  config.mostRanges = 1;
  config.levels = 1;
  config.minLevel = 1;
  if (const int error = api_.setConfig(&config))
    return refuse(mine, "cuptiRangeProfilerSetConfig", error);
  auto start = sized<cupti::RangeStart>();
  start.profiler = profiler.profiler;
  if (const int error = api_.start(&start)) return refuse(mine, "cuptiRangeProfilerStart", error);
  return true;
}

void KernelCounters::begin(Session& mine, const cupti::CallbackData& call) {
  if (callsDeep++ > 0) return;
  launching_.lock();
  void* stream = nullptr;
  if (isRefused_ || call.symbolName == nullptr || !streamOf(call, stream) || isCapturing(stream))
    return;
  if (measured_.contains(call.symbolName) || !isAskedFor(mine, call.symbolName)) return;
  measured_.insert(call.symbolName);
  Profiler* const profiler = profilerOf(mine, call.context);
  if (profiler != nullptr && start(mine, *profiler)) measuring_ = profiler;
}

void KernelCounters::end(Session& mine, const cupti::CallbackData& call, bool hasFailed) {
  if (--callsDeep > 0) return;
  const std::lock_guard guard(launching_, std::adopt_lock);
  Profiler* const profiler = measuring_;
  if (profiler == nullptr) return;
  measuring_ = nullptr;
  auto stop = sized<cupti::RangeStop>();
  stop.profiler = profiler->profiler;
  if (const int error = api_.stop(&stop)) {
    refuse(mine, "cuptiRangeProfilerStop", error);
    return;
  }
  // Nothing ran: its next launch is the first.
  if (hasFailed) measured_.erase(call.symbolName);
  else read(mine, *profiler, call);
}

void KernelCounters::read(Session& mine, Profiler& profiler, const cupti::CallbackData& call) {
  auto decode = sized<cupti::RangeDecode>();
  decode.profiler = profiler.profiler;
  if (const int error = api_.decode(&decode)) {
    refuse(mine, "cuptiRangeProfilerDecodeData", error);
    return;
  }
  auto found = sized<cupti::RangeDataInfo>();
  found.data = profiler.data.data();
  found.bytes = profiler.data.size();
  if (api_.dataInfo(&found) != cupti::kSuccess || found.ranges == 0) return;
  std::vector<double> values(profiler.names.size());
  auto evaluate = sized<cupti::Evaluate>();
  evaluate.host = profiler.host;
  evaluate.data = profiler.data.data();
  evaluate.bytes = profiler.data.size();
  evaluate.names = profiler.names.data();
  evaluate.count = profiler.names.size();
  evaluate.values = values.data();
  if (const int error = api_.evaluate(&evaluate)) {
    refuse(mine, "cuptiProfilerHostEvaluateToGpuValues", error);
    return;
  }
  const std::lock_guard guard(mine.lock);
  mine.shard.text(JsonLine()
                      .text("measured", call.symbolName)
                      .number("correlation", call.correlationId)
                      .number("metricSet", profiler.set)
                      .decimals("values", values)
                      .take());
}

void KernelCounters::disable(Profiler& profiler) {
  if (profiler.profiler != nullptr) {
    auto disable = sized<cupti::RangeStart>();
    disable.profiler = profiler.profiler;
    api_.disable(&disable);
  }
  if (profiler.host != nullptr) {
    auto close = sized<cupti::HostDeinitialize>();
    close.host = profiler.host;
    api_.hostDeinitialize(&close);
  }
}

void KernelCounters::forgetContext(void* context) {
  if (!isAsked()) return;
  const std::lock_guard guard(launching_);
  const auto found = profilers_.find(context);
  if (found == profilers_.end()) return;
  disable(found->second);
  profilers_.erase(found);
}

void KernelCounters::close() {
  if (!isAsked()) return;
  const std::lock_guard guard(launching_);
  for (auto& [context, profiler] : profilers_) disable(profiler);
  profilers_.clear();
  isRefused_ = true;
}

void KernelCounters::forget() {
  profilers_.clear();
  measured_.clear();
  measuring_ = nullptr;
}

}  // namespace blockscope::inject
