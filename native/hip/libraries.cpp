#include "libraries.h"

#include <cstdlib>
#include <filesystem>

#include "../core/dynamicLibrary.h"

namespace blockscope::hip {

namespace {

// ROCM_PATH, HIP_PATH and /opt/rocm, then the system's own search. `versions`: of the file's name
// on Linux; of HIP's own libraries those of HIP, 6 and 7.
std::vector<std::string> candidates(const std::string& library,
                                    const std::vector<const char*>& versions = {".7", ".6", ""}) {
  std::vector<std::string> names, files;
#ifdef _WIN32
  (void)versions;
  const bool isRuntime = library == "amdhip64";
  for (const char* version : isRuntime ? std::initializer_list<const char*>{"_7", "_6"}
                                       : std::initializer_list<const char*>{"0701", "0604", "0602"})
    names.push_back(library + version + ".dll");
#else
  for (const char* version : versions) names.push_back("lib" + library + ".so" + version);
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
// One that an older library may lack.
#define BLOCKSCOPE_NEW_SYMBOL(member, name, result, parameters) \
  Symbol{name, reinterpret_cast<void**>(&api.member), false},

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

// What follows ".so." in the name of the file that a library's name stands for: "1.0.70000".
std::string versionOfFile(const std::string& path) {
  std::error_code ignored;
  const std::string file = std::filesystem::canonical(path, ignored).filename().string();
  const size_t at = file.find(".so.");
  return at == std::string::npos ? "" : file.substr(at + 4);
}

// Files of ROCm 7 are version 1, those of 6 version 0. The library tells its version to who has
// made a handle, which takes memory on the GPU.
void loadHipblasLt(Libraries& found) {
  auto& api = found.hipblasLt;
  auto& info = found.hipblasLtInfo;
  info.name = "hipBLASLt";
  info.remedy = "Install ROCm's hipblaslt, or set ROCM_PATH.";
  if (!found.runtimeInfo.found) {
    info.reason = "Not looked for without a HIP runtime.";
    return;
  }
#ifdef _WIN32
  const std::vector<std::string> files = {"hipblaslt.dll", "libhipblaslt.dll"};
#else
  const std::vector<std::string> files = candidates("hipblaslt", {".1", ".0", ""});
#endif
  std::vector<Symbol> symbols = {BLOCKSCOPE_HIPBLASLT_FUNCTIONS(BLOCKSCOPE_SYMBOL)};
#if defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
  for (Symbol symbol : {BLOCKSCOPE_HIPBLASLT_CPP_FUNCTIONS(BLOCKSCOPE_NEW_SYMBOL)})
    symbols.push_back(symbol);
#endif
  if (!loadLibrary(files, symbols, info)) return;
  info.version = versionOfFile(info.path);
  info.found = true;
  info.remedy.clear();
}

// Versions of the files: those of ROCm 6.0 to 7.2.
bool loadAmdSmi(Libraries& found) {
  auto& api = found.amdSmi;
  return loadLibrary(candidates("amd_smi", {"", ".26", ".25", ".24"}),
                     {BLOCKSCOPE_AMDSMI_FUNCTIONS(BLOCKSCOPE_SYMBOL)}, found.smiInfo);
}

bool loadRocmSmi(Libraries& found, LibraryInfo& info) {
  auto& api = found.rocmSmi;
  return loadLibrary(candidates("rocm_smi64", {"", ".7", ".6", ".1"}),
                     {BLOCKSCOPE_ROCMSMI_FUNCTIONS(BLOCKSCOPE_SYMBOL)}, info);
}

void loadSmi(Libraries& found) {
  auto& info = found.smiInfo;
  info.name = "AMD SMI";
  info.remedy =
      "Install ROCm's amd-smi-lib or rocm-smi-lib; without it power, temperature and clocks are "
      "not "
      "recorded.";
  if (!found.runtimeInfo.found) {
    info.reason = "Not looked for without a HIP runtime.";
    return;
  }
  int started = 0;
  if (loadAmdSmi(found)) {
    started = found.amdSmi.init(smi::kInitGpus);
  } else {
    found.amdSmi = {};
    LibraryInfo older = info;
    // What is said of both is said of the newer.
    if (!loadRocmSmi(found, older)) {
      found.rocmSmi = {};
      return;
    }
    info = older;
    info.version = "rocm_smi64";
    started = found.rocmSmi.init(0);
  }
  if (started != 0) {
    found.amdSmi = {}, found.rocmSmi = {};
    info.reason = "It does not start: error " + std::to_string(started) + ".";
    info.remedy = "Check that amd-smi works for this user (groups render and video).";
    return;
  }
  info.found = true;
  info.reason.clear(), info.remedy.clear();
}

Libraries loadAll() {
  Libraries found;
  loadRuntime(found);
  loadHiprtc(found);
  loadHipblasLt(found);
  loadSmi(found);
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
