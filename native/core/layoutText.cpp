#include "layoutText.h"

#include <algorithm>
#include <charconv>

#include "backend.h"

namespace blockscope {

namespace {

using Axis = LayoutDigit::Axis;
constexpr int64_t kLargestTile = 65536;
constexpr size_t kLongestText = 2000;

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw Error(ErrorKind::kUsage, "\"" + name + "\" is no usable layout: " + what + ".");
}

// Without locale, unlike <cctype>.
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isWordCharacter(char c) { return isLetter(c) || (c >= '0' && c <= '9') || c == '_'; }

bool isLayoutName(std::string_view name) {
  return !name.empty() && name.size() <= 60 && std::all_of(name.begin(), name.end(), [](char c) {
    return isWordCharacter(c) || c == '.' || c == '-';
  });
}

bool isDigitName(std::string_view name) {
  return !name.empty() && isLetter(name[0]) &&
         std::all_of(name.begin(), name.end(), isWordCharacter);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found = split(text, ' ');
  std::erase(found, "");
  return found;
}

LayoutDigit parseDigit(Axis axis, const std::string& word, const std::string& layout) {
  const size_t colon = word.find(':');
  LayoutDigit digit{axis, word.substr(0, colon), -1};
  if (colon != std::string::npos) {
    const char* last = word.data() + word.size();
    const auto [end, error] = std::from_chars(word.data() + colon + 1, last, digit.extent);
    if (error != std::errc() || end != last) digit.extent = -1;
  }
  if (digit.extent < 0 || !isDigitName(digit.name))
    refuse(layout, "\"" + word + "\" is not written as name:extent");
  return digit;
}

void parseDigits(Axis axis, std::string_view text, ScaleLayout& layout) {
  const size_t first = layout.digits.size();
  int64_t tile = 1;
  std::string rest;
  for (const std::string& word : words(text)) {
    LayoutDigit digit = parseDigit(axis, word, layout.name);
    if (digit.extent == 0 && !rest.empty())
      refuse(layout.name, "\"" + rest + "\" and \"" + digit.name +
                              "\" both have extent 0; one digit takes the rest");
    if (digit.extent == 0) rest = digit.name;
    if (digit.extent > kLargestTile)
      refuse(layout.name,
             "the extent of \"" + digit.name + "\" must be 0 to " + std::to_string(kLargestTile));
    for (const LayoutDigit& other : layout.digits)
      if (other.name == digit.name)
        refuse(layout.name, "the digit \"" + digit.name + "\" appears twice");
    if (digit.extent > 0) tile *= digit.extent;
    if (tile > kLargestTile)
      refuse(layout.name,
             "the digits of an axis make a tile of more than " + std::to_string(kLargestTile));
    layout.digits.push_back(std::move(digit));
  }
  if (layout.digits.size() == first)
    refuse(layout.name,
           std::string("the ") + (axis == Axis::kRow ? "row" : "column") + " has no digits");
  if (rest.empty())
    refuse(layout.name, "one digit must have extent 0 (the rest), most often the first");
}

void parseOrder(std::string_view text, ScaleLayout& layout) {
  for (const std::string& word : words(text)) {
    const auto found = std::find_if(layout.digits.begin(), layout.digits.end(),
                                    [&](const LayoutDigit& digit) { return digit.name == word; });
    if (found == layout.digits.end())
      refuse(layout.name, "order names \"" + word + "\", which is no digit of rows or columns");
    layout.order.push_back(static_cast<size_t>(found - layout.digits.begin()));
  }
  for (size_t i = 0; i < layout.digits.size(); i++)
    if (std::count(layout.order.begin(), layout.order.end(), i) != 1)
      refuse(layout.name, "order must name \"" + layout.digits[i].name + "\" exactly once");
}

}  // namespace

ScaleLayout parseLayoutText(std::string_view text) {
  const size_t equals = text.find('=');
  const std::vector<std::string> names = words(text.substr(0, equals));
  ScaleLayout layout;
  layout.name = names.size() == 1 && isLayoutName(names[0]) ? names[0] : "?";
  if (text.size() > kLongestText)
    refuse(layout.name, "it has more than " + std::to_string(kLongestText) + " characters");
  const std::vector<std::string> parts =
      split(equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1), '|');
  if (layout.name == "?" || parts.size() != 3)
    refuse(layout.name, "it is not written as name = row digits | column digits | order");
  parseDigits(Axis::kRow, parts[0], layout);
  parseDigits(Axis::kColumn, parts[1], layout);
  parseOrder(parts[2], layout);
  return layout;
}

}  // namespace blockscope
