// Bytes of a file by position, from any thread. Errors are Error(kUsage) for what a person can mend
// (no file, no room).
#pragma once

#include <cstdint>
#include <string>

namespace blockscope {

class FileBytes {
 public:
  enum class Access { kRead, kWrite };
  // The file must exist. `path` is UTF-8.
  FileBytes(std::string path, Access);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  // All `count` bytes or an Error.
  void read(int64_t position, uint8_t* to, int64_t count) const;
  void write(int64_t position, const uint8_t* from, int64_t count) const;

 private:
  std::string path_;
  intptr_t handle_;
};

}  // namespace blockscope
