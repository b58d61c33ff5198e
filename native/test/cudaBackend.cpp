// The CUDA backend without a GPU: manifests, expressions, cache keys, library search, cuBLASLt
// plans, and the words when something is missing.
#include "../core/backend.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../cuda/api/cublasLt.h"
#include "../cuda/compiler.h"
#include "../cuda/cublasLtOperation.h"
#include "../cuda/expression.h"
#include "../cuda/json.h"
#include "../cuda/kernels.h"
#include "../cuda/librarySearch.h"
#include "../cuda/manifest.h"
#include "../cuda/manifestOperation.h"
#include "../cuda/sampler.h"
#include "../cuda/sha256.h"
#include "check.h"

using namespace blockscope;
using namespace blockscope::cuda;

namespace {

template <typename Work>
std::string messageOf(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

void expressionsAreCsOverWholeNumbers() {
  const Variables names = {{"M", 100}, {"N", 256}, {"BLOCK_M", 64}};
  CHECK(evaluate("1 + 2 * 3", names) == 7);
  CHECK(evaluate("(1 + 2) * 3 - -4", names) == 13);
  CHECK(evaluate("ceil_div(M, BLOCK_M) * N", names) == 512);
  CHECK(evaluate("round_up(M, BLOCK_M)", names) == 128);
  CHECK(evaluate("min(M, N) + max(M, N)", names) == 356);
  CHECK(evaluate("M % BLOCK_M == 36 && N > M", names) == 1);
  CHECK(evaluate("M == 1 || N == 256 ? 7 : 9", names) == 7);
  CHECK(evaluate("M > 1 ? 2 : M / 0", names) == 2);
  CHECK(evaluate("-7 / 2", names) == -4);
  CHECK(evaluate("-7 % 2", names) == 1);
  CHECK(evaluate("9223372036854775807", names) == INT64_MAX);
}

void badExpressionsAreNamed() {
  const Variables names = {{"M", 100}};
  auto said = [&](const char* text) { return messageOf([&] { evaluate(text, names); }); };
  CHECK_CONTAINS(said("M / 0"), "divides by zero");
  CHECK_CONTAINS(said("Q + 1"), "\"Q\" is not known");
  CHECK_CONTAINS(said("1 +"), "ends too early");
  CHECK_CONTAINS(said("(1"), "')' is missing");
  CHECK_CONTAINS(said("1 2"), "too much");
  CHECK_CONTAINS(said("pow(1, 2)"), "no function");
  CHECK_CONTAINS(said("9223372036854775807 + 1"), "64 bits");
  CHECK_CONTAINS(said("4294967296 * 4294967296"), "64 bits");
}

void jsonIsStrict() {
  const Json json =
      Json::parse(R"({"a": [1, -2.5e1, "x\u00e9\ud83d\ude00\n"], "b": {"c": true, "d": null}})");
  const auto& a = *json.object()->at("a").array();
  CHECK(*a[1].number() == -25);
  CHECK(*a[2].string() == "x\xc3\xa9\xf0\x9f\x98\x80\n");
  CHECK(*json.object()->at("b").object()->at("c").boolean());
  CHECK(json.object()->at("b").object()->at("d").isNull());
  for (const char* bad : {"", "{", "[1,]", "{\"a\":1,}", "01", "1.", "nul", "\"a", "\"\\x\"",
                          "\"\\ud800\"", "[1] 2", "{\"a\":1,\"a\":2}", "+1", "\"\t\"", "\"\\u12\""})
    CHECK_CONTAINS(messageOf([&] { Json::parse(bad); }), "No JSON at offset");
  CHECK_CONTAINS(messageOf([] { Json::parse(std::string(1000, '[')); }), "nesting");
}

void sha256IsTheStandards() {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256(std::string(1000, 'a')) ==
        "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

constexpr const char* kRow =
    R"row({"id": "k", "summary": "s", "file": "k.cu", "architectures": ["sm_90a", "sm_80+"],
  "formats": [{"format": "mxfp4", "level": "exact", "reason": "r"}], "constants": {"BLOCK": 64},
  "requires": [{"that": "K % BLOCK == 0", "message": "K must be a multiple of 64"}], "outputs": ["f16"],
  "launches": [{"function": "f", "grid": ["ceil_div(M, BLOCK)"], "block": [128], "arguments": ["c", "M"]}]})row";

KernelSource sourceOf(const std::string& json) { return {"k", "user", "s", "k.cu", json}; }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

void manifestRowsAreRead() {
  const KernelRow row = parseKernelRow(sourceOf(kRow));
  CHECK(row.launches.size() == 1 && row.launches[0].block[0] == "128");
  Problem problem{"mxfp4", 128, 128, 128};
  const Variables variables = problemVariables(row, problem, 132);
  CHECK(whyUnsupported(row, problem, variables).empty());
  CHECK(evaluate(row.launches[0].grid[0], variables) == 2);
  problem.k = 96;
  CHECK_CONTAINS(whyUnsupported(row, problem, problemVariables(row, problem, 132)),
                 "K must be a multiple of 64");
  problem.format = "nvfp4";
  CHECK_CONTAINS(whyUnsupported(row, problem, variables), "does not compute nvfp4");
  problem = {"mxfp4", 128, 128, 128, 1, OutputType::kF32};
  CHECK_CONTAINS(whyUnsupported(row, problem, variables), "does not write f32");
  const auto options = compileOptions(row, problem);
  CHECK(options == (std::vector<std::string>{"-DA_FORMAT=0", "-DB_FORMAT=0", "-DSCALE_FORMAT=5",
                                             "-DSCALE_BLOCK=32", "-DOUTPUT_TYPE=2", "-DBLOCK=64"}));
}

void badManifestRowsAreNamed() {
  auto said = [](const std::string& from, const std::string& to) {
    return messageOf([&] { parseKernelRow(sourceOf(replaced(kRow, from, to))); });
  };
  CHECK_CONTAINS(said("\"constants\"", "\"constant\""),
                 "Kernel k: the field \"constant\" is not known");
  CHECK_CONTAINS(said("mxfp4", "mxfp5"), "mxfp5");
  CHECK_CONTAINS(said("exact", "good"),
                 "formats[0]: \"level\" must be native, exact or approximate");
  CHECK_CONTAINS(said("sm_90a", "hopper"), "no target");
  CHECK_CONTAINS(said("[128]", "[1.5]"), "launches[0]: \"block\" must be a whole number");
  CHECK_CONTAINS(said("[128]", "[]"), "must have 1 to 3 elements");
  CHECK_CONTAINS(said("\"function\": \"f\", ", ""), "\"function\" is missing");
  CHECK_CONTAINS(said("{\"id\"", "[\"id\""), "No JSON");
}

void kernelsReadScalesInAnyLayout() {
  const std::string own =
      "own = rowTile:0 row:16 | columnTile:0 column:2 | columnTile rowTile column row";
  auto rowWith = [](const std::string& layout) {
    return sourceOf(
        replaced(kRow, "\"outputs\"", "\"scaleLayout\": \"" + layout + "\", \"outputs\""));
  };
  BackendOptions options;
  options.kernelSources = {rowWith("deepgemm_ue8m0"), rowWith(own),
                           rowWith("own = row:16 | column:0 | row column"), rowWith("own.json")};
  const Kernels kernels(options);
  CHECK(kernels.rows().size() == 2);
  CHECK(kernels.describe(kernels.rows()[0], {}).scaleLayout == "deepgemm_ue8m0");
  CHECK(kernels.describe(kernels.rows()[1], {}).scaleLayout == own);
  CHECK(kernels.refused().size() == 2);
  CHECK_CONTAINS(kernels.refused()[0].capabilities[0].reason,
                 "Kernel k: \"own\" is no usable layout");
  CHECK_CONTAINS(kernels.refused()[1].capabilities[0].reason,
                 "Kernel k: \"own.json\" is no scale layout");
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

void everyShippedRowHasItsSource() {
  const std::string folder = "../../resources/kernels/cuda/";
  std::stringstream text;
  text << std::ifstream(folder + "manifest.json").rdbuf();
  const Json manifest = Json::parse(text.str());
  int kernels = 0;
  for (const Json& row : *manifest.object()->at("kernels").array()) {
    const std::string file = folder + *row.object()->at("file").string();
    CHECK(std::filesystem::exists(file));
    CHECK(!readSources(file).empty());
    kernels++;
  }
  CHECK(kernels >= 3);
}

void cacheKeysTellEverythingApart() {
  const std::string base = sourceHash("source", "sm_90a", {"-DA=1"});
  CHECK(base == sourceHash("source", "sm_90a", {"-DA=1"}));
  CHECK(base != sourceHash("source ", "sm_90a", {"-DA=1"}));
  CHECK(base != sourceHash("source", "sm_80", {"-DA=1"}));
  CHECK(base != sourceHash("source", "sm_90a", {"-DA=2"}));
  CHECK(sourceHash("s", "t", {"a", "b"}) != sourceHash("s", "t", {"ab"}));
  CHECK(cacheKey(base, "13.0") != cacheKey(base, "12.8"));
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
  const MatmulPlan plan = planMatmul("cublaslt-mxfp8", problem);
  CHECK(plan.aType == cublaslt::kE4m3 && plan.bType == cublaslt::kE5m2 &&
        plan.cType == cublaslt::kF16);
  CHECK(plan.scaleMode == cublaslt::kScaleVec32Ue8m0 && plan.scalePointers);
  CHECK(plan.aBytes == 256 * 512 && plan.aScaleBytes == 256 * 16);
  const MatmulPlan fp4 = planMatmul("cublaslt-nvfp4", {"nvfp4", 100, 128, 64});
  CHECK(fp4.aType == cublaslt::kE2m1 && fp4.scaleMode == cublaslt::kScaleVec16Ue4m3);
  CHECK(fp4.aBytes == 100 * 32 && fp4.aScaleBytes == 128 * 4);  // padded to 128 rows
  const MatmulPlan wide = planMatmul("cublaslt-bf16", {"mxfp4", 64, 64, 64});
  CHECK(wide.aType == cublaslt::kBf16 && wide.output == OutputType::kBf16 && !wide.scalePointers);
  CHECK(planMatmul("cublaslt-fp8", {"mxfp4", 64, 64, 64}).scaleMode == cublaslt::kScaleScalarF32);
  CHECK_CONTAINS(messageOf([] { planMatmul("cublaslt-mxfp8", {"mxfp4", 64, 64, 64}); }),
                 "does not compute mxfp4");
  CHECK_CONTAINS(messageOf([] { planMatmul("cublaslt-nvfp4", {"mxfp4", 64, 64, 64}); }),
                 "does not compute mxfp4");
}

void samplesAreGroupedAndRotated() {
  const int64_t l2 = 60 << 20;
  CHECK(coldSets(5 * l2, l2) == 1);
  CHECK(coldSets(l2, l2) == 4);
  CHECK(coldSets(2 * l2 + 1, l2) == 3);
  CHECK(groupSize(20e3) == 10);
  CHECK(groupSize(199e3) == 8);
  CHECK(groupSize(100) == 512);
}

void missingThingsAreSaid() {
  BackendOptions options;
  options.kernelSources = {sourceOf(kRow), {"broken", "user", "s", "b.cu", "{"}};
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
  CHECK(kernels.rows().size() == 1 && kernels.refused().size() == 1);
  DeviceFacts old;
  old.major = 7, old.minor = 5;
  const KernelInfo info = kernels.describe(kernels.rows()[0], old);
  CHECK(info.capabilities[0].level == CapabilityLevel::kUnavailable);
}

}  // namespace

int main() {
  expressionsAreCsOverWholeNumbers();
  badExpressionsAreNamed();
  jsonIsStrict();
  sha256IsTheStandards();
  manifestRowsAreRead();
  badManifestRowsAreNamed();
  kernelsReadScalesInAnyLayout();
  targetsFitDevices();
  everyShippedRowHasItsSource();
  cacheKeysTellEverythingApart();
  includesCountAsSource();
  librariesAreSoughtWhereTheyMayBe();
  matmulsArePlanned();
  samplesAreGroupedAndRotated();
  missingThingsAreSaid();
  return summary();
}
