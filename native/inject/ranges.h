// Push/pop ranges of this process, NVTX's and roctx's: a stack per thread.
#pragma once

#include <cstdint>

namespace blockscope::inject {

// Path of the ranges that this thread has open; 0 outside all.
uint32_t openPath();

// Opens and closes a range of the calling thread, of no domain.
void pushRange(const char* text);
void popRange();

// Puts own functions into the table of a module that embeds NVTX. Returns 1 where that worked.
int hookNvtx(const void* (*getExportTable)(uint32_t));

}  // namespace blockscope::inject
