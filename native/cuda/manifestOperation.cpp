#include "manifestOperation.h"

#include <algorithm>

#include "../core/formats.h"
#include "../core/layouts.h"
#include "../core/operands.h"
#include "../core/outputs.h"
#include "../core/packing.h"
#include "architectures.h"

namespace blockscope::cuda {

driver::TensorMap encodeTensorMap(const DeviceContext& context, const TensorMapRow& row,
                                  driver::DevicePointer address, const Variables& variables,
                                  const std::string& kernel) {
  const std::string where = "Kernel " + kernel + ", tensor map \"" + row.name + "\"";
  auto choose = [&](const char* field, const std::string& value,
                    std::initializer_list<std::pair<const char*, int>> all) {
    for (const auto& [name, code] : all)
      if (value == name) return code;
    throw Error(ErrorKind::kUsage, where + ": \"" + value + "\" is no " + field + ".");
  };
  // A code of an operand, which takes a byte in shared memory.
  auto widthOf = [&](const std::string& operand) -> std::string {
    if (operand != "aCodes" && operand != "bCodes")
      throw Error(ErrorKind::kUsage, where + ": an element \"code\" is of aCodes or bCodes.");
    const int64_t bits = evaluate(operand == "aCodes" ? "BITS_A" : "BITS_B", variables);
    return bits == 8 ? "u8" : bits == 6 ? "16u6" : "16u4";
  };
  const int element = choose("element", row.element == "code" ? widthOf(row.of) : row.element,
                             {{"u8", driver::kU8},
                              {"16u4", driver::k16U4},
                              {"16u6", driver::k16U6},
                              {"u16", driver::kU16},
                              {"u32", driver::kU32},
                              {"f16", driver::kF16},
                              {"f32", driver::kF32},
                              {"bf16", driver::kBf16}});
  const int swizzle = choose("swizzle", row.swizzle,
                             {{"none", driver::kSwizzleNone},
                              {"32B", driver::kSwizzle32},
                              {"64B", driver::kSwizzle64},
                              {"128B", driver::kSwizzle128}});
  const int promotion = choose("l2Promotion", row.l2Promotion,
                               {{"none", driver::kPromoteNone},
                                {"64B", driver::kPromote64},
                                {"128B", driver::kPromote128},
                                {"256B", driver::kPromote256}});
  const size_t rank = row.dims.size();
  uint64_t dims[5] = {}, strides[5] = {};
  uint32_t box[5] = {}, elementStrides[5] = {1, 1, 1, 1, 1};
  for (size_t i = 0; i < rank; i++) {
    dims[i] = static_cast<uint64_t>(evaluate(row.dims[i], variables));
    box[i] = static_cast<uint32_t>(evaluate(row.box[i], variables));
    if (i > 0) strides[i - 1] = static_cast<uint64_t>(evaluate(row.strides[i - 1], variables));
    if (i < row.elementStrides.size())
      elementStrides[i] = static_cast<uint32_t>(evaluate(row.elementStrides[i], variables));
  }
  driver::TensorMap map;
  const int result = context.api().tensorMapEncodeTiled(
      &map, element, static_cast<uint32_t>(rank),
      reinterpret_cast<void*>(address + evaluate(row.offset, variables)), dims, strides, box,
      elementStrides, 0, swizzle, promotion, 0);
  if (result != driver::kSuccess)
    throw Error(ErrorKind::kUsage, where +
                                       " is refused by the driver: check dims, strides (multiples "
                                       "of 16), box (at most 256) and swizzle.");
  return map;
}

CompileRequest compileRequest(const KernelRow& row, const Problem& own,
                              const std::vector<Part>& parts, const DeviceFacts& device) {
  for (const Part& part : parts)
    if (const std::string why = whyUnsupported(row, own, part.variables); !why.empty())
      // Nobody asked for anything wrong: among many kernels this one is left out, with the reason.
      throw Error(ErrorKind::kUnavailable, why);
  const FormatRow& format = *row.findFormat(own.format);
  const auto& architectures =
      format.architectures.empty() ? row.architectures : format.architectures;
  const auto target = chooseTarget(architectures, device.major, device.minor);
  if (!target)
    throw Error(ErrorKind::kUnavailable, "Kernel " + row.id + " is not written for " + device.name +
                                             " (sm_" + std::to_string(device.major) +
                                             std::to_string(device.minor) + ").");
  return {"Kernel " + row.id, row.file, *target, compileOptions(row, own)};
}

ManifestOperation::ManifestOperation(const DeviceContext& context, const Kernels& kernels,
                                     const KernelRow& row, const Problem& problem)
    : context_(context), row_(row), problem_(problem), own_(ownProblem(row, problem)) {
  const DeviceFacts& facts = context.facts();
  parts_ = partsOf(row, problem, {facts.multiprocessors, facts.memoryGBs()});
  const Compiled compiled =
      compile(compileRequest(row, own_, parts_, context.facts()), kernels.cache());
  compileSeconds_ = kernels.cache().tellSeconds(compiled.identity);
  module_ = std::make_unique<Module>(context, compiled.image, "kernel " + row.id);
  for (const LaunchRow& launch : row.launches)
    for (const Part& part : parts_)
      if (!functions_.contains(launch.function) && evaluate(launch.when, part.variables) != 0)
        functions_[launch.function] = module_->function(launch.function);
  for (const WorkspaceRow& buffer : row.workspace) {
    int64_t bytes = 16;
    for (const Part& part : parts_) bytes = std::max(bytes, evaluate(buffer.bytes, part.variables));
    workspace_[buffer.name] = DeviceBuffer(context, static_cast<size_t>(bytes),
                                           "workspace \"" + buffer.name + "\" of kernel " + row.id);
  }
  for (size_t i = 0; i < parts_.size(); i++)
    for (auto& cleared = cleared_.emplace_back(); const WorkspaceRow& buffer : row.workspace)
      if (const int64_t bytes = bytesClearedBefore(parts_[i], i, buffer); bytes > 0)
        cleared.push_back({workspace_.at(buffer.name).address(), static_cast<size_t>(bytes)});
  counters_ = DeviceBuffer(context, row.counters.labels.size() * sizeof(uint32_t),
                           "counters of kernel " + row.id);
  if (own_.bOrder != problem.bOrder)
    turning_ = std::make_unique<TurningPass>(
        context, kernels, problem, row.codes == CodeForm::kPacked, row.scaleLayout == "linear");
  if (isFinished(row, problem))
    finishing_ = std::make_unique<FinishingPass>(context, kernels, problem);
  if (own_.isGrouped()) {
    const auto [starts, rows] = groupTablesOf(own_);
    auto uploaded = [&](const std::vector<int32_t>& values) {
      DeviceBuffer buffer(context, values.size() * sizeof(int32_t), "the rows of groups");
      buffer.write(values.data(), values.size() * sizeof(int32_t));
      return buffer;
    };
    groupStarts_ = uploaded(starts);
    groupRows_ = uploaded(rows);
  }
}

std::unique_ptr<OperandSet> ManifestOperation::prepare(const DeviceOperands& operands) {
  const BlockFormat& format = findBlockFormat(problem_.format);
  const int64_t ofA = problem_.batch.countA(), ofB = problem_.batch.countB();
  auto set = std::make_unique<OperandSet>(
      context_, problem_, ofA * codeBytes(row_, format.elementA(), problem_.m * problem_.k),
      ofB * codeBytes(row_, format.elementB(), problem_.n * problem_.k),
      scaleBytesOfA(row_, problem_), ofB * scaleBytes(row_, problem_, problem_.n),
      finishing_ ? KernelWrites::kProduct : KernelWrites::kC);
  const ScaleLayout layout = findLayout(row_.scaleLayout);
  const bool packed = row_.codes == CodeForm::kPacked;
  operands.codesInto(Matrix::kA, packed, BOrder::kNk, set->aCodes);
  operands.codesInto(Matrix::kB, packed, problem_.bOrder, set->bCodes);
  operands.scalesInto(Matrix::kA, layout, BOrder::kNk, set->aScales);
  operands.scalesInto(Matrix::kB, layout, problem_.bOrder, set->bScales);
  operands.accumulatorInto(set->accumulator);
  set->tensorScale = operands.tensorScale();
  return set;
}

driver::DevicePointer ManifestOperation::address(const std::string& name, const OperandSet& set,
                                                 const Part& part) const {
  const Product& product = part.product;
  auto ofB = [&](const DeviceBuffer& buffer) {
    return buffer.address() + buffer.bytes() / problem_.batch.countB() * product.matrixB;
  };
  if (name == "aCodes")
    return set.aCodes.address() + set.aCodes.bytes() / problem_.rowsOfA() * product.firstA;
  if (name == "bCodes") return turning_ ? turning_->codes() : ofB(set.bCodes);
  if (name == "aScales") return set.aScales.address() + part.scalesA;
  if (name == "bScales")
    return turning_ && turning_->turnsScales() ? turning_->scales() : ofB(set.bScales);
  if (name == "c") {
    const GuardedBuffer& written = set.product ? *set.product : set.c;
    return written.address() + written.bytes() / problem_.rowsOfC() * product.firstC;
  }
  if (name == "groupStarts") return groupStarts_.address();
  if (name == "groupRows") return groupRows_.address();
  const auto found = workspace_.find(name);
  return found == workspace_.end() ? 0 : found->second.address();
}

driver::DevicePointer ManifestOperation::accumulatorOf(const OperandSet& set,
                                                       const Part& part) const {
  return problem_.accumulate ? set.accumulator.address() + part.product.firstC * problem_.n * 4 : 0;
}

LaunchArgument ManifestOperation::resolveArgument(const std::string& argument,
                                                  const OperandSet& set, const Part& part) const {
  if (const auto pointer = address(argument, set, part)) return pointer;
  // Without scales of A (bf16 elements) or groups there are none, and kernels do not look.
  for (const char* absent : {"aScales", "groupStarts", "groupRows"})
    if (argument == absent) return driver::DevicePointer{0};
  for (const TensorMapRow& map : row_.tensorMaps) {
    if (map.name != argument) continue;
    const auto base = address(map.of, set, part);
    if (!base)
      throw Error(ErrorKind::kUsage, "Kernel " + row_.id + ", tensor map \"" + map.name +
                                         "\": there is no buffer \"" + map.of + "\".");
    return encodeTensorMap(context_, map, base, part.variables, row_.id);
  }
  if (argument == "counters") return counters_.address();
  if (argument == "f32:tensorScale") return set.tensorScale;
  if (argument == "f32:outputScale") return own_.outputScale;
  if (argument == "accumulator") return own_.accumulate ? accumulatorOf(set, part) : 0;
  if (argument.rfind("i64:", 0) == 0) return evaluate(argument.substr(4), part.variables);
  const int64_t value = evaluate(argument, part.variables);
  if (value != static_cast<int32_t>(value))
    throw Error(ErrorKind::kUsage, "Kernel " + row_.id + ": the argument \"" + argument +
                                       "\" does not fit an int; write i64:" + argument + ".");
  return static_cast<int32_t>(value);
}

std::array<unsigned, 3> ManifestOperation::extents(const Expressions& expressions,
                                                   const std::string& field, unsigned missing,
                                                   const Variables& variables) const {
  std::array<unsigned, 3> result = {missing, missing, missing};
  for (size_t i = 0; i < expressions.size(); i++) {
    const int64_t value = evaluate(expressions[i], variables);
    if (value < 1 || value > 0x7fffffff)
      throw Error(ErrorKind::kUsage, "Kernel " + row_.id + ": " + field + " \"" + expressions[i] +
                                         "\" is " + std::to_string(value) + ".");
    result[i] = static_cast<unsigned>(value);
  }
  return result;
}

Launch ManifestOperation::resolveLaunch(const LaunchRow& row, const OperandSet& set,
                                        const Part& part) const {
  Launch launch;
  launch.name = "kernel " + row_.id + " (" + row.function + ")";
  launch.function = functions_.at(row.function);
  launch.grid = extents(row.grid, "grid", 1, part.variables);
  launch.block = extents(row.block, "block", 1, part.variables);
  if (!row.cluster.empty()) launch.cluster = extents(row.cluster, "cluster", 1, part.variables);
  launch.sharedBytes =
      static_cast<unsigned>(std::max<int64_t>(0, evaluate(row.sharedBytes, part.variables)));
  launch.dependent = row.dependent;
  for (const std::string& argument : row.arguments)
    launch.arguments.push_back(resolveArgument(argument, set, part));
  return launch;
}

std::vector<Launch> ManifestOperation::launchesOf(const OperandSet& set, size_t index) const {
  std::vector<Launch> launches;
  const Part& part = parts_[index];
  // A matrix of B that several matrices of C share, one after the other, is turned once.
  const int64_t matrix = part.product.matrixB;
  const bool isTurned = index > 0 && matrix == parts_[index - 1].product.matrixB;
  if (turning_ && !isTurned) launches = turning_->launches(set, matrix);
  for (const LaunchRow& row : row_.launches)
    if (evaluate(row.when, part.variables) != 0) launches.push_back(resolveLaunch(row, set, part));
  if (finishing_)
    launches.push_back(finishing_->launch(set, part.product, accumulatorOf(set, part)));
  return launches;
}

void ManifestOperation::bind(const std::vector<const OperandSet*>& sets) {
  // They count on through all operations: clearing is no part of what is timed.
  const std::vector<uint32_t> none(row_.counters.labels.size());
  counters_.write(none.data(), counters_.bytes());
  for (const WorkspaceRow& buffer : row_.workspace) {
    if (!buffer.zeroedOnce) continue;
    DeviceBuffer& memory = workspace_.at(buffer.name);
    memory.write(std::vector<uint8_t>(memory.bytes()).data(), memory.bytes());
  }
  launches_.clear();
  for (const OperandSet* set : sets) {
    auto& matrices = launches_.emplace_back();
    for (size_t part = 0; part < parts_.size(); part++) {
      matrices.push_back(launchesOf(*set, part));
      for (const Launch& launch : matrices.back()) prepareLaunch(context_, launch);
    }
  }
}

Counted ManifestOperation::counted() const {
  std::vector<uint32_t> counts(row_.counters.labels.size());
  counters_.read(counts.data(), counters_.bytes());
  return {row_.counters.of, row_.counters.labels, {counts.begin(), counts.end()}};
}

void ManifestOperation::clearWorkspace(size_t part, const Stream& stream) const {
  for (const auto& [address, bytes] : cleared_[part])
    context_.check(context_.api().memsetD8Async(address, 0, bytes, stream.handle()),
                   "Clearing workspace");
}

std::string ManifestOperation::fault() const {
  for (const WorkspaceRow& buffer : row_.workspace) {
    if (!buffer.fault) continue;
    const DeviceBuffer& memory = workspace_.at(buffer.name);
    std::string text(memory.bytes(), 0);
    memory.read(text.data(), text.size());
    if (text.front() != 0) return text.c_str();
  }
  return {};
}

void ManifestOperation::enqueue(size_t set, const Stream& stream) {
  for (size_t part = 0; part < parts_.size(); part++) {
    clearWorkspace(part, stream);
    for (const Launch& launch : launches_[set][part]) enqueueLaunch(context_, launch, stream);
  }
}

}  // namespace blockscope::cuda
