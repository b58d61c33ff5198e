// Enums whose values cross the addon as words. The words are those of src-shared/contract.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace blockscope {

// Words of an enum's values, in order of the values.
template <typename Enum>
struct Words;

template <typename Enum>
concept HasWords = requires {
  Words<Enum>::all;
};

template <HasWords Enum>
constexpr std::string_view wordOf(Enum value) {
  return Words<Enum>::all[static_cast<std::size_t>(value)];
}

// What kind of trouble: decides the exit code and the wording in the app.
enum class ErrorKind {
  kUsage,        // wrong shape, format, kernel or file: exit code 2
  kUnavailable,  // device, driver or library missing: exit code 3
  kDevice,       // the device failed: out of memory, lost, launch failure, watchdog
  kCompile,      // a kernel did not compile; the message carries the compiler's log
  kCancelled,
};
template <>
struct Words<ErrorKind> {
  static constexpr std::array<std::string_view, 5> all = {"usage", "unavailable", "device",
                                                          "compile", "cancelled"};
};

// How a kernel computes a format on a device.
enum class CapabilityLevel {
  kNative,       // the hardware's own block-scaled matrix instruction
  kExact,        // software scheme, every product exact
  kApproximate,  // software scheme with a stated error
  kEmulated,     // another device's instruction, computed lane by lane: to check, not to use
  kUnavailable,  // not possible here; a reason says why
};
template <>
struct Words<CapabilityLevel> {
  static constexpr std::array<std::string_view, 5> all = {"native", "exact", "approximate",
                                                          "emulated", "unavailable"};
};

enum class OutputType { kF16, kBf16, kF32, kE4m3, kE5m2 };
template <>
struct Words<OutputType> {
  static constexpr std::array<std::string_view, 5> all = {"f16", "bf16", "f32", "e4m3", "e5m2"};
};

// How B lies in memory: "nk", rows of K with scales (N, K / V), or "kn", rows of N with scales
// (K / V, N). Codes are packed along the rows.
enum class BOrder { kNk, kKn };
template <>
struct Words<BOrder> {
  static constexpr std::array<std::string_view, 2> all = {"nk", "kn"};
};

// How a kernel does a part of the operation beside the plain product.
enum class FeatureLevel {
  kFused,  // itself
  kPass,   // the host runs a pass of its own before or behind it, which is timed with it
  kNone,   // not at all; a reason says why
};
template <>
struct Words<FeatureLevel> {
  static constexpr std::array<std::string_view, 3> all = {"fused", "pass", "none"};
};

// What passes beside the tolerance: compare.h says what the allowances are.
enum class PassRule {
  kAllowances,   // the tolerance, the output type's rounding, and cancellation
  kAssertClose,  // the tolerance alone, as torch.testing.assert_close
};
template <>
struct Words<PassRule> {
  static constexpr std::array<std::string_view, 2> all = {"allowances", "assert-close"};
};

enum class CheckState { kNotRun, kPassed, kFailed, kNoScales };
template <>
struct Words<CheckState> {
  static constexpr std::array<std::string_view, 4> all = {"not-run", "passed", "failed",
                                                          "no-scales"};
};

enum class ValidationStatus { kPassed, kIncorrect, kProvesNothing };
template <>
struct Words<ValidationStatus> {
  static constexpr std::array<std::string_view, 3> all = {"passed", "incorrect", "proves-nothing"};
};

}  // namespace blockscope
