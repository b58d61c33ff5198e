#include "roofs.h"

#include "../core/memoryRoofs.h"
#include "launch.h"

namespace blockscope::cuda {

std::vector<Roof> measureRoofs(const DeviceContext& context, const Kernels& kernels,
                               const CancelFlag& cancel, const Progress& progress) {
  context.enter();
  const DeviceFacts& facts = context.facts();
  const auto module = kernels.support(context, "support-bandwidth");
  const int64_t bytes = roofBytes(int64_t{1} << 30, static_cast<int64_t>(context.freeBytes()));
  const DeviceBuffer from(context, static_cast<size_t>(bytes), "memory to be read");
  const DeviceBuffer to(context, static_cast<size_t>(bytes), "memory to be written");
  const Stream stream(context);
  const Event start(context), stop(context);
  auto timed = [&](const char* doing, const char* function, std::vector<LaunchArgument> arguments) {
    Launch launch;
    launch.name = doing, launch.function = module->function(function);
    launch.grid[0] = static_cast<unsigned>(facts.multiprocessors * kRoofBlocksPerMultiprocessor);
    launch.block[0] = kRoofThreads;
    launch.arguments = std::move(arguments);
    prepareLaunch(context, launch);
    start.record(stream);
    enqueueLaunch(context, launch, stream);
    stop.record(stream);
    stream.wait("Measuring memory");
    return stop.nanosecondsSince(start);
  };
  return measureMemoryRoofs(
      {bytes, facts.l2Bytes,
       [&](int64_t size, int passes) {
         return timed("Reading memory", "readAll",
                      {from.address(), size / kRoofVectorBytes, int32_t{passes}, to.address()});
       },
       [&](int64_t size) {
         return timed("Copying memory", "copyAll",
                      {from.address(), to.address(), size / kRoofVectorBytes});
       }},
      cancel, progress);
}

}  // namespace blockscope::cuda
