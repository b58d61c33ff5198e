// The whole path around a kernel on an AMD GPU on a stand-in of the HIP runtime whose memory is the
// host's: operands put into a kernel's form, passes, batches, groups, C read back. The passes are
// the device's own code (resources/kernels/hip/common/passes.hip is CUDA's), compiled for the CPU.
#include <cstring>
#include <set>

#include "../core/measure.h"
#include "../hip/manifestOperation.h"
#include "../hip/roofs.h"
#include "check.h"
#include "hostRuntime.h"

using namespace blockscope;
using namespace blockscope::hip;

namespace {

KernelRow passes() {
  KernelRow row;
  row.id = "support-passes-hip", row.file = "../../resources/kernels/hip/common/passes.hip";
  row.role = KernelRole::kSupport, row.architectures = {"gfx950"};
  row.constants = {{"THREADS", 256}};
  return row;
}

std::vector<uint8_t> computed(const Problem& problem, FeatureLevel level) {
  const Device device(host::standInFacts());
  const KernelRow row = host::rowFor(problem, level, "gfx950");
  ManifestOperation operation(device, row, passes(), problem, {""});
  const OperandSet set(device, row, problem,
                       generateOperands(problem, {"normal", 5}, host::kNever));
  set.poison(device);
  host::launched.clear();
  operation.enqueue(set, Stream(device));
  return set.readC(device, "The kernel");
}

std::vector<std::string> faults(const Problem& problem, const KernelRow& row) {
  const Device device(host::standInFacts());
  ManifestOperation operation(device, row, passes(), problem, {""});
  const OperandSet set(device, row, problem,
                       generateOperands(problem, {"normal", 5}, host::kNever));
  const Stream stream(device);
  operation.enqueue(set, stream);
  const std::string first = operation.fault();
  operation.enqueue(set, stream);
  return {first, operation.fault()};
}

// Scales of A in a padded layout: a group begins where the padding of every earlier one ends.
void scalesOfGroupsArePaddedOnTheirOwn() {
  Problem problem{"mxfp8", 0, 8, 160, 1, OutputType::kF32};
  problem.setGroups({GroupLayout::kContiguous, {4, 0, 4, 33}, 64, 0});
  const Device device(host::standInFacts());
  KernelRow row = host::rowFor(problem, FeatureLevel::kPass, "gfx950");
  row.scaleLayout = "cdna4_mfma16";
  const Operands operands = generateOperands(problem, {"normal", 5}, host::kNever);
  const OperandSet set(device, row, problem, operands);
  const ScaleLayout layout = findLayout(row.scaleLayout);
  size_t at = 0, wrong = 0;
  for (const cuda::Part& part : cuda::partsOf(row, problem, {4})) {
    const auto rows = part.product.rows;
    const auto expected = packScales(layout, &operands.aScales[part.product.firstA * 5], rows, 5);
    CHECK(part.scalesA == static_cast<int64_t>(at));
    wrong += std::memcmp(set.aScales.address() + at, expected.data(), expected.size()) != 0;
    at += expected.size();
  }
  CHECK(wrong == 0 && at == set.aScales.bytes());
}

void whatARowDoesNotNameIsRefused() {
  const Device device(host::standInFacts());
  KernelRow row = host::kernelRow(FeatureLevel::kFused, OutputType::kF32, "gfx950");
  row.features = {};
  Problem problem{"mxfp4", 5, 12, 64, 1, OutputType::kF32};
  auto message = [&] {
    return messageOf([&] { ManifestOperation(device, row, passes(), problem, {""}); });
  };
  problem.accumulate = true;
  CHECK_CONTAINS(message(), "accumulator");
  problem.accumulate = false, problem.batch = 2;
  CHECK_CONTAINS(message(), "batch");
}

// A kernel that writes behind its float32 product, which a pass then reads.
void aWriteBesideTheProductIsSeen() {
  Problem problem{"mxfp8", 4, 8, 32, 1, OutputType::kE4m3};
  const Device device(host::standInFacts());
  const KernelRow row = host::rowFor(problem, FeatureLevel::kPass, "gfx950");
  const OperandSet set(device, row, problem,
                       generateOperands(problem, {"normal", 5}, host::kNever));
  set.poison(device);
  set.product.address()[set.product.bytes()] = 0;
  CHECK_CONTAINS(messageOf([&] { set.readC(device, "Kernel x"); }), "Kernel x writes outside C");
}

std::vector<std::array<int64_t, 3>> launched;  // vectors, passes, blocks
std::set<const uint8_t*> windows;
void readAll(const uint8_t* from, int64_t count, int passes, uint8_t* never, int blocks) {
  if (device::blockIdx.x != 0 || device::threadIdx.x != 0 || from == never) return;
  launched.push_back({count, passes, blocks});
  windows.insert(from);
}
void copyAll(const uint8_t*, uint8_t*, int64_t, int) {}

// A quarter of what is free is read, from each of its windows of fewer bytes in turn, and a quarter
// of the L2 fifty times.
void roofsAreBytesOverTime() {
  host::offer("readAll", readAll);
  host::offer("copyAll", copyAll);
  DeviceFacts facts = host::standInFacts();
  KernelRow row = passes();
  facts.architecture = "gfx90a", row.architectures = {"gfx90a"};  // its L2 is the last cache
  facts.l2Bytes = 1 << 16;
  const Device device(facts);
  const std::vector<Roof> roofs = measureRoofs(device, row, {""}, host::kNever, nullptr);
  CHECK(roofs.size() == 3);
  for (const auto& [at, of, bytes] :
       {std::tuple(0, "dram", 1 << 20), {1, "dram-copy", 1 << 21}, {2, "l2", (1 << 14) * 50}})
    CHECK(roofs[at].of == of && std::fabs(roofs[at].rate / (bytes * 1e3) - 1) < 1e-9);
  std::vector<int64_t> sizes;
  for (const TimedRead& one : *roofs[0].reads) {
    sizes.push_back(one.bytes);
    CHECK(one.ns == 1e6);
  }
  CHECK(sizes == (std::vector<int64_t>{1 << 18, 1 << 19, 1 << 20}));
  CHECK(!roofs[1].reads && !roofs[2].reads);
  // Two of 256 KiB are not five L2s away from one another: they are read in turn.
  CHECK(launched.front() == (std::array<int64_t, 3>{(1 << 18) / 16, 1, 4 * 8}));
  CHECK(windows.size() == static_cast<size_t>(planColdIn(1 << 20, 1 << 18, 1 << 16).sets));
  CHECK(launched.back() == (std::array<int64_t, 3>{(1 << 14) / 16, 50, 4 * 8}));
}

void whatKernelsCountIsReadBack() {
  const Device device(host::standInFacts());
  for (const bool counts : {true, false}) {
    const KernelRow row = host::countingRow(counts, "gfx950");
    ManifestOperation operation(device, row, passes(), host::kCounted, {""});
    const OperandSet set =
        operation.prepare(generateOperands(host::kCounted, {"normal", 5}, host::kNever));
    for (int times = 1; times <= 2; times++) {
      operation.clearCounters();
      for (int i = 0; i < times; i++) operation.enqueue(set, Stream(device));
      host::checkCounted(operation.counted(), counts, times);
    }
  }
}

}  // namespace

int main() {
  host::standInHip();
  host::offerAll();
  host::everyKernelTakesTheWholeOperation(computed);
  host::passesAreLaunchedAroundTheKernel(computed);
  host::groupsAreFoundOrLaunchedOneByOne(computed);
  host::matricesThatNoneSharesAreOneLaunch(computed);
  host::whatAKernelFindsWrongIsRead("gfx950", faults);
  scalesOfGroupsArePaddedOnTheirOwn();
  whatARowDoesNotNameIsRefused();
  aWriteBesideTheProductIsSeen();
  whatKernelsCountIsReadBack();
  roofsAreBytesOverTime();
  return summary();
}
