// Lines of JSON for the texts of a shard: objects of strings and numbers, nothing nested but lists.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

namespace blockscope::inject {

class JsonLine {
 public:
  JsonLine& text(std::string_view key, std::string_view value) {
    name(key);
    quoted(value);
    return *this;
  }
  JsonLine& number(std::string_view key, int64_t value) {
    name(key);
    line_ += std::to_string(value);
    return *this;
  }
  // A number that a double may not hold.
  JsonLine& wide(std::string_view key, uint64_t value) { return text(key, std::to_string(value)); }
  JsonLine& numbers(std::string_view key, std::initializer_list<int64_t> values) {
    name(key);
    line_ += '[';
    bool isFirst = true;
    for (const int64_t value : values) {
      if (!isFirst) line_ += ',';
      isFirst = false;
      line_ += std::to_string(value);
    }
    line_ += ']';
    return *this;
  }
  // JSON has no infinity: what is not finite is null.
  template <typename List>
  JsonLine& decimals(std::string_view key, const List& values) {
    name(key);
    line_ += '[';
    bool isFirst = true;
    for (const double value : values) {
      if (!isFirst) line_ += ',';
      isFirst = false;
      char text[32];
      std::snprintf(text, sizeof text, "%.17g", value);
      line_ += std::isfinite(value) ? text : "null";
    }
    line_ += ']';
    return *this;
  }
  template <typename List>
  JsonLine& texts(std::string_view key, const List& values) {
    name(key);
    line_ += '[';
    bool isFirst = true;
    for (const auto& value : values) {
      if (!isFirst) line_ += ',';
      isFirst = false;
      quoted(value);
    }
    line_ += ']';
    return *this;
  }
  std::string take() {
    line_ += '}';
    return std::move(line_);
  }

 private:
  void name(std::string_view key) {
    line_ += line_.size() > 1 ? "," : "";
    quoted(key);
    line_ += ':';
  }
  // Bytes of UTF-8 stay as they are; a reader replaces what is none.
  void quoted(std::string_view text) {
    static constexpr char kDigits[] = "0123456789abcdef";
    line_ += '"';
    for (const char character : text) {
      const auto byte = static_cast<unsigned char>(character);
      if (character == '"' || character == '\\') {
        line_ += '\\';
        line_ += character;
      } else if (byte < 0x20) {
        line_ += "\\u00";
        line_ += kDigits[byte >> 4];
        line_ += kDigits[byte & 15];
      } else {
        line_ += character;
      }
    }
    line_ += '"';
  }
  std::string line_ = "{";
};

}  // namespace blockscope::inject
