#include "roofs.h"

#include "../core/memoryRoofs.h"
#include "sampler.h"

namespace blockscope::hip {

std::vector<Roof> measureRoofs(const Device& device, const KernelRow& support,
                               const CompileCache& cache, const CancelFlag& cancel,
                               const Progress& progress) {
  device.enter();
  const DeviceFacts& facts = device.facts();
  const Module module(device, supportRequest(support, facts), cache);
  // Sixteen times the Infinity Cache of CDNA3 and CDNA4, which may keep some of what passes it.
  const int64_t bytes = roofBytes(int64_t{4} << 30, static_cast<int64_t>(device.freeBytes()));
  const Buffer from(device, bytes, "memory to be read"), to(device, bytes, "memory to be written");
  const Stream stream(device);
  const Event start(device), stop(device);
  const auto blocks = static_cast<unsigned>(facts.computeUnits * kRoofBlocksPerMultiprocessor);
  auto launchOf = [&](const char* doing, const char* function, std::vector<Argument> arguments) {
    arguments.push_back(static_cast<int32_t>(blocks));
    return Launch{doing, module.function(function), {blocks, 1, 1}, {kRoofThreads, 1, 1},
                  0,     std::move(arguments)};
  };
  auto reading = [&](size_t offset, int64_t size, int passes) {
    return launchOf("Reading memory", "readAll",
                    {static_cast<void*>(from.address() + offset), size / kRoofVectorBytes,
                     int32_t{passes}, static_cast<void*>(to.address())});
  };
  auto timed = [&](const Launch& launch) {
    start.record(stream);
    enqueueLaunch(device, launch, stream);
    stop.record(stream);
    stream.wait("Measuring memory");
    return stop.nanosecondsSince(start);
  };
  const Monitor monitor(facts);
  return measureMemoryRoofs(
      {bytes, facts.l2Bytes, lastCacheBytes(facts),
       [&](const MeasureRequest& request, int64_t size, const CachePlan& plan) {
         Sampler sampler(
             device, stream,
             [&](size_t set) {
               enqueueLaunch(device, reading(set * static_cast<size_t>(size), size, 1), stream);
             },
             "Reading memory", plan);
         sampler.chooseGrouping();
         return sampleGrouped(
             request, sampler.launchesPerSample(), [&] { return sampler.take(monitor); }, cancel,
             nullptr);
       },
       [&](int64_t size, int passes) { return timed(reading(0, size, passes)); },
       [&](int64_t size) {
         return timed(launchOf("Copying memory", "copyAll",
                               {static_cast<void*>(from.address()),
                                static_cast<void*>(to.address()), size / kRoofVectorBytes}));
       }},
      cancel, progress);
}

}  // namespace blockscope::hip
