// A row of a kernel manifest, as resources/kernels/cuda/README.md describes it: what the CUDA
// backend understands of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../core/backend.h"

namespace blockscope::cuda {

using Expressions = std::vector<std::string>;

struct FormatRow {
  std::string format;
  CapabilityLevel level = CapabilityLevel::kExact;
  std::string reason;
  std::vector<std::string> architectures;  // empty: the kernel's own
};

struct RequirementRow {
  std::string that, message;
};

struct WorkspaceRow {
  std::string name, bytes;
  bool zeroed = false;
};

struct TensorMapRow {
  std::string name, of, offset = "0", element, swizzle = "none", l2Promotion = "none";
  Expressions dims, strides, box, elementStrides;
};

struct LaunchRow {
  std::string function, sharedBytes = "0", when = "1";
  Expressions grid, block, cluster;
  std::vector<std::string> arguments;
  bool dependent = false;
};

struct KernelRow {
  std::string id, provider, summary, file;  // file: full path
  bool support = false;
  std::vector<std::string> architectures, options;
  std::string scaleLayout = "linear";
  bool packedCodes = true;
  std::vector<OutputType> outputs;
  std::vector<FormatRow> formats;
  std::map<std::string, int64_t> constants;
  std::vector<RequirementRow> requirements;
  std::vector<WorkspaceRow> workspace;
  std::vector<TensorMapRow> tensorMaps;
  std::vector<LaunchRow> launches;

  const FormatRow* findFormat(const std::string& format) const;
};

// Throws Error(kUsage) naming the kernel and the field that is missing, unknown or of the wrong
// kind.
KernelRow parseKernelRow(const KernelSource&);

// The compile target for a device of capability major.minor out of a row's `architectures`; nothing
// when none fits. "sm_90a" fits 9.0 alone, "sm_100f" and "sm_90" fit their major from that minor
// on, "sm_80+" everything from 8.0 on.
std::optional<std::string> chooseTarget(const std::vector<std::string>& architectures, int major,
                                        int minor);

}  // namespace blockscope::cuda
