// What hipBLASLt is told, and that a library which does what its documentation says of that
// computes the product: a stand-in that multiplies from the descriptions it was given
// (hipblaslt.h: columns first, a scale for each 32 elements of a column of op(A)^T and of B).
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "../hip/hipblasLtOperation.h"
#include "check.h"
#include "hostRuntime.h"

using namespace blockscope;
using namespace blockscope::hip;

namespace {

constexpr int kInvalidValue = 3;  // HIPBLAS_STATUS_INVALID_VALUE

struct Layout {
  int type;
  int64_t rows, columns, leading;
  bool operator==(const Layout&) const = default;
};
struct Described {
  std::map<int, std::vector<uint8_t>> attributes;
  std::array<int, 2> types = {};  // compute, scale
  Layout layout = {};

  template <typename T>
  T at(int attribute) const {
    T value{};
    if (attributes.contains(attribute))
      std::memcpy(&value, attributes.at(attribute).data(), sizeof value);
    return value;
  }
};

int alive = 0, algorithms = 1;
bool knowsScaleModes = true;
std::vector<Layout> layouts;
uint64_t allowedWorkspace = 0;
Described lastMatmul;

int make(hipblaslt::Handle* to, Described what = {}) {
  *to = new Described(std::move(what));
  alive++;
  return 0;
}
int drop(hipblaslt::Handle handle) {
  delete static_cast<Described*>(handle);
  alive--;
  return 0;
}
Described& of(hipblaslt::Handle handle) { return *static_cast<Described*>(handle); }

// Element `row` of a column as it is multiplied.
double valueAt(const Layout& layout, const void* data, int mode, const void* scales, int64_t row,
               int64_t column) {
  const int64_t at = column * layout.leading + row;
  const auto* bytes = static_cast<const uint8_t*>(data);
  const auto* codes = static_cast<const uint8_t*>(scales);
  double value = 0;
  if (layout.type == 14) {
    uint16_t bits;
    std::memcpy(&bits, bytes + 2 * at, sizeof bits);
    value = bf16ToFloat(bits);
  } else if (layout.type == 33) {
    value = decode(numberFormat(NumberFormatId::kE2m1), bytes[at / 2] >> at % 2 * 4 & 15);
  } else {
    const auto id = layout.type == 28 ? NumberFormatId::kE4m3 : NumberFormatId::kE5m2;
    value = decode(numberFormat(id), bytes[at]);
  }
  if (!scales) return value;
  if (mode == 2)
    return value * decode(numberFormat(NumberFormatId::kE8m0),
                          codes[column * (layout.rows / 32) + row / 32]);
  return value * *static_cast<const float*>(scales);
}

int multiply(hipblaslt::Handle, hipblaslt::Handle matmul, const void* alpha, const void* a,
             hipblaslt::Handle aLayout, const void* b, hipblaslt::Handle bLayout, const void* beta,
             const void* c, hipblaslt::Handle cLayout, void* d, hipblaslt::Handle dLayout,
             const hipblaslt::Algorithm* algorithm, void* workspace, size_t, runtime::Handle) {
  const Described& what = lastMatmul = of(matmul);
  const Layout &left = of(aLayout).layout, &right = of(bLayout).layout, &to = of(dLayout).layout;
  if (what.at<int>(0) != 112 || what.at<int>(1) != 0 || (of(cLayout).layout != to) ||
      algorithm->data[0] != 7 || !workspace || left.rows != right.rows || left.columns != to.rows ||
      right.columns != to.columns)
    return kInvalidValue;
  const OutputType type = to.type == 0   ? OutputType::kF32
                          : to.type == 2 ? OutputType::kF16
                                         : OutputType::kBf16;
  for (int64_t column = 0; column < to.columns; column++)
    for (int64_t row = 0; row < to.rows; row++) {
      double sum = 0;
      for (int64_t k = 0; k < left.rows; k++)
        sum += valueAt(left, a, what.at<int>(31), what.at<const void*>(5), k, row) *
               valueAt(right, b, what.at<int>(32), what.at<const void*>(6), k, column);
      const int64_t at = column * to.leading + row;
      sum *= *static_cast<const float*>(alpha);
      // Without a beta C is not read: it may be poison.
      if (const float factor = *static_cast<const float*>(beta); factor != 0)
        sum += factor * readOutput(type, c, at);
      writeOutput(type, sum, d, at);
    }
  return 0;
}

std::string nameOf(hipblaslt::Handle handle, hipblaslt::Algorithm& algorithm) {
  CHECK(handle != nullptr);
  return "Cijk_MT256x256x128_" + std::to_string(algorithm.data[0]);
}

void standInLibrary() {
  auto& all = const_cast<Libraries&>(libraries());
  all.hipblasLtInfo.found = true;
  auto& lt = all.hipblasLt;
  lt.create = [](hipblaslt::Handle* to) { return make(to); };
  lt.matmulDescCreate = [](hipblaslt::Handle* to, int compute, int scale) {
    return make(to, {{}, {compute, scale}, {}});
  };
  lt.matmulDescSetAttribute = [](hipblaslt::Handle handle, int attribute, const void* value,
                                 size_t bytes) {
    if (!knowsScaleModes && attribute > 30) return kInvalidValue;
    const auto* from = static_cast<const uint8_t*>(value);
    of(handle).attributes[attribute] = {from, from + bytes};
    return 0;
  };
  lt.matrixLayoutCreate = [](hipblaslt::Handle* to, int type, uint64_t rows, uint64_t columns,
                             int64_t leading) {
    layouts.push_back({type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), leading});
    return make(to, {{}, {}, layouts.back()});
  };
  lt.preferenceCreate = [](hipblaslt::Handle* to) { return make(to); };
  lt.preferenceSetAttribute = [](hipblaslt::Handle, int attribute, const void* value, size_t) {
    if (attribute == 1) std::memcpy(&allowedWorkspace, value, sizeof allowedWorkspace);
    return 0;
  };
  lt.destroy = lt.matmulDescDestroy = lt.matrixLayoutDestroy = lt.preferenceDestroy = drop;
  lt.getHeuristic = [](hipblaslt::Handle, hipblaslt::Handle, hipblaslt::Handle, hipblaslt::Handle,
                       hipblaslt::Handle, hipblaslt::Handle, hipblaslt::Handle, int,
                       hipblaslt::HeuristicResult* best, int* found) {
    best->algorithm.data[0] = 7, best->algorithm.data[1] = 1;
    best->workspaceBytes = 4096, best->wavesCount = 1.5f;
    *found = algorithms;
    return 0;
  };
  lt.matmul = multiply;
}

// C as it lies in the library's type, as doubles, and how far it is from the reference.
double errorOf(const char* kernel, const Problem& problem) {
  const Device device(host::standInFacts());
  const Operands operands = generateOperands(problem, {"normal", 5}, host::kNever);
  const auto operation = makeHipblasLtOperation(device, problem, kernel);
  const OperandSet set = operation->prepare(operands);
  set.poison(device);
  operation->enqueue(set, Stream(device));
  const std::vector<uint8_t> c = set.readC(device, kernel);
  const std::vector<double> reference = referenceProduct(problem, operands, host::kNever, nullptr);
  double off = 0, all = 0;
  for (size_t i = 0; i < reference.size(); i++) {
    const double got = readOutput(operation->writes(problem.output), c.data(), i);
    off += (got - reference[i]) * (got - reference[i]), all += reference[i] * reference[i];
  }
  return std::sqrt(off / all);
}

void productsAreThoseOfTheOperands() {
  for (const auto& [kernel, format, most] : {std::tuple("hipblaslt-mxfp8", "mxfp8", 1e-6),
                                             {"hipblaslt-mxfp8", "mxfp8_e4m3_e5m2", 1e-6},
                                             {"hipblaslt-mxfp4", "mxfp4", 1e-6},
                                             {"hipblaslt-bf16", "nvfp4", 1e-6},
                                             {"hipblaslt-bf16", "w4a16_mxfp4", 1e-6},
                                             {"hipblaslt-fp8", "mxfp8", 5e-2}}) {
    Problem problem{format, 32, 48, 256, 1, OutputType::kF32};
    for (const char* batch : {"one", "broadcast"}) {
      if (batch == std::string("broadcast")) problem.batch = MatrixBatch({3}, {1});
      for (const bool accumulate : {false, true}) {
        problem.accumulate = accumulate;
        const double error = errorOf(kernel, problem);
        checkThat(error < most,
                  std::string(kernel) + " " + format + " " + batch +
                      (accumulate ? " added: " : ": ") + std::to_string(error),
                  __FILE__, __LINE__);
      }
    }
  }
  CHECK(errorOf("hipblaslt-bf16", {"mxfp4", 32, 48, 64}) < 5e-3);  // bf16 for f16
  CHECK(alive == 0);
}

// It thinks in columns: its A is our B, transposed, and each brings its own scales.
void blockScalesAreAskedFor() {
  for (const auto& [kernel, format, a, b] :
       {std::tuple("hipblaslt-mxfp8", "mxfp8_e4m3_e5m2", 28, 29),
        {"hipblaslt-mxfp4", "mxfp4", 33, 33}}) {
    layouts.clear();
    errorOf(kernel, {format, 32, 48, 128});
    const std::vector<Layout> expected = {{b, 128, 48, 128}, {a, 128, 32, 128}, {2, 48, 32, 48}};
    CHECK(layouts == expected);
    CHECK(lastMatmul.at<int>(31) == 2 && lastMatmul.at<int>(32) == 2);
    CHECK((lastMatmul.types == std::array<int, 2>{2, 0}));
    CHECK(allowedWorkspace == 64 << 20);
  }
  errorOf("hipblaslt-fp8", {"mxfp8", 32, 48, 128});
  CHECK(!lastMatmul.attributes.contains(31) && lastMatmul.at<void*>(5) != nullptr);
  errorOf("hipblaslt-bf16", {"mxfp8", 32, 48, 128});
  CHECK(!lastMatmul.attributes.contains(5));
}

std::string refusalOf(const char* kernel, const Problem& problem) {
  const Device device(host::standInFacts());
  try {
    makeHipblasLtOperation(device, problem, kernel);
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kUnavailable);
    return error.what();
  }
  return "nothing was refused";
}

void whatIsNotTakenIsUnavailable() {
  const Problem problem{"mxfp8", 32, 48, 128};
  knowsScaleModes = false;
  CHECK_CONTAINS(refusalOf("hipblaslt-mxfp8", problem),
                 "This hipBLASLt does not know the scale mode that hipblaslt-mxfp8 needs "
                 "(HIPBLAS_STATUS_INVALID_VALUE): ROCm 7.0 has it.");
  knowsScaleModes = true, algorithms = 0;
  CHECK_CONTAINS(refusalOf("hipblaslt-mxfp8", problem),
                 "no algorithm for hipblaslt-mxfp8 with mxfp8, M=32, N=48, K=128 on Stand-in");
  algorithms = 1;
  CHECK_CONTAINS(refusalOf("hipblaslt-mxfp4", {"mxfp4", 32, 48, 96}), "K of 128");
  CHECK_CONTAINS(refusalOf("hipblaslt-mxfp4", {"mxfp4", 8, 48, 128}), "multiples of 16");
  Problem other = problem;
  other.accumulate = true;
  CHECK_CONTAINS(refusalOf("hipblaslt-bf16", other), "adds an accumulator where C is f32 alone");
  other = problem, other.bOrder = BOrder::kKn;
  CHECK_CONTAINS(refusalOf("hipblaslt-mxfp8", other), "reads B along K");
  other = problem, other.output = OutputType::kE4m3;
  CHECK_CONTAINS(refusalOf("hipblaslt-fp8", other), "f16, bf16 or f32");
  CHECK(alive == 0);
}

// Its index stands in the algorithm; the name comes from a function that not every version has.
void whatItChoseIsTold() {
  const Device device(host::standInFacts());
  auto told = [&] {
    return *makeHipblasLtOperation(device, {"mxfp8", 32, 48, 128}, "hipblaslt-mxfp8")->algorithm();
  };
  CHECK(told().id == 263 && told().name.empty() && told().tile.empty() && !told().splitK);
  auto& lt = const_cast<Libraries&>(libraries()).hipblasLt;
  lt.solutionName = nameOf;
  CHECK(told().name == "Cijk_MT256x256x128_7");
  CHECK(told().workspaceBytes == 4096 && told().waves == 1.5);
  CHECK(told().rank == 1 && told().proposed == 1);
  lt.solutionName = nullptr;
}

std::set<std::string> formatsOf(const KernelInfo& kernel, CapabilityLevel level) {
  std::set<std::string> found;
  for (const Capability& one : kernel.capabilities)
    if (one.level == level) found.insert(one.format);
  return found;
}

void kernelsSayWhatTheyAre() {
  LibraryInfo library;
  library.found = true, library.version = "1.0.70000";
  const auto here = hipblasLtKernels("gfx950", library);
  CHECK(here.size() == 4 && here[0].id == "hipblaslt-bf16" && here[0].operandBits == 16);
  CHECK(here[1].baseline && here[1].operandBits == 8 && !here[2].baseline);
  const std::set<std::string> eight = {"mxfp8", "mxfp8_e5m2", "mxfp8_e4m3_e5m2", "e5m2xe4m3"};
  CHECK(formatsOf(here[2], CapabilityLevel::kNative) == eight);
  CHECK(formatsOf(here[3], CapabilityLevel::kNative) == std::set<std::string>{"mxfp4"});
  auto reasonOf = [&](const char* architecture, size_t kernel) {
    const auto kernels = hipblasLtKernels(architecture, library);
    for (const Capability& one : kernels[kernel].capabilities)
      if (one.format == "mxfp8") return one.reason;
    return std::string();
  };
  CHECK_CONTAINS(reasonOf("gfx942", 2), "block scaling on gfx950; this device is gfx942");
  CHECK_CONTAINS(reasonOf("gfx942", 1), "OCP's e4m3 on gfx950 and gfx12; this device is gfx942");
  CHECK_CONTAINS(reasonOf("gfx942", 0), "Exact products");
  library.version = "0.12.60400";
  CHECK_CONTAINS(reasonOf("gfx950", 2), "hipBLASLt 0.12.60400 has no block scaling: ROCm 7.0");
  library.found = false, library.reason = "It is not here.", library.remedy = "Install it.";
  CHECK_CONTAINS(reasonOf("gfx950", 0), "It is not here. Install it.");
}

}  // namespace

int main() {
  host::standInHip();
  standInLibrary();
  productsAreThoseOfTheOperands();
  blockScalesAreAskedFor();
  whatIsNotTakenIsUnavailable();
  whatItChoseIsTold();
  kernelsSayWhatTheyAre();
  return summary();
}
