#include "kernels.h"

#include <optional>

#include "../core/formats.h"
#include "architectures.h"
#include "manifestOperation.h"

namespace blockscope::cuda {

Kernels::Kernels(const BackendOptions& options) : cache_(options.cacheDirectory) {
  for (const KernelRow& row : options.kernelSources) {
    // Those for AMD GPUs are the HIP backend's.
    if (areAmd(row.architectures)) continue;
    (row.role == KernelRole::kSupport ? supportRows_ : rows_).push_back(row);
  }
}

const KernelRow* Kernels::find(const std::string& id) const {
  for (const KernelRow& row : rows_)
    if (row.id == id) return &row;
  return nullptr;
}

namespace {

// None: it is not written for the device.
std::optional<CompileRequest> supportRequest(const KernelRow& row, const DeviceFacts& device) {
  const auto target = chooseTarget(row.architectures, device.major, device.minor);
  if (!target) return {};
  return CompileRequest{"Device code " + row.id, row.file, *target, row.options};
}

}  // namespace

std::unique_ptr<Module> Kernels::support(const DeviceContext& context,
                                         const std::string& id) const {
  for (const KernelRow& row : supportRows_) {
    if (row.id != id) continue;
    const auto request = supportRequest(row, context.facts());
    if (!request) break;
    return std::make_unique<Module>(context, compile(*request, cache_).image, "device code " + id);
  }
  throw Error(ErrorKind::kUnavailable, "The device code \"" + id + "\" is missing for " +
                                           context.facts().name +
                                           "; reinstall blockscope's kernels folder.");
}

void Kernels::compileAhead(const std::vector<KernelUse>& uses, const DeviceFacts& device,
                           const CancelFlag& cancel, const Progress& progress) const {
  std::vector<CompileRequest> requests;
  for (const KernelRow& row : supportRows_)
    if (auto request = supportRequest(row, device)) requests.push_back(std::move(*request));
  for (const KernelUse& use : uses) {
    const KernelRow* row = find(use.kernel);
    if (!row) continue;  // A library's.
    try {
      const auto parts = partsOf(*row, use.problem, {device.multiprocessors, device.memoryGBs()});
      requests.push_back(compileRequest(*row, ownProblem(*row, use.problem), parts, device));
    } catch (const Error&) {
      // The session that needs it says so.
    }
  }
  compileSideBySide(
      std::move(requests), [this](const CompileRequest& one) { compile(one, cache_); }, cancel,
      progress);
}

KernelInfo Kernels::describe(const KernelRow& row, const DeviceFacts& device) const {
  KernelInfo info;
  info.id = row.id;
  info.provider = row.provider;
  info.summary = row.summary;
  info.scaleLayout = row.scaleLayout;
  info.outputs = row.offeredOutputs();
  info.features = row.features;
  const std::string deviceTarget =
      "sm_" + std::to_string(device.major) + std::to_string(device.minor);
  std::string unreadable;
  try {
    const std::string target =
        chooseTarget(row.architectures, device.major, device.minor).value_or(deviceTarget);
    info.compileOptions = "--gpu-architecture=" + target;
    std::vector<std::string> options = row.options;
    for (const auto& [name, value] : row.constants)
      options.push_back("-D" + name + "=" + std::to_string(value));
    for (const std::string& option : options) info.compileOptions += " " + option;
    const std::string identity = identityOf(readSources(row.file), target, options);
    info.identity.assign(identity.begin(), identity.end());
  } catch (const Error& error) {
    unreadable = error.what();
  }
  const LibraryInfo& compiler = libraries().nvrtcInfo;
  for (const FormatRow& format : row.formats) {
    const auto& architectures =
        format.architectures.empty() ? row.architectures : format.architectures;
    Capability capability{format.format, format.level, format.reason, format.instruction};
    std::string missing;
    if (format.level == CapabilityLevel::kUnavailable) missing = format.reason;
    else if (!unreadable.empty()) missing = unreadable;
    else if (!chooseTarget(architectures, device.major, device.minor)) {
      for (const std::string& name : architectures)
        missing += (missing.empty() ? "Written for " : ", ") + name;
      missing += "; this device is " + deviceTarget + ".";
    } else if (!compiler.found) missing = compiler.reason + " " + compiler.remedy;
    if (!missing.empty()) capability = {format.format, CapabilityLevel::kUnavailable, missing, ""};
    info.capabilities.push_back(capability);
  }
  for (const BlockFormat& format : everyBlockFormat())
    if (!row.findFormat(std::string(format.id)))
      info.capabilities.push_back({std::string(format.id), CapabilityLevel::kUnavailable,
                                   "This kernel does not compute it.", ""});
  return info;
}

}  // namespace blockscope::cuda
