// The arguments of the addon's functions, and its errors. What a struct of native/core looks like
// in JavaScript follows from its field list: wire.h.
#pragma once

#include <napi.h>

#include <string>
#include <variant>
#include <vector>

#include "../core/backend.h"
#include "wire.h"

namespace blockscope {

// Reading. Each throws Napi::TypeError naming the field that does not fit.
BackendOptions readOptions(const Napi::Value&);
struct OpenRequest {
  std::string device;
  Problem problem;
  std::variant<GeneratedOperands, GivenOperands> operands;
};
OpenRequest readOpenRequest(const Napi::Value&);
std::vector<KernelUse> readKernelUses(const Napi::Value&);
ValidateRequest readValidateRequest(const Napi::Value&);
MeasureRequest readMeasureRequest(const Napi::Value&);
std::vector<uint8_t> readBytes(const Napi::Value&, const std::string& name);

// An Error whose `code` is the kind's word.
Napi::Error toJs(Napi::Env, ErrorKind, const std::string& message);

}  // namespace blockscope
