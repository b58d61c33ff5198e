#include "shardWriter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "clock.h"

namespace blockscope::inject {

namespace {

constexpr size_t kBlockBytes = 64 << 10;

// A file beyond `ulimit -f` would end the program by a signal; here it is an error like a full
// disk.
class WithoutFileSizeSignal {
 public:
  WithoutFileSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~WithoutFileSizeSignal() {
    const timespec now{};
    if (sigismember(&before_, SIGXFSZ) == 0) sigtimedwait(&signal_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t signal_, before_;
};

// Everything or nothing; what a full disk took of it is given back.
bool writeWhole(int file, uint64_t at, const BlockHeader& header, const std::vector<uint8_t>& bytes,
                size_t padding) {
  static constexpr char kZeros[8] = {};
  const size_t total = sizeof header + bytes.size() + padding;
  const WithoutFileSizeSignal guard;
  size_t done = 0;
  while (done < total) {
    iovec parts[3] = {{const_cast<BlockHeader*>(&header), sizeof header},
                      {const_cast<uint8_t*>(bytes.data()), bytes.size()},
                      {const_cast<char*>(kZeros), padding}};
    size_t skip = done;
    for (iovec& part : parts) {
      const size_t taken = skip < part.iov_len ? skip : part.iov_len;
      part.iov_base = static_cast<char*>(part.iov_base) + taken;
      part.iov_len -= taken;
      skip -= taken;
    }
    const ssize_t written = pwritev(file, parts, 3, static_cast<off_t>(at + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      // Readers stop at a block that is not whole: what is written over it later must begin there.
      [[maybe_unused]] const int ignored = ftruncate(file, static_cast<off_t>(at));
      return false;
    }
    done += static_cast<size_t>(written);
  }
  return true;
}

}  // namespace

int ShardWriter::open(const std::string& folder) {
  const WithoutFileSizeSignal guard;
  const uint64_t now = realTimeNs();
  const std::string name =
      folder + "/" + std::to_string(getpid()) + "-" + std::to_string(now / 1000000) + ".shard";
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  // The page must be there: a write through the mapping to a full disk would be a SIGBUS.
  if (const int error = posix_fallocate(file, 0, kHeaderBytes)) {
    ::close(file);
    unlink(name.c_str());
    return error;
  }
  void* page = mmap(nullptr, kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) {
    const int error = errno;
    ::close(file);
    unlink(name.c_str());
    return error;
  }
  file_ = file;
  end_ = kHeaderBytes;
  header_ = static_cast<ShardHeader*>(page);
  header_->version = kShardVersion;
  header_->headerBytes = kHeaderBytes;
  header_->pid = static_cast<uint32_t>(getpid());
  header_->parentPid = static_cast<uint32_t>(getppid());
  header_->startNs = now;
  header_->state = ShardState::kWaiting;
  // Last: who sees it sees a whole header.
  std::memcpy(header_->magic, kShardMagic, sizeof kShardMagic);
  return 0;
}

void ShardWriter::forget() {
  if (header_ != nullptr) munmap(header_, kHeaderBytes);
  if (file_ >= 0) ::close(file_);
  header_ = nullptr;
  file_ = -1;
  for (Buffer* buffer : {&texts_, &launches_, &ranges_, &kernels_, &memory_, &graphs_})
    buffer->bytes.clear();
}

void ShardWriter::text(std::string_view line) {
  if (!isOpen()) return;
  append(texts_, line.data(), line.size());
  texts_.bytes.push_back('\n');
}

void ShardWriter::append(Buffer& buffer, const void* bytes, size_t size) {
  if (!isOpen()) return;
  if (buffer.bytes.size() + size > kBlockBytes) flush();
  const auto* from = static_cast<const uint8_t*>(bytes);
  buffer.bytes.insert(buffer.bytes.end(), from, from + size);
}

void ShardWriter::flush() {
  if (!isOpen()) return;
  for (Buffer* buffer : {&texts_, &launches_, &ranges_, &kernels_, &memory_, &graphs_})
    if (!buffer->bytes.empty()) write(*buffer);
}

void ShardWriter::write(Buffer& buffer) {
  const size_t size = buffer.bytes.size();
  const size_t padding = (8 - size % 8) % 8;
  const uint32_t records =
      buffer.recordBytes == 0 ? 0 : static_cast<uint32_t>(size / buffer.recordBytes);
  const BlockHeader block{kBlockMagic, buffer.kind, static_cast<uint32_t>(size), records};
  if (writeWhole(file_, end_, block, buffer.bytes, padding)) {
    end_ += sizeof block + size + padding;
    header_->bodyBytes = end_ - kHeaderBytes;
  } else {
    // Without its names a record says nothing: they wait for room, up to a bound.
    if (buffer.kind == BlockKind::kText && size < 16 * kBlockBytes) return;
    header_->counters[buffer.lost] += records == 0 ? 1 : records;
  }
  buffer.bytes.clear();
}

}  // namespace blockscope::inject
