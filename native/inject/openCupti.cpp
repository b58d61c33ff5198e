#include "openCupti.h"

#include <dlfcn.h>

#include <vector>

#include "../cuda/librarySearch.h"

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
                  std::to_string(error) + ").";
  return false;
}

}  // namespace

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
