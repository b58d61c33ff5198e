// What the CUDA backend takes from the driver and from cuBLASLt it gives back, whichever call
// fails: a driver made of counters stands in for the real one.
#include <string>

#include "../cuda/kernels.h"
#include "../cuda/manifestOperation.h"
#include "../cuda/sampler.h"
#include "cudaStandIn.h"

namespace {

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
  Sampler sampler(
      context, kernels, stream,
      [](size_t) {
        if (created++ == failing) throw Error(ErrorKind::kDevice, "a launch failed");
      },
      "Nothing", CachePlan());
  sampler.chooseGrouping();
  sampler.sustain(1);
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
    encodeTensorMap(context, row, 4096, problemVariables({}, {format, 64, 96, 256}, {}), "mine");
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

// What a row gives a function with an int, a buffer and a long long: the driver would read past
// fewer, and past an int where eight bytes are taken.
void argumentsAreTheFunctions() {
  auto& driver = const_cast<Libraries&>(libraries()).driver;
  const DeviceContext context(hopper());
  Launch launch;
  launch.name = "kernel mine (f)";
  const auto said = [&](std::vector<LaunchArgument> arguments) {
    launch.arguments = std::move(arguments);
    return messageOf([&] { prepareLaunch(context, launch); });
  };
  const driver::DevicePointer buffer = 256;
  const std::string right = said({int32_t{1}, buffer, int64_t{3}});
  CHECK(said({int32_t{1}}) == right);  // a driver that does not tell
  driver.funcGetParamInfo = [](driver::Handle, size_t index, size_t* offset, size_t* bytes) {
    static constexpr size_t kBytes[] = {4, 8, 8};
    if (index >= std::size(kBytes)) return 1;  // CUDA_ERROR_INVALID_VALUE
    *offset = 8 * index, *bytes = kBytes[index];
    return 0;
  };
  CHECK(said({int32_t{1}, buffer, int64_t{3}}) == right);
  CHECK(said({int32_t{1}, buffer}) ==
        "kernel mine (f) has 3 parameters in the source and is given 2 arguments. Give one for "
        "each, in their order.");
  CHECK_CONTAINS(
      said({int32_t{1}, buffer, int32_t{3}}),
      "kernel mine (f): parameter 3 has 8 bytes in the source and is given 4. Write i64:");
  CHECK_CONTAINS(said({buffer, int32_t{1}, int64_t{3}}), "parameter 1 has 4 bytes");
  CHECK(said({int32_t{1}, buffer, int64_t{3}, 1.0f}) == right);  // nothing is read past
  driver.funcGetParamInfo = nullptr;
}

}  // namespace

int main() {
  standIn();
  whatIsTakenIsGivenBack();
  aLostDeviceIsLeftAlone();
  resultsThatBreakAContextAreKnown();
  aShapeThatIsNotTakenIsUnavailable();
  tensorMapsOfCodes();
  argumentsAreTheFunctions();
  return summary();
}
