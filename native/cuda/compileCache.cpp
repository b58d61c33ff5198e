#include "compileCache.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace blockscope::cuda {

namespace fs = std::filesystem;

namespace {

// What a file begins with. The sizes tell a file that was cut off.
std::string header(const std::string& identity, size_t imageBytes) {
  return std::to_string(identity.size()) + " " + std::to_string(imageBytes) + "\n" + identity;
}

}  // namespace

std::string cacheFile(const std::string& directory, const std::string& identity) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, 64 bits
  for (const char byte : identity) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  char name[32];
  std::snprintf(name, sizeof name, "%016llx.kernel", static_cast<unsigned long long>(hash));
  return (fs::path(directory) / name).string();
}

std::string readCached(const std::string& directory, const std::string& identity) {
  std::ifstream file(cacheFile(directory, identity), std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  size_t identityBytes = 0, imageBytes = 0;
  if (std::sscanf(all.substr(0, 48).c_str(), "%zu %zu", &identityBytes, &imageBytes) != 2)
    return "";
  const std::string begin = header(identity, imageBytes);
  if (all.size() != begin.size() + imageBytes || all.compare(0, begin.size(), begin) != 0)
    return "";
  return all.substr(begin.size());
}

// Written beside and renamed, so that two processes at once never see half a file.
bool writeCached(const std::string& directory, const std::string& identity,
                 const std::string& image) {
  const fs::path file = cacheFile(directory, identity);
  std::error_code error;
  fs::create_directories(directory, error);
  const fs::path temporary = file.string() + "." + std::to_string(std::random_device{}());
  {
    std::ofstream out(temporary, std::ios::binary);
    out << header(identity, image.size()) << image;
    if (!out) {
      out.close();
      fs::remove(temporary, error);
      return false;
    }
  }
  fs::rename(temporary, file, error);
  if (!error) return true;
  fs::remove(temporary, error);
  return false;
}

std::string CompileCache::imageOf(const std::string& identity,
                                  const std::function<std::string()>& compile) const {
  {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return !inWork_.contains(identity); });
    if (const auto kept = inMemory_.find(identity); kept != inMemory_.end()) return kept->second;
    if (const auto log = refused_.find(identity); log != refused_.end())
      throw RefusedSource(log->second);
    inWork_.insert(identity);
  }
  // However it ends, whoever waits goes on.
  struct Ending {
    const CompileCache& cache;
    const std::string& identity;
    ~Ending() {
      {
        const std::lock_guard lock(cache.mutex_);
        cache.inWork_.erase(identity);
      }
      cache.ended_.notify_all();
    }
  } const ending{*this, identity};
  return keptOrMade(identity, compile);
}

std::string CompileCache::keptOrMade(const std::string& identity,
                                     const std::function<std::string()>& compile) const {
  std::string image = directory_.empty() ? "" : readCached(directory_, identity);
  if (!image.empty()) return image;
  const auto start = std::chrono::steady_clock::now();
  try {
    image = compile();
  } catch (const RefusedSource& error) {
    const std::lock_guard lock(mutex_);
    refused_[identity] = error.what();
    throw;
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const bool isWritten = !directory_.empty() && writeCached(directory_, identity, image);
  const std::lock_guard lock(mutex_);
  seconds_[identity] = taken.count();
  if (!isWritten) inMemory_[identity] = image;
  return image;
}

double CompileCache::tellSeconds(const std::string& identity) const {
  const std::lock_guard lock(mutex_);
  const auto node = seconds_.extract(identity);
  return node.empty() ? 0 : node.mapped();
}

}  // namespace blockscope::cuda
