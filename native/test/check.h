// A check that says where it failed and goes on; the process exits with 1 if any did.
#pragma once

#include <cstdio>
#include <exception>
#include <string>

inline int checksFailed = 0;
inline int checksPassed = 0;

inline void checkThat(bool holds, const std::string& what, const char* file, int line) {
  if (holds) {
    checksPassed++;
    return;
  }
  checksFailed++;
  std::printf("%s:%d: %s\n", file, line, what.c_str());
}

// What is said when something throws.
template <typename Work>
std::string messageOf(Work work) {
  try {
    work();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

#define CHECK(condition) checkThat((condition), #condition, __FILE__, __LINE__)
#define CHECK_CONTAINS(text, part)                             \
  checkThat(std::string(text).find(part) != std::string::npos, \
            "\"" + std::string(text) + "\" lacks " + part, __FILE__, __LINE__)

inline int summary() {
  std::printf("%d passed, %d failed\n", checksPassed, checksFailed);
  return checksFailed == 0 ? 0 : 1;
}
