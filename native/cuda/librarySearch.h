// Where the CUDA libraries may lie: what the user names, the toolkit, Python wheels, the driver.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace blockscope::cuda {

enum class Library { kDriver, kNvrtc, kCublasLt, kCupti, kNvml };

// The environment and the file system as the search sees them; tests put their own in.
struct SearchEnvironment {
  std::function<std::string(const char*)> variable;  // empty when unset
  // paths of the folders in a folder, sorted
  std::function<std::vector<std::string>(const std::string&)> subfolders;
  static SearchEnvironment ofThisProcess();
};

// Candidate files, best first: BLOCKSCOPE_CUDA_PATH, CUDA_HOME, CUDA_PATH, the usual toolkit
// folders, Python's site-packages/nvidia/*/lib (of the virtual environment, conda, every python on
// PATH, the user), then bare names.
std::vector<std::string> candidateFiles(Library, const SearchEnvironment&);

}  // namespace blockscope::cuda
