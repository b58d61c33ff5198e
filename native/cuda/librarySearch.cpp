#include "librarySearch.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace blockscope::cuda {

namespace fs = std::filesystem;

namespace {

#ifdef _WIN32
constexpr char kPathSeparator = ';';
#else
constexpr char kPathSeparator = ':';
#endif

std::vector<std::string> fileNames(Library library) {
#ifdef _WIN32
  switch (library) {
    case Library::kDriver:
      return {"nvcuda.dll"};
    case Library::kNvrtc:
      return {"nvrtc64_130_0.dll", "nvrtc64_120_0.dll"};
    case Library::kCublasLt:
      return {"cublasLt64_13.dll", "cublasLt64_12.dll"};
    case Library::kCupti:
      return {"cupti64_2025.3.1.dll", "cupti64_2025.3.0.dll", "cupti64_2025.1.1.dll",
              "cupti64_2024.3.2.dll"};
    case Library::kNvml:
      return {"nvml.dll"};
  }
#else
  switch (library) {
    case Library::kDriver:
      return {"libcuda.so.1"};
    case Library::kNvrtc:
      return {"libnvrtc.so.13", "libnvrtc.so.12"};
    case Library::kCublasLt:
      return {"libcublasLt.so.13", "libcublasLt.so.12"};
    case Library::kCupti:
      return {"libcupti.so.13", "libcupti.so.12"};
    case Library::kNvml:
      return {"libnvidia-ml.so.1"};
  }
#endif
  return {};
}

void addToolkit(const std::string& root, std::vector<std::string>& folders) {
  if (root.empty()) return;
#ifdef _WIN32
  for (const char* part : {"bin/x64", "bin", "extras/CUPTI/lib64"})
    folders.push_back(root + "/" + part);
#else
  for (const char* part :
       {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "extras/CUPTI/lib64"})
    folders.push_back(root + "/" + part);
  folders.push_back(root);
#endif
}

// Python wheels: nvidia/cu13/lib (CUDA 13), nvidia/cuda_nvrtc/lib and the like (CUDA 12).
void addSitePackages(const std::string& sitePackages, const SearchEnvironment& environment,
                     std::vector<std::string>& folders) {
  for (const std::string& package : environment.subfolders(sitePackages + "/nvidia")) {
    folders.push_back(package + "/lib");
#ifdef _WIN32
    folders.push_back(package + "/bin/x86_64");
    folders.push_back(package + "/bin");
#endif
  }
}

void addPythonPrefix(const std::string& prefix, const SearchEnvironment& environment,
                     std::vector<std::string>& folders) {
  if (prefix.empty()) return;
#ifdef _WIN32
  addSitePackages(prefix + "/Lib/site-packages", environment, folders);
#else
  for (const std::string& version : environment.subfolders(prefix + "/lib")) {
    if (fs::path(version).filename().string().rfind("python3", 0) != 0) continue;
    addSitePackages(version + "/site-packages", environment, folders);
    addSitePackages(version + "/dist-packages", environment, folders);
  }
#endif
}

std::vector<std::string> searchFolders(const SearchEnvironment& environment) {
  std::vector<std::string> folders;
  for (const char* variable : {"BLOCKSCOPE_CUDA_PATH", "CUDA_HOME", "CUDA_PATH"})
    addToolkit(environment.variable(variable), folders);
#ifndef _WIN32
  addToolkit("/usr/local/cuda", folders);
  auto versions = environment.subfolders("/usr/local");
  std::reverse(versions.begin(), versions.end());
  for (const std::string& folder : versions)
    if (fs::path(folder).filename().string().rfind("cuda-", 0) == 0) addToolkit(folder, folders);
  addToolkit("/opt/cuda", folders);
#endif
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    addPythonPrefix(environment.variable(variable), environment, folders);
  std::stringstream path(environment.variable("PATH"));
  for (std::string folder; std::getline(path, folder, kPathSeparator);) {
    const fs::path bin(folder);
    if (bin.filename() == "bin" || bin.filename() == "Scripts")
      addPythonPrefix(bin.parent_path().string(), environment, folders);
  }
  const std::string home = environment.variable("HOME");
  if (!home.empty()) addPythonPrefix(home + "/.local", environment, folders);
  return folders;
}

}  // namespace

SearchEnvironment SearchEnvironment::ofThisProcess() {
  return {[](const char* name) {
            const char* value = std::getenv(name);
            return std::string(value ? value : "");
          },
          [](const std::string& folder) {
            std::vector<std::string> found;
            std::error_code error;
            for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
                 entry.increment(error)) {
              std::error_code ignored;
              if (entry->is_directory(ignored)) found.push_back(entry->path().string());
            }
            std::sort(found.begin(), found.end());
            return found;
          }};
}

std::vector<std::string> candidateFiles(Library library, const SearchEnvironment& environment) {
  std::vector<std::string> files;
  const auto names = fileNames(library);
  auto add = [&](const std::string& folder) {
    for (const std::string& name : names) {
      const std::string file = folder + "/" + name;
      if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    }
  };
  const bool fromDriver = library == Library::kDriver || library == Library::kNvml;
  // The driver's own libraries are the system's business; the stubs of a toolkit must not be taken
  // for them.
  if (!fromDriver)
    for (const std::string& folder : searchFolders(environment)) add(folder);
  files.insert(files.end(), names.begin(), names.end());
#ifndef _WIN32
  if (fromDriver)
    for (const char* folder :
         {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"})
      add(folder);
#endif
  return files;
}

}  // namespace blockscope::cuda
