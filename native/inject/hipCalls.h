// What functions of HIP's runtime are, by their names.
#pragma once

#include <cstdint>
#include <string_view>

#include "shard.h"

namespace blockscope::inject {

// As CallKind, or one that waits for the device, or none of interest.
constexpr uint8_t kHipWaits = 0xfe, kNoHipCall = 0xff;

inline uint8_t hipCallOf(std::string_view name) {
  const auto begins = [&](std::string_view start) { return name.starts_with(start); };
  const auto kind = [](CallKind value) { return static_cast<uint8_t>(value); };
  // Runs on the CPU.
  if (begins("hipLaunchHostFunc")) return kNoHipCall;
  if (begins("hipGraphLaunch")) return kind(CallKind::kGraph);
  if (begins("hipLaunch") || begins("hipModuleLaunch") || begins("hipExtLaunch") ||
      begins("hipExtModuleLaunch") || begins("hipDrvLaunch") || begins("hipHccModuleLaunch"))
    return kind(CallKind::kKernel);
  if (begins("hipMemcpy") || begins("hipDrvMemcpy")) return kind(CallKind::kCopy);
  if (begins("hipMemset")) return kind(CallKind::kSet);
  if (begins("hipDeviceSynchronize") || begins("hipStreamSynchronize") ||
      begins("hipEventSynchronize"))
    return kHipWaits;
  return kNoHipCall;
}

}  // namespace blockscope::inject
