#include "expression.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <vector>

#include "../core/backend.h"

namespace blockscope::cuda {

namespace {

std::string quoted(std::string_view text) { return std::string("\"").append(text) + '"'; }

// Recursive descent; the grammar is C's, operators from weakest to strongest: ?: || && ==.. <.. +-
// */% unary.
class Parser {
 public:
  Parser(std::string_view text, const Variables& variables) : text_(text), variables_(variables) {}

  int64_t whole() {
    const int64_t value = conditional();
    space();
    if (at_ != text_.size()) fail(quoted(text_.substr(at_)) + " is too much");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::kUsage, "Expression " + quoted(text_) + ": " + why + ".");
  }

  void space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) at_++;
  }
  bool take(std::string_view sign) {
    space();
    if (text_.substr(at_, sign.size()) != sign) return false;
    at_ += sign.size();
    return true;
  }
  void need(std::string_view sign) {
    if (!take(sign)) fail(std::string("'").append(sign) + "' is missing");
  }

  // Both sides are evaluated, but what a condition leaves out may divide by zero or overflow.
  int64_t conditional() {
    const int64_t condition = disjunction();
    if (!take("?")) return condition;
    const int64_t yes = unused(condition == 0, &Parser::conditional);
    need(":");
    const int64_t no = unused(condition != 0, &Parser::conditional);
    return condition ? yes : no;
  }
  int64_t unused(bool skip, int64_t (Parser::*rule)()) {
    skipping_ += skip;
    const int64_t value = (this->*rule)();
    skipping_ -= skip;
    return value;
  }
  int64_t disjunction() {
    int64_t left = conjunction();
    while (take("||")) left = unused(left != 0, &Parser::conjunction) != 0 || left != 0;
    return left;
  }
  int64_t conjunction() {
    int64_t left = equality();
    while (take("&&")) {
      const int64_t right = unused(left == 0, &Parser::equality);
      left = left != 0 && right != 0;
    }
    return left;
  }
  int64_t equality() {
    int64_t left = comparison();
    while (true) {
      if (take("==")) left = left == comparison();
      else if (take("!=")) left = left != comparison();
      else return left;
    }
  }
  int64_t comparison() {
    int64_t left = sum();
    while (true) {
      if (take("<=")) left = left <= sum();
      else if (take(">=")) left = left >= sum();
      else if (take("<")) left = left < sum();
      else if (take(">")) left = left > sum();
      else return left;
    }
  }
  int64_t sum() {
    int64_t left = product();
    while (true) {
      if (take("+")) left = add(left, product());
      else if (take("-")) left = add(left, multiply(product(), -1));
      else return left;
    }
  }
  int64_t product() {
    int64_t left = unary();
    while (true) {
      if (take("*")) left = multiply(left, unary());
      else if (take("/")) left = divide(left, unary());
      else if (take("%")) {
        const int64_t right = unary();
        left = add(left, multiply(divide(left, right), -right));
      } else return left;
    }
  }
  int64_t unary() {
    if (take("-")) return multiply(unary(), -1);
    space();
    if (take("(")) {
      const int64_t value = conditional();
      need(")");
      return value;
    }
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    return name();
  }
  int64_t number() {
    int64_t value = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])))
      value = add(multiply(value, 10), text_[at_++] - '0');
    return value;
  }
  int64_t name() {
    const size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      at_++;
    const std::string_view word = text_.substr(start, at_ - start);
    if (word.empty())
      fail(at_ == text_.size() ? "it ends too early" : "a number or a name is missing");
    if (take("(")) return call(word);
    const auto found = variables_.find(word);
    if (found == variables_.end()) fail(quoted(word) + " is not known");
    return found->second;
  }
  int64_t call(std::string_view function) {
    const int64_t a = conditional();
    need(",");
    const int64_t b = conditional();
    need(")");
    if (function == "min") return std::min(a, b);
    if (function == "max") return std::max(a, b);
    if (function == "ceil_div") return divideUp(a, b);
    if (function == "round_up") return multiply(divideUp(a, b), b);
    fail(quoted(function) + " is no function; there are ceil_div, round_up, min and max");
  }

  int64_t add(int64_t a, int64_t b) {
    constexpr auto kLargest = std::numeric_limits<int64_t>::max(),
                   kSmallest = std::numeric_limits<int64_t>::min();
    if (b > 0 ? a > kLargest - b : a < kSmallest - b) return overflow();
    return a + b;
  }
  int64_t multiply(int64_t a, int64_t b) {
    constexpr auto kLargest = std::numeric_limits<int64_t>::max(),
                   kSmallest = std::numeric_limits<int64_t>::min();
    if (a == 0 || b == 0) return 0;
    if ((a == kSmallest && b != 1) || (b == kSmallest && a != 1)) return overflow();
    const int64_t magnitude = kLargest / (b < 0 ? -b : b);
    if ((a < 0 ? -a : a) > magnitude) return overflow();
    return a * b;
  }
  // Rounds down, for negative numbers too.
  int64_t divide(int64_t a, int64_t b) {
    if (b == 0) {
      if (skipping_) return 0;
      fail("it divides by zero");
    }
    if (b == -1) return multiply(a, -1);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
  }
  int64_t divideUp(int64_t a, int64_t b) { return multiply(divide(multiply(a, -1), b), -1); }
  int64_t overflow() {
    if (skipping_) return 0;
    fail("its value does not fit 64 bits");
  }

  std::string_view text_;
  const Variables& variables_;
  size_t at_ = 0;
  int skipping_ = 0;
};

}  // namespace

int64_t evaluate(std::string_view expression, const Variables& variables) {
  return Parser(expression, variables).whole();
}

}  // namespace blockscope::cuda
