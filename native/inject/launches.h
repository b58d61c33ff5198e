// CUPTI's callbacks: calls that launch something, nodes of graphs, synchronisations.
#pragma once

#include <cstdint>

namespace blockscope::inject {

void onCallback(void* user, int domain, uint32_t id, const void* data) noexcept;

// Subscribes to the driver's launch, copy, set and graph-launch functions, found by their names,
// and to what graphs and synchronisations tell. Returns CUPTI's error.
int enableCallbacks();

}  // namespace blockscope::inject
