// The GPU libraries of this machine, opened once. What is missing disables only what needs it.
#pragma once

#include <string>
#include <vector>

#include "../core/backend.h"
#include "api/cublasLt.h"
#include "api/cupti.h"
#include "api/driver.h"
#include "api/nvml.h"
#include "api/nvrtc.h"

namespace blockscope::cuda {

struct Libraries {
  driver::Api driver;
  nvrtc::Api nvrtc;
  cublaslt::Api cublasLt;
  cupti::Api cupti;
  nvml::Api nvml;
  LibraryInfo driverInfo, nvrtcInfo, cublasLtInfo, cuptiInfo, nvmlInfo;
  int driverVersion = 0;  // CUDA version the driver supports: 13000
  int nvrtcMajor = 0, nvrtcMinor = 0;

  std::vector<LibraryInfo> all() const {
    return {driverInfo, nvrtcInfo, cublasLtInfo, cuptiInfo, nvmlInfo};
  }
};

// Opens everything on the first call. Never throws.
const Libraries& libraries();

// "700 (CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered)"
std::string describeResult(int result);
// Throws Error(kDevice) with `what` and the driver's words unless result is success.
void check(int result, const std::string& what);

// Oldest driver this works with, as cuDriverGetVersion gives it.
constexpr int kMinimumDriverVersion = 12000;
std::string versionText(int cudaVersion);  // 13000 -> "13.0"
// The sentence for a driver that supports only `version`.
std::string tooOldSentence(int version);

}  // namespace blockscope::cuda
