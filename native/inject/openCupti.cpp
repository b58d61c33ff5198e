#include "openCupti.h"

#include <dlfcn.h>

#include <vector>

#include "../cuda/librarySearch.h"
#include "deviceFacts.h"

namespace blockscope::inject {

namespace {

constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12"};

// The name of the first function that is missing; null where all are there.
const char* resolve(void* library, cupti::Api& api) {
#define BLOCKSCOPE_RESOLVE(member, symbol, parameters)                         \
  api.member = reinterpret_cast<decltype(api.member)>(dlsym(library, symbol)); \
  if (api.member == nullptr) return symbol;
  BLOCKSCOPE_INJECT_CUPTI(BLOCKSCOPE_RESOLVE)
#undef BLOCKSCOPE_RESOLVE
  return nullptr;
}

std::string fileOf(const cupti::Api& api, const std::string& asked) {
  Dl_info info;
  return dladdr(reinterpret_cast<const void*>(api.getVersion), &info) != 0 && info.dli_fname
             ? info.dli_fname
             : asked;
}

// CUDA's release that a copy is of; 0 where it does not say. Before 13.0 versions were counted up.
uint32_t releaseOf(uint32_t version, const std::string& path) {
  if (version >= 100000) return version / 10000;
  return path.find(".so.12") != std::string::npos ? 12 : 0;
}

// Whether the search ends here: with this copy, or because another would be refused for the same.
bool tryCopy(void* library, const std::string& file, cupti::Api& api, cupti::Callback callback,
             OpenedCupti& opened) {
  if (const char* missing = resolve(library, api)) {
    opened.reason = file + " has no function " + missing + ": it is too old.";
    return false;
  }
  opened.path = fileOf(api, file);
  api.getVersion(&opened.version);
  const int error = api.subscribe(&opened.subscriber, callback, nullptr);
  opened.isOpen = error == cupti::kSuccess;
  if (opened.isOpen) return true;
  opened.error = error;
  if (error == cupti::kErrorMultipleSubscribers) {
    opened.reason = "another profiler already holds CUPTI in this process (error 39).";
    return true;
  }
  const char* name = nullptr;
  api.getResultString(error, &name);
  opened.reason = opened.path + " does not start: " + (name ? name : "unknown") + " (error " +
                  std::to_string(error) + ")" + olderDriver(opened) + ".";
  return false;
}

}  // namespace

std::string olderDriver(const OpenedCupti& opened) {
  const auto driver = static_cast<uint32_t>(driverVersion());
  const uint32_t release = releaseOf(opened.version, opened.path);
  if (driver == 0 || driver / 1000 >= release) return "";
  const std::string own = std::to_string(driver / 1000);
  std::string said = ": it is of CUDA " + std::to_string(release) + " and the driver of " + own +
                     "." + std::to_string(driver % 1000 / 10) +
                     ", which is too old for it: update the driver";
  if (driver >= 12000)
    said += ", or set BLOCKSCOPE_CUDA_PATH to a folder with the CUPTI of CUDA " + own;
  return said;
}

OpenedCupti openCupti(cupti::Api& api, cupti::Callback callback) {
  OpenedCupti opened;
  for (const char* name : kNames)
    if (void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD))
      if (tryCopy(library, name, api, callback, opened)) return opened;
  const auto environment = cuda::SearchEnvironment::ofThisProcess();
  for (const std::string& file : cuda::candidateFiles(cuda::Library::kCupti, environment)) {
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    if (tryCopy(library, file, api, callback, opened)) return opened;
    dlclose(library);
  }
  if (opened.reason.empty())
    opened.reason =
        "no libcupti.so.13 or libcupti.so.12 was found: install the CUDA toolkit or the Python "
        "package nvidia-cuda-cupti, or set BLOCKSCOPE_CUDA_PATH to a folder that holds it.";
  return opened;
}

}  // namespace blockscope::inject
