// Between JavaScript values and the structs of native/core, made from each struct's field list.
//
//   JavaScript           C++
//   string               std::string, an enum with Words
//   number               double, float, whole numbers (exact up to 2^53)
//   boolean              bool
//   Uint8Array, ...      std::vector of uint8_t, float or double
//   list                 std::vector or std::array of anything else
//   object               struct with fields, std::map by name
//   undefined            std::optional of none, in what is written
#pragma once

#include <napi.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "../core/fields.h"
#include "../core/words.h"

namespace blockscope::wire {

template <typename T>
struct TypedArray;
template <>
struct TypedArray<uint8_t> {
  using Array = Napi::Uint8Array;
  static constexpr napi_typedarray_type type = napi_uint8_array;
  static constexpr const char* name = "a Uint8Array";
};
template <>
struct TypedArray<float> {
  using Array = Napi::Float32Array;
  static constexpr napi_typedarray_type type = napi_float32_array;
  static constexpr const char* name = "a Float32Array";
};
template <>
struct TypedArray<double> {
  using Array = Napi::Float64Array;
  static constexpr napi_typedarray_type type = napi_float64_array;
  static constexpr const char* name = "a Float64Array";
};
template <typename T>
concept InTypedArray = requires {
  TypedArray<T>::type;
};

// ---------------------------------------------------------------------------------------- reading

// `path` says where a value stands, "launches[0].block", and begins the TypeError when it does not
// fit.
[[noreturn]] inline void refuse(Napi::Env env, const std::string& path, const std::string& wanted) {
  throw Napi::TypeError::New(env, path + " must be " + wanted + ".");
}

inline Napi::Object asObject(const Napi::Value& value, const std::string& path) {
  if (!value.IsObject()) refuse(value.Env(), path, "an object");
  return value.As<Napi::Object>();
}

inline void read(const Napi::Value& value, const std::string& path, std::string& to) {
  if (!value.IsString()) refuse(value.Env(), path, "a string");
  to = value.As<Napi::String>();
}

inline void read(const Napi::Value& value, const std::string& path, bool& to) {
  if (!value.IsBoolean()) refuse(value.Env(), path, "true or false");
  to = value.As<Napi::Boolean>();
}

template <std::floating_point T>
void read(const Napi::Value& value, const std::string& path, T& to) {
  if (!value.IsNumber()) refuse(value.Env(), path, "a number");
  to = static_cast<T>(value.As<Napi::Number>().DoubleValue());
}

template <std::integral T>
void read(const Napi::Value& value, const std::string& path, T& to) {
  constexpr double kExact = 9007199254740991.0;  // 2^53 - 1
  using Limits = std::numeric_limits<T>;
  // Narrower numbers are counts.
  const double least = std::same_as<T, int64_t> ? -kExact : 0;
  const double most = std::min(kExact, static_cast<double>(Limits::max()));
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  if (!value.IsNumber() || !(number >= least && number <= most) ||
      number != static_cast<double>(static_cast<int64_t>(number)))
    refuse(value.Env(), path,
           "a whole number from " + std::to_string(static_cast<int64_t>(least)) + " to " +
               std::to_string(static_cast<int64_t>(most)));
  to = static_cast<T>(number);
}

template <HasWords Enum>
void read(const Napi::Value& value, const std::string& path, Enum& to) {
  const std::string word = value.IsString() ? std::string(value.As<Napi::String>()) : "";
  std::string known;
  for (size_t i = 0; i < Words<Enum>::all.size(); i++) {
    if (word == Words<Enum>::all[i]) {
      to = static_cast<Enum>(i);
      return;
    }
    known += (i ? ", " : "") + std::string(Words<Enum>::all[i]);
  }
  refuse(value.Env(), path, "one of " + known + (word.empty() ? "" : ", not \"" + word + "\""));
}

template <InTypedArray T>
void read(const Napi::Value& value, const std::string& path, std::vector<T>& to) {
  using Kind = TypedArray<T>;
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != Kind::type)
    refuse(value.Env(), path, Kind::name);
  const auto array = value.As<Napi::TypedArray>();
  const auto* bytes = static_cast<const uint8_t*>(array.ArrayBuffer().Data()) + array.ByteOffset();
  to.resize(array.ElementLength());
  if (!to.empty()) std::memcpy(to.data(), bytes, to.size() * sizeof(T));
}

template <typename T>
requires(!InTypedArray<T>) void read(const Napi::Value& value, const std::string& path,
                                     std::vector<T>& to);
template <typename T>
void read(const Napi::Value& value, const std::string& path, std::map<std::string, T>& to);
template <HasFields T>
void read(const Napi::Value& value, const std::string& path, T& to);

template <typename T>
requires(!InTypedArray<T>) void read(const Napi::Value& value, const std::string& path,
                                     std::vector<T>& to) {
  if (!value.IsArray()) refuse(value.Env(), path, "a list");
  const auto array = value.As<Napi::Array>();
  to.resize(array.Length());
  for (uint32_t i = 0; i < array.Length(); i++)
    read(array.Get(i), path + "[" + std::to_string(i) + "]", to[i]);
}

template <typename T>
void read(const Napi::Value& value, const std::string& path, std::map<std::string, T>& to) {
  const Napi::Object object = asObject(value, path);
  const Napi::Array names = object.GetPropertyNames();
  for (uint32_t i = 0; i < names.Length(); i++) {
    const std::string name = names.Get(i).As<Napi::String>();
    read(object.Get(name), path + "." + name, to[name]);
  }
}

// The fields of an object that is an argument itself: their paths are their names.
template <HasFields T>
void readFields(const Napi::Object& object, const std::string& prefix, T& to) {
  forEachField(to, [&](std::string_view name, auto& member) {
    const std::string field(name);
    read(object.Get(field), prefix + field, member);
  });
}

template <HasFields T>
void read(const Napi::Value& value, const std::string& path, T& to) {
  readFields(asObject(value, path), path + ".", to);
}

// ---------------------------------------------------------------------------------------- writing

inline Napi::Value write(Napi::Env env, const std::string& value) {
  return Napi::String::New(env, value);
}
inline Napi::Value write(Napi::Env env, bool value) { return Napi::Boolean::New(env, value); }

template <typename T>
requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>) Napi::Value
    write(Napi::Env env, T value) {
  return Napi::Number::New(env, static_cast<double>(value));
}

template <HasWords Enum>
Napi::Value write(Napi::Env env, Enum value) {
  return Napi::String::New(env, std::string(wordOf(value)));
}

template <typename... Held>
Napi::Value write(Napi::Env env, const std::variant<Held...>& value) {
  return std::visit([&](const auto& held) { return write(env, held); }, value);
}

template <HasFields T>
Napi::Value write(Napi::Env env, const T& object);

template <InTypedArray T>
Napi::Value write(Napi::Env env, const std::vector<T>& values) {
  auto array = TypedArray<T>::Array::New(env, values.size());
  if (!values.empty()) std::memcpy(array.Data(), values.data(), values.size() * sizeof(T));
  return array;
}

template <typename T>
requires(!InTypedArray<T>) Napi::Value write(Napi::Env env, const std::vector<T>& values);
template <typename T, size_t size>
Napi::Value write(Napi::Env env, const std::array<T, size>& values);
template <typename T>
Napi::Value write(Napi::Env env, const std::map<std::string, T>& values);

template <typename Held>
Napi::Value write(Napi::Env env, const std::optional<Held>& value) {
  return value ? write(env, *value) : env.Undefined();
}

template <typename List>
Napi::Value writeList(Napi::Env env, const List& values) {
  const Napi::Array array = Napi::Array::New(env, values.size());
  uint32_t index = 0;
  for (const auto& value : values) array.Set(index++, write(env, value));
  return array;
}

template <typename T>
requires(!InTypedArray<T>) Napi::Value write(Napi::Env env, const std::vector<T>& values) {
  return writeList(env, values);
}

template <typename T, size_t size>
Napi::Value write(Napi::Env env, const std::array<T, size>& values) {
  return writeList(env, values);
}

template <typename T>
Napi::Value write(Napi::Env env, const std::map<std::string, T>& values) {
  const Napi::Object object = Napi::Object::New(env);
  for (const auto& [name, value] : values) object.Set(name, write(env, value));
  return object;
}

template <HasFields T>
Napi::Value write(Napi::Env env, const T& object) {
  const Napi::Object written = Napi::Object::New(env);
  forEachField(object, [&](std::string_view name, const auto& member) {
    written.Set(std::string(name), write(env, member));
  });
  return written;
}

}  // namespace blockscope::wire
