#include "convert.h"

#include <cstring>
#include <limits>

#include "../core/outputs.h"

namespace blockscope {

namespace {

Napi::Object asObject(const Napi::Value& value, const char* what) {
  if (!value.IsObject()) throw Napi::TypeError::New(value.Env(), std::string(what) + " must be an object.");
  return value.As<Napi::Object>();
}

[[noreturn]] void refuse(Napi::Env env, const char* name, const char* wanted) {
  throw Napi::TypeError::New(env, std::string(name) + " must be " + wanted + ".");
}

std::string readString(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  if (!value.IsString()) refuse(object.Env(), name, "a string");
  return value.As<Napi::String>();
}

double readNumber(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  if (!value.IsNumber()) refuse(object.Env(), name, "a number");
  return value.As<Napi::Number>().DoubleValue();
}

int64_t readInteger(const Napi::Object& object, const char* name) {
  const double value = readNumber(object, name);
  if (!(value >= 0 && value <= 9007199254740991.0) || value != static_cast<double>(static_cast<int64_t>(value)))
    refuse(object.Env(), name, "a whole number from 0 to 2^53");
  return static_cast<int64_t>(value);
}

int readCount(const Napi::Object& object, const char* name) {
  const int64_t value = readInteger(object, name);
  if (value > std::numeric_limits<int>::max()) refuse(object.Env(), name, "a whole number below 2^31");
  return static_cast<int>(value);
}

bool readBool(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  if (!value.IsBoolean()) refuse(object.Env(), name, "true or false");
  return value.As<Napi::Boolean>();
}

bool has(const Napi::Object& object, const char* name) { return !object.Get(name).IsUndefined(); }

template <typename T>
std::vector<T> readArray(const Napi::Value& value, const char* name, napi_typedarray_type type, const char* wanted) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) refuse(value.Env(), name, wanted);
  const auto array = value.As<Napi::TypedArray>();
  const auto* bytes = static_cast<const uint8_t*>(array.ArrayBuffer().Data()) + array.ByteOffset();
  std::vector<T> out(array.ElementLength());
  if (!out.empty()) std::memcpy(out.data(), bytes, out.size() * sizeof(T));
  return out;
}

// Writes fields one after the other.
class Fields {
 public:
  explicit Fields(Napi::Env env) : object_(Napi::Object::New(env)) {}
  Fields& set(const char* name, const std::string& value) { return put(name, Napi::String::New(env(), value)); }
  Fields& set(const char* name, const char* value) { return put(name, Napi::String::New(env(), value)); }
  Fields& set(const char* name, double value) { return put(name, Napi::Number::New(env(), value)); }
  Fields& set(const char* name, int64_t value) { return set(name, static_cast<double>(value)); }
  Fields& set(const char* name, int value) { return set(name, static_cast<double>(value)); }
  Fields& set(const char* name, uint32_t value) { return set(name, static_cast<double>(value)); }
  Fields& set(const char* name, uint8_t value) { return set(name, static_cast<double>(value)); }
  Fields& set(const char* name, bool value) { return put(name, Napi::Boolean::New(env(), value)); }
  Fields& put(const char* name, const Napi::Value& value) {
    object_.Set(name, value);
    return *this;
  }
  Napi::Object done() const { return object_; }

 private:
  Napi::Env env() const { return object_.Env(); }
  Napi::Object object_;
};

template <typename Array, typename T>
Array typedArray(Napi::Env env, const std::vector<T>& values) {
  Array array = Array::New(env, values.size());
  if (!values.empty()) std::memcpy(array.Data(), values.data(), values.size() * sizeof(T));
  return array;
}

template <typename T, typename Convert>
Napi::Array list(Napi::Env env, const std::vector<T>& values, const Convert& convert) {
  Napi::Array array = Napi::Array::New(env, values.size());
  for (size_t i = 0; i < values.size(); i++) array.Set(static_cast<uint32_t>(i), convert(values[i]));
  return array;
}

Napi::Array triple(Napi::Env env, const uint32_t (&values)[3]) {
  return list(env, std::vector<uint32_t>(values, values + 3),
              [&](uint32_t value) { return Napi::Number::New(env, value); });
}

const char* nameOf(CapabilityLevel level) {
  switch (level) {
    case CapabilityLevel::kNative:
      return "native";
    case CapabilityLevel::kExact:
      return "exact";
    case CapabilityLevel::kApproximate:
      return "approximate";
    case CapabilityLevel::kUnavailable:
      return "unavailable";
  }
  return "";
}

Napi::Object toJs(Napi::Env env, const PerturbationCheck& check) {
  return Fields(env)
      .set("passed", check.passed)
      .set("row", check.row)
      .set("block", check.block)
      .set("reason", check.reason)
      .done();
}

Napi::Object toJs(Napi::Env env, const FailedElement& failed) {
  return Fields(env)
      .set("batch", failed.batch)
      .set("row", failed.row)
      .set("col", failed.col)
      .set("got", failed.got)
      .set("reference", failed.reference)
      .set("absoluteError", failed.absoluteError)
      .set("block", failed.block)
      .put("aCodes", typedArray<Napi::Uint8Array>(env, failed.aCodes))
      .put("bCodes", typedArray<Napi::Uint8Array>(env, failed.bCodes))
      .set("aScale", failed.aScale)
      .set("bScale", failed.bScale)
      .done();
}

Napi::Object toJs(Napi::Env env, const LaunchRecord& launch) {
  return Fields(env)
      .set("name", launch.name)
      .set("startNs", launch.startNs)
      .set("endNs", launch.endNs)
      .set("stream", launch.stream)
      .put("grid", triple(env, launch.grid))
      .put("block", triple(env, launch.block))
      .set("registersPerThread", launch.registersPerThread)
      .set("sharedMemoryBytes", launch.sharedMemoryBytes)
      .done();
}

Napi::Object toJs(Napi::Env env, const KernelInfo& kernel) {
  return Fields(env)
      .set("id", kernel.id)
      .set("provider", kernel.provider)
      .set("summary", kernel.summary)
      .set("scaleLayout", kernel.scaleLayout)
      .set("baseline", kernel.baseline)
      .set("sourceHash", kernel.sourceHash)
      .set("compileOptions", kernel.compileOptions)
      .put("capabilities", list(env, kernel.capabilities,
                                [&](const Capability& capability) {
                                  return Fields(env)
                                      .set("format", capability.format)
                                      .set("level", nameOf(capability.level))
                                      .set("reason", capability.reason)
                                      .done();
                                }))
      .done();
}

}  // namespace

BackendOptions readOptions(const Napi::Value& value) {
  const Napi::Object object = asObject(value, "options");
  BackendOptions options;
  options.cacheDirectory = readString(object, "cacheDirectory");
  const Napi::Value sources = object.Get("kernelSources");
  if (!sources.IsArray()) refuse(value.Env(), "kernelSources", "an array");
  const auto array = sources.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); i++) {
    const Napi::Object row = asObject(array.Get(i), "kernelSources[]");
    options.kernelSources.push_back({readString(row, "id"), readString(row, "provider"), readString(row, "summary"),
                                     readString(row, "file"), readString(row, "manifestJson")});
  }
  return options;
}

OpenRequest readOpenRequest(const Napi::Value& value) {
  const Napi::Object object = asObject(value, "request");
  OpenRequest request;
  request.device = readString(object, "device");
  request.problem.format = readString(object, "format");
  request.problem.m = readInteger(object, "m");
  request.problem.n = readInteger(object, "n");
  request.problem.k = readInteger(object, "k");
  if (has(object, "batch")) request.problem.batch = readInteger(object, "batch");
  try {
    request.problem.output = findOutput(readString(object, "output"));
  } catch (const Error& error) {
    throw Napi::TypeError::New(value.Env(), error.what());
  }
  const Napi::Object operands = asObject(object.Get("operands"), "operands");
  if (has(operands, "distribution")) {
    request.operands = GeneratedOperands{readString(operands, "distribution"),
                                         static_cast<uint64_t>(readInteger(operands, "seed"))};
    return request;
  }
  GivenOperands given;
  given.operands.aCodes = readBytes(operands.Get("aCodes"), "aCodes");
  given.operands.bCodes = readBytes(operands.Get("bCodes"), "bCodes");
  given.operands.aScales = readBytes(operands.Get("aScales"), "aScales");
  given.operands.bScales = readBytes(operands.Get("bScales"), "bScales");
  if (has(operands, "tensorScaleA")) given.operands.tensorScaleA = static_cast<float>(readNumber(operands, "tensorScaleA"));
  if (has(operands, "tensorScaleB")) given.operands.tensorScaleB = static_cast<float>(readNumber(operands, "tensorScaleB"));
  if (has(operands, "reference"))
    given.reference = readArray<double>(operands.Get("reference"), "reference", napi_float64_array, "a Float64Array");
  request.operands = std::move(given);
  return request;
}

ValidateRequest readValidateRequest(const Napi::Value& value) {
  const Napi::Object object = asObject(value, "request");
  ValidateRequest request;
  request.kernel = readString(object, "kernel");
  request.tolerance = {readNumber(object, "atol"), readNumber(object, "rtol")};
  request.maxFailures = readCount(object, "maxFailures");
  request.mapTiles = readCount(object, "mapTiles");
  if (request.mapTiles < 1) refuse(value.Env(), "mapTiles", "at least 1");
  const Tolerance& tolerance = request.tolerance;
  // NaN fails both comparisons.
  if (!(tolerance.atol >= 0) || !(tolerance.rtol >= 0)) refuse(value.Env(), "atol and rtol", "0 or more");
  return request;
}

MeasureRequest readMeasureRequest(const Napi::Value& value) {
  const Napi::Object object = asObject(value, "request");
  MeasureRequest request;
  request.kernel = readString(object, "kernel");
  request.cold = readBool(object, "cold");
  request.warmupNs = readNumber(object, "warmupNs");
  request.minSamples = readCount(object, "minSamples");
  request.minTimeNs = readNumber(object, "minTimeNs");
  request.maxRelativeStdev = readNumber(object, "maxRelativeStdev");
  request.maxSamples = readCount(object, "maxSamples");
  request.timeoutNs = readNumber(object, "timeoutNs");
  request.fixedSamples = readCount(object, "fixedSamples");
  request.sustainedNs = readNumber(object, "sustainedNs");
  request.recordLaunches = readBool(object, "recordLaunches");
  return request;
}

std::vector<uint8_t> readBytes(const Napi::Value& value, const char* name) {
  return readArray<uint8_t>(value, name, napi_uint8_array, "a Uint8Array");
}

Napi::Value toJs(Napi::Env env, const LibraryInfo& library) {
  return Fields(env)
      .set("name", library.name)
      .set("found", library.found)
      .set("version", library.version)
      .set("path", library.path)
      .set("reason", library.reason)
      .set("remedy", library.remedy)
      .done();
}

Napi::Value toJs(Napi::Env env, const DeviceInfo& device) {
  Fields properties(env);
  for (const auto& [name, value] : device.properties)
    std::visit([&](const auto& held) { properties.set(name.c_str(), held); }, value);
  return Fields(env)
      .set("id", device.id)
      .set("kind", device.kind)
      .set("name", device.name)
      .set("architecture", device.architecture)
      .put("properties", properties.done())
      .put("kernels", list(env, device.kernels, [&](const KernelInfo& kernel) { return toJs(env, kernel); }))
      .done();
}

Napi::Value toJs(Napi::Env env, const ValidationReport& report) {
  static const char* const statuses[] = {"passed", "incorrect", "proves-nothing"};
  return Fields(env)
      .set("status", statuses[static_cast<int>(report.status)])
      .set("reason", report.reason)
      .set("elements", report.elements)
      .set("elementsOutside", report.elementsOutside)
      .set("nonFinite", report.nonFinite)
      .set("maxAbs", report.maxAbs)
      .set("maxRel", report.maxRel)
      .set("normwise", report.normwise)
      .set("maxScaled", report.maxScaled)
      .set("referenceRms", report.referenceRms)
      .set("referenceNonZero", report.referenceNonZero)
      .put("ulpHistogram", list(env, report.ulpHistogram,
                                [&](uint64_t count) { return Napi::Number::New(env, static_cast<double>(count)); }))
      .put("errorMap", typedArray<Napi::Float32Array>(env, report.errorMap))
      .set("mapRows", report.mapRows)
      .set("mapCols", report.mapCols)
      .set("tileRows", report.tileRows)
      .set("tileCols", report.tileCols)
      .put("failures", list(env, report.failures, [&](const FailedElement& failed) { return toJs(env, failed); }))
      .put("perturbationA", toJs(env, report.perturbationA))
      .put("perturbationB", toJs(env, report.perturbationB))
      .set("oracle", report.oracle)
      .set("oracleSeconds", report.oracleSeconds)
      .set("kernelSeconds", report.kernelSeconds)
      .done();
}

Napi::Value toJs(Napi::Env env, const Measurement& measured) {
  return Fields(env)
      .put("samplesNs", typedArray<Napi::Float64Array>(env, measured.samplesNs))
      .put("samplesMHz", typedArray<Napi::Float64Array>(env, measured.samplesMHz))
      .set("discarded", measured.discarded)
      .set("launchesPerSample", measured.launchesPerSample)
      .set("operandSets", measured.operandSets)
      .set("cacheMode", measured.cacheMode)
      .set("timingSource", measured.timingSource)
      .set("stopReason", measured.stopReason)
      .set("warmupNs", measured.warmupNs)
      .set("compileSeconds", measured.compileSeconds)
      .set("meanWatts", measured.meanWatts)
      .set("meanTemperatureC", measured.meanTemperatureC)
      .put("badges", list(env, measured.badges, [&](const std::string& badge) { return Napi::String::New(env, badge); }))
      .put("launches", list(env, measured.launches, [&](const LaunchRecord& launch) { return toJs(env, launch); }))
      .set("cuptiNs", measured.cuptiNs)
      .set("sustainedNs", measured.sustainedNs)
      .set("sustainedCount", measured.sustainedCount)
      .set("sustainedWatts", measured.sustainedWatts)
      .set("joulesPerLaunch", measured.joulesPerLaunch)
      .done();
}

Napi::Value toJs(Napi::Env env, const Operands& operands) {
  return Fields(env)
      .put("aCodes", typedArray<Napi::Uint8Array>(env, operands.aCodes))
      .put("bCodes", typedArray<Napi::Uint8Array>(env, operands.bCodes))
      .put("aScales", typedArray<Napi::Uint8Array>(env, operands.aScales))
      .put("bScales", typedArray<Napi::Uint8Array>(env, operands.bScales))
      .set("tensorScaleA", static_cast<double>(operands.tensorScaleA))
      .set("tensorScaleB", static_cast<double>(operands.tensorScaleB))
      .done();
}

Napi::Value toJs(Napi::Env env, const std::vector<double>& values) {
  return typedArray<Napi::Float64Array>(env, values);
}

Napi::Error toJs(Napi::Env env, ErrorKind kind, const std::string& message) {
  static const char* const codes[] = {"usage", "unavailable", "device", "compile", "cancelled"};
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", Napi::String::New(env, codes[static_cast<int>(kind)]));
  return error;
}

}  // namespace blockscope
