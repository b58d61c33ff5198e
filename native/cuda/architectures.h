// Which of a kernel's compile targets fits a device.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace blockscope::cuda {

// The compile target for a device of capability major.minor out of a row's `architectures`; nothing
// when none fits. "sm_90a" fits 9.0 alone, "sm_100f" and "sm_90" fit their major from that minor
// on, "sm_80+" everything from 8.0 on.
std::optional<std::string> chooseTarget(const std::vector<std::string>& architectures, int major,
                                        int minor);

// Whether a row's targets are AMD GPUs: "gfx950".
bool areAmd(const std::vector<std::string>& architectures);

}  // namespace blockscope::cuda
