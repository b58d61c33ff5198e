#include "agreement.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../core/elementPacking.h"
#include "../core/formats.h"
#include "../core/hopperValue.h"
#include "../core/layouts.h"
#include "../hip/hipblasLtOperation.h"
#include "convert.h"
#include "wire.h"

#if __has_include("../cuda/backend.cpp")
#include "../cuda/compiler.h"
#include "../cuda/cublasLtOperation.h"
#include "task.h"
#endif

namespace blockscope {

namespace {

const NumberFormat& readNumberFormat(const Napi::Value& value) {
  const NumberFormat* format =
      value.IsString() ? findNumberFormat(value.As<Napi::String>().Utf8Value()) : nullptr;
  if (!format) throw Napi::TypeError::New(value.Env(), "numberFormat must name a number format.");
  return *format;
}

Napi::Value decodeTableOf(const Napi::CallbackInfo& info) {
  const NumberFormat& format = readNumberFormat(info[0]);
  auto table = Napi::Float32Array::New(info.Env(), format.codeCount());
  for (int code = 0; code < format.codeCount(); code++)
    table.Data()[code] = static_cast<float>(decode(format, static_cast<uint16_t>(code)));
  return table;
}

Napi::Value encodeValues(const Napi::CallbackInfo& info) {
  const NumberFormat& format = readNumberFormat(info[0]);
  if (!info[1].IsTypedArray() ||
      info[1].As<Napi::TypedArray>().TypedArrayType() != napi_float32_array)
    throw Napi::TypeError::New(info.Env(), "values must be a Float32Array.");
  const std::string rule = info[2].IsString() ? info[2].As<Napi::String>().Utf8Value() : "";
  if (rule != "saturate" && rule != "ml_dtypes")
    throw Napi::TypeError::New(info.Env(), "overflow must be 'saturate' or 'ml_dtypes'.");
  const auto values = info[1].As<Napi::Float32Array>();
  const OverflowRule overflow =
      rule == "saturate" ? OverflowRule::kSaturate : OverflowRule::kMlDtypes;
  auto encoded = [&]<typename Code>(Napi::TypedArrayOf<Code> codes) -> Napi::Value {
    for (size_t i = 0; i < values.ElementLength(); i++)
      codes.Data()[i] = static_cast<Code>(encode(format, values.Data()[i], overflow));
    return codes;
  };
  const size_t count = values.ElementLength();
  return format.codeBytes() == 1 ? encoded(Napi::Uint8Array::New(info.Env(), count))
                                 : encoded(Napi::Uint16Array::New(info.Env(), count));
}

int64_t readExtent(const Napi::Value& value, const char* name) {
  const double extent = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  // Their product must fit an Int32Array.
  if (!(extent >= 1 && extent <= 32768) ||
      extent != static_cast<double>(static_cast<int64_t>(extent)))
    throw Napi::TypeError::New(value.Env(),
                               std::string(name) + " must be a whole number from 1 to 32768.");
  return static_cast<int64_t>(extent);
}

// What the layout functions share: a layout by name or text, and a matrix whose packed offsets fit
// an Int32Array.
struct LayoutRequest {
  ScaleLayout layout;
  int64_t rows, cols;
  PlacedLayout placed;
};

LayoutRequest readLayoutRequest(const Napi::CallbackInfo& info) {
  if (!info[0].IsString())
    throw Napi::TypeError::New(info.Env(), "layout must name a scale layout.");
  const int64_t rows = readExtent(info[1], "rows"), cols = readExtent(info[2], "cols");
  try {
    const ScaleLayout layout = findLayout(info[0].As<Napi::String>().Utf8Value());
    const int64_t bytes = paddedShape(layout, rows, cols).size();
    if (bytes > INT32_MAX)
      throw Error(ErrorKind::kUsage, layout.name + " takes " + std::to_string(bytes) +
                                         " bytes for these scales; at most " +
                                         std::to_string(INT32_MAX) + " are packed here.");
    return {layout, rows, cols, PlacedLayout(layout, rows, cols)};
  } catch (const Error& error) {
    throw toJs(info.Env(), error.kind, error.what());
  }
}

const uint8_t* readScales(const Napi::CallbackInfo& info, int64_t count) {
  const bool bytes =
      info[3].IsTypedArray() && info[3].As<Napi::TypedArray>().TypedArrayType() == napi_uint8_array;
  if (!bytes || static_cast<int64_t>(info[3].As<Napi::Uint8Array>().ElementLength()) != count)
    throw Napi::TypeError::New(
        info.Env(), "scales must be a Uint8Array of " + std::to_string(count) + " bytes.");
  return info[3].As<Napi::Uint8Array>().Data();
}

Napi::Value bytesOf(Napi::Env env, const std::vector<uint8_t>& bytes) {
  auto array = Napi::Uint8Array::New(env, bytes.size());
  std::copy(bytes.begin(), bytes.end(), array.Data());
  return array;
}

Napi::Value layoutOffsets(const Napi::CallbackInfo& info) {
  const auto [layout, rows, cols, placed] = readLayoutRequest(info);
  auto offsets = Napi::Int32Array::New(info.Env(), rows * cols);
  for (int64_t row = 0; row < rows; row++)
    for (int64_t col = 0; col < cols; col++)
      offsets.Data()[row * cols + col] = static_cast<int32_t>(placed.offset(row, col));
  return offsets;
}

Napi::Value layoutIndices(const Napi::CallbackInfo& info) {
  const auto [layout, rows, cols, placed] = readLayoutRequest(info);
  auto indices = Napi::Int32Array::New(info.Env(), placed.padded().size());
  for (int64_t offset = 0; offset < placed.padded().size(); offset++) {
    const auto [row, col] = placed.positionAt(offset);
    indices.Data()[offset] = row < rows && col < cols ? static_cast<int32_t>(row * cols + col) : -1;
  }
  return indices;
}

Napi::Value packScalesOf(const Napi::CallbackInfo& info) {
  const auto [layout, rows, cols, placed] = readLayoutRequest(info);
  return bytesOf(info.Env(), packScales(layout, readScales(info, rows * cols), rows, cols));
}

Napi::Value unpackScalesOf(const Napi::CallbackInfo& info) {
  const auto [layout, rows, cols, placed] = readLayoutRequest(info);
  return bytesOf(info.Env(),
                 unpackScales(layout, readScales(info, placed.padded().size()), rows, cols));
}

Napi::Value layoutsOf(const Napi::CallbackInfo& info) {
  auto texts = Napi::Array::New(info.Env());
  for (const std::string& text : builtInLayouts()) texts.Set(texts.Length(), text);
  return texts;
}

using ElementWork = std::vector<uint8_t> (*)(const ElementPacking&, const std::vector<uint8_t>&);

template <ElementWork work>
Napi::Value elementsOf(const Napi::CallbackInfo& info) {
  if (!info[0].IsString())
    throw Napi::TypeError::New(info.Env(), "packing must name an element packing.");
  const std::vector<uint8_t> bytes = readBytes(info[1], "bytes");
  try {
    return bytesOf(info.Env(),
                   work(findElementPacking(info[0].As<Napi::String>().Utf8Value()), bytes));
  } catch (const Error& error) {
    throw toJs(info.Env(), error.kind, error.what());
  }
}

using HopperWork = std::vector<uint8_t> (*)(int, int64_t, int64_t, const std::vector<uint8_t>&);

template <HopperWork work>
Napi::Value hopperValuesOf(const Napi::CallbackInfo& info) {
  const int64_t version = readExtent(info[0], "mmaVersion"), rows = readExtent(info[1], "rows"),
                columns = readExtent(info[2], "columns");
  const std::vector<uint8_t> bytes = readBytes(info[3], "bytes");
  try {
    return bytesOf(info.Env(), work(static_cast<int>(version), rows, columns, bytes));
  } catch (const Error& error) {
    throw toJs(info.Env(), error.kind, error.what());
  }
}

Napi::Value elementPackingNames(const Napi::CallbackInfo& info) {
  auto names = Napi::Array::New(info.Env());
  for (const ElementPacking& packing : elementPackings())
    names.Set(names.Length(), std::string(packing.name));
  return names;
}

// What hipBLASLt's kernels take on an architecture where the library is there.
Napi::Value hipblasLtKernelsOf(const Napi::CallbackInfo& info) {
  if (!info[0].IsString()) throw Napi::TypeError::New(info.Env(), "architecture must be a string.");
  LibraryInfo library;
  library.found = true;
  return wire::write(info.Env(),
                     hip::hipblasLtKernels(info[0].As<Napi::String>().Utf8Value(), library));
}

#if __has_include("../cuda/backend.cpp")
// What cuBLASLt's kernels take on a device of a compute capability where the library is there.
Napi::Value cublasLtKernelsOf(const Napi::CallbackInfo& info) {
  if (!info[0].IsNumber()) throw Napi::TypeError::New(info.Env(), "major must be a number.");
  LibraryInfo library;
  library.found = true;
  return wire::write(info.Env(),
                     cuda::cublasLtKernels(info[0].As<Napi::Number>().Int32Value(), library));
}

// A kernel's source as a session compiles it, by NVRTC, which needs no GPU: bytes of machine code.
Napi::Value compileForCuda(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsString() || !info[1].IsString() || !info[2].IsArray())
    throw Napi::TypeError::New(env, "compileForCuda takes a file, a target and options.");
  cuda::CompileRequest request;
  request.what = "It", request.file = info[0].As<Napi::String>();
  request.target = info[1].As<Napi::String>().Utf8Value();
  const auto options = info[2].As<Napi::Array>();
  for (uint32_t i = 0; i < options.Length(); i++)
    request.options.push_back(options.Get(i).ToString());
  return Task<size_t>::start(
      env, env.Undefined(),
      [request](const Progress&) { return cuda::compile(request, {""}).image.size(); },
      [](Napi::Env to, size_t& bytes) { return Napi::Number::New(to, double(bytes)); });
}
#endif

}  // namespace

void addAgreement(Napi::Object exports) {
  const Napi::Env env = exports.Env();
  exports.Set("decodeTable", Napi::Function::New(env, decodeTableOf));
  exports.Set("encode", Napi::Function::New(env, encodeValues));
  exports.Set("layouts", Napi::Function::New(env, layoutsOf));
  exports.Set("layoutOffsets", Napi::Function::New(env, layoutOffsets));
  exports.Set("layoutIndices", Napi::Function::New(env, layoutIndices));
  exports.Set("packScales", Napi::Function::New(env, packScalesOf));
  exports.Set("unpackScales", Napi::Function::New(env, unpackScalesOf));
  exports.Set("packHopperValues", Napi::Function::New(env, hopperValuesOf<packHopperValues>));
  exports.Set("unpackHopperValues", Napi::Function::New(env, hopperValuesOf<unpackHopperValues>));
  exports.Set("elementPackings", Napi::Function::New(env, elementPackingNames));
  exports.Set("packElements", Napi::Function::New(env, elementsOf<packElements>));
#if __has_include("../cuda/backend.cpp")
  exports.Set("compileForCuda", Napi::Function::New(env, compileForCuda));
  exports.Set("cublasLtKernels", Napi::Function::New(env, cublasLtKernelsOf));
#endif
  exports.Set("hipblasLtKernels", Napi::Function::New(env, hipblasLtKernelsOf));
  exports.Set("unpackElements", Napi::Function::New(env, elementsOf<unpackElements>));
}

}  // namespace blockscope
