#include "compiler.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "libraries.h"

namespace blockscope::hip {

namespace {

class Program {
 public:
  Program(const std::string& source, const std::string& name) {
    check(api_.createProgram(&program_, source.c_str(), name.c_str(), 0, nullptr, nullptr));
  }
  ~Program() { api_.destroyProgram(&program_); }
  Program(const Program&) = delete;

  std::string compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    const int result =
        api_.compileProgram(program_, static_cast<int>(pointers.size()), pointers.data());
    if (const std::string said = result == 0 ? "" : log(); !said.empty())
      throw cuda::RefusedSource(said);
    if (result == cuda::kNotCompiled) throw cuda::RefusedSource(words(result));
    check(result);
    size_t size = 0;
    check(api_.getCodeSize(program_, &size));
    std::string image(size, '\0');
    check(api_.getCode(program_, image.data()));
    return image;
  }

 private:
  std::string words(int result) const {
    const char* text = api_.getErrorString(result);
    return text ? text : "error " + std::to_string(result);
  }
  void check(int result) const {
    if (result != 0) throw Error(ErrorKind::kCompile, "hipRTC failed: " + words(result) + ".");
  }
  std::string log() const {
    size_t size = 0;
    if (api_.getProgramLogSize(program_, &size) != 0 || size < 2) return "";
    std::string text(size, '\0');
    if (api_.getProgramLog(program_, text.data()) != 0) return "";
    text.resize(size - 1);
    return text;
  }

  const hiprtc::Api& api_ = libraries().hiprtc;
  hiprtc::Program program_ = nullptr;
};

std::string textOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Compiled compile(const CompileRequest& request, const CompileCache& cache) {
  const LibraryInfo& info = libraries().hiprtcInfo;
  if (!info.found)
    throw Error(ErrorKind::kUnavailable,
                request.what + " cannot be compiled. " + info.reason + " " + info.remedy);
  const std::string identity =
      cuda::identityOf(cuda::readSources(request.file), request.target, request.options) + '\0' +
      "hiprtc" + '\0' + libraries().versionText;
  return cuda::fromCache(cache, request, identity, [&] {
    const std::filesystem::path path(request.file);
    std::vector<std::string> options = {"--offload-arch=" + request.target, "-std=c++17", "-O3",
                                        "-I" + path.parent_path().string()};
    options.insert(options.end(), request.options.begin(), request.options.end());
    return Program(textOf(path), path.filename().string()).compile(options);
  });
}

}  // namespace blockscope::hip
