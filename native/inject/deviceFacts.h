// What the driver says about a device, as a line of the shard: for occupancy and rooflines, and to
// tell the devices of processes apart that each number theirs from 0.
#pragma once

#include <cstdint>
#include <string>

namespace blockscope::inject {

std::string deviceFacts(uint32_t device);

// Waits until the contexts' work is done; what a lost device answers is passed over.
void synchroniseContexts();

// Of the calling thread's context.
uint32_t currentDevice();
// Whether launches on the stream only add to a graph, or that cannot be asked.
bool isCapturing(void* stream);

// cuDriverGetVersion: 13000 for 13.0; 0 where it cannot be asked.
int driverVersion();

}  // namespace blockscope::inject
