#include "libraries.h"

#include <cstdlib>

#include "../core/dynamicLibrary.h"
#include "librarySearch.h"

namespace blockscope::cuda {

namespace {

bool load(Library library, const std::vector<Symbol>& symbols, LibraryInfo& info) {
  return loadLibrary(candidateFiles(library, SearchEnvironment::ofThisProcess()), symbols, info);
}

#define BLOCKSCOPE_SYMBOL2(member, name, parameters) {name, reinterpret_cast<void**>(&api.member)},
// One that an older driver may lack.
#define BLOCKSCOPE_NEW_SYMBOL2(member, name, parameters) \
  Symbol{name, reinterpret_cast<void**>(&api.member), false},
#define BLOCKSCOPE_SYMBOL(member, name, result, parameters) \
  {name, reinterpret_cast<void**>(&api.member)},

// What helps against a driver that is there and does not start; CUresult in the CUDA driver API.
std::string startRemedy(int result) {
  switch (result) {
    case driver::kSystemNotReady:
      return "Start this machine's fabric manager (nvidia-fabricmanager), or wait until it is up.";
    case driver::kSystemDriverMismatch:
      return "Restart the machine, so that the updated driver's kernel module is loaded.";
    case driver::kCompatNotSupported:
      return "Take the cuda-compat folder out of LD_LIBRARY_PATH; this GPU needs the driver's own.";
    default:
      return "Check that nvidia-smi works; restart the machine if it does not.";
  }
}

void loadDriver(Libraries& found) {
  auto& api = found.driver;
  auto& info = found.driverInfo;
  info.name = "CUDA driver";
  info.remedy = "Install the NVIDIA driver, version 525 or later (580 or later for CUDA 13).";
  // Kernels are loaded when their module is: loading one later would wait for a stream that is held
  // back.
#ifndef _WIN32
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
#else
  _putenv_s("CUDA_MODULE_LOADING", "EAGER");
#endif
  if (!load(Library::kDriver,
            {BLOCKSCOPE_DRIVER_FUNCTIONS(BLOCKSCOPE_SYMBOL2)
                 BLOCKSCOPE_NEW_DRIVER_FUNCTIONS(BLOCKSCOPE_NEW_SYMBOL2)},
            info)) {
    if (api.driverGetVersion && api.driverGetVersion(&found.driverVersion) == driver::kSuccess &&
        found.driverVersion < kMinimumDriverVersion)
      info.reason = tooOldSentence(found.driverVersion);
    return;
  }
  api.driverGetVersion(&found.driverVersion);
  info.version = versionText(found.driverVersion);
  if (found.driverVersion < kMinimumDriverVersion) {
    info.reason = tooOldSentence(found.driverVersion);
    return;
  }
  const int result = api.init(0);
  if (result == driver::kSuccess) {
    info.found = true;
    info.remedy.clear();
    return;
  }
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (result == driver::kNoDevice && visible) {
    info.reason = "CUDA_VISIBLE_DEVICES is \"" + std::string(visible) + "\" and hides every GPU.";
    info.remedy = "Unset CUDA_VISIBLE_DEVICES or name a GPU in it.";
  } else if (result == driver::kNoDevice) {
    info.reason = "The CUDA driver finds no GPU.";
    info.remedy = "Check that nvidia-smi lists a GPU, and that the container passes it on.";
  } else {
    const char* text = nullptr;
    api.getErrorString(result, &text);
    info.reason = "The CUDA driver does not start: error " + std::to_string(result) +
                  (text ? ", " + std::string(text) : "") + ".";
    info.remedy = startRemedy(result);
  }
}

void loadNvrtc(Libraries& found) {
  auto& api = found.nvrtc;
  auto& info = found.nvrtcInfo;
  info.name = "NVRTC";
  info.remedy =
      "Install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or set "
      "BLOCKSCOPE_CUDA_PATH.";
  if (!load(Library::kNvrtc, {BLOCKSCOPE_NVRTC_FUNCTIONS(BLOCKSCOPE_SYMBOL)}, info)) return;
  api.version(&found.nvrtcMajor, &found.nvrtcMinor);
  info.version = std::to_string(found.nvrtcMajor) + "." + std::to_string(found.nvrtcMinor);
  info.found = true;
  info.remedy.clear();
}

// Of 130101 or 120805: major * 10000 + minor * 100 + patch.
std::string dottedVersion(size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

void loadCublasLt(Libraries& found) {
  auto& api = found.cublasLt;
  auto& info = found.cublasLtInfo;
  info.name = "cuBLASLt";
  info.remedy =
      "Install the CUDA toolkit or the Python package nvidia-cublas, or set BLOCKSCOPE_CUDA_PATH.";
  if (!load(Library::kCublasLt, {BLOCKSCOPE_CUBLASLT_FUNCTIONS(BLOCKSCOPE_SYMBOL)}, info)) return;
  info.version = dottedVersion(api.getVersion());
  info.found = true;
  info.remedy.clear();
}

void loadCupti(Libraries& found) {
  auto& api = found.cupti;
  auto& info = found.cuptiInfo;
  info.name = "CUPTI";
  info.remedy =
      "Install the CUDA toolkit or the Python package nvidia-cuda-cupti; without it events alone "
      "are used.";
  if (!load(Library::kCupti, {BLOCKSCOPE_CUPTI_FUNCTIONS(BLOCKSCOPE_SYMBOL)}, info)) return;
  uint32_t version = 0;
  api.getVersion(&version);
  // Older ones count: 22.
  info.version = version < 10000 ? std::to_string(version) : dottedVersion(version);
  info.found = true;
  info.remedy.clear();
}

void loadNvml(Libraries& found) {
  auto& api = found.nvml;
  auto& info = found.nvmlInfo;
  info.name = "NVML";
  info.remedy =
      "It comes with the NVIDIA driver; without it clocks, power and temperature are not shown.";
  if (!load(Library::kNvml, {BLOCKSCOPE_NVML_FUNCTIONS(BLOCKSCOPE_SYMBOL)}, info)) return;
  if (const int result = api.init(); result != 0) {
    info.reason = "NVML does not start: error " + std::to_string(result) + ".";
    if (result == nvml::kLibraryMismatch)
      info.reason = "NVML is of another version than the loaded driver (error 18).";
    info.remedy =
        "Check that nvidia-smi works; after an update of the driver, restart the machine.";
    return;
  }
  char version[96] = {};
  api.systemGetDriverVersion(version, sizeof version);
  info.version = version;
  info.found = true;
  info.remedy.clear();
}

Libraries loadAll() {
  Libraries found;
  loadDriver(found);
  loadNvrtc(found);
  loadCublasLt(found);
  loadCupti(found);
  loadNvml(found);
  return found;
}

}  // namespace

const Libraries& libraries() {
  static Libraries found = loadAll();  // a test puts a stand-in there
  return found;
}

std::string describeResult(int result) {
  const auto& api = libraries().driver;
  const char *name = nullptr, *text = nullptr;
  if (api.getErrorName) api.getErrorName(result, &name);
  if (api.getErrorString) api.getErrorString(result, &text);
  return std::to_string(result) +
         (name ? " (" + std::string(name) + (text ? ": " + std::string(text) : "") + ")" : "");
}

void check(int result, const std::string& what) {
  if (result != driver::kSuccess)
    throw Error(ErrorKind::kDevice, what + " failed: CUDA error " + describeResult(result) + ".");
}

std::string versionText(int cudaVersion) {
  return std::to_string(cudaVersion / 1000) + "." + std::to_string(cudaVersion % 1000 / 10);
}

std::string tooOldSentence(int version) {
  return "The NVIDIA driver supports CUDA " + versionText(version) + " at most; CUDA " +
         versionText(kMinimumDriverVersion) + " is needed.";
}

}  // namespace blockscope::cuda
