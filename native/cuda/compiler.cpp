#include "compiler.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <regex>
#include <set>
#include <sstream>
#include <tuple>

#include "../core/threads.h"
#include "libraries.h"

namespace blockscope::cuda {

namespace fs = std::filesystem;

namespace {

std::string readFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorKind::kUsage, "The file " + path.string() + " cannot be read.");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void appendSources(const fs::path& path, const fs::path& root, std::set<std::string>& seen,
                   std::string& all) {
  if (!seen.insert(fs::weakly_canonical(path).string()).second) return;
  const std::string text = readFile(path);
  all += text + '\0';
  static const std::regex include("^[ \\t]*#[ \\t]*include[ \\t]*\"([^\"]+)\"");
  std::stringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, include)) continue;
    const fs::path beside = path.parent_path() / match[1].str(), fromRoot = root / match[1].str();
    if (fs::exists(beside)) appendSources(beside, root, seen, all);
    else if (fs::exists(fromRoot)) appendSources(fromRoot, root, seen, all);
  }
}

// A program that is destroyed in every case.
class Program {
 public:
  Program(const std::string& source, const std::string& name) {
    check(api_.createProgram(&program_, source.c_str(), name.c_str(), 0, nullptr, nullptr));
  }
  ~Program() { api_.destroyProgram(&program_); }

  std::string compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    const int result =
        api_.compileProgram(program_, static_cast<int>(pointers.size()), pointers.data());
    if (const std::string said = result == 0 ? "" : log(); !said.empty()) throw RefusedSource(said);
    if (result == kNotCompiled) throw RefusedSource(api_.getErrorString(result));
    check(result);
    size_t size = 0;
    check(api_.getCubinSize(program_, &size));
    std::string image(size, '\0');
    check(api_.getCubin(program_, image.data()));
    return image;
  }

 private:
  void check(int result) const {
    if (result != 0)
      throw Error(ErrorKind::kCompile,
                  std::string("NVRTC failed: ") + api_.getErrorString(result) + ".");
  }
  std::string log() const {
    size_t size = 0;
    if (api_.getProgramLogSize(program_, &size) != 0 || size < 2) return "";
    std::string text(size, '\0');
    api_.getProgramLog(program_, text.data());
    text.resize(size - 1);
    return text;
  }

  const nvrtc::Api& api_ = libraries().nvrtc;
  nvrtc::Program program_ = nullptr;
};

}  // namespace

std::string readSources(const std::string& file) {
  std::set<std::string> seen;
  std::string all;
  appendSources(file, fs::path(file).parent_path(), seen, all);
  return all;
}

std::string identityOf(const std::string& sources, const std::string& target,
                       const std::vector<std::string>& options) {
  std::string identity = sources + '\0' + target;
  for (const std::string& option : options) identity += '\0' + option;
  return identity;
}

Compiled fromCache(const CompileCache& cache, const CompileRequest& request,
                   const std::string& identity, const std::function<std::string()>& make) {
  try {
    return {cache.imageOf(identity, make), identity};
  } catch (const RefusedSource& error) {
    throw Error(ErrorKind::kCompile,
                request.what + " does not compile for " + request.target + ":\n" + error.what());
  }
}

void compileSideBySide(std::vector<CompileRequest> requests,
                       const std::function<void(const CompileRequest&)>& compileOne,
                       const CancelFlag& cancel, const Progress& progress) {
  auto madeOf = [](const CompileRequest& one) {
    return std::tie(one.file, one.target, one.options);
  };
  std::sort(requests.begin(), requests.end(),
            [&](const auto& one, const auto& other) { return madeOf(one) < madeOf(other); });
  requests.erase(
      std::unique(requests.begin(), requests.end(),
                  [&](const auto& one, const auto& other) { return madeOf(one) == madeOf(other); }),
      requests.end());
  // Each compile takes some hundred MB.
  constexpr int64_t kMostAtOnce = 16;
  const auto count = static_cast<int64_t>(requests.size());
  std::mutex saying;
  int64_t done = 0;
  auto say = [&](int64_t more) {
    const std::lock_guard lock(saying);
    done += more;
    if (progress && count > 0)
      progress(static_cast<double>(done) / static_cast<double>(count),
               "compiling " + std::to_string(done) + " of " + std::to_string(count));
  };
  say(0);
  std::atomic<int64_t> next{0};
  parallelFor(std::min(count, kMostAtOnce), cancel, [&](int64_t) {
    for (int64_t i = next++; i < count; i = next++) {
      cancel.throwIfRequested();
      try {
        compileOne(requests[static_cast<size_t>(i)]);
      } catch (const Error&) {
        // Told by the session that needs it.
      }
      say(1);
    }
  });
}

Compiled compile(const CompileRequest& request, const CompileCache& cache) {
  const LibraryInfo& info = libraries().nvrtcInfo;
  if (!info.found)
    throw Error(ErrorKind::kUnavailable,
                request.what + " cannot be compiled. " + info.reason + " " + info.remedy);
  const std::string identity =
      identityOf(readSources(request.file), request.target, request.options) + '\0' + "nvrtc" +
      '\0' + info.version;
  return fromCache(cache, request, identity, [&] {
    const fs::path path(request.file);
    std::vector<std::string> options = {"--gpu-architecture=" + request.target, "--std=c++17",
                                        "--generate-line-info",
                                        "--include-path=" + path.parent_path().string()};
    options.insert(options.end(), request.options.begin(), request.options.end());
    return Program(readFile(path), path.filename().string()).compile(options);
  });
}

}  // namespace blockscope::cuda
