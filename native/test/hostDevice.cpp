// The whole path around a GPU kernel on a stand-in for a GPU whose memory is the host's: operands
// generated and put into a kernel's form, passes, a kernel, C read back. The passes and the
// operands' code are the device's own, compiled for the CPU; the kernel is a plain loop here.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string_view>

#include "../core/formats.h"
#include "../core/operands.h"
#include "../core/oracle.h"
#include "../core/outputs.h"
#include "../core/packing.h"
#include "../cuda/manifestOperation.h"
#include "check.h"
#include "deviceCode.h"

using namespace blockscope;
using namespace blockscope::cuda;

namespace {

const CancelFlag kNever;

// ------------------------------------------------------------------------------- the stand-in

using Function = std::function<void(void** arguments)>;
std::map<std::string, Function> functions;
// Names of what was launched, in order.
std::vector<std::string> launched;

template <typename... Parameters, size_t... index>
void callWith(void (*function)(Parameters...), void** arguments, std::index_sequence<index...>) {
  function(*static_cast<std::remove_reference_t<Parameters>*>(arguments[index])...);
}
template <typename... Parameters>
void offer(const std::string& name, void (*function)(Parameters...)) {
  functions[name] = [=](void** arguments) {
    callWith(function, arguments, std::index_sequence_for<Parameters...>());
  };
}

template <typename T>
int made(T* to) {
  static uintptr_t next = 0;
  *to = (T)(++next);
  return 0;
}

// Copies to the GPU from pageable memory that the driver has taken and not yet put in place: work
// in a stream of one's own does not wait for them.
std::vector<std::pair<driver::DevicePointer, std::vector<uint8_t>>> onTheirWay;
int arrive() {
  for (const auto& [to, bytes] : onTheirWay)
    std::memcpy(reinterpret_cast<void*>(to), bytes.data(), bytes.size());
  onTheirWay.clear();
  return 0;
}

void standIn() {
  auto& all = const_cast<Libraries&>(libraries());
  auto& driver = all.driver;
  driver.deviceGet = [](driver::Device* device, int) { return made(device); };
  driver.primaryCtxRetain = [](driver::Handle* to, driver::Device) { return made(to); };
  driver.primaryCtxRelease = [](driver::Device) { return 0; };
  driver.ctxSetCurrent = [](driver::Handle) { return 0; };
  driver.memGetInfo = [](size_t* free, size_t* total) {
    *free = *total = size_t{1} << 40;
    return 0;
  };
  driver.memAlloc = [](driver::DevicePointer* to, size_t bytes) {
    *to = reinterpret_cast<driver::DevicePointer>(std::malloc(bytes));
    return 0;
  };
  driver.memFree = [](driver::DevicePointer at) {
    std::free(reinterpret_cast<void*>(at));
    return 0;
  };
  driver.memcpyHtoD = [](driver::DevicePointer to, const void* from, size_t bytes) {
    const auto* first = static_cast<const uint8_t*>(from);
    onTheirWay.push_back({to, {first, first + bytes}});
    return 0;
  };
  driver.streamSynchronize = [](driver::Handle) { return arrive(); };
  driver.memcpyDtoH = [](void* to, driver::DevicePointer from, size_t bytes) {
    arrive();
    std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return 0;
  };
  driver.memcpyDtoDAsync = [](driver::DevicePointer to, driver::DevicePointer from, size_t bytes,
                              driver::Handle) {
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
    return 0;
  };
  driver.memsetD8Async = [](driver::DevicePointer to, unsigned char value, size_t bytes,
                            driver::Handle) {
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    return 0;
  };
  driver.moduleLoadData = [](driver::Handle* to, const void*) { return made(to); };
  driver.moduleUnload = [](driver::Handle) { return 0; };
  driver.moduleGetFunction = [](driver::Handle* to, driver::Handle, const char* name) {
    const auto found = functions.find(name);
    *to = found == functions.end() ? nullptr : (driver::Handle) & *found;
    return found == functions.end() ? 1 : 0;
  };
  driver.launchKernelEx = [](const driver::LaunchConfig* config, driver::Handle function,
                             void** arguments, void**) {
    const auto& [name, call] = *reinterpret_cast<std::pair<const std::string, Function>*>(function);
    launched.push_back(name);
    device::gridDim.x = config->gridX, device::blockDim.x = config->blockX;
    for (device::blockIdx.x = 0; device::blockIdx.x < config->gridX; device::blockIdx.x++)
      for (device::threadIdx.x = 0; device::threadIdx.x < config->blockX; device::threadIdx.x++)
        call(arguments);
    return 0;
  };
  driver.streamCreate = [](driver::Handle* to, unsigned) { return made(to); };
  driver.streamDestroy = [](driver::Handle) { return 0; };
  driver.streamQuery = [](driver::Handle) { return 0; };
  auto& nvrtc = all.nvrtc;
  all.nvrtcInfo.found = true;
  nvrtc.createProgram = [](nvrtc::Program* to, const char*, const char*, int, const char* const*,
                           const char* const*) { return made(to); };
  nvrtc.destroyProgram = [](nvrtc::Program*) { return 0; };
  nvrtc.compileProgram = [](nvrtc::Program, int, const char* const*) { return 0; };
  nvrtc.getCubinSize = [](nvrtc::Program, size_t* size) {
    *size = 4;
    return 0;
  };
  nvrtc.getCubin = [](nvrtc::Program, char* image) {
    std::fill_n(image, 4, 'x');
    return 0;
  };
}

// ------------------------------------------------------------------------------- the kernel

// What its macros would tell it.
const BlockFormat* kernelFormat = nullptr;
BOrder kernelOrder = BOrder::kNk;

// One matrix of C, of `type`, from packed codes.
void multiply(const uint8_t* aCodes, const uint8_t* bCodes, const uint8_t* aScales,
              const uint8_t* bScales, void* c, int m, int n, int k, float tensorScale,
              const float* accumulator, float outputScale, int type) {
  const BlockFormat& format = *kernelFormat;
  const int64_t size = format.scaleBlockSize, blocks = k / size;
  const NumberFormat& ofA = format.elementA();
  std::vector<uint8_t> a(m * k * ofA.codeBytes()), b(n * k);
  unpackCodes(format.elementA(), aCodes, m * k, a.data());
  unpackCodes(format.elementB(), bCodes, n * k, b.data());
  const bool turned = kernelOrder == BOrder::kKn;
  for (int64_t row = 0; row < m; row++)
    for (int64_t col = 0; col < n; col++) {
      double sum = 0;
      for (int64_t d = 0; d < k; d++) {
        const uint8_t codeB = b[turned ? d * n + col : col * k + d];
        const uint8_t scaleB = bScales[turned ? d / size * n + col : col * blocks + d / size];
        const double scaleA =
            ofA.isScaled() ? decode(format.scaleFormat(), aScales[row * blocks + d / size]) : 1;
        sum += decode(ofA, codeAt(ofA, a.data(), row * k + d)) * scaleA *
               decode(format.elementB(), codeB) * decode(format.scaleFormat(), scaleB);
      }
      const int64_t at = row * n + col;
      float value = static_cast<float>(sum) * tensorScale;
      if (accumulator) value += accumulator[at];
      writeOutput(static_cast<OutputType>(type), value * outputScale, c, at);
    }
}

// All groups, as a kernel that finds them itself.
void multiplyGroups(const uint8_t* aCodes, const uint8_t* bCodes, const uint8_t* aScales,
                    const uint8_t* bScales, uint8_t* c, const int* starts, const int* rows,
                    int groups, int n, int k, float tensorScale, int type) {
  const BlockFormat& format = *kernelFormat;
  const int64_t blocks = k / format.scaleBlockSize;
  for (int64_t group = 0; group < groups; group++) {
    const int64_t start = starts[group];
    multiply(aCodes + packedBytes(format.elementA(), start * k),
             bCodes + packedBytes(format.elementB(), group * n * k),
             aScales ? aScales + start * blocks : nullptr, bScales + group * n * blocks,
             c + start * n * outputBytes(static_cast<OutputType>(type)), rows[group], n, k,
             tensorScale, nullptr, 1, type);
  }
}

KernelRow supportRow(const std::string& id, const std::string& file) {
  KernelRow row;
  row.id = id, row.file = "../../resources/kernels/cuda/common/" + file;
  row.role = KernelRole::kSupport;
  row.architectures = {"sm_80+"};
  return row;
}

KernelRow kernelRow(FeatureLevel level, OutputType written) {
  KernelRow row;
  row.id = "host", row.file = "../../resources/kernels/cuda/simt.cu";
  row.architectures = {"sm_80+"};
  for (const BlockFormat& format : everyBlockFormat())
    row.formats.push_back({std::string(format.id), CapabilityLevel::kExact, "", {}, ""});
  row.outputs = {OutputType::kF16, OutputType::kBf16, OutputType::kF32};
  if (level == FeatureLevel::kFused)
    for (const OutputType type : {OutputType::kE4m3, OutputType::kE5m2})
      row.outputs.push_back(type);
  for (const char* id : {"b-kn", "accumulator", "f8-output"})
    row.features.push_back({id, level, ""});
  row.features.push_back({"batch", FeatureLevel::kFused, ""});
  LaunchRow launch;
  launch.function = "multiply", launch.grid = {"1"}, launch.block = {"1"};
  launch.arguments = {"aCodes",
                      "bCodes",
                      "aScales",
                      "bScales",
                      "c",
                      "M",
                      "N",
                      "K",
                      "f32:tensorScale",
                      "accumulator",
                      "f32:outputScale",
                      std::to_string(static_cast<int>(written))};
  row.launches = {launch};
  return row;
}

DeviceFacts standInFacts() {
  DeviceFacts facts;
  facts.name = "Stand-in", facts.major = 9, facts.multiprocessors = 4;
  return facts;
}

// C, from operands that the stand-in generated, of `problem` through a kernel that does or does not
// do it all itself.
std::vector<uint8_t> computed(const Problem& problem, FeatureLevel level) {
  const DeviceContext context(standInFacts());
  const Kernels kernels(BackendOptions{
      {supportRow("support-operands", "operands.cu"), supportRow("support-passes", "passes.cu")},
      ""});
  const bool fused = level == FeatureLevel::kFused;
  kernelFormat = &findBlockFormat(problem.format);
  kernelOrder = fused ? problem.bOrder : BOrder::kNk;
  const bool finishes = !fused && (problem.accumulate || outputBytes(problem.output) == 1);
  const OutputType written = finishes ? OutputType::kF32 : problem.output;
  KernelRow row = kernelRow(level, written);
  row.features.push_back({"grouped", level, ""});
  if (problem.isGrouped() && doesAllGroups(row, problem)) {
    row.launches[0].function = "multiplyGroups";
    row.launches[0].arguments = {
        "aCodes", "bCodes",      "aScales",         "bScales",
        "c",      "groupStarts", "groupRows",       "GROUPS",
        "N",      "K",           "f32:tensorScale", std::to_string(static_cast<int>(written))};
  }
  const DeviceOperands operands(context, kernels, problem, GeneratedOperands{"normal", 5});
  const Operands expected = generateOperands(problem, {"normal", 5}, kNever),
                 got = operands.download();
  CHECK(got.bCodes == expected.bCodes && got.accumulator == expected.accumulator);
  CHECK(got.aCodes == expected.aCodes && got.aScales == expected.aScales);
  ManifestOperation operation(context, kernels, row, problem);
  const Stream stream(context);
  const auto first = operation.prepare(operands);
  // A copy does the work: what it lacks shows.
  const auto set = first->copy(context, problem, stream);
  operation.bind({set.get()});
  set->poison(stream);
  launched.clear();
  operation.enqueue(0, stream);
  CHECK(!set->guardsBroken());
  return set->c.read();
}

void everyKernelTakesTheWholeOperation() {
  for (const char* format : {"mxfp4", "mxfp6_e2m3", "nvfp4", "e5m2xe2m1", "w4a16_nvfp4"})
    for (const BOrder order : {BOrder::kNk, BOrder::kKn})
      for (const bool accumulate : {false, true})
        for (const OutputType output : {OutputType::kF32, OutputType::kBf16, OutputType::kE5m2}) {
          Problem problem{format, 5, 12, 64, MatrixBatch({2, 1}, {3}), output, order, accumulate};
          if (output == OutputType::kE5m2) problem.outputScale = 0.3f;
          const Operands operands = generateOperands(problem, {"normal", 5}, kNever);
          const std::vector<double> reference =
              referenceProduct(problem, operands, kNever, nullptr);
          for (const FeatureLevel level : {FeatureLevel::kFused, FeatureLevel::kPass}) {
            const std::vector<uint8_t> c = computed(problem, level);
            int64_t wrong = 0;
            for (int64_t i = 0; i < problem.elements(); i++) {
              const double room = 1e-6 * (std::fabs(reference[i]) + 1);
              const double value = readOutput(output, c.data(), i);
              wrong += !(value >= roundToOutput(output, reference[i] - room) &&
                         value <= roundToOutput(output, reference[i] + room));
            }
            checkThat(wrong == 0,
                      std::string(format) + " to " + std::string(wordOf(output)) + ", B " +
                          std::string(wordOf(order)) + (accumulate ? ", accumulated, " : ", ") +
                          std::string(wordOf(level)) + ": " + std::to_string(wrong) + " wrong",
                      __FILE__, __LINE__);
          }
        }
}

// The passes are there where they are needed, and B is turned once for what shares it.
void passesAreLaunchedAroundTheKernel() {
  using Names = std::vector<std::string>;
  Problem problem{"mxfp4", 5, 12, 64, MatrixBatch({2}, {1}), OutputType::kE4m3, BOrder::kKn, true};
  computed(problem, FeatureLevel::kFused);
  CHECK(launched == (Names{"multiply", "multiply"}));
  computed(problem, FeatureLevel::kPass);
  CHECK(launched ==
        (Names{"turnPacked", "turnPacked", "multiply", "finish", "multiply", "finish"}));
  problem.bOrder = BOrder::kNk, problem.accumulate = false, problem.output = OutputType::kF16;
  computed(problem, FeatureLevel::kPass);
  CHECK(launched == (Names{"multiply", "multiply"}));
}

const Groups kGroups[] = {{GroupLayout::kContiguous, {5, 0, 4, 1}, 4, 0},
                          {GroupLayout::kMasked, {0, 3, 7}, 1, 7},
                          {GroupLayout::kOffsets, {2, 0, 6}, 1, 0}};

// By a kernel that does all groups in one launch, or is launched for each that has rows.
void groupsAreFoundOrLaunchedOneByOne() {
  for (const char* format : {"mxfp4", "mxfp6_e2m3", "nvfp4", "w4a16_mxfp4"})
    for (const Groups& groups : kGroups)
      for (const FeatureLevel level : {FeatureLevel::kFused, FeatureLevel::kPass})
        for (const bool passes : {false, true}) {
          Problem problem{format, 0, 12, 64, 1, OutputType::kF32};
          problem.setGroups(groups);
          if (passes) {
            if (level == FeatureLevel::kFused) continue;
            problem.bOrder = BOrder::kKn, problem.accumulate = true;
          }
          const std::vector<uint8_t> c = computed(problem, level);
          const auto filled = std::count_if(groups.rows.begin(), groups.rows.end(),
                                            [](int64_t rows) { return rows > 0; });
          CHECK(std::count(launched.begin(), launched.end(), "multiplyGroups") ==
                (level == FeatureLevel::kFused));
          CHECK(std::count(launched.begin(), launched.end(), "multiply") ==
                (level == FeatureLevel::kFused ? 0 : filled));
          CHECK(std::count(launched.begin(), launched.end(), "finish") == (passes ? filled : 0));
          const Operands operands = generateOperands(problem, {"normal", 5}, kNever);
          const std::vector<double> reference =
              referenceProduct(problem, operands, kNever, nullptr);
          bool right = true;
          for (int64_t i = 0; i < problem.elements(); i++) {
            const double value = readOutput(problem.output, c.data(), i);
            // Padding of C stays as it was: NaN.
            if (problem.productOf(i / problem.n) < 0) right = right && std::isnan(value);
            else
              right =
                  right && std::fabs(value - reference[i]) <= 1e-6 * (std::fabs(reference[i]) + 1);
          }
          checkThat(right, std::string(format) + " in groups, " + std::string(wordOf(level)),
                    __FILE__, __LINE__);
        }
}

// Scales of A in a padded layout: a group begins where the padding of every earlier one ends.
void scalesOfGroupsArePaddedOnTheirOwn() {
  Problem problem{"mxfp8", 0, 8, 160, 1, OutputType::kF32};
  problem.setGroups({GroupLayout::kContiguous, {4, 0, 4, 129}, 64, 0});
  const DeviceContext context(standInFacts());
  const Kernels kernels(BackendOptions{{supportRow("support-operands", "operands.cu")}, ""});
  const DeviceOperands operands(context, kernels, problem, GeneratedOperands{"normal", 5});
  const Operands host = operands.download();
  const ScaleLayout layout = findLayout("nvidia_32_4_4");
  const int64_t blocks = 5;
  std::vector<uint8_t> expected;
  for (const Segment& segment : scaleSegments(problem, layout)) {
    const PlacedLayout placed(layout, segment.rows, blocks);
    std::vector<uint8_t> packed(placed.padded().size());
    for (int64_t row = 0; row < segment.rows; row++)
      for (int64_t col = 0; col < blocks; col++)
        packed[placed.rowPart(row) + placed.columnPart(col)] =
            host.aScales[(segment.first + row) * blocks + col];
    expected.insert(expected.end(), packed.begin(), packed.end());
  }
  CHECK(expected.size() == (128 + 128 + 256) * 8);
  DeviceBuffer packed(context, expected.size(), "scales");
  operands.scalesInto(Matrix::kA, layout, BOrder::kNk, packed);
  std::vector<uint8_t> got(expected.size());
  packed.read(got.data(), got.size());
  CHECK(got == expected);
}

void whatARowDoesNotNameIsRefused() {
  const DeviceContext context(DeviceFacts{});
  KernelRow row = kernelRow(FeatureLevel::kFused, OutputType::kF32);
  row.features = {};
  Problem problem{"mxfp4", 5, 12, 64, 1, OutputType::kF32};
  const Kernels none{BackendOptions{}};
  problem.accumulate = true;
  CHECK_CONTAINS(messageOf([&] { ManifestOperation(context, none, row, problem); }), "accumulator");
  problem.accumulate = false, problem.batch = 2;
  CHECK_CONTAINS(messageOf([&] { ManifestOperation(context, none, row, problem); }), "batch");
}

}  // namespace

int main() {
  standIn();
  offer("generate", device::generate);
  offer("generateAccumulator", device::generateAccumulator);
  offer("packCodes", device::packCodes);
  offer("packScales", device::packScales);
  offer("turnCodes", device::turnCodes);
  offer("turnPacked", device::turnPacked);
  offer("finish", device::finish);
  offer("multiply", multiply);
  offer("multiplyGroups", multiplyGroups);
  everyKernelTakesTheWholeOperation();
  passesAreLaunchedAroundTheKernel();
  groupsAreFoundOrLaunchedOneByOne();
  scalesOfGroupsArePaddedOnTheirOwn();
  whatARowDoesNotNameIsRefused();
  return summary();
}
