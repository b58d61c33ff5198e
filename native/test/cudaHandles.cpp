// What the CUDA backend takes from the driver and from cuBLASLt it gives back, whichever call
// fails: a driver made of counters stands in for the real one.
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "../cuda/cublasLtOperation.h"
#include "../cuda/kernels.h"
#include "../cuda/manifestOperation.h"
#include "../cuda/sampler.h"
#include "check.h"

using namespace blockscope;
using namespace blockscope::cuda;

namespace {

// Things that are created and given back, and which creation fails: -1, none.
int alive = 0, created = 0, failing = -1;
bool lost = false;

template <typename T>
int create(T* to) {
  if (created++ == failing) return lost ? driver::kLaunchFailed : 1;
  *to = (T)(uintptr_t)(1000 + created);
  alive++;
  return 0;
}
int giveBack(auto) {
  alive--;
  return 0;
}

void standIn() {
  auto& all = const_cast<Libraries&>(libraries());
  auto& driver = all.driver;
  driver.getErrorName = [](int, const char** name) {
    *name = "CUDA_ERROR";
    return 0;
  };
  driver.getErrorString = [](int, const char** text) {
    *text = "as told";
    return 0;
  };
  driver.deviceGet = [](driver::Device* device, int) {
    *device = 0;
    return 0;
  };
  driver.primaryCtxRetain = [](driver::Handle* to, driver::Device) { return create(to); };
  driver.primaryCtxRelease = [](driver::Device) { return giveBack(0); };
  driver.ctxSetCurrent = [](driver::Handle) { return 0; };
  driver.memGetInfo = [](size_t* free, size_t* total) {
    *free = *total = size_t{1} << 40;
    return 0;
  };
  driver.memAlloc = [](driver::DevicePointer* to, size_t) { return create(to); };
  driver.memFree = [](driver::DevicePointer at) { return giveBack(at); };
  driver.memHostAlloc = [](void** to, size_t, unsigned) {
    static int flags[2];
    const int result = create(to);
    if (result == 0) *to = flags;
    return result;
  };
  // Mapping fails where creating does, and takes nothing.
  driver.memHostGetDevicePointer = [](driver::DevicePointer* to, void*, unsigned) {
    const int result = create(to);
    if (result == 0) alive--;
    return result;
  };
  driver.memFreeHost = [](void* at) { return giveBack(at); };
  driver.moduleLoadData = [](driver::Handle* to, const void*) { return create(to); };
  driver.moduleUnload = [](driver::Handle module) { return giveBack(module); };
  driver.moduleGetFunction = [](driver::Handle* to, driver::Handle, const char*) {
    *to = to;
    return 0;
  };
  driver.launchKernelEx = [](const driver::LaunchConfig*, driver::Handle, void**, void**) {
    return 0;
  };
  driver.streamCreate = [](driver::Handle* to, unsigned) { return create(to); };
  driver.streamDestroy = [](driver::Handle stream) { return giveBack(stream); };
  driver.streamQuery = [](driver::Handle) { return 0; };
  driver.streamSynchronize = [](driver::Handle) { return 0; };
  driver.streamBeginCapture = [](driver::Handle, int) { return 0; };
  driver.streamEndCapture = [](driver::Handle, driver::Handle* to) { return create(to); };
  driver.graphInstantiate = [](driver::Handle* to, driver::Handle, unsigned long long) {
    return create(to);
  };
  driver.graphLaunch = [](driver::Handle, driver::Handle) { return 0; };
  driver.graphDestroy = [](driver::Handle graph) { return giveBack(graph); };
  driver.graphExecDestroy = [](driver::Handle graph) { return giveBack(graph); };
  driver.eventCreate = [](driver::Handle* to, unsigned) { return create(to); };
  driver.eventDestroy = [](driver::Handle event) { return giveBack(event); };
  driver.eventRecord = [](driver::Handle, driver::Handle) { return 0; };
  driver.eventElapsedTime = [](float* milliseconds, driver::Handle, driver::Handle) {
    *milliseconds = 0.001f;
    return 0;
  };
  auto& nvrtc = all.nvrtc;
  all.nvrtcInfo.found = true;
  nvrtc.createProgram = [](nvrtc::Program* to, const char*, const char*, int, const char* const*,
                           const char* const*) { return create(to); };
  nvrtc.destroyProgram = [](nvrtc::Program* program) { return giveBack(program); };
  nvrtc.compileProgram = [](nvrtc::Program, int, const char* const*) {
    return created++ == failing ? 1 : 0;
  };
  nvrtc.getErrorString = [](int) { return "as told"; };
  nvrtc.getProgramLogSize = [](nvrtc::Program, size_t* size) {
    *size = 0;
    return 0;
  };
  nvrtc.getCubinSize = [](nvrtc::Program, size_t* size) {
    *size = 4;
    return 0;
  };
  nvrtc.getCubin = [](nvrtc::Program, char* image) {
    std::fill_n(image, 4, 'x');
    return 0;
  };
  auto& lt = all.cublasLt;
  all.cublasLtInfo.found = true;
  lt.getStatusString = [](int) { return "as told"; };
  lt.create = [](cublaslt::Handle* to) { return create(to); };
  lt.destroy = [](cublaslt::Handle handle) { return giveBack(handle); };
  lt.matmulDescCreate = [](cublaslt::Handle* to, int, int) { return create(to); };
  lt.matmulDescSetAttribute = [](cublaslt::Handle, int, const void*, size_t) {
    return created++ == failing ? 1 : 0;
  };
  lt.matmulDescDestroy = [](cublaslt::Handle handle) { return giveBack(handle); };
  lt.matrixLayoutCreate = [](cublaslt::Handle* to, int, uint64_t, uint64_t, int64_t) {
    return create(to);
  };
  lt.matrixLayoutDestroy = [](cublaslt::Handle handle) { return giveBack(handle); };
  lt.preferenceCreate = [](cublaslt::Handle* to) { return create(to); };
  lt.preferenceSetAttribute = [](cublaslt::Handle, int, const void*, size_t) { return 0; };
  lt.preferenceDestroy = [](cublaslt::Handle handle) { return giveBack(handle); };
  lt.getHeuristic = [](cublaslt::Handle, cublaslt::Handle, cublaslt::Handle, cublaslt::Handle,
                       cublaslt::Handle, cublaslt::Handle, cublaslt::Handle, int,
                       cublaslt::HeuristicResult*, int* found) {
    *found = 1;
    return created++ == failing ? 1 : 0;
  };
  lt.algorithmAttribute = [](const cublaslt::Algorithm*, int, void*, size_t, size_t*) { return 7; };
}

class Nothing : public Operation {
 public:
  std::unique_ptr<OperandSet> prepare(const DeviceOperands&) override { return nullptr; }
  void bind(const std::vector<const OperandSet*>&) override {}
  void enqueue(size_t, const Stream&) override {
    if (created++ == failing) throw Error(ErrorKind::kDevice, "a launch failed");
  }
};

DeviceFacts hopper() {
  DeviceFacts facts;
  facts.name = "Stand-in", facts.major = 9, facts.multiprocessors = 4;
  return facts;
}

const Problem kProblem{"mxfp4", 128, 128, 128};

KernelRow rowOf(const std::string& id, const std::string& file) {
  KernelRow row;
  row.id = id, row.file = "../../resources/kernels/cuda/" + file;
  row.architectures = {"sm_80+"};
  row.formats = {{"mxfp4", CapabilityLevel::kExact, "", {}, ""}};
  row.outputs = {OutputType::kF16};
  row.workspace = {{"one", "1024", false}, {"two", "M", false}};
  LaunchRow launch;
  launch.function = "f", launch.grid = {"1"}, launch.block = {"1"};
  row.launches = {launch};
  return row;
}

// Everything that holds something, from the context up.
void useAll() {
  const DeviceContext context(hopper());
  const ManifestOperation manifest(context, Kernels(BackendOptions{}), rowOf("k", "simt.cu"),
                                   kProblem);
  for (const char* kernel : {"cublaslt-bf16", "cublaslt-fp8", "cublaslt-mxfp8"}) {
    Problem problem = kProblem;
    if (kernel == std::string("cublaslt-mxfp8")) problem.format = "mxfp8";
    makeCublasLtOperation(context, problem, kernel);
  }
  KernelRow timing = rowOf("support-timing", "common/timing.cu");
  timing.role = KernelRole::kSupport;
  const Kernels kernels(BackendOptions{{timing}, ""});
  const Stream stream(context);
  Nothing nothing;
  Sampler sampler(context, kernels, stream, nothing, "Nothing", CachePlan());
  sampler.chooseGrouping();
}

void whatIsTakenIsGivenBack() {
  failing = -1, created = 0;
  useAll();
  CHECK(alive == 0);
  const int all = created;
  CHECK(all > 40);
  for (failing = 0; failing < all; failing++) {
    created = alive = 0;
    bool refused = false;
    try {
      useAll();
    } catch (const Error&) {
      refused = true;
    }
    checkThat(refused && alive == 0,
              "call " + std::to_string(failing) + " fails: " + std::to_string(alive) + " left",
              __FILE__, __LINE__);
  }
}

// The driver of a lost device would block or fail: nothing is given back then.
void aLostDeviceIsLeftAlone() {
  lost = true;
  failing = 3, created = alive = 0;
  bool refused = false;
  try {
    useAll();
  } catch (const Error&) {
    refused = true;
  }
  CHECK(refused && alive > 0);
  lost = false;
}

void resultsThatBreakAContextAreKnown() {
  for (const int result : {214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721}) {
    failing = -1, created = alive = 0;
    const DeviceContext context(hopper());
    try {
      context.check(result, "A launch");
    } catch (const Error&) {
    }
    checkThat(context.lost(), "error " + std::to_string(result), __FILE__, __LINE__);
  }
  // Too many resources asked for, or a cooperative grid too large: the context lives.
  for (const int result : {2, 701, 712, 720}) {
    const DeviceContext context(hopper());
    try {
      context.check(result, "A launch");
    } catch (const Error&) {
    }
    checkThat(!context.lost(), "error " + std::to_string(result), __FILE__, __LINE__);
  }
}

// A run of every kernel leaves it out with the reason; it is no failure.
void aShapeThatIsNotTakenIsUnavailable() {
  failing = -1, created = alive = 0;
  const DeviceContext context(hopper());
  KernelRow row = rowOf("k", "simt.cu");
  row.requires_ = {{"M <= 64", "it is for at most 64 rows of A"}};
  try {
    ManifestOperation(context, Kernels(BackendOptions{}), row, kProblem);
    CHECK(false);
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kUnavailable);
    CHECK_CONTAINS(error.what(), "does not take this shape: it is for at most 64 rows of A");
  }
}

// What a tensor map of codes is encoded as, by the bits of its operand.
int encodedElement = -1;
uint64_t encodedDims[2];

void tensorMapsOfCodes() {
  auto& driver = const_cast<Libraries&>(libraries()).driver;
  driver.tensorMapEncodeTiled = [](driver::TensorMap*, int element, uint32_t, void*,
                                   const uint64_t* dims, const uint64_t*, const uint32_t*,
                                   const uint32_t*, int, int, int, int) {
    encodedElement = element;
    encodedDims[0] = dims[0], encodedDims[1] = dims[1];
    return 0;
  };
  const DeviceContext context(hopper());
  TensorMapRow row;
  row.name = "map", row.of = "bCodes", row.element = "code", row.swizzle = "128B";
  row.dims = {"K", "N"}, row.strides = {"K * BITS_B / 8"}, row.box = {"128", "64"};
  auto encode = [&](const char* format) {
    encodeTensorMap(context, row, 4096, problemVariables({}, {format, 64, 96, 256}, 1), "mine");
    CHECK(encodedDims[0] == 256 && encodedDims[1] == 96);
    return encodedElement;
  };
  CHECK(encode("mxfp8") == driver::kU8);
  CHECK(encode("mxfp6_e2m3") == driver::k16U6);
  // Of e4m3 x e2m1, B's codes.
  CHECK(encode("mixed") == driver::k16U4);
  row.of = "aCodes";
  CHECK(encode("mixed") == driver::kU8);
  row.of = "c";
  const std::string message = messageOf([&] { encode("mixed"); });
  CHECK(message.find("\"code\" is of aCodes or bCodes") != std::string::npos);
}

// What cuBLASLt is asked for. It thinks in columns: its A is our B, and each brings its own scales.
std::map<int, int32_t> askedModes;
std::vector<std::array<int64_t, 4>> askedLayouts;  // type, rows, columns, leading dimension

void blockScalesAreAskedFor() {
  failing = -1;
  auto& lt = const_cast<Libraries&>(libraries()).cublasLt;
  lt.matmulDescSetAttribute = [](cublaslt::Handle, int attribute, const void* value, size_t bytes) {
    if (bytes == 4) std::memcpy(&askedModes[attribute], value, 4);
    return 0;
  };
  lt.matrixLayoutCreate = [](cublaslt::Handle* to, int type, uint64_t rows, uint64_t columns,
                             int64_t leading) {
    askedLayouts.push_back(
        {type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), leading});
    return create(to);
  };
  const DeviceContext context(hopper());
  // CUDA's library_types.h and cublasLt.h: 28 and 29 are e4m3 and e5m2, 33 e2m1, 2 float16; scale
  // mode 1 is ue4m3 per 16, 2 ue8m0 per 32; attributes 31 and 32 are the modes of A and B.
  for (const auto& [kernel, format, a, b, mode] :
       {std::tuple("cublaslt-mxfp8", "mxfp8_e4m3_e5m2", 28, 29, 2),
        {"cublaslt-nvfp4", "nvfp4", 33, 33, 1},
        {"cublaslt-mxfp4", "mxfp4", 33, 33, 2}}) {
    askedModes.clear(), askedLayouts.clear();
    makeCublasLtOperation(context, {format, 96, 160, 256}, kernel);
    CHECK(askedModes[31] == mode && askedModes[32] == mode && askedModes[3] == 1);
    const std::vector<std::array<int64_t, 4>> expected = {
        {b, 256, 160, 256}, {a, 256, 96, 256}, {2, 160, 96, 160}};
    CHECK(askedLayouts == expected);
    const MatmulPlan plan = planMatmul(cublasLt(), kernel, {format, 96, 160, 256});
    // Rows padded to 128, blocks of K to 4.
    CHECK(plan.aScaleBytes == 128 * (mode == 2 ? 8 : 16));
    CHECK(plan.bScaleBytes == 2 * plan.aScaleBytes);
  }
}

// One without mxfp4 has no algorithm for it: such a point is left out of a run with the reason.
void whatItDoesNotHaveIsUnavailable() {
  auto& lt = const_cast<Libraries&>(libraries()).cublasLt;
  const auto had = lt.getHeuristic;
  lt.getHeuristic = [](cublaslt::Handle, cublaslt::Handle, cublaslt::Handle, cublaslt::Handle,
                       cublaslt::Handle, cublaslt::Handle, cublaslt::Handle, int,
                       cublaslt::HeuristicResult*, int*) { return 15; };
  const DeviceContext context(hopper());
  try {
    makeCublasLtOperation(context, {"mxfp4", 96, 160, 256}, "cublaslt-mxfp4");
    CHECK(false);
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kUnavailable);
    CHECK_CONTAINS(error.what(), "cuBLASLt has no algorithm for cublaslt-mxfp4 with mxfp4, M=96");
  }
  lt.getHeuristic = had;
}

// It is asked for as many bytes as cublasLt.h says an attribute has: two of a cluster, else four.
// What cannot be used is passed over.
void whatItChoseIsTold() {
  auto& lt = const_cast<Libraries&>(libraries()).cublasLt;
  lt.getHeuristic = [](cublaslt::Handle, cublaslt::Handle, cublaslt::Handle, cublaslt::Handle,
                       cublaslt::Handle, cublaslt::Handle, cublaslt::Handle, int most,
                       cublaslt::HeuristicResult* proposals, int* found) {
    CHECK(most == 8);
    *found = 3;
    proposals[0].state = 15;
    proposals[1] = {{{42}}, 1 << 20, 0, 3.875f, {}};
    return 0;
  };
  lt.algorithmAttribute = [](const cublaslt::Algorithm* algorithm, int attribute, void* value,
                             size_t bytes, size_t* written) {
    constexpr uint32_t kValues[] = {66, 24, 3, 2, 1, 9, 35, 0, 3};
    if (algorithm->data[0] != 42 || bytes != (attribute == 8 ? 2 : 4)) return 7;
    std::memcpy(value, &kValues[attribute], bytes);  // little-endian
    *written = bytes;
    return 0;
  };
  const DeviceContext context(hopper());
  const auto told = *makeCublasLtOperation(context, kProblem, "cublaslt-bf16")->algorithm();
  CHECK(told.id == 66 && told.tile == "256x128" && told.stages == "64xAUTO");
  CHECK(told.cluster == "2x1x1" && told.splitK == 3 && told.reduction == "in its sums");
  CHECK(told.swizzle == 1 && told.customOption == 9 && told.name.empty());
  CHECK(told.workspaceBytes == 1 << 20 && told.waves == 3.875);
  CHECK(told.rank == 2 && told.proposed == 3);
  // A library that does not know an attribute.
  lt.algorithmAttribute = [](const cublaslt::Algorithm*, int attribute, void*, size_t,
                             size_t* written) {
    *written = 0;
    return attribute > 5 ? 7 : 0;
  };
  const auto less = *makeCublasLtOperation(context, kProblem, "cublaslt-bf16")->algorithm();
  CHECK(less.tile.empty() && less.cluster.empty() && !less.splitK && !less.swizzle);
}

}  // namespace

int main() {
  standIn();
  whatIsTakenIsGivenBack();
  aLostDeviceIsLeftAlone();
  resultsThatBreakAContextAreKnown();
  aShapeThatIsNotTakenIsUnavailable();
  tensorMapsOfCodes();
  blockScalesAreAskedFor();
  whatItDoesNotHaveIsUnavailable();
  whatItChoseIsTold();
  return summary();
}
