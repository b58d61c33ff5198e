// Compiled kernels, on disk and shared by all who ask at the same time. A file holds the whole
// identity it was compiled from beside the machine code: only the very same source, target, options
// and compiler get it back.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

namespace blockscope::cuda {

// Path of the file in which an identity's machine code lies. Other identities may share it.
std::string cacheFile(const std::string& directory, const std::string& identity);
// The machine code kept for an identity; empty: none, another's, or a damaged file.
std::string readCached(const std::string& directory, const std::string& identity);
// Whether it was written: a folder may refuse it.
bool writeCached(const std::string& directory, const std::string& identity,
                 const std::string& image);

// The compiler refused a source, with its log. It will again.
class RefusedSource : public std::runtime_error {
  using runtime_error::runtime_error;
};

class CompileCache {
 public:
  // `directory`: where machine code is kept; empty: in memory alone.
  CompileCache(std::string directory) : directory_(std::move(directory)) {}

  // The machine code of an identity. `compile` makes it where there is none yet: once, however many
  // ask on however many threads. What it throws is thrown here; the next who asks tries anew, and
  // is thrown the same where a source was refused.
  std::string imageOf(const std::string& identity,
                      const std::function<std::string()>& compile) const;
  // Seconds that its compile took; 0 for a machine code that lay there, and once they were told.
  double tellSeconds(const std::string& identity) const;

 private:
  std::string keptOrMade(const std::string& identity,
                         const std::function<std::string()>& compile) const;

  const std::string directory_;
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  mutable std::set<std::string> inWork_;
  // What the folder did not take.
  mutable std::map<std::string, std::string> inMemory_;
  mutable std::map<std::string, std::string> refused_;
  mutable std::map<std::string, double> seconds_;
};

}  // namespace blockscope::cuda
