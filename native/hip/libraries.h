// The libraries of AMD GPUs on this machine, opened once. What is missing is said with what to
// install.
#pragma once

#include <string>
#include <vector>

#include "../core/backend.h"
#include "api/hipblasLt.h"
#include "api/hiprtc.h"
#include "api/runtime.h"
#include "api/smi.h"

namespace blockscope::hip {

struct Libraries {
  runtime::Api runtime;
  hiprtc::Api hiprtc;
  hipblaslt::Api hipblasLt;
  // AMD SMI, else its predecessor: the functions of the other stay null.
  smi::Api amdSmi;
  smi::RocmApi rocmSmi;
  LibraryInfo runtimeInfo, hiprtcInfo, hipblasLtInfo, smiInfo;
  std::string versionText;  // of HIP: "7.1.25424"
};

// Opens everything on the first call. Never throws.
const Libraries& libraries();

// "700 (hipErrorIllegalAddress: an illegal memory access was encountered)"
std::string describeResult(int result);

}  // namespace blockscope::hip
