// A shared library opened at run time, on Linux and Windows; never closed, since GPU libraries do
// not survive it.
#pragma once

#include <string>
#include <vector>

#include "backend.h"

namespace blockscope {

class DynamicLibrary {
 public:
  // Opens the first of `candidates` (absolute paths, or names for the system's own search) that
  // loads.
  static DynamicLibrary open(const std::vector<std::string>& candidates);

  bool loaded() const { return handle_ != nullptr; }
  // File that was loaded, as the system reports it where it can.
  const std::string& path() const { return path_; }
  // Why the last candidate that exists did not load; empty when none exists.
  const std::string& loadError() const { return loadError_; }
  // nullptr when the library has no such symbol.
  void* symbol(const char* name) const;

 private:
  void* handle_ = nullptr;
  std::string path_, loadError_;
};

struct Symbol {
  const char* name;
  void** target;
  bool needed = true;
};

// Opens the first of `candidates` that loads and fills its table. A library without a symbol that
// is needed is too old or not the one meant. False: `info` has the reason.
bool loadLibrary(const std::vector<std::string>& candidates, const std::vector<Symbol>& symbols,
                 LibraryInfo& info);

}  // namespace blockscope
