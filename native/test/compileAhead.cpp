// Kernels compiled ahead of the sessions that need them, on a stand-in of NVRTC that takes its
// time: side by side, each once, what does not compile told by whoever needs it, and an end when
// asked.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "../core/threads.h"
#include "../cuda/kernels.h"
#include "../cuda/manifestOperation.h"
#include "check.h"
#include "hostKernel.h"

using namespace blockscope;
using namespace blockscope::cuda;

namespace {

std::atomic<int> compiled{0}, atWork{0}, mostAtWork{0};
std::atomic<int> milliseconds{50};

void standIn() {
  auto& all = const_cast<Libraries&>(libraries());
  all.nvrtcInfo.found = true;
  auto& nvrtc = all.nvrtc;
  nvrtc.createProgram = [](nvrtc::Program* to, const char*, const char*, int, const char* const*,
                           const char* const*) {
    *to = &compiled;
    return 0;
  };
  nvrtc.destroyProgram = [](nvrtc::Program*) { return 0; };
  nvrtc.compileProgram = [](nvrtc::Program, int count, const char* const* options) {
    const int now = ++atWork;
    for (int most = mostAtWork; now > most && !mostAtWork.compare_exchange_weak(most, now);) {
    }
    compiled++;
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    atWork--;
    for (int i = 0; i < count; i++)
      if (options[i] == std::string("-DREFUSED=1")) return 6;
    return 0;
  };
  nvrtc.getErrorString = [](int) { return "as told"; };
  nvrtc.getProgramLogSize = [](nvrtc::Program, size_t*) { return 1; };
  nvrtc.getCubinSize = [](nvrtc::Program, size_t* size) {
    *size = 4;
    return 0;
  };
  nvrtc.getCubin = [](nvrtc::Program, char* image) {
    std::fill_n(image, 4, 'x');
    return 0;
  };
}

DeviceFacts standInFacts() {
  DeviceFacts facts;
  facts.name = "Stand-in", facts.major = 9, facts.multiprocessors = 4;
  return facts;
}

const Problem kProblem{"mxfp4", 64, 64, 64, 1, OutputType::kF32};

// `count` kernels that differ in a constant, and one support row.
BackendOptions manyKernels(int count, const std::string& directory) {
  BackendOptions options;
  options.cacheDirectory = directory;
  for (int i = 0; i < count; i++) {
    KernelRow row = host::rowFor(kProblem, FeatureLevel::kFused, "sm_80+");
    row.id = "kernel-" + std::to_string(i), row.constants["NUMBER"] = i;
    row.outputs = {OutputType::kF32};
    row.file = "../../resources/kernels/cuda/common/timing.cu";
    options.kernelSources.push_back(row);
  }
  KernelRow support = options.kernelSources[0];
  support.id = "support-timing", support.role = KernelRole::kSupport;
  support.constants = {};
  options.kernelSources.push_back(support);
  return options;
}

std::vector<KernelUse> usesOf(const Kernels& kernels) {
  std::vector<KernelUse> uses;
  for (const KernelRow& row : kernels.rows()) uses.push_back({row.id, kProblem});
  // Another K is compiled as this one is; a library's kernel and a type of C that the row does not
  // write are none of it.
  for (const KernelRow& row : kernels.rows()) {
    uses.push_back({row.id, kProblem});
    uses.back().problem.k = 128;
  }
  uses.push_back({"cublaslt-bf16", kProblem});
  uses.push_back({"kernel-0", {"mxfp4", 64, 64, 64, 1, OutputType::kF16}});
  return uses;
}

void startAnew() { compiled = 0, mostAtWork = 0; }

Compiled compileKernel(const Kernels& kernels, const std::string& id) {
  const KernelRow& row = *kernels.find(id);
  return compile(compileRequest(row, kProblem, partsOf(row, kProblem, {4}), standInFacts()),
                 kernels.cache());
}

// In a folder, and in memory alone where there is none.
void theyAreCompiledSideBySideAndOnce() {
  const auto folder = std::filesystem::temp_directory_path() / "blockscope-compile-ahead-test";
  std::filesystem::remove_all(folder);
  for (const std::string& directory : {folder.string(), std::string()}) {
    startAnew();
    const Kernels kernels(manyKernels(7, directory));
    std::vector<std::string> said;
    kernels.compileAhead(usesOf(kernels), standInFacts(), host::kNever,
                         [&](double, std::string_view phase) { said.emplace_back(phase); });
    CHECK(compiled == 8);
    CHECK(mostAtWork == std::min(8, coreCount()));
    CHECK(said.size() == 9 && said.front() == "compiling 0 of 8");
    CHECK(said.back() == "compiling 8 of 8");
    const auto [image, identity] = compileKernel(kernels, "kernel-3");
    CHECK(image == "xxxx" && compiled == 8);
    CHECK(kernels.cache().tellSeconds(identity) >= 0.05);
    CHECK(kernels.cache().tellSeconds(identity) == 0);
  }
  std::filesystem::remove_all(folder);
}

void whoAsksMeanwhileWaits() {
  startAnew();
  const Kernels kernels(manyKernels(1, ""));
  std::vector<std::thread> asking;
  std::atomic<int> right{0};
  for (int i = 0; i < 6; i++)
    asking.emplace_back([&] { right += compileKernel(kernels, "kernel-0").image == "xxxx"; });
  for (std::thread& one : asking) one.join();
  CHECK(right == 6 && compiled == 1);
}

void whatDoesNotCompileIsToldByWhoNeedsIt() {
  startAnew();
  BackendOptions options = manyKernels(3, "");
  options.kernelSources[1].constants["REFUSED"] = 1;
  const Kernels kernels(options);
  kernels.compileAhead(usesOf(kernels), standInFacts(), host::kNever, nullptr);
  CHECK(compiled == 4);
  for (int i = 0; i < 2; i++) {
    const std::string said = messageOf([&] { compileKernel(kernels, "kernel-1"); });
    CHECK_CONTAINS(said, "Kernel kernel-1 does not compile for sm_90:\nas told");
  }
  CHECK(compileKernel(kernels, "kernel-2").image == "xxxx" && compiled == 4);
}

void aCancelLeavesTheRest() {
  startAnew();
  milliseconds = 100;
  const Kernels kernels(manyKernels(60, ""));
  CancelFlag cancel;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    cancel.request();
  });
  const std::string said =
      messageOf([&] { kernels.compileAhead(usesOf(kernels), standInFacts(), cancel, nullptr); });
  later.join();
  CHECK(said == "Cancelled.");
  CHECK(atWork == 0 && compiled < 61);
}

}  // namespace

int main() {
  standIn();
  theyAreCompiledSideBySideAndOnce();
  whoAsksMeanwhileWaits();
  whatDoesNotCompileIsToldByWhoNeedsIt();
  aCancelLeavesTheRest();
  return summary();
}
