#include "libraries.h"

#include <cstdlib>

#include "../core/dynamicLibrary.h"

namespace blockscope::hip {

namespace {

// ROCM_PATH, HIP_PATH and /opt/rocm, then the system's own search. Versions of the files are those
// of HIP: 6 and 7.
std::vector<std::string> candidates(const std::string& library) {
  std::vector<std::string> names, files;
#ifdef _WIN32
  const bool isRuntime = library == "amdhip64";
  for (const char* version : isRuntime ? std::initializer_list<const char*>{"_7", "_6"}
                                       : std::initializer_list<const char*>{"0701", "0604", "0602"})
    names.push_back(library + version + ".dll");
#else
  for (const char* version : {".7", ".6", ""}) names.push_back("lib" + library + ".so" + version);
#endif
  for (const char* variable : {"ROCM_PATH", "HIP_PATH"})
    if (const char* root = std::getenv(variable); root && *root)
      for (const std::string& name : names) {
        files.push_back(std::string(root) + "/lib/" + name);
        files.push_back(std::string(root) + "/bin/" + name);
      }
  for (const std::string& name : names) files.push_back("/opt/rocm/lib/" + name);
  files.insert(files.end(), names.begin(), names.end());
  return files;
}

#define BLOCKSCOPE_SYMBOL(member, name, result, parameters) \
  {name, reinterpret_cast<void**>(&api.member)},

void loadRuntime(Libraries& found) {
  auto& api = found.runtime;
  auto& info = found.runtimeInfo;
  info.name = "HIP runtime";
  info.remedy = "Install ROCm 6.0 or later (7.0 for gfx950), or set ROCM_PATH.";
  if (!loadLibrary(candidates("amdhip64"), {BLOCKSCOPE_HIP_FUNCTIONS(BLOCKSCOPE_SYMBOL)}, info))
    return;
  int version = 0, count = 0;
  const int started = api.init(0);
  api.runtimeGetVersion(&version);
  found.versionText = std::to_string(version / 10000000) + "." +
                      std::to_string(version / 100000 % 100) + "." +
                      std::to_string(version % 100000);
  info.version = found.versionText;
  const int result = started == runtime::kSuccess ? api.getDeviceCount(&count) : started;
  if (result == runtime::kSuccess && count > 0) {
    info.found = true;
    info.remedy.clear();
    return;
  }
  if (result != runtime::kSuccess && result != runtime::kNoDevice) {
    const char* text = api.getErrorString(result);
    info.reason = "The HIP runtime does not start: error " + std::to_string(result) +
                  (text ? ", " + std::string(text) : "") + ".";
    info.remedy = "Check that rocminfo works; restart the machine after an update of its driver.";
    return;
  }
  for (const char* variable : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"})
    if (const char* visible = std::getenv(variable)) {
      info.reason = std::string(variable) + " is \"" + visible + "\" and hides every AMD GPU.";
      info.remedy = "Unset " + std::string(variable) + " or name a GPU in it.";
      return;
    }
  info.reason = "The HIP runtime finds no GPU.";
  info.remedy =
      "Check that rocminfo lists a GPU, that you may open /dev/kfd and /dev/dri (groups render and "
      "video), and that the container passes them on.";
}

void loadHiprtc(Libraries& found) {
  auto& api = found.hiprtc;
  auto& info = found.hiprtcInfo;
  info.name = "hipRTC";
  info.remedy = "Install ROCm's hip-runtime-amd or hiprtc, or set ROCM_PATH.";
  if (!loadLibrary(candidates("hiprtc"), {BLOCKSCOPE_HIPRTC_FUNCTIONS(BLOCKSCOPE_SYMBOL)}, info))
    return;
  int major = 0, minor = 0;
  api.version(&major, &minor);
  info.version = std::to_string(major) + "." + std::to_string(minor);
  info.found = true;
  info.remedy.clear();
}

Libraries loadAll() {
  Libraries found;
  loadRuntime(found);
  loadHiprtc(found);
  return found;
}

}  // namespace

const Libraries& libraries() {
  static const Libraries found = loadAll();
  return found;
}

std::string describeResult(int result) {
  const auto& api = libraries().runtime;
  const char* name = api.getErrorName ? api.getErrorName(result) : nullptr;
  const char* text = api.getErrorString ? api.getErrorString(result) : nullptr;
  return std::to_string(result) +
         (name ? " (" + std::string(name) + (text ? ": " + std::string(text) : "") + ")" : "");
}

}  // namespace blockscope::hip
