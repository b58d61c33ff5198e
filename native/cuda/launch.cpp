#include "launch.h"

namespace blockscope::cuda {

namespace {

// Refuses arguments that the driver would read past: it takes as many as the function has
// parameters, each as long as the parameter is. More are left where they are. (CUDA driver API,
// "Execution Control": an index that there is no parameter for is an invalid value.)
void checkArguments(const DeviceContext& context, const Launch& launch) {
  const auto parameterInfo = context.api().funcGetParamInfo;
  if (!parameterInfo) return;
  const auto& given = launch.arguments;
  const auto bytesGiven = [&](size_t i) {
    return std::visit([](const auto& value) { return sizeof(value); }, given[i]);
  };
  size_t offset = 0, bytes = 0, count = 0;
  for (; parameterInfo(launch.function, count, &offset, &bytes) == driver::kSuccess; count++)
    if (count < given.size() && bytes != bytesGiven(count))
      throw Error(
          ErrorKind::kUsage,
          launch.name + ": parameter " + std::to_string(count + 1) + " has " +
              std::to_string(bytes) + " bytes in the source and is given " +
              std::to_string(bytesGiven(count)) +
              ". Write i64: for a long long, f32: for a float, a name for a pointer or a map.");
  if (count > given.size())
    throw Error(ErrorKind::kUsage, launch.name + " has " + std::to_string(count) +
                                       " parameters in the source and is given " +
                                       std::to_string(given.size()) +
                                       (given.size() == 1 ? " argument" : " arguments") +
                                       ". Give one for each, in their order.");
}

}  // namespace

void prepareLaunch(const DeviceContext& context, const Launch& launch) {
  checkArguments(context, launch);
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
