// A struct that crosses the addon names its fields once, below its members:
//
//   struct PerturbationCheck {
//     bool passed = false;
//     std::string reason;
//     BLOCKSCOPE_FIELDS(passed, reason)
//   };
//
// native/addon makes both conversions from that list, under the same names. src-shared/contract
// describes the other side. A member that is not in the list does not compile.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#define BLOCKSCOPE_FIELDS(...)                                \
  static constexpr std::string_view fieldList = #__VA_ARGS__; \
  auto fields() { return std::tie(__VA_ARGS__); }             \
  auto fields() const { return std::tie(__VA_ARGS__); }

namespace blockscope {

template <typename T>
concept HasFields = requires {
  T::fieldList;
};

namespace detail {

// The name at `index` of "one, two, requires_": a word C++ keeps for itself is written with an
// underscore behind it.
constexpr std::string_view fieldName(std::string_view list, std::size_t index) {
  for (std::size_t i = 0; i < index; i++) list.remove_prefix(list.find(',') + 1);
  list = list.substr(0, list.find(','));
  while (!list.empty() && list.front() == ' ') list.remove_prefix(1);
  while (!list.empty() && (list.back() == ' ' || list.back() == '_')) list.remove_suffix(1);
  return list;
}

struct Anything {
  template <typename T>
  operator T() const;
};

// How many members an aggregate has: the most values it can be made of.
template <typename T, typename... Values>
constexpr std::size_t memberCount() {
  if constexpr (requires { T{Values{}..., Anything{}}; })
    return memberCount<T, Values..., Anything>();
  else return sizeof...(Values);
}

}  // namespace detail

// Calls visit(name, member) for every field, in order.
template <typename Struct, typename Visit>
void forEachField(Struct& object, const Visit& visit) {
  using Plain = std::remove_const_t<Struct>;
  constexpr std::size_t count = std::tuple_size_v<decltype(object.fields())>;
  static_assert(count == detail::memberCount<Plain>(), "a member is missing in BLOCKSCOPE_FIELDS");
  auto fields = object.fields();
  [&]<std::size_t... index>(std::index_sequence<index...>) {
    (visit(detail::fieldName(Plain::fieldList, index), std::get<index>(fields)), ...);
  }
  (std::make_index_sequence<count>());
}

}  // namespace blockscope
