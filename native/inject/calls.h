// Calls that launch something, of CUDA's driver or of HIP, from their beginning to their end on the
// thread that makes them.
#pragma once

#include <cstdint>

#include "session.h"

namespace blockscope::inject {

void beginCall();
void endCall();
bool isInCall();
// Of the call that this thread is in, or outside of one: frames of Python, where they are asked
// for, then ranges.
uint32_t currentPath(Session& mine);
// Counts the call and puts it into the shard: its start, correlation, path, kind, flags and graph
// are filled in.
void addCall(Session& mine, LaunchRecord record, const char* function);

}  // namespace blockscope::inject
