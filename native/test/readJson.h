// JSON of a fixture. Throws std::runtime_error for what is none; of the escapes in text only \" is
// read, others are left as they are written.
#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Json {
  double number = 0;
  std::string text;
  std::vector<Json> list;
  std::map<std::string, Json> members;

  const Json& operator[](const std::string& name) const {
    const auto found = members.find(name);
    if (found == members.end()) throw std::runtime_error("the fixture has no \"" + name + "\"");
    return found->second;
  }
  const Json& operator[](size_t index) const { return list.at(index); }
  explicit operator int() const { return static_cast<int>(number); }
};

class JsonReader {
 public:
  explicit JsonReader(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream all;
    all << file.rdbuf();
    text_ = all.str();
    if (text_.empty()) throw std::runtime_error(path + " cannot be read");
  }

  Json read() {
    Json value;
    const char first = next();
    if (first == '{' || first == '[') {
      at_++;
      while (next() != '}' && next() != ']') {
        if (first == '[') {
          value.list.push_back(read());
        } else {
          const std::string name = quoted();
          if (next() != ':') fail();
          at_++;
          value.members[name] = read();
        }
        if (next() == ',') at_++;
      }
      at_++;
    } else if (first == '"') {
      value.text = quoted();
    } else {
      const size_t end = text_.find_first_of(",]} \n", at_);
      const std::string word = text_.substr(at_, end - at_);
      value.number = word == "true" ? 1 : std::strtod(word.c_str(), nullptr);
      at_ = end;
    }
    return value;
  }

 private:
  char next() {
    at_ = text_.find_first_not_of(" \n\r\t", at_);
    if (at_ == std::string::npos) fail();
    return text_[at_];
  }
  std::string quoted() {
    if (next() != '"') fail();
    std::string inside;
    for (size_t from = at_ + 1;; inside.back() = '"') {
      const size_t end = text_.find('"', from);
      if (end == std::string::npos) fail();
      inside += text_.substr(from, end - from);
      from = at_ = end + 1;
      if (inside.empty() || inside.back() != '\\') return inside;
    }
  }
  [[noreturn]] void fail() const { throw std::runtime_error("the fixture is no JSON"); }

  std::string text_;
  size_t at_ = 0;
};

inline Json readJson(const std::string& path) { return JsonReader(path).read(); }
