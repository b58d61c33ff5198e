#include "roofs.h"

#include "../core/memoryRoofs.h"
#include "launch.h"
#include "monitor.h"
#include "sampler.h"

namespace blockscope::cuda {

namespace {

constexpr int64_t kVectorsOfThread = 2;  // of readOnce: common/bandwidth.cu

}  // namespace

std::vector<Roof> measureRoofs(const DeviceContext& context, const Kernels& kernels,
                               const CancelFlag& cancel, const Progress& progress) {
  context.enter();
  const DeviceFacts& facts = context.facts();
  const auto module = kernels.support(context, "support-bandwidth");
  const int64_t bytes = roofBytes(int64_t{1} << 30, static_cast<int64_t>(context.freeBytes()));
  const DeviceBuffer from(context, static_cast<size_t>(bytes), "memory to be read");
  const DeviceBuffer to(context, static_cast<size_t>(bytes), "memory to be written");
  const Monitor monitor(facts.uuid, 0);
  auto launchOf = [&](const Module& in, const char* function, int64_t blocks,
                      std::vector<LaunchArgument> arguments) {
    Launch launch;
    launch.name = "Measuring memory", launch.function = in.function(function);
    launch.grid[0] = static_cast<unsigned>(blocks);
    launch.block[0] = kRoofThreads;
    launch.arguments = std::move(arguments);
    prepareLaunch(context, launch);
    return launch;
  };
  // As a kernel's session has it: loaded, launched once, and memory and a stream given back
  // (docs/measurement.md, "launches").
  auto readCold = [&](const MeasureRequest& request, int64_t size, const CachePlan& plan) {
    const auto loaded = kernels.support(context, "support-bandwidth");
    auto readOnce = [&](driver::DevicePointer window) {
      constexpr int64_t kOfBlock = kRoofThreads * kVectorsOfThread;
      const int64_t vectors = size / kRoofVectorBytes;
      return launchOf(*loaded, "readOnce", (vectors + kOfBlock - 1) / kOfBlock,
                      {window, vectors, to.address()});
    };
    {
      const DeviceBuffer given(context, static_cast<size_t>(size), "memory to be read");
      const Stream first(context);
      const Launch launch = readOnce(given.address());
      enqueueLaunch(context, launch, first);
      first.wait(launch.name);
    }
    const Stream stream(context);
    std::vector<Launch> windows;
    for (int64_t set = 0; set < plan.sets; set++)
      windows.push_back(readOnce(from.address() + static_cast<size_t>(set * size)));
    Sampler sampler(
        context, kernels, stream, [&](size_t set) { enqueueLaunch(context, windows[set], stream); },
        "Reading memory", plan);
    sampler.chooseGrouping();
    return sampleGrouped(
        request, sampler.launchesPerSample(), [&] { return sampler.take(monitor); }, cancel,
        nullptr);
  };
  const Stream stream(context);
  const Event start(context), stop(context);
  auto timed = [&](const char* function, std::vector<LaunchArgument> arguments) {
    const Launch launch =
        launchOf(*module, function, facts.multiprocessors * kRoofBlocksPerMultiprocessor,
                 std::move(arguments));
    start.record(stream);
    enqueueLaunch(context, launch, stream);
    stop.record(stream);
    stream.wait(launch.name);
    return stop.nanosecondsSince(start);
  };
  return measureMemoryRoofs(
      {bytes, facts.l2Bytes, facts.l2Bytes, readCold,
       [&](int64_t size, int passes) {
         return timed("readAll",
                      {from.address(), size / kRoofVectorBytes, int32_t{passes}, to.address()});
       },
       [&](int64_t size) {
         return timed("copyAll", {from.address(), to.address(), size / kRoofVectorBytes});
       }},
      cancel, progress);
}

}  // namespace blockscope::cuda
