#include "operation.h"

#include <algorithm>

#include "../core/formats.h"
#include "../core/layouts.h"
#include "../core/outputs.h"
#include "../core/packing.h"
#include "../cuda/manifestOperation.h"
#include "compiler.h"

namespace blockscope::hip {

namespace {

constexpr uint8_t kGuard = 0xa5, kPoison = 0xff;

std::vector<uint8_t> codesFor(const KernelRow& row, const NumberFormat& format,
                              const std::vector<uint8_t>& codes) {
  if (row.codes != CodeForm::kPacked) return codes;
  const auto count = static_cast<int64_t>(codes.size()) / format.codeBytes();
  std::vector<uint8_t> packed(packedBytes(format, count));
  packCodes(format, codes.data(), count, packed.data());
  return packed;
}

Buffer uploaded(const Device& device, const void* from, size_t bytes) {
  Buffer buffer(device, bytes, "the operands");
  buffer.write(device, from, bytes);
  return buffer;
}

Buffer uploaded(const Device& device, const std::vector<uint8_t>& bytes) {
  return uploaded(device, bytes.data(), bytes.size());
}

}  // namespace

OperandSet::OperandSet(const Device& device, const KernelRow& row, const Problem& problem,
                       const Operands& operands)
    : tensorScale(operands.tensorScaleA * operands.tensorScaleB) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const ScaleLayout layout = findLayout(row.scaleLayout);
  const int64_t blocks = problem.k / format.scaleBlockSize;
  aCodes = uploaded(device, codesFor(row, format.elementA(), operands.aCodes));
  bCodes = uploaded(device, codesFor(row, format.elementB(), operands.bCodes));
  if (format.elementA().isScaled())
    aScales = uploaded(device, packScales(layout, operands.aScales.data(), problem.m, blocks));
  bScales = uploaded(device, packScales(layout, operands.bScales.data(), problem.n, blocks));
  accumulator =
      uploaded(device, operands.accumulator.data(), operands.accumulator.size() * sizeof(float));
  c_ = Buffer(device, problem.elements() * outputBytes(problem.output) + 2 * kGuardBytes, "C");
}

size_t OperandSet::bytes() const {
  size_t all = 0;
  for (const Buffer* buffer : {&aCodes, &bCodes, &aScales, &bScales, &accumulator, &c_})
    all += buffer->bytes();
  return all;
}

void OperandSet::poison(const Device& device) const {
  const auto& api = device.api();
  device.check(api.memset(c_.address(), kGuard, c_.bytes()), "Preparing C");
  device.check(api.memset(c(), kPoison, c_.bytes() - 2 * kGuardBytes), "Preparing C");
}

std::vector<uint8_t> OperandSet::readC(const Device& device, const std::string& what) const {
  std::vector<uint8_t> all(c_.bytes());
  c_.read(device, all.data(), all.size());
  const auto isGuard = [](uint8_t byte) { return byte == kGuard; };
  if (!std::all_of(all.begin(), all.begin() + kGuardBytes, isGuard) ||
      !std::all_of(all.end() - kGuardBytes, all.end(), isGuard))
    throw Error(ErrorKind::kDevice, what + " writes outside C: memory next to C was changed.");
  return {all.begin() + kGuardBytes, all.end() - kGuardBytes};
}

Operation::Operation(const Device& device, const KernelRow& row, const Problem& problem,
                     const std::string& cacheDirectory)
    : device_(device),
      row_(row),
      problem_(problem),
      variables_(cuda::problemVariables(row, problem, device.facts().computeUnits)),
      module_(device, device.api().moduleUnload) {
  const std::string what = "Kernel " + row.id;
  const std::string& target = device.facts().architecture;
  if (std::find(row.architectures.begin(), row.architectures.end(), target) ==
      row.architectures.end())
    throw Error(ErrorKind::kUnavailable, what + " is not written for " + target + ".");
  if (const std::string why = cuda::whyUnsupported(row, problem, variables_); !why.empty())
    throw Error(ErrorKind::kUsage, why);
  if (!row.tensorMaps.empty())
    throw Error(ErrorKind::kUsage, what + " has tensor maps, which AMD GPUs do not.");
  const Compiled compiled =
      compile({what, row.file, target, cuda::compileOptions(row, problem)}, cacheDirectory);
  compileSeconds_ = compiled.seconds;
  device.check(module_.make([&](void** made) {
    return device.api().moduleLoadData(made, compiled.image.data());
  }),
               "Loading " + what);
  for (const LaunchRow& launch : row.launches)
    device.check(device.api().moduleGetFunction(&functions_[launch.function], module_.get(),
                                                launch.function.c_str()),
                 "Finding " + launch.function + " of " + what);
  for (const WorkspaceRow& buffer : row.workspace)
    workspace_.emplace(buffer.name,
                       Buffer(device, cuda::evaluate(buffer.bytes, variables_), "the workspace"));
}

Operation::Argument Operation::argumentOf(const std::string& written, const OperandSet& set) const {
  if (written == "aCodes") return static_cast<void*>(set.aCodes.address());
  if (written == "bCodes") return static_cast<void*>(set.bCodes.address());
  if (written == "aScales") return static_cast<void*>(set.aScales.address());
  if (written == "bScales") return static_cast<void*>(set.bScales.address());
  if (written == "c") return static_cast<void*>(set.c());
  if (written == "accumulator")
    return problem_.accumulate ? static_cast<void*>(set.accumulator.address()) : nullptr;
  if (written == "f32:tensorScale") return set.tensorScale;
  if (written == "f32:outputScale") return problem_.outputScale;
  if (const auto found = workspace_.find(written); found != workspace_.end())
    return static_cast<void*>(found->second.address());
  if (written.rfind("i64:", 0) == 0) return cuda::evaluate(written.substr(4), variables_);
  const int64_t value = cuda::evaluate(written, variables_);
  if (value != static_cast<int32_t>(value))
    throw Error(ErrorKind::kUsage, "Kernel " + row_.id + ": the argument \"" + written +
                                       "\" does not fit an int; write i64:" + written + ".");
  return static_cast<int32_t>(value);
}

std::array<unsigned, 3> Operation::extents(const Expressions& expressions,
                                           const std::string& field) const {
  std::array<unsigned, 3> result = {1, 1, 1};
  for (size_t i = 0; i < expressions.size(); i++) {
    const int64_t value = cuda::evaluate(expressions[i], variables_);
    if (value < 1 || value > 0x7fffffff)
      throw Error(ErrorKind::kUsage, "Kernel " + row_.id + ": " + field + " \"" + expressions[i] +
                                         "\" is " + std::to_string(value) + ".");
    result[i] = static_cast<unsigned>(value);
  }
  return result;
}

void Operation::enqueue(const OperandSet& set, const Stream& stream) const {
  const auto& api = device_.api();
  for (const WorkspaceRow& buffer : row_.workspace)
    if (const Buffer& memory = workspace_.at(buffer.name); buffer.zeroed)
      device_.check(api.memsetAsync(memory.address(), 0, memory.bytes(), stream.handle()),
                    "Clearing workspace");
  for (const LaunchRow& row : row_.launches) {
    if (cuda::evaluate(row.when, variables_) == 0) continue;
    std::vector<Argument> arguments;
    for (const std::string& argument : row.arguments)
      arguments.push_back(argumentOf(argument, set));
    std::vector<void*> pointers;
    for (Argument& argument : arguments)
      pointers.push_back(std::visit([](auto& value) -> void* { return &value; }, argument));
    const auto grid = extents(row.grid, "grid"), block = extents(row.block, "block");
    const auto shared =
        static_cast<unsigned>(std::max<int64_t>(0, cuda::evaluate(row.sharedBytes, variables_)));
    device_.check(api.moduleLaunchKernel(functions_.at(row.function), grid[0], grid[1], grid[2],
                                         block[0], block[1], block[2], shared, stream.handle(),
                                         pointers.data(), nullptr),
                  "Kernel " + row_.id + " (" + row.function + ")");
  }
}

}  // namespace blockscope::hip
