#include "dynamicLibrary.h"

#include <filesystem>

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <dlfcn.h>
#ifdef __linux__
#include <link.h>
#endif
#endif

namespace blockscope {

namespace {

#ifdef _WIN32
void* openFile(const std::string& file) {
  // Its own folder is searched for what it needs, as for a program started there.
  const bool absolute = std::filesystem::path(file).is_absolute();
  return LoadLibraryExA(file.c_str(), nullptr, absolute ? LOAD_WITH_ALTERED_SEARCH_PATH : 0);
}
std::string lastError() { return "Windows error " + std::to_string(GetLastError()); }
std::string pathOf(void* handle, const std::string& file) {
  char path[MAX_PATH];
  const DWORD length = GetModuleFileNameA(static_cast<HMODULE>(handle), path, MAX_PATH);
  return length > 0 && length < MAX_PATH ? std::string(path, length) : file;
}
#else
void* openFile(const std::string& file) { return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); }
std::string lastError() {
  const char* text = dlerror();
  return text ? text : "unknown error";
}
#ifdef __linux__
std::string pathOf(void* handle, const std::string& file) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name)
    return map->l_name;
  return file;
}
#else
std::string pathOf(void*, const std::string& file) { return file; }
#endif
#endif

}  // namespace

DynamicLibrary DynamicLibrary::open(const std::vector<std::string>& candidates) {
  DynamicLibrary library;
  for (const std::string& file : candidates) {
    std::error_code ignored;
    const bool absolute = std::filesystem::path(file).is_absolute();
    if (absolute && !std::filesystem::exists(file, ignored)) continue;
    if (void* handle = openFile(file)) {
      library.handle_ = handle;
      library.path_ = pathOf(handle, file);
      library.loadError_.clear();
      return library;
    }
    const std::string error = lastError();
    if (absolute) library.loadError_ = error;
  }
  return library;
}

void* DynamicLibrary::symbol(const char* name) const {
#ifdef _WIN32
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name));
#else
  return dlsym(handle_, name);
#endif
}

bool loadLibrary(const std::vector<std::string>& candidates, const std::vector<Symbol>& symbols,
                 LibraryInfo& info) {
  const auto opened = DynamicLibrary::open(candidates);
  if (!opened.loaded()) {
    info.reason = opened.loadError().empty()
                      ? info.name + " was not found on this machine."
                      : info.name + " does not load: " + opened.loadError() + ".";
    return false;
  }
  info.path = opened.path();
  for (const Symbol& symbol : symbols) {
    *symbol.target = opened.symbol(symbol.name);
    if (*symbol.target || !symbol.needed) continue;
    info.reason = info.path + " has no function " + symbol.name + ": it is too old.";
    return false;
  }
  return true;
}

}  // namespace blockscope
