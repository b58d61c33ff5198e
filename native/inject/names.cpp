#include "names.h"

#include <fcntl.h>
#include <unistd.h>

#include "json.h"

namespace blockscope::inject {

namespace {

// As the system names the thread; empty where it says nothing.
std::string threadName(uint32_t tid) {
  const std::string path = "/proc/self/task/" + std::to_string(tid) + "/comm";
  char text[64];
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  const ssize_t size = read(file, text, sizeof text);
  close(file);
  std::string name(text, size > 0 ? static_cast<size_t>(size) : 0);
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

}  // namespace

uint32_t Names::path(uint32_t parent, std::string_view name, PathKind kind) {
  auto& children = childPaths_[uint64_t{parent} << 1 | static_cast<uint64_t>(kind)];
  if (const auto found = children.find(name); found != children.end()) return found->second;
  paths_.push_back({parent, kind, std::string(name)});
  const auto id = static_cast<uint32_t>(paths_.size());
  children.emplace(name, id);
  writePath(id);
  return id;
}

void Names::writePath(uint32_t id) const {
  const Path& path = paths_[id - 1];
  JsonLine line;
  line.number("path", id).number("parent", path.parent).text("name", path.name);
  if (path.kind == PathKind::kPython) line.number("python", 1);
  shard_.text(line.take());
}

uint32_t Names::below(uint32_t parent, uint32_t ranges) {
  if (ranges == 0) return parent;
  // Copied: what is appended moves the others.
  const Path own = paths_[ranges - 1];
  return path(below(parent, own.parent), own.name);
}

void Names::writePaths() {
  for (uint32_t id = 1; id <= paths_.size(); id++) writePath(id);
}

uint32_t Names::thread(uint32_t tid) {
  const auto [found, isNew] = threads_.try_emplace(tid, static_cast<uint32_t>(threads_.size()));
  if (isNew)
    shard_.text(JsonLine()
                    .number("thread", found->second)
                    .number("tid", tid)
                    .text("name", threadName(tid))
                    .take());
  return found->second;
}

uint16_t Names::call(const char* function) {
  const std::string_view name(function == nullptr ? "" : function);
  if (const auto found = calls_.find(name); found != calls_.end()) return found->second;
  const auto id = static_cast<uint16_t>(calls_.size());
  calls_.emplace(name, id);
  shard_.text(JsonLine().number("call", id).text("name", name).take());
  return id;
}

uint32_t Names::kernelName(std::string_view name) {
  if (const auto found = kernels_.find(name); found != kernels_.end()) return found->second;
  const auto id = static_cast<uint32_t>(kernels_.size());
  const auto made = kernels_.emplace(name, id).first;
  kernelNames_.push_back(&made->first);
  shard_.text(JsonLine().number("kernel", id).text("name", name).take());
  return id;
}

uint32_t Names::shape(uint32_t kernel, const LaunchShape& shape) {
  const auto& [grid, block, cluster, registers, staticShared, dynamicShared, local] = shape;
  const std::array<int64_t, 14> key{kernel,    grid[0],      grid[1],       grid[2],    block[0],
                                    block[1],  block[2],     cluster[0],    cluster[1], cluster[2],
                                    registers, staticShared, dynamicShared, local};
  const auto [found, isNew] = shapes_.try_emplace(key, static_cast<uint32_t>(shapes_.size()));
  if (isNew)
    shard_.text(JsonLine()
                    .number("shape", found->second)
                    .number("kernel", kernel)
                    .numbers("grid", {grid[0], grid[1], grid[2]})
                    .numbers("block", {block[0], block[1], block[2]})
                    .numbers("cluster", {cluster[0], cluster[1], cluster[2]})
                    .number("registers", registers)
                    .numbers("shared", {staticShared, dynamicShared})
                    .number("local", local)
                    .take());
  return found->second;
}

uint32_t Names::place(uint32_t device, uint32_t context, uint32_t stream) {
  const std::array<int64_t, 3> key{device, context, stream};
  const auto [found, isNew] = places_.try_emplace(key, static_cast<uint32_t>(places_.size()));
  if (isNew)
    shard_.text(JsonLine()
                    .number("place", found->second)
                    .number("device", device)
                    .number("context", context)
                    .number("stream", stream)
                    .take());
  return found->second;
}

void Names::forget() {
  threads_.clear();
  calls_.clear();
  kernels_.clear();
  kernelNames_.clear();
  shapes_.clear();
  places_.clear();
}

}  // namespace blockscope::inject
