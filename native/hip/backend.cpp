#include "backend.h"

#include <algorithm>
#include <mutex>

#include "../core/formats.h"
#include "../cuda/architectures.h"
#include "hipblasLtOperation.h"
#include "manifestOperation.h"
#include "roofs.h"
#include "session.h"

namespace blockscope {

namespace hip {

namespace {

// Rows that are written for AMD GPUs, support code among them.
std::vector<KernelRow> rowsOf(const BackendOptions& options) {
  std::vector<KernelRow> rows;
  for (const KernelRow& row : options.kernelSources)
    if (cuda::areAmd(row.architectures)) rows.push_back(row);
  return rows;
}

std::string whyUnavailable(const KernelRow& row, const FormatRow& format,
                           const std::string& architecture) {
  if (format.level == CapabilityLevel::kUnavailable) return format.reason;
  const auto& targets = format.architectures.empty() ? row.architectures : format.architectures;
  if (std::find(targets.begin(), targets.end(), architecture) == targets.end()) {
    std::string all;
    for (const std::string& name : targets) all += (all.empty() ? "" : ", ") + name;
    return "Written for " + all + "; this device is " + architecture + ".";
  }
  const LibraryInfo& compiler = libraries().hiprtcInfo;
  return compiler.found ? "" : compiler.reason + " " + compiler.remedy;
}

KernelInfo describe(const KernelRow& row, const std::string& architecture) {
  KernelInfo info;
  info.id = row.id, info.provider = row.provider, info.summary = row.summary;
  info.scaleLayout = row.scaleLayout, info.outputs = row.offeredOutputs();
  info.features = row.features;
  std::string unreadable;
  try {
    std::vector<std::string> options = row.options;
    for (const auto& [name, value] : row.constants)
      options.push_back("-D" + name + "=" + std::to_string(value));
    info.compileOptions = "--offload-arch=" + row.architectures[0];
    for (const std::string& option : options) info.compileOptions += " " + option;
    const std::string identity =
        cuda::identityOf(cuda::readSources(row.file), row.architectures[0], options);
    info.identity.assign(identity.begin(), identity.end());
  } catch (const Error& error) {
    unreadable = error.what();
  }
  for (const FormatRow& format : row.formats) {
    const std::string why =
        unreadable.empty() ? whyUnavailable(row, format, architecture) : unreadable;
    if (why.empty())
      info.capabilities.push_back({format.format, format.level, format.reason, format.instruction});
    else info.capabilities.push_back({format.format, CapabilityLevel::kUnavailable, why, ""});
  }
  for (const BlockFormat& format : everyBlockFormat())
    if (!row.findFormat(std::string(format.id)))
      info.capabilities.push_back({std::string(format.id), CapabilityLevel::kUnavailable,
                                   "This kernel does not compute it.", ""});
  return info;
}

void addRequest(const KernelRow& row, const Problem& problem, const DeviceFacts& facts,
                std::vector<CompileRequest>& to) {
  try {
    to.push_back(compileRequest(row, cuda::ownProblem(row, problem),
                                cuda::partsOf(row, problem, {facts.computeUnits}), facts));
  } catch (const Error&) {
    // The session that needs it says so.
  }
}

class HipBackend : public Backend {
 public:
  explicit HipBackend(const BackendOptions& options)
      : rows_(rowsOf(options)), cache_(std::make_shared<CompileCache>(options.cacheDirectory)) {}

  std::string_view kind() const override { return "hip"; }
  std::vector<LibraryInfo> libraries() override {
    const Libraries& all = hip::libraries();
    std::vector<LibraryInfo> found = {all.runtimeInfo, all.hiprtcInfo};
    // What only AMD GPUs are read with is no news where there are none.
    if (all.runtimeInfo.found) {
      found.push_back(all.hipblasLtInfo);
      found.push_back(all.smiInfo);
    }
    return found;
  }

  std::vector<DeviceInfo> devices() override {
    std::vector<DeviceInfo> found;
    for (int index = 0; index < deviceCount(); index++) {
      try {
        found.push_back(describeDevice(index));
      } catch (const Error& error) {
        DeviceInfo broken;
        broken.id = "hip:" + std::to_string(index), broken.kind = "hip";
        broken.name = "AMD GPU " + std::to_string(index);
        broken.properties["problem"] = std::string(error.what());
        found.push_back(broken);
      }
    }
    return found;
  }

  std::vector<Roof> measureRoofs(const std::string& deviceId, const CancelFlag& cancel,
                                 const Progress& progress) override {
    return hip::measureRoofs(*device(deviceId), supportRow(rows_, "support-bandwidth-hip"), *cache_,
                             cancel, progress);
  }

  void compileAhead(const std::string& deviceId, const std::vector<KernelUse>& uses,
                    const CancelFlag& cancel, const Progress& progress) override {
    const DeviceFacts& facts = device(deviceId)->facts();
    std::vector<CompileRequest> requests;
    for (const KernelRow& row : rows_) {
      if (row.role == KernelRole::kSupport) requests.push_back(supportRequest(row, facts));
      else
        for (const KernelUse& use : uses)
          if (use.kernel == row.id) addRequest(row, use.problem, facts, requests);
    }
    cuda::compileSideBySide(
        std::move(requests), [this](const CompileRequest& one) { hip::compile(one, *cache_); },
        cancel, progress);
  }

  std::unique_ptr<Session> open(const std::string& deviceId, const Problem& problem,
                                std::variant<GeneratedOperands, GivenOperands> operands,
                                const CancelFlag& cancel, const Progress&) override {
    const auto opened = device(deviceId);
    opened->enter();
    return makeSession(opened, rows_, cache_, problem, std::move(operands), cancel);
  }

 private:
  static int deviceCount() {
    int count = 0;
    if (hip::libraries().runtimeInfo.found) hip::libraries().runtime.getDeviceCount(&count);
    return count;
  }

  DeviceInfo describeDevice(int index) {
    const DeviceFacts facts = readDeviceFacts(index);
    DeviceInfo info;
    info.id = "hip:" + std::to_string(index), info.kind = "hip";
    info.name = facts.name, info.architecture = facts.architecture;
    info.properties = {{"uuid", facts.uuid},
                       {"pciAddress", facts.pciAddress},
                       {"smCount", double(facts.computeUnits)},
                       {"clockMHz", facts.clockKHz / 1000.0},
                       {"memoryClockMHz", facts.memoryClockKHz / 1000.0},
                       {"memoryBusBits", double(facts.memoryBusBits)},
                       {"memoryBytes", double(facts.totalBytes)},
                       {"l2Bytes", double(facts.l2Bytes)},
                       {"sharedBytesPerBlock", double(facts.ldsBytes)},
                       {"driverVersion", hip::libraries().versionText}};
    try {
      const auto opened = device(info.id);
      opened->enter();
      info.properties["freeMemoryBytes"] = double(opened->freeBytes());
    } catch (const Error& error) {
      info.properties["problem"] = std::string(error.what());
    }
    for (const KernelRow& row : rows_)
      if (row.role == KernelRole::kKernel)
        info.kernels.push_back(describe(row, facts.architecture));
    for (KernelInfo& kernel : hipblasLtKernels(facts.architecture, hip::libraries().hipblasLtInfo))
      info.kernels.push_back(std::move(kernel));
    return info;
  }

  std::shared_ptr<const Device> device(const std::string& deviceId) {
    const LibraryInfo& library = hip::libraries().runtimeInfo;
    if (!library.found) throw Error(ErrorKind::kUnavailable, library.reason + " " + library.remedy);
    for (int index = 0; index < deviceCount(); index++) {
      if (deviceId != "hip:" + std::to_string(index)) continue;
      const std::lock_guard lock(mutex_);
      auto& opened = devices_[index];
      if (!opened) opened = std::make_shared<Device>(readDeviceFacts(index));
      return opened;
    }
    throw Error(ErrorKind::kUnavailable, "There is no device \"" + deviceId +
                                             "\"; this machine has " +
                                             std::to_string(deviceCount()) + " AMD GPUs.");
  }

  const std::vector<KernelRow> rows_;
  const std::shared_ptr<const CompileCache> cache_;
  std::mutex mutex_;
  std::map<int, std::shared_ptr<const Device>> devices_;
};

}  // namespace

}  // namespace hip

std::unique_ptr<Backend> makeHipBackend(const BackendOptions& options) {
  return std::make_unique<hip::HipBackend>(options);
}

}  // namespace blockscope
