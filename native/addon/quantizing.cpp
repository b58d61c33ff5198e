// The functions of native/quantize for JavaScript; src-main/engine/nativeQuantizing.ts describes
// them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "../core/threads.h"
#include "../quantize/weightWork.h"
#include "binding.h"
#include "convert.h"
#include "task.h"

namespace blockscope {

namespace {

// A field of an object, which names itself where it does not fit.
struct Field {
  Napi::Value value;
  std::string name;

  [[noreturn]] void refuse(const char* wanted) const {
    throw Napi::TypeError::New(value.Env(), name + " must be " + wanted + ".");
  }
  bool given() const { return !value.IsUndefined(); }
  Field of(const char* field) const {
    if (!value.IsObject()) refuse("an object");
    return {value.As<Napi::Object>().Get(field), name + "." + field};
  }
  std::string text() const {
    if (!value.IsString()) refuse("a string");
    return value.As<Napi::String>().Utf8Value();
  }
  double number() const {
    if (!value.IsNumber()) refuse("a number");
    return value.As<Napi::Number>().DoubleValue();
  }
  // From `least` to 2^53.
  int64_t whole(int64_t least) const {
    const double wide = number();
    if (!(wide >= static_cast<double>(least) && wide <= 9007199254740991.0) ||
        wide != std::floor(wide))
      refuse(least ? "a whole number above 0" : "a whole number, 0 or above");
    return static_cast<int64_t>(wide);
  }
  NumberFormatId format() const {
    const NumberFormat* found = findNumberFormat(text());
    if (!found) refuse("the name of a number format");
    return found->id;
  }
};

Field argument(const Napi::CallbackInfo& info, size_t index, const char* name) {
  return {info[index], name};
}

// What the reading of a request throws as an Error, thrown as JavaScript knows it.
template <typename Read>
auto reading(Napi::Env env, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw toJs(env, error.kind, error.what());
  }
}

FilePlace readPlace(const Field& field) {
  return {field.of("path").text(), field.of("position").whole(0)};
}

StoredScales readStoredScales(const Field& field) {
  const int64_t perBlock = field.of("scaleBlockSize").whole(1);
  if (perBlock != 16 && perBlock != 32) field.of("scaleBlockSize").refuse("16 or 32");
  return {readPlace(field.of("place")), field.of("format").format(), static_cast<int>(perBlock),
          findLayout(field.of("layout").text())};
}

// Largest extent of an axis: products of two stay far below 2^63.
constexpr int64_t kMostExtent = int64_t{1} << 31;

int64_t readExtent(const Field& field) {
  const int64_t extent = field.whole(1);
  if (extent > kMostExtent) field.refuse("a whole number up to 2^31");
  return extent;
}

StoredValues readStored(const Field& field) {
  StoredValues stored;
  stored.rowsPerMatrix = readExtent(field.of("rowsPerMatrix"));
  stored.k = readExtent(field.of("k"));
  stored.place = readPlace(field.of("place"));
  const Field blocks = field.of("blockScaled");
  if (!blocks.given()) {
    stored.real = findRealType(field.of("real").text());
    return stored;
  }
  const StoredScales scales = readStoredScales(blocks.of("scales"));
  const NumberFormatId element = blocks.of("element").format();
  if (stored.k % scales.scaleBlockSize) field.of("k").refuse("a multiple of the scale block size");
  stored.blockScaled = {element, scales, blocks.of("tensorScale").number()};
  return stored;
}

RowRange readRange(const Field& field) {
  const RowRange range{field.of("from").whole(0), field.of("to").whole(0)};
  if (range.from > range.to || range.to > kMostExtent * 16) field.refuse("rows from..to in order");
  return range;
}

// tensorScale left out: the caller knows none yet.
QuantizedForm readForm(const Field& field) {
  const Field tensorScale = field.of("tensorScale");
  const int64_t perBlock = field.of("scaleBlockSize").whole(1);
  return QuantizedForm(field.of("element").format(), field.of("scale").format(),
                       static_cast<int>(std::min<int64_t>(perBlock, 1 << 20)),
                       findScaleRule(field.of("rule").text()),
                       tensorScale.given() ? tensorScale.number() : 1);
}

Napi::Object object(Napi::Env env, std::initializer_list<std::pair<const char*, double>> numbers) {
  auto made = Napi::Object::New(env);
  for (const auto& [name, number] : numbers) made.Set(name, number);
  return made;
}

Napi::Object badToJs(Napi::Env env, const BadValues& bad) {
  return object(env, {{"nan", static_cast<double>(bad.nan)},
                      {"infinite", static_cast<double>(bad.infinite)},
                      {"first", static_cast<double>(bad.first)}});
}

// The work of the binding: arguments are read by now; the flag and the listener come last.
template <typename Result, typename Work, typename Convert>
Napi::Value start(const Napi::CallbackInfo& info, size_t flagAt, Work work, Convert convert) {
  const auto cancel = readCancelFlag(info[flagAt]);
  return Task<Result>::start(
      info.Env(), info[flagAt + 1],
      [work, cancel](const Progress& progress) { return work(*cancel, progress); }, convert);
}

const auto kNothing = [](Napi::Env env, bool&) -> Napi::Value { return env.Undefined(); };

Napi::Value scan(const Napi::CallbackInfo& info) {
  const StoredValues stored =
      reading(info.Env(), [&] { return readStored(argument(info, 0, "values")); });
  const RowRange range = readRange(argument(info, 1, "range"));
  return start<ScannedValues>(
      info, 2,
      [=](const CancelFlag& cancel, const Progress& progress) {
        return scanValues(stored, range, cancel, progress);
      },
      [](Napi::Env env, ScannedValues& found) -> Napi::Value {
        auto result = object(env, {{"largest", found.largest}});
        result.Set("bad", badToJs(env, found.bad));
        return result;
      });
}

Napi::Value quantize(const Napi::CallbackInfo& info) {
  const Field target = argument(info, 2, "to");
  const StoredValues stored =
      reading(info.Env(), [&] { return readStored(argument(info, 0, "values")); });
  const RowRange range = readRange(argument(info, 1, "range"));
  const QuantizedWeight to = reading(info.Env(), [&] {
    return QuantizedWeight{readForm(target.of("form")), readPlace(target.of("codes")),
                           readPlace(target.of("scales")), findLayout(target.of("layout").text())};
  });
  if (stored.k % to.form.scaleBlockSize)
    argument(info, 0, "values").of("k").refuse("a multiple of the scale block size");
  return start<QuantizedRows>(
      info, 3,
      [=](const CancelFlag& cancel, const Progress& progress) {
        return quantizeRows(stored, range, to, cancel, progress);
      },
      [](Napi::Env env, QuantizedRows& done) -> Napi::Value {
        auto result = object(env, {{"badBlocks", static_cast<double>(done.badBlocks)}});
        result.Set("bad", badToJs(env, done.bad));
        return result;
      });
}

Napi::Value compare(const Napi::CallbackInfo& info) {
  const auto [original, converted] = reading(info.Env(), [&] {
    return std::pair(readStored(argument(info, 0, "original")),
                     readStored(argument(info, 1, "converted")));
  });
  const RowRange range = readRange(argument(info, 2, "range"));
  return start<ComparedRows>(
      info, 3,
      [original = original, converted = converted, range](const CancelFlag& cancel,
                                                          const Progress& progress) {
        return compareRows(original, converted, range, cancel, progress);
      },
      [](Napi::Env env, ComparedRows& found) -> Napi::Value {
        auto result = object(env, {{"signal", found.signal},
                                   {"noise", found.noise},
                                   {"largestError", found.largestError},
                                   {"different", static_cast<double>(found.different)},
                                   {"lost", static_cast<double>(found.lost)}});
        result.Set("bad", badToJs(env, found.bad));
        return result;
      });
}

Napi::Value repack(const Napi::CallbackInfo& info) {
  const Field request = argument(info, 0, "request");
  const auto [from, layout] = reading(info.Env(), [&] {
    return std::pair(readStoredScales(request.of("from")), findLayout(request.of("layout").text()));
  });
  const int64_t rows = readExtent(request.of("rowsPerMatrix")),
                columns = readExtent(request.of("columns"));
  const RowRange range = readRange(request.of("range"));
  const FilePlace to = readPlace(request.of("to"));
  return start<bool>(
      info, 1,
      [from = from, layout = layout, rows, columns, range, to](const CancelFlag& cancel,
                                                               const Progress& progress) {
        repackScales(from, rows, columns, range, layout, to, cancel, progress);
        return true;
      },
      kNothing);
}

Napi::Value copy(const Napi::CallbackInfo& info) {
  const Field request = argument(info, 0, "request");
  const FilePlace from = readPlace(request.of("from")), to = readPlace(request.of("to"));
  const int64_t count = request.of("count").whole(0);
  return start<bool>(
      info, 1,
      [=](const CancelFlag& cancel, const Progress& progress) {
        copyBytes(from, to, count, cancel, progress);
        return true;
      },
      kNothing);
}

// Values of memory.
struct QuantizedArray {
  std::vector<uint8_t> codes, scales;
  double tensorScale = 1;
};

// Enough blocks for a core to start on.
constexpr int64_t kArrayBlocks = 1 << 11;

QuantizedArray quantizeArray(const std::vector<double>& values, QuantizedForm form,
                             const CancelFlag& cancel) {
  const auto count = static_cast<int64_t>(values.size());
  const int64_t blocks = count / form.scaleBlockSize;
  QuantizedArray made{std::vector<uint8_t>(count), std::vector<uint8_t>(blocks), form.tensorScale};
  parallelFor((blocks + kArrayBlocks - 1) / kArrayBlocks, cancel, [&](int64_t index) {
    const int64_t first = index * kArrayBlocks, at = first * form.scaleBlockSize;
    quantizeKernels().quantize(form, values.data() + at, std::min(kArrayBlocks, blocks - first),
                               made.codes.data() + at, made.scales.data() + first);
  });
  return made;
}

Napi::Value quantizeValuesOf(const Napi::CallbackInfo& info) {
  const auto values = info[0].IsTypedArray() ? info[0].As<Napi::TypedArray>() : Napi::TypedArray();
  if (values.IsEmpty() || values.TypedArrayType() != napi_float64_array)
    throw Napi::TypeError::New(info.Env(), "values must be a Float64Array.");
  const Field formField = argument(info, 1, "form");
  QuantizedForm form = reading(info.Env(), [&] { return readForm(formField); });
  const double* from = values.As<Napi::Float64Array>().Data();
  auto held = std::make_shared<std::vector<double>>(from, from + values.ElementLength());
  if (values.ElementLength() % form.scaleBlockSize)
    throw Napi::TypeError::New(info.Env(), "values must be whole scale blocks.");
  const bool ownScale =
      form.scale == NumberFormatId::kUe4m3 && !formField.of("tensorScale").given();
  return start<QuantizedArray>(
      info, 2,
      [held, form, ownScale](const CancelFlag& cancel, const Progress&) {
        QuantizedForm with = form;
        bool finite = true;
        if (ownScale)
          with.tensorScale = nvfp4TensorScale(quantizeKernels().largestFinite(
              held->data(), static_cast<int64_t>(held->size()), 0, finite));
        return quantizeArray(*held, with, cancel);
      },
      [](Napi::Env env, QuantizedArray& made) -> Napi::Value {
        auto result = object(env, {{"tensorScale", made.tensorScale}});
        const auto bytes = [env](const std::vector<uint8_t>& from) {
          auto array = Napi::Uint8Array::New(env, from.size());
          std::copy(from.begin(), from.end(), array.Data());
          return array;
        };
        result.Set("codes", bytes(made.codes));
        result.Set("scales", bytes(made.scales));
        return result;
      });
}

}  // namespace

void exportQuantizing(Napi::Env env, Napi::Object exports) {
  exports.Set("scanValues", Napi::Function::New(env, scan));
  exports.Set("quantizeRows", Napi::Function::New(env, quantize));
  exports.Set("compareRows", Napi::Function::New(env, compare));
  exports.Set("repackScales", Napi::Function::New(env, repack));
  exports.Set("copyBytes", Napi::Function::New(env, copy));
  exports.Set("quantizeValues", Napi::Function::New(env, quantizeValuesOf));
}

}  // namespace blockscope
