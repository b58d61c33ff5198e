// Compiled kernels on disk. A file holds the whole identity it was compiled from beside the machine
// code: only the very same source, target, options and compiler get it back.
#pragma once

#include <string>

namespace blockscope::cuda {

// Path of the file in which an identity's machine code lies. Other identities may share it.
std::string cacheFile(const std::string& directory, const std::string& identity);
// The machine code kept for an identity; empty: none, another's, or a damaged file.
std::string readCached(const std::string& directory, const std::string& identity);
// A cache that cannot be written only costs time.
void writeCached(const std::string& directory, const std::string& identity,
                 const std::string& image);

}  // namespace blockscope::cuda
