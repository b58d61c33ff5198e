// NVTX push/pop ranges of this process: a stack per thread.
#pragma once

#include <cstdint>

namespace blockscope::inject {

// Path of the ranges that this thread has open; 0 outside all.
uint32_t openPath();

// Puts own functions into the table of a module that embeds NVTX. Returns 1 where that worked.
int hookNvtx(const void* (*getExportTable)(uint32_t));

}  // namespace blockscope::inject
