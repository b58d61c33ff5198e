// Finds a CUPTI that this process and its driver can use.
#pragma once

#include <string>

#include "cuptiAbi.h"

namespace blockscope::inject {

struct OpenedCupti {
  bool isOpen = false;
  std::string path;      // of the one that is used
  uint32_t version = 0;  // cuptiGetVersion: 130001
  void* subscriber = nullptr;
  int error = 0;       // CUPTI's, where a copy was found and refused
  std::string reason;  // why none is used, as a sentence
};

// The process's own copy first, then the toolkit's and those of Python packages, then the loader's;
// each is tried until one takes the subscription.
OpenedCupti openCupti(cupti::Api& api, cupti::Callback callback);

// The end of a sentence about a copy that refuses to work, where the driver is of an earlier
// release of CUDA; '' otherwise.
std::string olderDriver(const OpenedCupti& opened);

}  // namespace blockscope::inject
