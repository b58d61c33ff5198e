// The whole path around a GPU kernel on a stand-in for a GPU whose memory is the host's: operands
// generated and put into a kernel's form, passes, a kernel, C read back. The passes and the
// operands' code are the device's own, compiled for the CPU; the kernel is a plain loop here.
#include <cstdlib>
#include <cstring>

#include "../core/formats.h"
#include "../core/operands.h"
#include "../core/oracle.h"
#include "../core/outputs.h"
#include "../cuda/deviceComparison.h"
#include "../cuda/manifestOperation.h"
#include "check.h"
#include "comparisonCode.h"
#include "hostKernel.h"

using namespace blockscope;
using namespace blockscope::cuda;

namespace {

// ------------------------------------------------------------------------------- the stand-in

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
  driver.deviceGet = [](driver::Device* device, int) { return host::made(device); };
  driver.primaryCtxRetain = [](driver::Handle* to, driver::Device) { return host::made(to); };
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
  driver.moduleLoadData = [](driver::Handle* to, const void*) { return host::made(to); };
  driver.moduleUnload = [](driver::Handle) { return 0; };
  driver.moduleGetFunction = [](driver::Handle* to, driver::Handle, const char* name) {
    *to = static_cast<driver::Handle>(host::find(name));
    return *to ? 0 : 1;
  };
  driver.launchKernelEx = [](const driver::LaunchConfig* config, driver::Handle function,
                             void** arguments, void**) {
    return host::launch(function, config->gridX, config->blockX, arguments);
  };
  driver.streamCreate = [](driver::Handle* to, unsigned) { return host::made(to); };
  driver.streamDestroy = [](driver::Handle) { return 0; };
  driver.streamQuery = [](driver::Handle) { return 0; };
  auto& nvrtc = all.nvrtc;
  all.nvrtcInfo.found = true;
  nvrtc.createProgram = [](nvrtc::Program* to, const char*, const char*, int, const char* const*,
                           const char* const*) { return host::made(to); };
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

KernelRow supportRow(const std::string& id, const std::string& file) {
  KernelRow row;
  row.id = id, row.file = "../../resources/kernels/cuda/common/" + file;
  row.role = KernelRole::kSupport;
  row.architectures = {"sm_80+"};
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
  const KernelRow row = host::rowFor(problem, level, "sm_80+");
  const DeviceOperands operands(context, kernels, problem, GeneratedOperands{"normal", 5});
  const Operands expected = generateOperands(problem, {"normal", 5}, host::kNever),
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
  host::launched.clear();
  operation.enqueue(0, stream);
  CHECK(!set->guardsBroken());
  return set->c.read();
}

std::vector<std::string> faults(const Problem& problem, const KernelRow& row) {
  const DeviceContext context(standInFacts());
  const Kernels kernels(BackendOptions{{supportRow("support-operands", "operands.cu")}, ""});
  const DeviceOperands operands(context, kernels, problem, GeneratedOperands{"normal", 5});
  ManifestOperation operation(context, kernels, row, problem);
  const auto set = operation.prepare(operands);
  operation.bind({set.get()});
  const Stream stream(context);
  operation.enqueue(0, stream);
  const std::string first = operation.fault();
  operation.enqueue(0, stream);
  return {first, operation.fault()};
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

template <typename... Parameters>
void offerBlocks(const std::string& name, void (*function)(Parameters...)) {
  host::functions[name] = [=](void** arguments) {
    if (device::threadIdx.x != 0) return;
    comparison::runBlock(device::blockIdx.x, [=] {
      host::callWith(function, arguments, std::index_sequence_for<Parameters...>());
    });
  };
}

// C as a kernel might leave it: right, off by a little, by more, cancelled, no number.
std::vector<uint8_t> flawed(const Problem& problem, const Operands& operands,
                            const std::vector<double>& reference, const ValidateRequest& request) {
  std::vector<uint8_t> output(reference.size() * outputBytes(problem.output));
  for (int64_t at = 0; at < problem.elements(); at++) {
    const int64_t row = at / problem.n, col = at % problem.n, product = problem.productOf(row);
    double value = reference[at];
    if (product >= 0 && row % 3 == 1) {
      const double magnitude =
          magnitudeElement(problem, operands, product, row - problem.product(product).firstC, col);
      if (col % 4 == 1) value += 0.4 * cancellationShare(problem.k) * magnitude;
      if (col == 2) value += cancellationShare(problem.k) * magnitude;
      if (col % 4 == 3)
        value += request.tolerance.atol + 2 * cancellationShare(problem.k) * magnitude;
      if (col == 5) value = NAN;
      if (col == 6) value = -INFINITY;
    }
    writeOutput(problem.output, value, output.data(), at);
  }
  return output;
}

// Every figure that the device's comparison gives of every row is the CPU's. How many elements pass
// by an allowance.
int64_t theDeviceJudgesAsTheCpuDoes(Problem problem, const ValidateRequest& request) {
  const DeviceContext context(standInFacts());
  const Kernels kernels(BackendOptions{
      {supportRow("support-operands", "operands.cu"), supportRow("support-compare", "compare.cu")},
      ""});
  const DeviceOperands onDevice(context, kernels, problem, GeneratedOperands{"normal", 5});
  const Operands operands = onDevice.download();
  std::vector<double> reference = referenceProduct(problem, operands, host::kNever, nullptr);
  reference[problem.n + 9] = INFINITY, reference[problem.n + 10] = NAN;
  // What may be left of a sum carries it over the middle between two numbers of the output type.
  double& below = reference[problem.n + 2];
  below = roundToOutput(problem.output, below) + ulpSize(problem.output, below) / 2 -
          cancellationShare(problem.k) * magnitudeElement(problem, operands, 0, 1, 2) / 2;
  const std::vector<uint8_t> output = flawed(problem, operands, reference, request);
  const DeviceComparison comparison(context, kernels, problem, onDevice, reference);
  const std::vector<RowFigures> rows = comparison.rows(output, request);
  auto near = [](double a, double b) { return a == b || std::fabs(a - b) <= 1e-12 * std::fabs(b); };
  int64_t outside = 0, allowed = 0;
  for (int64_t row = 0; row < problem.rowsOfC(); row++) {
    const RowFigures got = rows[row];
    const RowFigures expected = compareRow(problem, operands, reference, output, request, row);
    CHECK(got.outside == expected.outside && got.failing == expected.failing);
    CHECK(got.withinCancellation == expected.withinCancellation);
    CHECK(got.withinRounding == expected.withinRounding && got.nonFinite == expected.nonFinite);
    CHECK(got.maxToleranceShare == expected.maxToleranceShare && got.pairs == expected.pairs);
    CHECK(got.maxUlpsAbove == expected.maxUlpsAbove &&
          near(got.sumUlpsAbove, expected.sumUlpsAbove));
    CHECK(got.maxAbs == expected.maxAbs && got.maxRel == expected.maxRel);
    CHECK(near(got.squaredError, expected.squaredError));
    CHECK(near(got.squaredReference, expected.squaredReference));
    CHECK(near(got.referenceSquares, expected.referenceSquares));
    CHECK(got.ulps == expected.ulps && got.ratios == expected.ratios);
    CHECK(got.nonZero == expected.nonZero && got.finite == expected.finite);
    CHECK(got.aboveTolerance == expected.aboveTolerance);
    outside += got.outside, allowed += got.withinCancellation + got.withinRounding;
  }
  CHECK(outside > 0);
  return allowed;
}

void theDeviceJudgesEveryOperation() {
  const ValidateRequest strict{"k", {1e-9, 1e-9}, 4, 7}, usual{"k", {1e-3, 1e-3}, 3, 16};
  CHECK(theDeviceJudgesAsTheCpuDoes({"mxfp4", 5, 300, 64, 1, OutputType::kF32}, strict) > 40);
  theDeviceJudgesAsTheCpuDoes({"nvfp4", 2, 40, 64, MatrixBatch({2, 1}, {2}), OutputType::kF16},
                              usual);
  ValidateRequest plain = usual;
  plain.rule = PassRule::kAssertClose;
  Problem whole{"w4a16_mxfp4", 4, 70, 64, 1, OutputType::kBf16, BOrder::kNk, true};
  whole.outputScale = 0.5f;
  theDeviceJudgesAsTheCpuDoes(whole, strict);
  CHECK(theDeviceJudgesAsTheCpuDoes(whole, plain) == 0);
  for (const OutputType type : {OutputType::kE4m3, OutputType::kE5m2}) {
    Problem groups{"mxfp8", 0, 40, 64, 1, type};
    groups.setGroups({GroupLayout::kContiguous, {3, 0, 2}, 4, 0});
    groups.outputScale = 0.1f;
    theDeviceJudgesAsTheCpuDoes(groups, usual);
  }
}

// What a kernel counts is counted through all matrices of a batch, anew from `bind` on; a row that
// counts nothing gives its kernel no place to.
void whatKernelsCountIsReadBack() {
  const DeviceContext context(standInFacts());
  const Kernels kernels(BackendOptions{{supportRow("support-operands", "operands.cu")}, ""});
  const DeviceOperands operands(context, kernels, host::kCounted, GeneratedOperands{"normal", 5});
  for (const bool counts : {true, false}) {
    const KernelRow row = host::countingRow(counts, "sm_80+");
    ManifestOperation operation(context, kernels, row, host::kCounted);
    const auto set = operation.prepare(operands);
    const Stream stream(context);
    for (int times = 1; times <= 2; times++) {
      operation.bind({set.get()});
      for (int i = 0; i < times; i++) operation.enqueue(0, stream);
      host::checkCounted(operation.counted(), counts, times);
    }
  }
}

void whatARowDoesNotNameIsRefused() {
  const DeviceContext context(DeviceFacts{});
  KernelRow row = host::kernelRow(FeatureLevel::kFused, OutputType::kF32, "sm_80+");
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
  host::offer("generate", device::generate);
  host::offer("generateAccumulator", device::generateAccumulator);
  host::offer("packCodes", device::packCodes);
  host::offer("packScales", device::packScales);
  host::offer("turnCodes", device::turnCodes);
  host::offerAll();
  offerBlocks("compareRows", comparison::compareRows);
  offerBlocks("judgeFailingRows", comparison::judgeFailingRows);
  host::everyKernelTakesTheWholeOperation(computed);
  host::passesAreLaunchedAroundTheKernel(computed);
  host::groupsAreFoundOrLaunchedOneByOne(computed);
  host::matricesThatNoneSharesAreOneLaunch(computed);
  host::whatAKernelFindsWrongIsRead("sm_80+", faults);
  scalesOfGroupsArePaddedOnTheirOwn();
  theDeviceJudgesEveryOperation();
  whatKernelsCountIsReadBack();
  whatARowDoesNotNameIsRefused();
  return summary();
}
