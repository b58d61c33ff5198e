#include "json.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "../core/backend.h"

namespace blockscope::cuda {

namespace {

constexpr int kDepthLimit = 64;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Json document() {
    Json value = element(0);
    space();
    if (at_ != text_.size()) fail("nothing more");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw Error(ErrorKind::kUsage,
                "No JSON at offset " + std::to_string(at_) + ": " + expected + " is expected.");
  }
  void space() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      at_++;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    at_++;
    return true;
  }
  void need(char c) {
    if (!take(c)) fail(std::string("'") + c + "'");
  }
  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }

  Json element(int depth) {
    if (depth > kDepthLimit) fail("less nesting");
    space();
    switch (peek()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return Json(string());
      case 't':
        if (word("true")) return Json(true);
        break;
      case 'f':
        if (word("false")) return Json(false);
        break;
      case 'n':
        if (word("null")) return Json();
        break;
      default:
        return number();
    }
    fail("a value");
  }

  Json object(int depth) {
    need('{');
    Json::Object members;
    space();
    if (take('}')) return Json(std::move(members));
    do {
      space();
      std::string key = string();
      space();
      need(':');
      if (!members.emplace(key, element(depth + 1)).second) fail("no second \"" + key + "\"");
      space();
    } while (take(','));
    need('}');
    return Json(std::move(members));
  }

  Json array(int depth) {
    need('[');
    Json::Array elements;
    space();
    if (take(']')) return Json(std::move(elements));
    do {
      elements.push_back(element(depth + 1));
      space();
    } while (take(','));
    need(']');
    return Json(std::move(elements));
  }

  Json number() {
    const size_t start = at_;
    take('-');
    if (peek() < '0' || peek() > '9') fail("a value");
    if (peek() == '0' && at_ + 1 < text_.size() && text_[at_ + 1] >= '0' && text_[at_ + 1] <= '9')
      fail("no leading zero");
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + start, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("a number");
    at_ = end - text_.data();
    if (text_[at_ - 1] == '.') fail("a digit");
    return Json(value);
  }

  std::string string() {
    need('"');
    std::string out;
    while (true) {
      if (at_ >= text_.size()) fail("'\"'");
      const char c = text_[at_++];
      if (c == '"') return out;
      if (static_cast<unsigned char>(c) < 0x20) fail("an escaped control character");
      if (c == '\\') escape(out);
      else out += c;
    }
  }

  void escape(std::string& out) {
    const char c = peek();
    at_++;
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out += c;
        return;
      case 'b':
        out += '\b';
        return;
      case 'f':
        out += '\f';
        return;
      case 'n':
        out += '\n';
        return;
      case 'r':
        out += '\r';
        return;
      case 't':
        out += '\t';
        return;
      case 'u':
        appendUtf8(codePoint(), out);
        return;
      default:
        fail("an escape");
    }
  }

  uint32_t hex4() {
    uint32_t value = 0;
    const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc() || end != digits.data() + 4) fail("four hexadecimal digits");
    at_ += 4;
    return value;
  }

  uint32_t codePoint() {
    const uint32_t first = hex4();
    if (first < 0xd800 || first > 0xdfff) return first;
    if (first > 0xdbff || !word("\\u")) fail("a surrogate pair");
    const uint32_t second = hex4();
    if (second < 0xdc00 || second > 0xdfff) fail("a low surrogate");
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
  }

  static void appendUtf8(uint32_t code, std::string& out) {
    if (code < 0x80) {
      out += static_cast<char>(code);
      return;
    }
    const int extra = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    const int lead[] = {0, 0xc0, 0xe0, 0xf0};
    out += static_cast<char>(lead[extra] | code >> (6 * extra));
    for (int i = extra - 1; i >= 0; i--) out += static_cast<char>(0x80 | (code >> (6 * i) & 0x3f));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Json Json::parse(std::string_view text) { return Reader(text).document(); }

}  // namespace blockscope::cuda
