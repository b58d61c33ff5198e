#include "launch.h"

namespace blockscope::cuda {

void prepareLaunch(const DeviceContext& context, const Launch& launch) {
  const auto& api = context.api();
  constexpr unsigned kSharedBytesWithoutAsking = 48 * 1024;
  if (launch.sharedBytes > kSharedBytesWithoutAsking) {
    if (launch.sharedBytes > context.facts().maxSharedBytes)
      throw Error(ErrorKind::kUsage,
                  launch.name + " asks for " + std::to_string(launch.sharedBytes) +
                      " bytes of shared memory; " + context.facts().name + " has " +
                      std::to_string(context.facts().maxSharedBytes) + " per block.");
    context.check(api.funcSetAttribute(launch.function, driver::kFunctionMaxDynamicSharedBytes,
                                       static_cast<int>(launch.sharedBytes)),
                  "Giving " + launch.name + " " + std::to_string(launch.sharedBytes) +
                      " bytes of shared memory beside what its source declares");
  }
  if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 8)
    context.check(
        api.funcSetAttribute(launch.function, driver::kFunctionNonPortableClusterAllowed, 1),
        launch.name);
}

void enqueueLaunch(const DeviceContext& context, const Launch& launch, const Stream& stream) {
  std::vector<void*> pointers;
  for (const LaunchArgument& argument : launch.arguments)
    pointers.push_back(std::visit(
        [](const auto& value) { return const_cast<void*>(static_cast<const void*>(&value)); },
        argument));
  driver::LaunchAttribute attributes[2];
  driver::LaunchConfig config;
  config.gridX = launch.grid[0], config.gridY = launch.grid[1], config.gridZ = launch.grid[2];
  config.blockX = launch.block[0], config.blockY = launch.block[1], config.blockZ = launch.block[2];
  config.sharedBytes = launch.sharedBytes;
  config.stream = stream.handle();
  config.attributes = attributes;
  if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 1) {
    auto& attribute = attributes[config.attributeCount++];
    attribute.id = driver::kLaunchClusterDimension;
    attribute.value.clusterDim = {launch.cluster[0], launch.cluster[1], launch.cluster[2]};
  }
  if (launch.dependent) {
    auto& attribute = attributes[config.attributeCount++];
    attribute.id = driver::kLaunchProgrammaticStreamSerialization;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  context.check(context.api().launchKernelEx(&config, launch.function, pointers.data(), nullptr),
                "Launching " + launch.name);
}

}  // namespace blockscope::cuda
