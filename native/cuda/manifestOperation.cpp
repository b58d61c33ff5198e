#include "manifestOperation.h"

#include <algorithm>

#include "../core/formats.h"
#include "../core/layouts.h"
#include "../core/outputs.h"
#include "../core/packing.h"
#include "architectures.h"
#include "compiler.h"

namespace blockscope::cuda {

namespace {

int64_t codeBytes(const KernelRow& row, const NumberFormat& format, int64_t count) {
  return row.codes == CodeForm::kPacked ? packedBytes(format, count) : count;
}

int64_t scaleBytes(const KernelRow& row, const Problem& problem, int64_t rows) {
  return paddedShape(findLayout(row.scaleLayout), rows,
                     problem.k / findBlockFormat(problem.format).scaleBlockSize)
      .size();
}

}  // namespace

Variables problemVariables(const KernelRow& row, const Problem& problem, int multiprocessors) {
  const BlockFormat& format = findBlockFormat(problem.format);
  Variables variables = {{"M", problem.m},
                         {"N", problem.n},
                         {"K", problem.k},
                         {"V", format.scaleBlockSize},
                         {"SMS", multiprocessors},
                         {"BITS_A", format.elementA().storageBits},
                         {"BITS_B", format.elementB().storageBits},
                         {"BYTES_C", outputBytes(problem.output)}};
  for (const auto& [name, value] : row.constants)
    if (!variables.emplace(name, value).second)
      throw Error(ErrorKind::kUsage, "Kernel " + row.id + ": the constant \"" + name +
                                         "\" has the name of a given variable.");
  return variables;
}

std::vector<std::string> compileOptions(const KernelRow& row, const Problem& problem) {
  const BlockFormat& format = findBlockFormat(problem.format);
  auto define = [](const std::string& name, int64_t value) {
    return "-D" + name + "=" + std::to_string(value);
  };
  std::vector<std::string> options = {define("A_FORMAT", static_cast<int>(format.a)),
                                      define("B_FORMAT", static_cast<int>(format.b)),
                                      define("SCALE_FORMAT", static_cast<int>(format.scale)),
                                      define("SCALE_BLOCK", format.scaleBlockSize),
                                      define("OUTPUT_TYPE", static_cast<int>(problem.output)),
                                      define("B_ORDER", static_cast<int>(problem.bOrder))};
  for (const auto& [name, value] : row.constants) options.push_back(define(name, value));
  options.insert(options.end(), row.options.begin(), row.options.end());
  return options;
}

Problem ownProblem(const KernelRow& row, const Problem& problem) {
  Problem own = problem;
  auto isPass = [&](const char* feature) { return row.levelOf(feature) == FeatureLevel::kPass; };
  if (isPass("b-kn")) own.bOrder = BOrder::kNk;
  const bool eightBits = outputBytes(problem.output) == 1;
  if ((problem.accumulate && isPass("accumulator")) || (eightBits && isPass("f8-output"))) {
    own.output = OutputType::kF32;
    own.accumulate = false;
    own.outputScale = 1;
  }
  return own;
}

std::string whyUnsupported(const KernelRow& row, const Problem& problem,
                           const Variables& variables) {
  const FormatRow* format = row.findFormat(problem.format);
  if (!format || format->level == CapabilityLevel::kUnavailable)
    return "Kernel " + row.id + " does not compute " + problem.format + ".";
  const std::pair<const char*, bool> asked[] = {{"b-kn", problem.bOrder == BOrder::kKn},
                                                {"accumulator", problem.accumulate},
                                                {"batch", problem.batch.count() > 1}};
  for (const auto& [feature, isAsked] : asked)
    if (isAsked && row.levelOf(feature) != FeatureLevel::kFused)
      return "Kernel " + row.id + " does not take what is asked: " + feature + ".";
  if (!row.writes(problem.output))
    return "Kernel " + row.id + " does not write " + std::string(wordOf(problem.output)) + ".";
  for (const RequirementRow& requirement : row.requires_)
    if (evaluate(requirement.that, variables) == 0)
      return "Kernel " + row.id + " does not take this shape: " + requirement.message + ".";
  return "";
}

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
  const int element = choose("element", row.element,
                             {{"u8", driver::kU8},
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

ManifestOperation::ManifestOperation(const DeviceContext& context, const Kernels& kernels,
                                     const KernelRow& row, const Problem& problem)
    : context_(context),
      row_(row),
      problem_(problem),
      own_(ownProblem(row, problem)),
      variables_(problemVariables(row, own_, context.facts().multiprocessors)) {
  if (const std::string why = whyUnsupported(row, own_, variables_); !why.empty())
    // Nobody asked for anything wrong: among many kernels this one is left out, with the reason.
    throw Error(ErrorKind::kUnavailable, why);
  const FormatRow& format = *row.findFormat(problem.format);
  const auto& architectures =
      format.architectures.empty() ? row.architectures : format.architectures;
  const auto target = chooseTarget(architectures, context.facts().major, context.facts().minor);
  if (!target)
    throw Error(ErrorKind::kUnavailable, "Kernel " + row.id + " is not written for " +
                                             context.facts().name + " (sm_" +
                                             std::to_string(context.facts().major) +
                                             std::to_string(context.facts().minor) + ").");
  const Compiled compiled = compile(
      {"Kernel " + row.id, row.file, *target, compileOptions(row, own_)}, kernels.cacheDirectory());
  compileSeconds_ = compiled.seconds;
  module_ = std::make_unique<Module>(context, compiled.image, "kernel " + row.id);
  for (const LaunchRow& launch : row.launches)
    functions_[launch.function] = module_->function(launch.function);
  for (const WorkspaceRow& buffer : row.workspace) {
    const int64_t bytes = std::max<int64_t>(16, evaluate(buffer.bytes, variables_));
    workspace_[buffer.name] = DeviceBuffer(context, static_cast<size_t>(bytes),
                                           "workspace \"" + buffer.name + "\" of kernel " + row.id);
  }
  if (own_.bOrder != problem.bOrder)
    turning_ = std::make_unique<TurningPass>(
        context, kernels, problem, row.codes == CodeForm::kPacked, row.scaleLayout == "linear");
  if (own_.output != problem.output || own_.accumulate != problem.accumulate)
    finishing_ = std::make_unique<FinishingPass>(context, kernels, problem);
}

std::unique_ptr<OperandSet> ManifestOperation::prepare(const DeviceOperands& operands) {
  const BlockFormat& format = findBlockFormat(problem_.format);
  const int64_t ofA = problem_.batch.countA(), ofB = problem_.batch.countB();
  auto set = std::make_unique<OperandSet>(
      context_, problem_, ofA * codeBytes(row_, format.elementA(), problem_.m * problem_.k),
      ofB * codeBytes(row_, format.elementB(), problem_.n * problem_.k),
      ofA * scaleBytes(row_, problem_, problem_.m), ofB * scaleBytes(row_, problem_, problem_.n),
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
                                                 int64_t batch) const {
  const MatrixBatch& matrices = problem_.batch;
  auto ofA = [&](const DeviceBuffer& buffer) {
    return buffer.address() + buffer.bytes() / matrices.countA() * matrices.a(batch);
  };
  auto ofB = [&](const DeviceBuffer& buffer) {
    return buffer.address() + buffer.bytes() / matrices.countB() * matrices.b(batch);
  };
  auto ofC = [&](driver::DevicePointer first, size_t bytes) {
    return first + bytes / matrices.count() * batch;
  };
  if (name == "aCodes") return ofA(set.aCodes);
  if (name == "bCodes") return turning_ ? turning_->codes() : ofB(set.bCodes);
  if (name == "aScales") return ofA(set.aScales);
  if (name == "bScales")
    return turning_ && turning_->turnsScales() ? turning_->scales() : ofB(set.bScales);
  if (name == "c") {
    const GuardedBuffer& written = set.product ? *set.product : set.c;
    return ofC(written.address(), written.bytes());
  }
  const auto found = workspace_.find(name);
  return found == workspace_.end() ? 0 : found->second.address();
}

driver::DevicePointer ManifestOperation::accumulatorOf(const OperandSet& set, int64_t batch) const {
  return problem_.accumulate ? set.accumulator.address() + batch * problem_.m * problem_.n * 4 : 0;
}

LaunchArgument ManifestOperation::resolveArgument(const std::string& argument,
                                                  const OperandSet& set, int64_t batch) const {
  if (const auto pointer = address(argument, set, batch)) return pointer;
  for (const TensorMapRow& map : row_.tensorMaps) {
    if (map.name != argument) continue;
    const auto base = address(map.of, set, batch);
    if (!base)
      throw Error(ErrorKind::kUsage, "Kernel " + row_.id + ", tensor map \"" + map.name +
                                         "\": there is no buffer \"" + map.of + "\".");
    return encodeTensorMap(context_, map, base, variables_, row_.id);
  }
  if (argument == "f32:tensorScale") return set.tensorScale;
  if (argument == "f32:outputScale") return own_.outputScale;
  if (argument == "accumulator") return own_.accumulate ? accumulatorOf(set, batch) : 0;
  if (argument.rfind("i64:", 0) == 0) return evaluate(argument.substr(4), variables_);
  const int64_t value = evaluate(argument, variables_);
  if (value != static_cast<int32_t>(value))
    throw Error(ErrorKind::kUsage, "Kernel " + row_.id + ": the argument \"" + argument +
                                       "\" does not fit an int; write i64:" + argument + ".");
  return static_cast<int32_t>(value);
}

std::array<unsigned, 3> ManifestOperation::extents(const Expressions& expressions,
                                                   const std::string& field,
                                                   unsigned missing) const {
  std::array<unsigned, 3> result = {missing, missing, missing};
  for (size_t i = 0; i < expressions.size(); i++) {
    const int64_t value = evaluate(expressions[i], variables_);
    if (value < 1 || value > 0x7fffffff)
      throw Error(ErrorKind::kUsage, "Kernel " + row_.id + ": " + field + " \"" + expressions[i] +
                                         "\" is " + std::to_string(value) + ".");
    result[i] = static_cast<unsigned>(value);
  }
  return result;
}

Launch ManifestOperation::resolveLaunch(const LaunchRow& row, const OperandSet& set,
                                        int64_t batch) const {
  Launch launch;
  launch.name = "kernel " + row_.id + " (" + row.function + ")";
  launch.function = functions_.at(row.function);
  launch.grid = extents(row.grid, "grid", 1);
  launch.block = extents(row.block, "block", 1);
  if (!row.cluster.empty()) launch.cluster = extents(row.cluster, "cluster", 1);
  launch.sharedBytes =
      static_cast<unsigned>(std::max<int64_t>(0, evaluate(row.sharedBytes, variables_)));
  launch.dependent = row.dependent;
  for (const std::string& argument : row.arguments)
    launch.arguments.push_back(resolveArgument(argument, set, batch));
  return launch;
}

std::vector<Launch> ManifestOperation::launchesOf(const OperandSet& set, int64_t batch) const {
  std::vector<Launch> launches;
  const MatrixBatch& matrices = problem_.batch;
  // A matrix of B that several matrices of C share, one after the other, is turned once.
  const bool isTurned = batch > 0 && matrices.b(batch) == matrices.b(batch - 1);
  if (turning_ && !isTurned) launches = turning_->launches(set, matrices.b(batch));
  for (const LaunchRow& row : row_.launches)
    if (evaluate(row.when, variables_) != 0) launches.push_back(resolveLaunch(row, set, batch));
  if (finishing_) launches.push_back(finishing_->launch(set, batch, accumulatorOf(set, batch)));
  return launches;
}

void ManifestOperation::bind(const std::vector<const OperandSet*>& sets) {
  launches_.clear();
  for (const OperandSet* set : sets) {
    auto& matrices = launches_.emplace_back();
    for (int64_t batch = 0; batch < problem_.batch.count(); batch++) {
      matrices.push_back(launchesOf(*set, batch));
      for (const Launch& launch : matrices.back()) prepareLaunch(context_, launch);
    }
  }
}

void ManifestOperation::clearWorkspace(const Stream& stream) const {
  for (const WorkspaceRow& buffer : row_.workspace) {
    if (!buffer.zeroed) continue;
    const DeviceBuffer& memory = workspace_.at(buffer.name);
    context_.check(
        context_.api().memsetD8Async(memory.address(), 0, memory.bytes(), stream.handle()),
        "Clearing workspace");
  }
}

void ManifestOperation::enqueue(size_t set, const Stream& stream) {
  for (const std::vector<Launch>& matrix : launches_[set]) {
    clearWorkspace(stream);
    for (const Launch& launch : matrix) enqueueLaunch(context_, launch, stream);
  }
}

}  // namespace blockscope::cuda
