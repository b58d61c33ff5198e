// A kernel that comes as source: a row of a kernel manifest, as src-shared/contract/kernelRow.ts
// has parsed it. resources/kernels/cuda/README.md says what each field means.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fields.h"
#include "words.h"

namespace blockscope {

using Expressions = std::vector<std::string>;

struct FormatRow {
  std::string format;
  CapabilityLevel level = CapabilityLevel::kExact;
  std::string reason;
  std::vector<std::string> architectures;  // empty: the kernel's own
  std::string instruction;                 // as Capability::instruction; empty: not known
  BLOCKSCOPE_FIELDS(format, level, reason, architectures, instruction)
};

// What of the operation beside the plain product a kernel takes.
struct Feature {
  std::string id;  // "b-kn", "accumulator", "f8-output", "batch"
  FeatureLevel level = FeatureLevel::kNone;
  std::string reason;  // how, or why not: one sentence
  BLOCKSCOPE_FIELDS(id, level, reason)
};

// An expression by name: the row's others may use it, and those behind it here.
struct ValueRow {
  std::string name, expression;
  BLOCKSCOPE_FIELDS(name, expression)
};

struct RequirementRow {
  std::string that, message;
  BLOCKSCOPE_FIELDS(that, message)
};

struct WorkspaceRow {
  std::string name, bytes;
  bool zeroed = false;
  // Text of what the kernel itself finds wrong, ended by a zero; cleared once an operation.
  bool fault = false;
  // Before the first operation on some operands: a kernel leaves zeros behind.
  bool zeroedOnce = false;
  BLOCKSCOPE_FIELDS(name, bytes, zeroed, fault, zeroedOnce)

  // `part`: which run of the row's launches, of a batch or groups.
  bool isClearedBefore(size_t part) const { return zeroed || (fault && part == 0); }
};

struct TensorMapRow {
  std::string name, of, offset = "0", element;
  Expressions dims, strides, box, elementStrides;
  std::string swizzle = "none", l2Promotion = "none";
  BLOCKSCOPE_FIELDS(name, of, offset, element, dims, strides, box, elementStrides, swizzle,
                    l2Promotion)
};

struct LaunchRow {
  std::string function;
  Expressions grid, block, cluster;
  std::string sharedBytes = "0", when = "1";
  bool dependent = false;
  std::vector<std::string> arguments;
  BLOCKSCOPE_FIELDS(function, grid, block, cluster, sharedBytes, when, dependent, arguments)
};

// What a kernel counts on the device: a u32 for each label.
struct CountersRow {
  std::string of;  // what of: "intervals proved"
  std::vector<std::string> labels;
  BLOCKSCOPE_FIELDS(of, labels)
};

enum class KernelRole { kKernel, kSupport };
template <>
struct Words<KernelRole> {
  static constexpr std::array<std::string_view, 2> all = {"kernel", "support"};
};

enum class CodeForm { kPacked, kBytes };
template <>
struct Words<CodeForm> {
  static constexpr std::array<std::string_view, 2> all = {"packed", "bytes"};
};

struct KernelRow {
  std::string id, provider, summary, file;  // file: full path
  KernelRole role = KernelRole::kKernel;
  std::vector<std::string> architectures, options;
  std::string scaleLayout = "linear";
  CodeForm codes = CodeForm::kPacked;
  std::vector<OutputType> outputs;
  std::vector<Feature> features;
  std::vector<FormatRow> formats;
  std::map<std::string, int64_t> constants;
  std::vector<ValueRow> values;
  std::vector<RequirementRow> requires_;
  CountersRow counters;  // no labels: it counts nothing
  std::vector<WorkspaceRow> workspace;
  std::vector<TensorMapRow> tensorMaps;
  std::vector<LaunchRow> launches;
  BLOCKSCOPE_FIELDS(id, provider, summary, file, role, architectures, options, scaleLayout, codes,
                    outputs, features, formats, constants, values, requires_, counters,
                    workspace, tensorMaps, launches)

  // nullptr when the kernel does not claim it.
  const FormatRow* findFormat(const std::string& format) const;
  // kNone for a feature that the row does not name.
  FeatureLevel levelOf(const std::string& feature) const;
  bool writes(OutputType) const;
  // What it writes, and what a pass behind it makes of its float32 product.
  std::vector<OutputType> offeredOutputs() const;
};

}  // namespace blockscope
