// Kernel sources to machine code: NVRTC for the device at hand, with a cache on disk.
#pragma once

#include <string>
#include <vector>

namespace blockscope::cuda {

struct CompileRequest {
  std::string what;  // "Kernel mma", begins the error
  std::string file;
  std::string target;  // "sm_90a"
  std::vector<std::string> options;
};

struct Compiled {
  std::string image;  // cubin
  double seconds = 0;
  bool fromCache = false;
};

// The source with every file it includes by #include "...", each once, for identity. Throws
// Error(kUsage) when the file cannot be read.
std::string readSources(const std::string& file);

// What a compiled kernel is made of, each part told from the next.
std::string identityOf(const std::string& sources, const std::string& target,
                       const std::vector<std::string>& options);

// Throws Error(kCompile) with the compiler's log, Error(kUnavailable) without NVRTC.
// `cacheDirectory` may be empty.
Compiled compile(const CompileRequest&, const std::string& cacheDirectory);

}  // namespace blockscope::cuda
