// CUPTI's activity records: what the device did, and when.
#pragma once

#include <cstddef>
#include <cstdint>

namespace blockscope::inject {

void onBufferRequested(uint8_t** buffer, size_t* size, size_t* maxRecords) noexcept;
void onBufferCompleted(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                       size_t valid) noexcept;

// Registers the callbacks above; returns CUPTI's error.
int registerActivity();
int enableActivity();
void disableActivity();

}  // namespace blockscope::inject
