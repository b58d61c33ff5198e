#include "convert.h"

namespace blockscope {

using wire::asObject;
using wire::refuse;

namespace {

template <typename T>
T field(const Napi::Object& object, const std::string& name) {
  T value{};
  wire::read(object.Get(name), name, value);
  return value;
}

// A field that may be left out.
template <typename T>
void readIfThere(const Napi::Object& object, const std::string& name, T& to) {
  if (!object.Get(name).IsUndefined()) wire::read(object.Get(name), name, to);
}

int64_t atLeast(int64_t least, const Napi::Object& object, const std::string& name) {
  const int64_t value = field<int64_t>(object, name);
  if (value < least)
    refuse(object.Env(), name, "a whole number of at least " + std::to_string(least));
  return value;
}

template <HasFields T>
T readArgument(const Napi::Value& value, const char* name) {
  T argument;
  wire::readFields(asObject(value, name), "", argument);
  return argument;
}

}  // namespace

BackendOptions readOptions(const Napi::Value& value) {
  return readArgument<BackendOptions>(value, "options");
}

namespace {

// Dimensions of a batch; left out, there are none: one matrix.
std::vector<int64_t> batchDims(const Napi::Object& object, const std::string& name) {
  std::vector<int64_t> dims;
  readIfThere(object, name, dims);
  return dims;
}

// Of a grouped product: M must be all of their rows.
void readGroups(const Napi::Object& object, Problem& problem) {
  Groups groups;
  readIfThere(object, "groups", groups);
  if (!groups.any()) return;
  if (const std::string why = whyNoGroups(groups); !why.empty())
    refuse(object.Env(), "groups", "groups that fit: " + why);
  if (problem.batch.countA() != 1 || problem.batch.countB() != 1)
    refuse(object.Env(), "batchA and batchB", "left out of a grouped product");
  const int64_t m = problem.m;
  problem.setGroups(groups);
  if (m != problem.m)
    refuse(object.Env(), "m",
           "the rows of all groups with their padding, " + std::to_string(problem.m));
}

Problem readProblem(const Napi::Object& object) {
  Problem problem;
  problem.format = field<std::string>(object, "format");
  problem.m = atLeast(0, object, "m");
  problem.n = atLeast(0, object, "n");
  problem.k = atLeast(0, object, "k");
  problem.batch = MatrixBatch(batchDims(object, "batchA"), batchDims(object, "batchB"));
  problem.output = field<OutputType>(object, "output");
  readIfThere(object, "bOrder", problem.bOrder);
  readIfThere(object, "accumulate", problem.accumulate);
  readIfThere(object, "outputScale", problem.outputScale);
  readGroups(object, problem);
  return problem;
}

}  // namespace

std::vector<KernelUse> readKernelUses(const Napi::Value& value) {
  if (!value.IsArray()) refuse(value.Env(), "uses", "a list");
  const auto list = value.As<Napi::Array>();
  std::vector<KernelUse> uses;
  for (uint32_t i = 0; i < list.Length(); i++) {
    const Napi::Object use = asObject(list.Get(i), "uses[" + std::to_string(i) + "]");
    uses.push_back({field<std::string>(use, "kernel"), readProblem(use)});
  }
  return uses;
}

OpenRequest readOpenRequest(const Napi::Value& value) {
  const Napi::Object object = asObject(value, "request");
  OpenRequest request;
  request.device = field<std::string>(object, "device");
  request.problem = readProblem(object);
  const Napi::Object operands = asObject(object.Get("operands"), "operands");
  if (!operands.Get("distribution").IsUndefined()) {
    request.operands = GeneratedOperands{field<std::string>(operands, "distribution"),
                                         static_cast<uint64_t>(atLeast(0, operands, "seed"))};
    return request;
  }
  GivenOperands given;
  given.operands.aCodes = field<std::vector<uint8_t>>(operands, "aCodes");
  given.operands.bCodes = field<std::vector<uint8_t>>(operands, "bCodes");
  given.operands.aScales = field<std::vector<uint8_t>>(operands, "aScales");
  given.operands.bScales = field<std::vector<uint8_t>>(operands, "bScales");
  readIfThere(operands, "tensorScaleA", given.operands.tensorScaleA);
  readIfThere(operands, "tensorScaleB", given.operands.tensorScaleB);
  readIfThere(operands, "accumulator", given.operands.accumulator);
  readIfThere(operands, "reference", given.reference);
  request.operands = std::move(given);
  return request;
}

ValidateRequest readValidateRequest(const Napi::Value& value) {
  const Napi::Object object = asObject(value, "request");
  ValidateRequest request;
  request.kernel = field<std::string>(object, "kernel");
  request.tolerance = {field<double>(object, "atol"), field<double>(object, "rtol")};
  request.rule = field<PassRule>(object, "rule");
  readIfThere(object, "statedError", request.statedError);
  request.maxFailures = field<int>(object, "maxFailures");
  request.mapTiles = field<int>(object, "mapTiles");
  if (request.mapTiles < 1) refuse(value.Env(), "mapTiles", "at least 1");
  const Tolerance& tolerance = request.tolerance;
  // NaN fails both comparisons.
  if (!(tolerance.atol >= 0) || !(tolerance.rtol >= 0))
    refuse(value.Env(), "atol and rtol", "0 or more");
  if (!(request.statedError >= 0)) refuse(value.Env(), "statedError", "0 or more");
  return request;
}

MeasureRequest readMeasureRequest(const Napi::Value& value) {
  return readArgument<MeasureRequest>(value, "request");
}

std::vector<uint8_t> readBytes(const Napi::Value& value, const std::string& name) {
  std::vector<uint8_t> bytes;
  wire::read(value, name, bytes);
  return bytes;
}

Napi::Error toJs(Napi::Env env, ErrorKind kind, const std::string& message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", wire::write(env, kind));
  return error;
}

}  // namespace blockscope
