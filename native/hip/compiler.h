// Kernel sources to code objects: hipRTC for the GPU at hand, with a cache on disk.
#pragma once

#include <string>
#include <vector>

namespace blockscope::hip {

struct CompileRequest {
  std::string what;  // "Kernel mfma-scale-16", begins the error
  std::string file;
  std::string target;  // "gfx950"
  std::vector<std::string> options;
};

struct Compiled {
  std::string image;  // ELF code object
  double seconds = 0;
  bool fromCache = false;
};

// Throws Error(kCompile) with the compiler's log, Error(kUnavailable) without hipRTC.
// `cacheDirectory` may be empty.
Compiled compile(const CompileRequest&, const std::string& cacheDirectory);

}  // namespace blockscope::hip
