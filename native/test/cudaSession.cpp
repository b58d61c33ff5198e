// What a session does with the driver around what it times: a driver made of counters stands in
// for the real one.
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "../core/memoryRoofs.h"
#include "../cuda/roofs.h"
#include "../cuda/session.h"
#include "cudaStandIn.h"

namespace {

// 'k' for each launch of the kernel's own function, 'm' for memory and 's' for a stream given back.
std::string told;
std::set<std::string> functions;
// What memory was last filled with, the zone behind C: all memory reads so.
unsigned char filled = 0;

void standInThatTells() {
  standIn();
  auto& driver = const_cast<Libraries&>(libraries()).driver;
  driver.moduleGetFunction = [](driver::Handle* to, driver::Handle, const char* name) {
    *to = const_cast<std::string*>(&*functions.insert(name).first);
    return 0;
  };
  driver.launchKernelEx = [](const driver::LaunchConfig*, driver::Handle function, void**, void**) {
    if (*static_cast<const std::string*>(function) == "own") told += 'k';
    return 0;
  };
  driver.memFree = [](driver::DevicePointer at) { return told += 'm', giveBack(at); };
  driver.streamDestroy = [](driver::Handle stream) { return told += 's', giveBack(stream); };
  driver.memcpyHtoD = [](driver::DevicePointer, const void*, size_t) { return 0; };
  driver.memcpyDtoH = [](void* to, driver::DevicePointer, size_t bytes) {
    return std::memset(to, filled, bytes), 0;
  };
  driver.memcpyDtoDAsync = [](driver::DevicePointer, driver::DevicePointer, size_t,
                              driver::Handle) { return 0; };
  driver.memsetD8Async = [](driver::DevicePointer, unsigned char value, size_t, driver::Handle) {
    filled = value;
    return 0;
  };
}

KernelRow rowOf(const std::string& id, const std::string& file, KernelRole role) {
  KernelRow row;
  row.id = id, row.file = "../../resources/kernels/cuda/" + file, row.role = role;
  row.architectures = {"sm_80+"};
  row.formats = {{"mxfp4", CapabilityLevel::kExact, "", {}, ""}};
  row.outputs = {OutputType::kF16};
  LaunchRow launch;
  launch.function = "own", launch.grid = {"1"}, launch.block = {"1"};
  row.launches = {launch};
  return row;
}

// A kernel that nothing was given back since launches sooner (docs/measurement.md): none is timed
// before.
void whatIsTimedWasLoadedBeforeMemoryWasGivenBack() {
  const auto context = std::make_shared<const DeviceContext>(hopper());
  const auto kernels = std::make_shared<const Kernels>(BackendOptions{
      {rowOf("one", "simt.cu", KernelRole::kKernel), rowOf("two", "simt.cu", KernelRole::kKernel),
       rowOf("support-operands", "common/operands.cu", KernelRole::kSupport),
       rowOf("support-timing", "common/timing.cu", KernelRole::kSupport)},
      ""});
  CudaSession session(context, kernels, kProblem, GeneratedOperands{"normal", 1});
  MeasureRequest request;
  request.fixedSamples = 1, request.warmupLaunches = 1;
  auto measured = [&](const char* kernel) {
    told.clear(), request.kernel = kernel;
    session.measure(request, CancelFlag(), {});
    return told;
  };
  auto count = [](const std::string& in, char what) {
    return std::count(in.begin(), in.end(), what);
  };
  const std::string first = measured("one");
  const size_t launch = first.find('k'), timed = first.find('k', launch + 1);
  CHECK(launch != std::string::npos && timed != std::string::npos);
  const std::string between = first.substr(launch, timed - launch);
  // The measurement gives its own back.
  const std::string again = measured("one");
  const std::string before = again.substr(0, again.find('k'));
  CHECK(count(between, 'm') > count(before, 'm'));
  CHECK(between.find('s') != std::string::npos && before.find('s') == std::string::npos);
  CHECK(count(again, 'k') + 1 == count(first, 'k'));
  // Another kernel is loaded, and then the first one again.
  measured("two");
  CHECK(count(told, 'k') == count(first, 'k'));
  measured("one");
  CHECK(count(told, 'k') == count(first, 'k'));
}

// Plain reads: every size is launched once, memory and a stream are given back, and then launches
// read places of their own that hold more than three L2s together, or one that holds five.
void plainReadsAreTimedAsKernelsAre() {
  static std::map<int64_t, std::map<uint64_t, unsigned>> grids;  // by vectors and by place
  auto& driver = const_cast<Libraries&>(libraries()).driver;
  driver.launchKernelEx = [](const driver::LaunchConfig* launch, driver::Handle function,
                             void** arguments, void**) {
    if (*static_cast<const std::string*>(function) != "readOnce") return 0;
    const auto vectors = *static_cast<const int64_t*>(arguments[1]);
    told += grids.count(vectors) ? 'k' : 'f';
    grids[vectors][*static_cast<const uint64_t*>(arguments[0])] = launch->gridX;
    CHECK(launch->blockX == kRoofThreads);
    return 0;
  };
  // As the device's code has it.
  std::ifstream file("../../resources/kernels/cuda/common/bandwidth.cu");
  const std::string source(std::istreambuf_iterator<char>(file), {});
  std::smatch own;
  CHECK(std::regex_search(source, own, std::regex("kVectorsOfThread = (\\d+);")));
  const int64_t ofBlock = kRoofThreads * std::stoll(own[1]);
  CHECK(source.find("__launch_bounds__(" + std::to_string(kRoofThreads) + ")") !=
        std::string::npos);
  DeviceFacts facts = hopper();
  facts.l2Bytes = 50 << 20;
  const DeviceContext context(facts);
  const Kernels kernels(
      BackendOptions{{rowOf("support-bandwidth", "common/bandwidth.cu", KernelRole::kSupport),
                      rowOf("support-timing", "common/timing.cu", KernelRole::kSupport)},
                     ""});
  told.clear();
  const std::vector<Roof> roofs = measureRoofs(context, kernels, CancelFlag(), {});
  CHECK(roofs[0].of == "dram" && roofs[0].reads && !roofs[1].reads && !roofs[2].reads);
  const std::vector<TimedRead>& reads = *roofs[0].reads;
  CHECK(reads.size() == 13 && reads.front().bytes == kFewestRoofBytes &&
        reads.back().bytes == int64_t{1} << 30);
  const double rate = static_cast<double>(reads.back().bytes) / reads.back().ns * 1e9;
  CHECK(roofs[0].rate == rate);
  size_t at = 0;
  for (const TimedRead& read : reads) {
    const int64_t vectors = read.bytes / kRoofVectorBytes;
    // What is read first lies in memory that is given back.
    const auto& places = grids.at(vectors);
    const auto count = static_cast<int64_t>(places.size()) - 1;
    const CachePlan plan = planColdIn(int64_t{1} << 30, read.bytes, facts.l2Bytes);
    CHECK(plan.flush ? count > 1 : count == plan.sets);
    CHECK(plan.flush || count == 1 || count * read.bytes > 3 * facts.l2Bytes);
    for (const auto& [place, blocks] : places)
      CHECK(blocks == static_cast<unsigned>((vectors + ofBlock - 1) / ofBlock));
    at = told.find('f', at);
    const std::string between = told.substr(at, told.find('k', at) - at);
    CHECK(between.find('m') != std::string::npos && between.find('s') != std::string::npos);
    at++;
  }
}

}  // namespace

int main() {
  standInThatTells();
  whatIsTimedWasLoadedBeforeMemoryWasGivenBack();
  plainReadsAreTimedAsKernelsAre();
  return summary();
}
