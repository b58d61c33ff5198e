#include "architectures.h"

#include <charconv>

namespace blockscope::cuda {

namespace {

struct Architecture {
  int major, minor;
  char suffix;  // 'a', 'f', '+' or 0
};

std::optional<Architecture> parseArchitecture(const std::string& name) {
  if (name.rfind("sm_", 0) != 0) return std::nullopt;
  int number = 0;
  const char* last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + 3, last, number);
  if (error != std::errc() || number < 10 || last - end > 1) return std::nullopt;
  const char suffix = end == last ? '\0' : *end;
  if (suffix != '\0' && suffix != 'a' && suffix != 'f' && suffix != '+') return std::nullopt;
  return Architecture{number / 10, number % 10, suffix};
}

bool fits(const Architecture& target, int major, int minor) {
  if (target.suffix == 'a') return target.major == major && target.minor == minor;
  if (target.suffix == '+') return major * 10 + minor >= target.major * 10 + target.minor;
  return target.major == major && minor >= target.minor;
}

}  // namespace

std::optional<std::string> chooseTarget(const std::vector<std::string>& architectures, int major,
                                        int minor) {
  for (const std::string& name : architectures) {
    const auto target = parseArchitecture(name);
    if (!target || !fits(*target, major, minor)) continue;
    return target->suffix == '+' ? "sm_" + std::to_string(major) + std::to_string(minor) : name;
  }
  return std::nullopt;
}

bool areAmd(const std::vector<std::string>& architectures) {
  return !architectures.empty() && architectures[0].rfind("gfx", 0) == 0;
}

}  // namespace blockscope::cuda
