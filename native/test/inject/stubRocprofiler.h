// Between the stand-ins of HIP and rocprofiler-sdk: what a real runtime tells the SDK within
// itself.
#pragma once

#include <cstdint>

#include "../../inject/rocprofilerAbi.h"

namespace stub {

namespace abi = blockscope::inject::rocprofiler;

constexpr uint64_t kGpu = 77, kCpu = 55;  // agents
enum Hip { kInit, kLaunch, kHostFunction, kGraphLaunch, kCopy, kSet, kWait, kHipFunctions };

struct Record {
  uint32_t kind;
  abi::DispatchRecord dispatch;
  abi::CopyRecord copy;
  uint64_t end() const { return kind == abi::kDispatchRecords ? dispatch.end : copy.end; }
};

// Loads the tools that ROCP_TOOL_LIBRARIES names.
void startTools();
// Not the system's clock, as in the library: HSA's.
uint64_t now();
uint64_t newCorrelation();
// Whether a tool is called back at this operation.
bool isTraced(int kind, int operation);
void callBack(int kind, int operation, int phase, uint64_t correlation, void* payload,
              uint64_t* user);
// Whether a tool takes records, and one for it: delivered when its work is over.
bool hasRecords();
void addRecord(const Record& record);

}  // namespace stub
