#include "rowProblem.h"

#include "../core/layouts.h"
#include "../core/operands.h"
#include "../core/outputs.h"
#include "../core/packing.h"

namespace blockscope::cuda {

int64_t codeBytes(const KernelRow& row, const NumberFormat& format, int64_t count) {
  return row.codes == CodeForm::kPacked ? packedBytes(format, count) : count * format.codeBytes();
}

int64_t scaleBytes(const KernelRow& row, const Problem& problem, int64_t rows) {
  return paddedShape(findLayout(row.scaleLayout), rows,
                     problem.k / findBlockFormat(problem.format).scaleBlockSize)
      .size();
}

int64_t scaleBytesOfA(const KernelRow& row, const Problem& problem) {
  if (!findBlockFormat(problem.format).elementA().isScaled()) return 0;
  int64_t bytes = 0;
  for (const Segment& segment : scaleSegments(problem, findLayout(row.scaleLayout)))
    bytes += scaleBytes(row, problem, segment.rows);
  return bytes;
}

Variables problemVariables(const KernelRow& row, const Problem& problem, const DeviceSize& device) {
  const BlockFormat& format = findBlockFormat(problem.format);
  Variables variables = {{"M", problem.m},
                         {"N", problem.n},
                         {"K", problem.k},
                         {"V", format.scaleBlockSize},
                         {"SMS", device.multiprocessors},
                         {"MEMORY_GBS", device.memoryGBs},
                         {"GROUPS", problem.groups.count()},
                         {"MOST_ROWS", problem.isGrouped() ? problem.groups.mostRows() : problem.m},
                         {"BITS_A", format.elementA().storageBits},
                         {"BITS_B", format.elementB().storageBits},
                         {"BYTES_C", outputBytes(problem.output)},
                         {"ACCUMULATE", problem.accumulate}};
  for (const auto& [name, value] : row.constants)
    if (!variables.emplace(name, value).second)
      throw Error(ErrorKind::kUsage, "Kernel " + row.id + ": the constant \"" + name +
                                         "\" has the name of a given variable.");
  for (const auto& [name, expression] : row.values)
    if (!variables.emplace(name, evaluate(expression, variables)).second)
      throw Error(ErrorKind::kUsage, "Kernel " + row.id + ": the value \"" + name +
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
                                      define("B_ORDER", static_cast<int>(problem.bOrder)),
                                      define("GROUPED", problem.isGrouped()),
                                      define("ACCUMULATE", problem.accumulate)};
  for (const auto& [name, value] : row.constants) options.push_back(define(name, value));
  options.insert(options.end(), row.options.begin(), row.options.end());
  return options;
}

namespace {

// Elements of A and B up to which matrices are computed together: larger ones fill a GPU alone, and
// copies that a kernel makes of all of them at once would take its memory.
constexpr int64_t kMostTogether = int64_t{1} << 27;

// `own` with the matrices of a batch as groups of one launch, where the kernel does groups, no
// matrix is shared and no pass is made for each; else `own` as it is.
Problem ofAllMatrices(const KernelRow& row, const Problem& problem, const Problem& own) {
  const int64_t count = problem.batch.count();
  const bool alone = problem.batch.countA() == count && problem.batch.countB() == count;
  if (problem.isGrouped() || count == 1 || !alone) return own;
  if (row.levelOf("grouped") != FeatureLevel::kFused || own.bOrder != problem.bOrder ||
      own.output != problem.output || own.accumulate != problem.accumulate)
    return own;
  if (count * (problem.m + problem.n) * problem.k > kMostTogether) return own;
  Problem together = own;
  together.setGroups(
      {GroupLayout::kMasked, std::vector<int64_t>(static_cast<size_t>(count), own.m), 1, own.m});
  const bool isTaken = whyUnsupported(row, together, problemVariables(row, together, {})).empty();
  return isTaken ? together : own;
}

}  // namespace

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
  if (problem.isGrouped() && !doesAllGroups(row, problem)) {
    own.groups = {};
    own.batch = 1;
  }
  return ofAllMatrices(row, problem, own);
}

bool isFinished(const KernelRow& row, const Problem& problem) {
  const Problem own = ownProblem(row, problem);
  return own.output != problem.output || own.accumulate != problem.accumulate;
}

bool doesAllGroups(const KernelRow& row, const Problem& problem) {
  // A pass turns one matrix of B at a time.
  const bool turns = problem.bOrder == BOrder::kKn && row.levelOf("b-kn") == FeatureLevel::kPass;
  return problem.isGrouped() && !turns && row.levelOf("grouped") == FeatureLevel::kFused;
}

std::string whyUnsupported(const KernelRow& row, const Problem& problem,
                           const Variables& variables) {
  const FormatRow* format = row.findFormat(problem.format);
  if (!format || format->level == CapabilityLevel::kUnavailable)
    return "Kernel " + row.id + " does not compute " + problem.format + ".";
  const std::pair<const char*, bool> asked[] = {
      {"b-kn", problem.bOrder == BOrder::kKn},
      {"accumulator", problem.accumulate},
      {"batch", !problem.isGrouped() && problem.batch.count() > 1},
      {"grouped", problem.isGrouped()}};
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

GroupTables groupTablesOf(const Problem& problem) {
  GroupTables tables;
  for (int64_t group = 0; group < problem.groups.count(); group++) {
    tables.starts.push_back(static_cast<int32_t>(problem.groups[group].first));
    tables.rows.push_back(static_cast<int32_t>(problem.groups[group].rows));
  }
  return tables;
}

std::vector<Part> partsOf(const KernelRow& row, const Problem& problem, const DeviceSize& device) {
  const Problem own = ownProblem(row, problem);
  const BlockFormat& format = findBlockFormat(problem.format);
  const bool isScaled = format.elementA().isScaled();
  if (own.isGrouped()) return {{{0, own.m, 0, 0}, problemVariables(row, own, device)}};
  std::vector<Part> parts;
  int64_t padded = 0;
  for (int64_t index = 0; index < problem.productCount(); index++) {
    const Product product = problem.product(index);
    if (product.rows == 0) continue;
    Problem alone = own;
    alone.m = product.rows;
    const int64_t bytes = isScaled ? scaleBytes(row, problem, product.rows) : 0;
    int64_t scalesA = product.firstA / problem.m * bytes;  // matrices of one size
    if (problem.isGrouped())
      scalesA =
          row.scaleLayout == "linear" ? product.firstA * format.scalesOfRowA(problem.k) : padded;
    padded += bytes;
    parts.push_back({product, problemVariables(row, alone, device), scalesA});
  }
  return parts;
}

int64_t bytesClearedBefore(const Part& part, size_t index, const WorkspaceRow& buffer) {
  return buffer.isClearedBefore(index) ? evaluate(buffer.bytes, part.variables) : 0;
}

}  // namespace blockscope::cuda
