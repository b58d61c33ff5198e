#include "compiler.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "compileCache.h"
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

  std::string compile(const CompileRequest& request, const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    const int result =
        api_.compileProgram(program_, static_cast<int>(pointers.size()), pointers.data());
    if (result != 0) {
      std::string compilerLog = log();
      if (compilerLog.empty()) compilerLog = api_.getErrorString(result);
      throw Error(ErrorKind::kCompile,
                  request.what + " does not compile for " + request.target + ":\n" + compilerLog);
    }
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

Compiled compile(const CompileRequest& request, const std::string& cacheDirectory) {
  const LibraryInfo& info = libraries().nvrtcInfo;
  if (!info.found)
    throw Error(ErrorKind::kUnavailable,
                request.what + " cannot be compiled. " + info.reason + " " + info.remedy);
  const std::string identity =
      identityOf(readSources(request.file), request.target, request.options) + '\0' + "nvrtc" +
      '\0' + info.version;
  Compiled result;
  if (!cacheDirectory.empty()) result.image = readCached(cacheDirectory, identity);
  result.fromCache = !result.image.empty();
  if (result.fromCache) return result;
  const auto start = std::chrono::steady_clock::now();
  const fs::path path(request.file);
  std::vector<std::string> options = {"--gpu-architecture=" + request.target, "--std=c++17",
                                      "--generate-line-info",
                                      "--include-path=" + path.parent_path().string()};
  options.insert(options.end(), request.options.begin(), request.options.end());
  Program program(readFile(path), path.filename().string());
  result.image = program.compile(request, options);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!cacheDirectory.empty()) writeCached(cacheDirectory, identity, result.image);
  return result;
}

}  // namespace blockscope::cuda
