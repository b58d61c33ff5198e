#include "processFacts.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "json.h"

namespace blockscope::inject {

namespace {

std::vector<std::string> arguments() {
  std::string all;
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    char part[4096];
    for (ssize_t size; (size = read(file, part, sizeof part)) > 0;)
      all.append(part, static_cast<size_t>(size));
    close(file);
  }
  std::vector<std::string> words;
  for (size_t at = 0; at < all.size();) {
    words.emplace_back(all.c_str() + at);
    at += words.back().size() + 1;
  }
  return words;
}

std::string linkTarget(const char* path) {
  char text[PATH_MAX];
  const ssize_t size = readlink(path, text, sizeof text);
  return std::string(text, size > 0 ? static_cast<size_t>(size) : 0);
}

std::string_view lastPart(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The first of the variables that holds a number; -1 for none.
int64_t firstNumber(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') continue;
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*end == '\0' && value >= 0) return value;
  }
  return -1;
}

}  // namespace

std::string processFacts() {
  JsonLine line;
  line.text("program", linkTarget("/proc/self/exe")).texts("arguments", arguments());
  // torchrun, Slurm, Open MPI.
  const int64_t rank = firstNumber({"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"});
  const int64_t size = firstNumber({"WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE"});
  const int64_t local = firstNumber({"LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK"});
  if (rank >= 0) line.number("rank", rank);
  if (size >= 0) line.number("worldSize", size);
  if (local >= 0) line.number("localRank", local);
  return line.take();
}

bool isProgramNamed(const std::string& name) {
  if (name.empty() || lastPart(linkTarget("/proc/self/exe")) == name) return true;
  const auto words = arguments();
  // The script of an interpreter is its first argument that is no flag.
  for (size_t at = 0; at < words.size(); at++) {
    if (at > 0 && words[at].starts_with('-')) continue;
    if (lastPart(words[at]) == name) return true;
    if (at > 0) break;
  }
  return false;
}

}  // namespace blockscope::inject
