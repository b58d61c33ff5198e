#include "rocprofilerSource.h"

#include <dlfcn.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "clock.h"
#include "hipCalls.h"
#include "json.h"
#include "session.h"

namespace blockscope::inject {

namespace {

namespace abi = rocprofiler;

// Records are handed out in lots of about so many, whichever of bytes and records the version
// counts, and once a period.
constexpr size_t kBufferBytes = 1 << 20, kWatermark = 4096;
constexpr uint64_t kLookNs = 5000000;

// The versions whose records are written down in rocprofilerAbi.h.
struct KnownVersions {
  uint32_t major, firstMinor, lastMinor;
  bool hasAncestor;
};
constexpr KnownVersions kKnown[] = {{0, 5, 6, false}, {1, 0, 1, true}};
constexpr const char* kKnownInWords =
    "0.5, 0.6, 1.0 and 1.1: install a ROCm with one of these, or a blockscope that knows this one";

const KnownVersions* knownVersion(const uint32_t* version) {
  for (const KnownVersions& known : kKnown)
    if (version[0] == known.major && version[1] >= known.firstMinor &&
        version[1] <= known.lastMinor)
      return &known;
  return nullptr;
}

std::string inWords(const uint32_t* version) {
  return std::to_string(version[0]) + "." + std::to_string(version[1]) + "." +
         std::to_string(version[2]);
}

// The caller's frames are the library's, and what is thrown here would end the program.
template <typename Id>
void onCallback(abi::CallbackRecord<Id> record, uint64_t* user, void*) noexcept {
  if (!session().isCaptured() || record.payload == nullptr) return;
  try {
    rocprofilerSource().onEvent({record.correlation.internal, record.kind, record.operation,
                                 record.phase, record.payload, user});
  } catch (...) {
    // Out of memory: the program is not to end for its profile.
  }
}

void onBuffer(uint64_t, uint64_t, abi::RecordHeader** headers, size_t count, void*,
              uint64_t dropped) noexcept {
  if (!session().isCaptured()) return;
  try {
    rocprofilerSource().onRecords(headers, count, dropped);
  } catch (...) {
    // Out of memory: what is lost is what the counts lack.
  }
}

// 90402 is gfx942, 90010 gfx90a: the last two are hexadecimal digits.
std::string architectureOf(uint32_t version) {
  if (version == 0) return "";
  char text[32];
  std::snprintf(text, sizeof text, "gfx%u%x%x", version / 10000, version / 100 % 100,
                version % 100);
  return text;
}

}  // namespace

SourceFailure RocprofilerSource::failure(const char* what, int status) const {
  const char* name = api_.nameOfStatus ? api_.nameOfStatus(status) : nullptr;
  return {status, std::string("rocprofiler-sdk ") + inWords(version_) + " refuses " + what + ": " +
                      (name ? name : "unknown") + " (" + std::to_string(status) + ")."};
}

std::optional<SourceFailure> RocprofilerSource::resolve() {
  Dl_info info{};
  void* library = nullptr;
  if (dladdr(caller_, &info) != 0 && info.dli_fname != nullptr)
    library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  path_ = info.dli_fname ? info.dli_fname : "?";
  if (library == nullptr)
    return SourceFailure{0,
                         "what asked for the profiler of HIP's programs is no library: " + path_};
  // First: functions of an unknown version may be others.
  api_.getVersion =
      reinterpret_cast<decltype(api_.getVersion)>(dlsym(library, "rocprofiler_get_version"));
  if (api_.getVersion == nullptr)
    return SourceFailure{0, path_ + " has no function rocprofiler_get_version: it is too old."};
  api_.getVersion(&version_[0], &version_[1], &version_[2]);
  if (knownVersion(version_) == nullptr)
    return SourceFailure{0, "the records of rocprofiler-sdk " + inWords(version_) + " (" + path_ +
                                ") are not known here, those of " + kKnownInWords + "."};
#define BLOCKSCOPE_RESOLVE(member, symbol, parameters)                           \
  api_.member = reinterpret_cast<decltype(api_.member)>(dlsym(library, symbol)); \
  if (api_.member == nullptr) return SourceFailure{0, path_ + " has no function " + symbol + "."};
  BLOCKSCOPE_INJECT_ROCPROFILER(BLOCKSCOPE_RESOLVE)
#undef BLOCKSCOPE_RESOLVE
  api_.nameOfStatus = reinterpret_cast<decltype(api_.nameOfStatus)>(
      dlsym(library, "rocprofiler_get_status_string"));
  return {};
}

// The functions that launch, copy, set or wait: others cost nothing.
void RocprofilerSource::readOperations() {
  const auto onOperation = [](int kind, int32_t operation, void* data) {
    RocprofilerSource& mine = *static_cast<RocprofilerSource*>(data);
    const char* name = nullptr;
    if (mine.api_.nameOfOperation(kind, operation, &name, nullptr) != abi::kSuccess || !name)
      return 0;
    const std::string_view text(name);
    if (kind == abi::kMarkerCalls) {
      if (text == "roctxRangePushA") mine.pushOperation_ = operation;
      if (text == "roctxRangePop") mine.popOperation_ = operation;
      return 0;
    }
    const uint8_t what = hipCallOf(text);
    if (what == kNoHipCall || operation < 0 || operation > 65535) return 0;
    const auto at = static_cast<size_t>(operation);
    if (at >= mine.hipKinds_.size()) {
      mine.hipKinds_.resize(at + 1, kNoHipCall);
      mine.hipNames_.resize(at + 1);
    }
    mine.hipKinds_[at] = what;
    mine.hipNames_[at] = text;
    return 0;
  };
  api_.listOperations(abi::kHipRuntimeCalls, onOperation, this);
  api_.listOperations(abi::kMarkerCalls, onOperation, this);
}

void RocprofilerSource::readAgents() {
  const auto onAgents = [](int, const void** agents, size_t count, void* data) {
    auto& gpus = static_cast<RocprofilerSource*>(data)->gpus_;
    for (size_t i = 0; i < count; i++) {
      const auto& agent = *static_cast<const abi::Agent*>(agents[i]);
      if (agent.type != abi::kAgentGpu) continue;
      // Of all GPUs of the machine, whichever the process sees.
      const auto number = static_cast<uint32_t>(agent.logicalNodeOfType);
      char id[24];
      std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>(agent.gpu));
      JsonLine line;
      line.number("device", number)
          .text("name", agent.productName && *agent.productName ? agent.productName
                        : agent.name                            ? agent.name
                                                                : "")
          .text("uuid", agent.gpu ? id : "")
          .text("architecture", architectureOf(agent.gfxVersion))
          .number("multiprocessors", agent.computeUnits)
          .number("clockRateKHz", int64_t{agent.gpuClockMhz} * 1000);
      gpus[agent.id] = {number, line.take()};
    }
    return 0;
  };
  const int status = api_.listAgents(abi::kAgentInfo, onAgents, sizeof(abi::Agent), this);
  if (status != abi::kSuccess)
    session().shard.text(
        JsonLine().text("message", failure("the list of devices", status).reason).take());
}

std::optional<SourceFailure> RocprofilerSource::configure() {
  void* const callback = knownVersion(version_)->hasAncestor
                             ? reinterpret_cast<void*>(&onCallback<abi::Correlation>)
                             : reinterpret_cast<void*>(&onCallback<abi::CorrelationBefore1>);
  std::vector<int32_t> calls, markers, enqueue{abi::kEnqueue}, symbols{abi::kKernelSymbol};
  for (size_t at = 0; at < hipKinds_.size(); at++)
    if (hipKinds_[at] != kNoHipCall) calls.push_back(static_cast<int32_t>(at));
  if (calls.empty())
    return SourceFailure{0, path_ + " knows no function of HIP that launches: it is too old."};
  if (pushOperation_ >= 0) markers = {pushOperation_, popOperation_};
  int status = 0;
  const auto done = [&](int answer) { return (status = answer) == abi::kSuccess; };
  const auto traces = [&](uint64_t context, int kind, const std::vector<int32_t>& operations) {
    return done(
        api_.traceCalls(context, kind, operations.data(), operations.size(), callback, nullptr));
  };
  // Two contexts: names and ranges are needed from the beginning, a window opens and closes the
  // other.
  if (!done(api_.createContext(&namesContext_)) || !done(api_.createContext(&recordsContext_)))
    return failure("a context", status);
  if (!traces(namesContext_, abi::kCodeObjects, symbols))
    return failure("the names of kernels", status);
  if (!markers.empty() && !traces(namesContext_, abi::kMarkerCalls, markers))
    return failure("roctx's ranges", status);
  if (!traces(recordsContext_, abi::kHipRuntimeCalls, calls)) return failure("HIP's calls", status);
  if (!traces(recordsContext_, abi::kDispatchCalls, enqueue))
    return failure("the dispatches of queues", status);
  if (!done(api_.createBuffer(recordsContext_, kBufferBytes, kWatermark, abi::kLossless, onBuffer,
                              nullptr, &buffer_)))
    return failure("a buffer of records", status);
  if (!done(api_.traceRecords(recordsContext_, abi::kDispatchRecords, nullptr, 0, buffer_)) ||
      !done(api_.traceRecords(recordsContext_, abi::kCopyRecords, nullptr, 0, buffer_)))
    return failure("records of kernels and copies", status);
  if (!done(api_.startContext(namesContext_))) return failure("to start", status);
  return {};
}

std::optional<SourceFailure> RocprofilerSource::open() {
  Session& mine = session();
  if (auto missing = resolve()) return missing;
  readOperations();
  const std::lock_guard guard(mine.lock);
  const char* tools = std::getenv("ROCP_TOOL_LIBRARIES");
  mine.shard.text(JsonLine()
                      .text("rocprofiler", path_)
                      .text("version", inWords(version_))
                      .text("tools", tools ? tools : "")
                      .take());
  if (mine.options.wholeGraphs)
    mine.shard.text(JsonLine()
                        .text("message",
                              "rocprofiler-sdk has no records of whole graphs: --graphs has no "
                              "effect, kernels of graphs are recorded each")
                        .take());
  if (!mine.options.counters.empty())
    mine.shard.text(
        JsonLine()
            .text("noCounters", "counters of AMD GPUs are not read; rocprofv3 --pmc reads them.")
            .take());
  readAgents();
  measureClock();
  auto refused = configure();
  mine.shard.flush();
  return refused;
}

std::optional<SourceFailure> RocprofilerSource::start() {
  const int status = api_.startContext(recordsContext_);
  if (status == abi::kSuccess) return {};
  return failure("to record", status);
}

void RocprofilerSource::measureClock() {
  uint64_t theirs = 0;
  const uint64_t before = realTimeNs();
  if (api_.getTimestamp(&theirs) != abi::kSuccess) return;
  const uint64_t after = realTimeNs();
  clockOff_ = before + (after - before) / 2 - theirs;
}

void RocprofilerSource::flush() {
  measureClock();
  api_.flushBuffer(buffer_);
}

// Passive: at the end of a process the runtime may be gone, and what waits for it would wait for
// good.
void RocprofilerSource::awaitDevice(uint64_t mostNs) {
  Session& mine = session();
  const uint64_t until = realTimeNs() + mostNs;
  for (;;) {
    flush();
    const uint64_t known =
        mine.counted(kernelRecords) + mine.counted(filteredRecords) + mine.counted(droppedRecords);
    if (known >= expectedKernels() || realTimeNs() >= until) return;
    const timespec pause{0, static_cast<long>(kLookNs)};
    nanosleep(&pause, nullptr);
  }
}

void RocprofilerSource::close() {
  api_.stopContext(recordsContext_);
  api_.stopContext(namesContext_);
}

uint64_t RocprofilerSource::expectedKernels() const { return session().counted(enqueuedKernels); }

RocprofilerSource& rocprofilerSource() {
  static auto* const made = new RocprofilerSource;
  return *made;
}

}  // namespace blockscope::inject
