// The CUDA backend without a GPU: manifests, expressions, cache keys, library search, cuBLASLt
// plans, and the words when something is missing.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../core/backend.h"
#include "../cuda/api/cublasLt.h"
#include "../cuda/architectures.h"
#include "../cuda/compileCache.h"
#include "../cuda/compiler.h"
#include "../cuda/cublasLtOperation.h"
#include "../cuda/expression.h"
#include "../cuda/kernels.h"
#include "../cuda/librarySearch.h"
#include "../cuda/manifestOperation.h"
#include "check.h"
#include "readJson.h"

using namespace blockscope;
using namespace blockscope::cuda;

namespace {

// The table that src-shared/choice/expression.ts is held against too.
void expressionsAreCsOverWholeNumbers() {
  const Json table = readJson("../../test/fixtures/kernels/expressions.json");
  Variables names;
  for (const auto& [name, value] : table["names"].members) names[name] = int(value);
  for (const auto& [text, value] : table["values"].members) {
    const int64_t got = evaluate(text, names);
    checkThat(got == static_cast<int64_t>(value.number), text + " is " + std::to_string(got),
              __FILE__, __LINE__);
  }
  for (const auto& [text, why] : table["refused"].members)
    CHECK_CONTAINS(messageOf([&] { evaluate(text, names); }), why.text);
}

// What is this side's alone: a double holds 53 bits of a number.
void expressionsHave64Bits() {
  auto said = [](const char* text) { return messageOf([&] { evaluate(text, {}); }); };
  CHECK(evaluate("9223372036854775807", {}) == INT64_MAX);
  CHECK(evaluate("ceil_div(9223372036854775807, 64)", {}) == INT64_MAX / 64 + 1);
  CHECK_CONTAINS(said("9223372036854775807 + 1"), "64 bits");
  CHECK_CONTAINS(said("4294967296 * 4294967296"), "64 bits");
}

KernelRow exampleRow() {
  KernelRow row;
  row.id = "k", row.provider = "user", row.summary = "s", row.file = "k.cu";
  row.architectures = {"sm_90a", "sm_80+"};
  row.formats = {{"mxfp4", CapabilityLevel::kExact, "r", {}, "bf16"}};
  row.constants = {{"BLOCK", 64}};
  row.requires_ = {{"K % BLOCK == 0", "K must be a multiple of 64"}};
  row.outputs = {OutputType::kF16};
  LaunchRow launch;
  launch.function = "f", launch.grid = {"ceil_div(M, BLOCK)"}, launch.block = {"128"};
  launch.arguments = {"c", "M"};
  row.launches = {launch};
  return row;
}

void rowsMeetProblems() {
  const KernelRow row = exampleRow();
  Problem problem{"mxfp4", 128, 128, 128};
  const Variables variables = problemVariables(row, problem, {132, 3352});
  CHECK(whyUnsupported(row, problem, variables).empty());
  CHECK(evaluate(row.launches[0].grid[0], variables) == 2);
  problem.k = 96;
  CHECK_CONTAINS(whyUnsupported(row, problem, problemVariables(row, problem, {132, 3352})),
                 "K must be a multiple of 64");
  problem.format = "nvfp4";
  CHECK_CONTAINS(whyUnsupported(row, problem, variables), "does not compute nvfp4");
  problem = {"mxfp4", 128, 128, 128, 1, OutputType::kF32};
  CHECK_CONTAINS(whyUnsupported(row, problem, variables), "does not write f32");
  const auto options = compileOptions(row, problem);
  CHECK(options == (std::vector<std::string>{"-DA_FORMAT=0", "-DB_FORMAT=0", "-DSCALE_FORMAT=5",
                                             "-DSCALE_BLOCK=32", "-DOUTPUT_TYPE=2", "-DB_ORDER=0",
                                             "-DGROUPED=0", "-DACCUMULATE=0", "-DBLOCK=64"}));
}

void memoryHasARate() {
  DeviceFacts facts;
  CHECK(facts.memoryGBs() == 0);
  facts.memoryClockKHz = 3'201'000, facts.memoryBusBits = 6016;
  CHECK(facts.memoryGBs() == 4814);
}

void valuesAreNamesToo() {
  KernelRow row = exampleRow();
  row.values = {{"TILES", "ceil_div(N, BLOCK)"},
                {"SPLITS", "K > 512 ? SMS / TILES : 1"},
                {"RATE", "MEMORY_GBS / SMS"}};
  const Problem problem{"mxfp4", 128, 130, 1024};
  const Variables variables = problemVariables(row, problem, {132, 3352});
  CHECK(variables.at("TILES") == 3 && variables.at("SPLITS") == 44 && variables.at("RATE") == 25);
  auto said = [&] { return messageOf([&] { problemVariables(row, problem, {132, 3352}); }); };
  row.values = {{"SPLITS", "SMS / TILES"}, {"TILES", "3"}};
  CHECK_CONTAINS(said(), "TILES");
  row.values = {{"BLOCK", "3"}};
  CHECK_CONTAINS(said(), "the value \"BLOCK\" has the name of a given variable");
}

// Before a part what it has of it is cleared, and no more: a launch for nothing takes a small
// product's time.
void partsClearWhatTheyHave() {
  WorkspaceRow flags;
  flags.bytes = "M > 64 ? 16 + 4 * M : 0";
  const Part few{{}, {{"M", 8}}}, many{{}, {{"M", 100}}};
  CHECK(bytesClearedBefore(many, 0, flags) == 0);
  flags.zeroed = true;
  CHECK(bytesClearedBefore(few, 0, flags) == 0);
  CHECK(bytesClearedBefore(many, 0, flags) == 416 && bytesClearedBefore(many, 1, flags) == 416);
  // What a kernel says went wrong is of all parts.
  flags.zeroed = false, flags.fault = true;
  CHECK(bytesClearedBefore(many, 0, flags) == 416 && bytesClearedBefore(many, 1, flags) == 0);
}

void kernelsReadScalesInAnyLayout() {
  const std::string own =
      "own = rowTile:0 row:16 | columnTile:0 column:2 | columnTile rowTile column row";
  KernelRow named = exampleRow(), written = exampleRow();
  named.scaleLayout = "deepgemm_ue8m0";
  written.scaleLayout = own;
  const Kernels kernels(BackendOptions{{named, written}, ""});
  CHECK(kernels.describe(kernels.rows()[0], {}).scaleLayout == "deepgemm_ue8m0");
  CHECK(kernels.describe(kernels.rows()[1], {}).scaleLayout == own);
}

void baselinesSayWhatTheyRead() {
  for (const KernelInfo& kernel : cublasLtKernels(10, libraries().cublasLtInfo)) {
    CHECK(kernel.operandBits == (kernel.id == "cublaslt-bf16"  ? 16
                                 : kernel.id == "cublaslt-fp8" ? 8
                                                               : 0));
    CHECK(kernel.baseline == (kernel.operandBits > 0));
    CHECK((kernel.outputs ==
           std::vector<OutputType>{OutputType::kF16, OutputType::kBf16, OutputType::kF32}));
  }
}

void targetsFitDevices() {
  CHECK(chooseTarget({"sm_90a", "sm_80+"}, 9, 0) == "sm_90a");
  CHECK(chooseTarget({"sm_90a", "sm_80+"}, 8, 9) == "sm_89");
  CHECK(chooseTarget({"sm_90a", "sm_80+"}, 12, 0) == "sm_120");
  CHECK(!chooseTarget({"sm_90a"}, 10, 0));
  CHECK(!chooseTarget({"sm_80+"}, 7, 5));
  CHECK(chooseTarget({"sm_100f"}, 10, 3) == "sm_100f");
  CHECK(!chooseTarget({"sm_100f"}, 12, 0));
}

void identitiesTellEverythingApart() {
  const std::string base = identityOf("source", "sm_90a", {"-DA=1"});
  CHECK(base == identityOf("source", "sm_90a", {"-DA=1"}));
  CHECK(base != identityOf("source ", "sm_90a", {"-DA=1"}));
  CHECK(base != identityOf("source", "sm_80", {"-DA=1"}));
  CHECK(base != identityOf("source", "sm_90a", {"-DA=2"}));
  CHECK(identityOf("s", "t", {"a", "b"}) != identityOf("s", "t", {"ab"}));
}

void theCacheGivesBackTheVerySame() {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "blockscope-cache-test";
  fs::remove_all(folder);
  const std::string directory = folder.string(), image(
                                                     "\x7f"
                                                     "ELF\0\n 12",
                                                     9);
  const std::string one = identityOf("one", "sm_90a", {}), two = identityOf("two", "sm_90a", {});
  CHECK(readCached(directory, one).empty());
  writeCached(directory, one, image);
  CHECK(readCached(directory, one) == image);
  CHECK(readCached(directory, two).empty());
  // Another identity of the same file name.
  fs::copy_file(cacheFile(directory, one), cacheFile(directory, two));
  CHECK(readCached(directory, two).empty());
  fs::resize_file(cacheFile(directory, one), fs::file_size(cacheFile(directory, one)) - 1);
  CHECK(readCached(directory, one).empty());
  writeCached(directory, one, image);
  CHECK(readCached(directory, one) == image);
  CHECK(std::distance(fs::directory_iterator(folder), {}) == 2);
  fs::remove_all(folder);
}

void includesCountAsSource() {
  const auto folder = std::filesystem::temp_directory_path() / "blockscope-cuda-test";
  std::filesystem::create_directories(folder / "common");
  std::ofstream(folder / "k.cu") << "#include \"common/x.cuh\"\nint a;\n";
  std::ofstream(folder / "common/x.cuh") << "int b;\n";
  CHECK_CONTAINS(readSources((folder / "k.cu").string()), "int b;");
  CHECK_CONTAINS(messageOf([&] { readSources((folder / "none.cu").string()); }),
                 "none.cu cannot be read");
  std::filesystem::remove_all(folder);
}

void librariesAreSoughtWhereTheyMayBe() {
  const SearchEnvironment environment{[](const char* name) -> std::string {
                                        if (std::string(name) == "BLOCKSCOPE_CUDA_PATH")
                                          return "/mine";
                                        if (std::string(name) == "PATH")
                                          return "/usr/bin:/venv/bin";
                                        return "";
                                      },
                                      [](const std::string& folder) -> std::vector<std::string> {
                                        if (folder == "/venv/lib") return {"/venv/lib/python3.12"};
                                        if (folder == "/venv/lib/python3.12/site-packages/nvidia")
                                          return {folder + "/cu13"};
                                        return {};
                                      }};
  const auto files = candidateFiles(Library::kNvrtc, environment);
  CHECK(files.front() == "/mine/lib64/libnvrtc.so.13");
  auto has = [&](const std::string& file) {
    return std::find(files.begin(), files.end(), file) != files.end();
  };
  CHECK(has("/venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13"));
  CHECK(has("/usr/local/cuda/lib64/libnvrtc.so.12"));
  CHECK(has("libnvrtc.so.13"));
  CHECK(candidateFiles(Library::kDriver, environment).front() == "libcuda.so.1");
  CHECK_CONTAINS(tooOldSentence(11040), "supports CUDA 11.4 at most; CUDA 12.0 is needed");
}

void matmulsArePlanned() {
  const Problem problem{"mxfp8_e4m3_e5m2", 256, 128, 512};
  const MatmulPlan plan = planMatmul(cublasLt(), "cublaslt-mxfp8", problem);
  CHECK(plan.aType == MatmulType::kE4m3 && plan.bType == MatmulType::kE5m2 &&
        plan.cType == MatmulType::kF16);
  CHECK(plan.scaleMode == ScaleMode::kVec32Ue8m0 && plan.scalePointers);
  CHECK(plan.aBytes == 256 * 512 && plan.aScaleBytes == 256 * 16);
  const MatmulPlan fp4 = planMatmul(cublasLt(), "cublaslt-nvfp4", {"nvfp4", 100, 128, 64});
  CHECK(fp4.aType == MatmulType::kE2m1 && fp4.scaleMode == ScaleMode::kVec16Ue4m3);
  CHECK(fp4.aBytes == 100 * 32 && fp4.aScaleBytes == 128 * 4);  // padded to 128 rows
  const MatmulPlan wide = planMatmul(cublasLt(), "cublaslt-bf16", {"mxfp4", 64, 64, 64});
  CHECK(wide.aType == MatmulType::kBf16 && wide.output == OutputType::kBf16 && !wide.scalePointers);
  CHECK(planMatmul(cublasLt(), "cublaslt-fp8", {"mxfp4", 64, 64, 64}).scaleMode ==
        ScaleMode::kScalarF32);
  CHECK_CONTAINS(messageOf([] { planMatmul(cublasLt(), "cublaslt-mxfp8", {"mxfp4", 64, 64, 64}); }),
                 "does not compute mxfp4");
  CHECK_CONTAINS(messageOf([] { planMatmul(cublasLt(), "cublaslt-nvfp4", {"mxfp4", 64, 64, 64}); }),
                 "does not compute mxfp4");
}

void missingThingsAreSaid() {
  BackendOptions options;
  options.kernelSources = {exampleRow()};
  const auto backend = makeCudaBackend(options);
  CHECK(backend->libraries().size() == 5);
  for (const LibraryInfo& library : backend->libraries()) {
    CHECK(!library.name.empty());
    CHECK(library.found ? library.reason.empty()
                        : !library.reason.empty() && !library.remedy.empty());
  }
  if (backend->devices().empty())
    CHECK_CONTAINS(messageOf([&] {
                     backend->open("cuda:0", {"mxfp4", 64, 64, 64}, GeneratedOperands{"normal", 1},
                                   CancelFlag(), {});
                   }),
                   "driver");
  const Kernels kernels(options);
  CHECK(kernels.rows().size() == 1);
  DeviceFacts old;
  old.major = 7, old.minor = 5;
  const KernelInfo info = kernels.describe(kernels.rows()[0], old);
  CHECK(info.capabilities[0].level == CapabilityLevel::kUnavailable);
}

}  // namespace

int main() {
  expressionsAreCsOverWholeNumbers();
  expressionsHave64Bits();
  rowsMeetProblems();
  memoryHasARate();
  valuesAreNamesToo();
  partsClearWhatTheyHave();
  kernelsReadScalesInAnyLayout();
  baselinesSayWhatTheyRead();
  targetsFitDevices();
  identitiesTellEverythingApart();
  theCacheGivesBackTheVerySame();
  includesCountAsSource();
  librariesAreSoughtWhereTheyMayBe();
  matmulsArePlanned();
  missingThingsAreSaid();
  return summary();
}
