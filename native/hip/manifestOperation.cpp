#include "manifestOperation.h"

#include <algorithm>

namespace blockscope::hip {

CompileRequest compileRequest(const KernelRow& row, const Problem& own,
                              const std::vector<cuda::Part>& parts, const DeviceFacts& device) {
  const std::string what = "Kernel " + row.id;
  const std::string& target = device.architecture;
  if (std::find(row.architectures.begin(), row.architectures.end(), target) ==
      row.architectures.end())
    throw Error(ErrorKind::kUnavailable, what + " is not written for " + target + ".");
  for (const cuda::Part& part : parts)
    if (const std::string why = cuda::whyUnsupported(row, own, part.variables); !why.empty())
      throw Error(ErrorKind::kUnavailable, why);
  if (!row.tensorMaps.empty())
    throw Error(ErrorKind::kUsage, what + " has tensor maps, which AMD GPUs do not.");
  return {what, row.file, target, cuda::compileOptions(row, own)};
}

ManifestOperation::ManifestOperation(const Device& device, const KernelRow& row,
                                     const KernelRow& passes, const Problem& problem,
                                     const CompileCache& cache)
    : device_(device),
      row_(row),
      problem_(problem),
      own_(cuda::ownProblem(row, problem)),
      parts_(cuda::partsOf(row, problem, {device.facts().computeUnits})),
      module_(device, compileRequest(row, own_, parts_, device.facts()), cache),
      passes_(device, passes, row, problem, cache),
      counters_(device, row.counters.labels.size() * sizeof(uint32_t), "the counters") {
  for (const LaunchRow& launch : row.launches)
    functions_[launch.function] = module_.function(launch.function);
  for (const WorkspaceRow& buffer : row.workspace) {
    int64_t bytes = 0;
    for (const cuda::Part& part : parts_)
      bytes = std::max(bytes, cuda::evaluate(buffer.bytes, part.variables));
    const Buffer& memory =
        workspace_.emplace(buffer.name, Buffer(device, bytes, "the workspace")).first->second;
    if (buffer.zeroedOnce)
      memory.write(device, std::vector<uint8_t>(memory.bytes()).data(), memory.bytes());
  }
  if (!own_.isGrouped()) return;
  const auto [starts, rows] = cuda::groupTablesOf(own_);
  auto uploaded = [&](const std::vector<int32_t>& values) {
    Buffer buffer(device, values.size() * sizeof(int32_t), "the rows of groups");
    buffer.write(device, values.data(), buffer.bytes());
    return buffer;
  };
  groupStarts_ = uploaded(starts), groupRows_ = uploaded(rows);
}

uint8_t* ManifestOperation::address(const std::string& name, const OperandSet& set,
                                    const cuda::Part& part) const {
  const Product& product = part.product;
  auto ofB = [&](const Buffer& buffer) {
    return buffer.address() + buffer.bytes() / problem_.batch.countB() * product.matrixB;
  };
  if (name == "aCodes")
    return set.aCodes.address() + set.aCodes.bytes() / problem_.rowsOfA() * product.firstA;
  if (name == "bCodes") return passes_.turns() ? passes_.codes() : ofB(set.bCodes);
  // bf16 elements have none.
  if (name == "aScales")
    return set.aScales.bytes() == 0 ? nullptr : set.aScales.address() + part.scalesA;
  if (name == "bScales") return passes_.turnsScales() ? passes_.scales() : ofB(set.bScales);
  if (name == "c") {
    const GuardedBuffer& written = passes_.finishes() ? set.product : set.c;
    return written.address() + written.bytes() / problem_.rowsOfC() * product.firstC;
  }
  if (name == "accumulator")
    return own_.accumulate ? set.accumulator.address() + product.firstC * problem_.n * sizeof(float)
                           : nullptr;
  if (name == "counters") return counters_.address();
  if (name == "groupStarts") return groupStarts_.address();
  if (name == "groupRows") return groupRows_.address();
  return workspace_.at(name).address();
}

Argument ManifestOperation::argumentOf(const std::string& written, const OperandSet& set,
                                       const cuda::Part& part) const {
  for (const char* name : {"aCodes", "bCodes", "aScales", "bScales", "c", "accumulator", "counters",
                           "groupStarts", "groupRows"})
    if (written == name) return static_cast<void*>(address(written, set, part));
  if (workspace_.contains(written)) return static_cast<void*>(address(written, set, part));
  if (written == "f32:tensorScale") return set.tensorScale;
  if (written == "f32:outputScale") return own_.outputScale;
  if (written.rfind("i64:", 0) == 0) return cuda::evaluate(written.substr(4), part.variables);
  const int64_t value = cuda::evaluate(written, part.variables);
  if (value != static_cast<int32_t>(value))
    throw Error(ErrorKind::kUsage, "Kernel " + row_.id + ": the argument \"" + written +
                                       "\" does not fit an int; write i64:" + written + ".");
  return static_cast<int32_t>(value);
}

Extents ManifestOperation::extents(const Expressions& expressions, const std::string& field,
                                   const cuda::Part& part) const {
  Extents result = {1, 1, 1};
  for (size_t i = 0; i < expressions.size(); i++) {
    const int64_t value = cuda::evaluate(expressions[i], part.variables);
    if (value < 1 || value > 0x7fffffff)
      throw Error(ErrorKind::kUsage, "Kernel " + row_.id + ": " + field + " \"" + expressions[i] +
                                         "\" is " + std::to_string(value) + ".");
    result[i] = static_cast<unsigned>(value);
  }
  return result;
}

Launch ManifestOperation::launchOf(const LaunchRow& row, const OperandSet& set,
                                   const cuda::Part& part) const {
  Launch launch;
  launch.what = "Kernel " + row_.id + " (" + row.function + ")";
  launch.function = functions_.at(row.function);
  launch.grid = extents(row.grid, "grid", part), launch.block = extents(row.block, "block", part);
  launch.sharedBytes =
      static_cast<unsigned>(std::max<int64_t>(0, cuda::evaluate(row.sharedBytes, part.variables)));
  for (const std::string& argument : row.arguments)
    launch.arguments.push_back(argumentOf(argument, set, part));
  return launch;
}

std::string ManifestOperation::fault() const {
  for (const WorkspaceRow& buffer : row_.workspace) {
    if (!buffer.fault) continue;
    const Buffer& memory = workspace_.at(buffer.name);
    std::string text(memory.bytes(), 0);
    memory.read(device_, text.data(), text.size());
    if (text.front() != 0) return text.c_str();
  }
  return {};
}

OperandSet ManifestOperation::prepare(const Operands& operands) const {
  return OperandSet(device_, row_, problem_, operands);
}

void ManifestOperation::clearCounters() const {
  const std::vector<uint32_t> none(row_.counters.labels.size());
  counters_.write(device_, none.data(), counters_.bytes());
}

Counted ManifestOperation::counted() const {
  std::vector<uint32_t> counts(row_.counters.labels.size());
  counters_.read(device_, counts.data(), counters_.bytes());
  return {row_.counters.of, row_.counters.labels, {counts.begin(), counts.end()}};
}

void ManifestOperation::enqueue(const OperandSet& set, const Stream& stream) {
  int64_t turned = -1;
  for (size_t i = 0; i < parts_.size(); i++) {
    const cuda::Part& part = parts_[i];
    for (const WorkspaceRow& buffer : row_.workspace)
      if (const int64_t bytes = cuda::bytesClearedBefore(part, i, buffer); bytes > 0)
        device_.check(device_.api().memsetAsync(workspace_.at(buffer.name).address(), 0,
                                                static_cast<size_t>(bytes), stream.handle()),
                      "Clearing workspace");
    // A matrix of B that several matrices of C share, one after the other, is turned once.
    if (passes_.turns() && part.product.matrixB != turned)
      passes_.turn(set, turned = part.product.matrixB, stream);
    for (const LaunchRow& row : row_.launches)
      if (cuda::evaluate(row.when, part.variables) != 0)
        enqueueLaunch(device_, launchOf(row, set, part), stream);
    if (passes_.finishes()) passes_.finish(set, part.product, stream);
  }
}

}  // namespace blockscope::hip
