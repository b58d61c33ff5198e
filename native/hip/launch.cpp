#include "launch.h"

namespace blockscope::hip {

const KernelRow& supportRow(const std::vector<KernelRow>& rows, const std::string& id) {
  for (const KernelRow& row : rows)
    if (row.id == id) return row;
  throw Error(ErrorKind::kUnavailable,
              "The device code \"" + id + "\" is missing; reinstall blockscope's kernels folder.");
}

CompileRequest supportRequest(const KernelRow& support, const DeviceFacts& device) {
  std::vector<std::string> options = support.options;
  for (const auto& [name, value] : support.constants)
    options.push_back("-D" + name + "=" + std::to_string(value));
  return {"Device code " + support.id, support.file, device.architecture, options};
}

Module::Module(const Device& device, const CompileRequest& request, const CompileCache& cache)
    : device_(device), what_(request.what), module_(device, device.api().moduleUnload) {
  const Compiled compiled = hip::compile(request, cache);
  compileSeconds_ = cache.tellSeconds(compiled.identity);
  device.check(module_.make([&](void** made) {
    return device.api().moduleLoadData(made, compiled.image.data());
  }),
               "Loading " + what_);
}

runtime::Handle Module::function(const std::string& name) const {
  runtime::Handle found = nullptr;
  device_.check(device_.api().moduleGetFunction(&found, module_.get(), name.c_str()),
                "Finding " + name + " of " + what_);
  return found;
}

void enqueueLaunch(const Device& device, const Launch& launch, const Stream& stream) {
  std::vector<Argument> arguments = launch.arguments;
  std::vector<void*> pointers;
  for (Argument& argument : arguments)
    pointers.push_back(std::visit([](auto& value) -> void* { return &value; }, argument));
  const auto &grid = launch.grid, &block = launch.block;
  device.check(device.api().moduleLaunchKernel(launch.function, grid[0], grid[1], grid[2], block[0],
                                               block[1], block[2], launch.sharedBytes,
                                               stream.handle(), pointers.data(), nullptr),
               launch.what);
}

}  // namespace blockscope::hip
