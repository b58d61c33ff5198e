// Kernel sources to machine code: NVRTC for the device at hand, with a cache on disk.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../core/backend.h"
#include "compileCache.h"

namespace blockscope::cuda {

struct CompileRequest {
  std::string what;  // "Kernel mma", begins the error
  std::string file;
  std::string target;  // "sm_90a"
  std::vector<std::string> options;
};

struct Compiled {
  std::string image;
  std::string identity;  // under which the cache has it
};

// The source with every file it includes by #include "...", each once, for identity. Throws
// Error(kUsage) when the file cannot be read.
std::string readSources(const std::string& file);

// What a compiled kernel is made of, each part told from the next.
std::string identityOf(const std::string& sources, const std::string& target,
                       const std::vector<std::string>& options);

// Throws Error(kCompile) with the compiler's log, Error(kUnavailable) without NVRTC.
Compiled compile(const CompileRequest&, const CompileCache&);

// Machine code of the cache, else of `make`.
Compiled fromCache(const CompileCache&, const CompileRequest&, const std::string& identity,
                   const std::function<std::string()>& make);

// NVRTC_ERROR_COMPILATION, and hipRTC's of this name.
constexpr int kNotCompiled = 6;

// Calls `compileOne` for each different request, on as many threads as there are cores, at most 16.
// A request that does not compile is passed over: whoever needs it is told.
void compileSideBySide(std::vector<CompileRequest>,
                       const std::function<void(const CompileRequest&)>& compileOne,
                       const CancelFlag&, const Progress&);

}  // namespace blockscope::cuda
