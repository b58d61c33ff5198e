#include "fileBytes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "../core/backend.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace blockscope {

namespace {

// No system reads or writes 2 GB or more at once.
constexpr int64_t kMostAtOnce = 1 << 30;

[[noreturn]] void fail(const std::string& path, const char* what, int code) {
#if defined(_WIN32)
  const bool full = code == ERROR_DISK_FULL || code == ERROR_HANDLE_DISK_FULL;
#else
  const bool full = code == ENOSPC || code == EDQUOT;
#endif
  if (full)
    throw Error(ErrorKind::kDevice, "The disk is full: " + path +
                                        " could not be written. Free some space and run the same "
                                        "command again; it goes on from where it stopped.");
  throw Error(ErrorKind::kUsage,
              path + " " + what + ": " + std::system_category().message(code) + ".");
}

[[noreturn]] void failAtEnd(const std::string& path, int64_t position) {
  throw Error(ErrorKind::kUsage, path + " ended at byte " + std::to_string(position) + ".");
}

}  // namespace

#if defined(_WIN32)

FileBytes::FileBytes(std::string path, Access access) : path_(std::move(path)) {
  const auto wide = std::filesystem::path(std::u8string(path_.begin(), path_.end())).wstring();
  const HANDLE handle = CreateFileW(
      wide.c_str(), access == Access::kRead ? GENERIC_READ : GENERIC_WRITE,
      FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE)
    fail(path_, "cannot be opened", static_cast<int>(GetLastError()));
  handle_ = reinterpret_cast<intptr_t>(handle);
}

FileBytes::~FileBytes() { CloseHandle(reinterpret_cast<HANDLE>(handle_)); }

namespace {
OVERLAPPED at(int64_t position) {
  OVERLAPPED where{};
  where.Offset = static_cast<DWORD>(position);
  where.OffsetHigh = static_cast<DWORD>(position >> 32);
  return where;
}
}  // namespace

void FileBytes::read(int64_t position, uint8_t* to, int64_t count) const {
  while (count > 0) {
    OVERLAPPED where = at(position);
    DWORD done = 0;
    if (!ReadFile(reinterpret_cast<HANDLE>(handle_), to,
                  static_cast<DWORD>(std::min(count, kMostAtOnce)), &done, &where)) {
      if (GetLastError() == ERROR_HANDLE_EOF) failAtEnd(path_, position);
      fail(path_, "cannot be read", static_cast<int>(GetLastError()));
    }
    if (done == 0) failAtEnd(path_, position);
    position += done, to += done, count -= done;
  }
}

void FileBytes::write(int64_t position, const uint8_t* from, int64_t count) const {
  while (count > 0) {
    OVERLAPPED where = at(position);
    DWORD done = 0;
    if (!WriteFile(reinterpret_cast<HANDLE>(handle_), from,
                   static_cast<DWORD>(std::min(count, kMostAtOnce)), &done, &where))
      fail(path_, "cannot be written", static_cast<int>(GetLastError()));
    position += done, from += done, count -= done;
  }
}

#else

FileBytes::FileBytes(std::string path, Access access) : path_(std::move(path)) {
  const int handle =
      open(path_.c_str(), (access == Access::kRead ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
  if (handle < 0) fail(path_, "cannot be opened", errno);
  handle_ = handle;
}

FileBytes::~FileBytes() { close(static_cast<int>(handle_)); }

void FileBytes::read(int64_t position, uint8_t* to, int64_t count) const {
  while (count > 0) {
    const ssize_t done =
        pread(static_cast<int>(handle_), to, std::min(count, kMostAtOnce), position);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(path_, "cannot be read", errno);
    if (done == 0) failAtEnd(path_, position);
    position += done, to += done, count -= done;
  }
}

void FileBytes::write(int64_t position, const uint8_t* from, int64_t count) const {
  while (count > 0) {
    const ssize_t done =
        pwrite(static_cast<int>(handle_), from, std::min(count, kMostAtOnce), position);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(path_, "cannot be written", errno);
    position += done, from += done, count -= done;
  }
}

#endif

}  // namespace blockscope
