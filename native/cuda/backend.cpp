// The CUDA backend: what GPUs there are, what each can compute, and sessions on them.
#include "../core/backend.h"

#include <mutex>

#include "cublasLtOperation.h"
#include "kernels.h"
#include "roofs.h"
#include "session.h"

namespace blockscope {

namespace cuda {

namespace {

// `isOpenHere`: this process has a context on the device and so is one of those that compute there.
void addNvmlProperties(const std::string& uuid, bool isOpenHere,
                       std::map<std::string, PropertyValue>& properties) {
  if (!libraries().nvmlInfo.found) return;
  const auto& api = libraries().nvml;
  nvml::Device device = nullptr;
  if (api.deviceGetHandleByUuid(uuid.c_str(), &device) != 0) return;
  unsigned value = 0, pending = 0;
  if (api.deviceGetMaxClockInfo(device, nvml::kClockSm, &value) == 0)
    properties["maxClockMHz"] = double(value);
  if (api.deviceGetClockInfo(device, nvml::kClockSm, &value) == 0)
    properties["currentClockMHz"] = double(value);
  if (api.deviceGetEnforcedPowerLimit(device, &value) == 0)
    properties["powerLimitW"] = value / 1000.0;
  if (api.deviceGetTemperature(device, nvml::kTemperatureGpu, &value) == 0)
    properties["temperatureC"] = double(value);
  nvml::ProcessInfo processes[64];
  value = 64;
  if (api.deviceGetComputeRunningProcesses(device, &value, processes) == 0)
    properties["otherComputeProcesses"] = double(value - (value > 0 && isOpenHere));
  // A MIG instance is asked by its identity; the mode can be asked of whole GPUs alone.
  if (uuid.rfind("MIG-", 0) == 0) properties["mig"] = true;
  else if (api.deviceGetMigMode(device, &value, &pending) == 0) properties["mig"] = value != 0;
}

class CudaBackend : public Backend {
 public:
  explicit CudaBackend(const BackendOptions& options)
      : kernels_(std::make_shared<Kernels>(options)) {}

  std::string_view kind() const override { return "cuda"; }
  std::vector<LibraryInfo> libraries() override { return cuda::libraries().all(); }

  std::vector<DeviceInfo> devices() override {
    std::vector<DeviceInfo> found;
    if (!cuda::libraries().driverInfo.found) return found;
    int count = 0;
    cuda::libraries().driver.deviceGetCount(&count);
    for (int index = 0; index < count; index++) {
      try {
        found.push_back(describe(index));
      } catch (const Error& error) {
        DeviceInfo broken;
        broken.id = "cuda:" + std::to_string(index);
        broken.kind = "cuda";
        broken.name = "GPU " + std::to_string(index);
        broken.properties["problem"] = std::string(error.what());
        found.push_back(broken);
      }
    }
    return found;
  }

  std::vector<Roof> measureRoofs(const std::string& deviceId, const CancelFlag& cancel,
                                 const Progress& progress) override {
    return cuda::measureRoofs(*context(deviceId), *kernels_, cancel, progress);
  }

  void compileAhead(const std::string& deviceId, const std::vector<KernelUse>& uses,
                    const CancelFlag& cancel, const Progress& progress) override {
    kernels_->compileAhead(uses, context(deviceId)->facts(), cancel, progress);
  }

  std::unique_ptr<Session> open(const std::string& deviceId, const Problem& problem,
                                std::variant<GeneratedOperands, GivenOperands> operands,
                                const CancelFlag&, const Progress&) override {
    return std::make_unique<CudaSession>(context(deviceId), kernels_, problem, std::move(operands));
  }

 private:
  DeviceInfo describe(int index) {
    const DeviceFacts facts = readDeviceFacts(index);
    DeviceInfo info;
    info.id = "cuda:" + std::to_string(index);
    info.kind = "cuda";
    info.name = facts.name;
    info.architecture = "sm_" + std::to_string(facts.major) + std::to_string(facts.minor);
    info.properties = {
        {"uuid", facts.uuid},
        {"computeCapability", std::to_string(facts.major) + "." + std::to_string(facts.minor)},
        {"smCount", double(facts.multiprocessors)},
        {"clockMHz", facts.clockKHz / 1000.0},
        {"memoryClockMHz", facts.memoryClockKHz / 1000.0},
        {"memoryBusBits", double(facts.memoryBusBits)},
        {"memoryBytes", double(facts.totalBytes)},
        {"l2Bytes", double(facts.l2Bytes)},
        {"sharedBytesPerBlock", double(facts.maxSharedBytes)},
        {"ecc", facts.ecc},
        {"driverVersion", versionText(cuda::libraries().driverVersion)}};
    addNvmlProperties(facts.uuid, isOpen(index), info.properties);
    try {
      const auto opened = context(info.id);
      opened->enter();
      info.properties["freeMemoryBytes"] = double(opened->freeBytes());
    } catch (const Error& error) {
      info.properties["problem"] = std::string(error.what());
    }
    for (const KernelRow& row : kernels_->rows())
      info.kernels.push_back(kernels_->describe(row, facts));
    for (KernelInfo& kernel : cublasLtKernels(facts.major, cuda::libraries().cublasLtInfo))
      info.kernels.push_back(std::move(kernel));
    return info;
  }

  bool isOpen(int index) {
    const std::lock_guard lock(mutex_);
    const auto found = contexts_.find(index);
    return found != contexts_.end() && found->second;
  }

  std::shared_ptr<const DeviceContext> context(const std::string& deviceId) {
    const LibraryInfo& library = cuda::libraries().driverInfo;
    if (!library.found) throw Error(ErrorKind::kUnavailable, library.reason + " " + library.remedy);
    int count = 0;
    cuda::libraries().driver.deviceGetCount(&count);
    for (int index = 0; index < count; index++) {
      if (deviceId != "cuda:" + std::to_string(index)) continue;
      const std::lock_guard lock(mutex_);
      auto& opened = contexts_[index];
      if (!opened) opened = std::make_shared<DeviceContext>(readDeviceFacts(index));
      return opened;
    }
    throw Error(ErrorKind::kUnavailable, "There is no device \"" + deviceId +
                                             "\"; this machine has " + std::to_string(count) +
                                             (count == 1 ? " CUDA GPU." : " CUDA GPUs."));
  }

  std::shared_ptr<const Kernels> kernels_;
  std::mutex mutex_;
  std::map<int, std::shared_ptr<const DeviceContext>> contexts_;
};

}  // namespace

}  // namespace cuda

std::unique_ptr<Backend> makeCudaBackend(const BackendOptions& options) {
  return std::make_unique<cuda::CudaBackend>(options);
}

}  // namespace blockscope
