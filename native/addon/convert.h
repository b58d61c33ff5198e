// Between JavaScript values and the structs of core/backend.h; field names are those of src-main/engine/nativeBinding.ts.
#pragma once

#include <napi.h>

#include <string>
#include <variant>

#include "../core/backend.h"

namespace blockscope {

// Reading. Each throws Napi::TypeError naming the field that does not fit.
BackendOptions readOptions(const Napi::Value&);
struct OpenRequest {
  std::string device;
  Problem problem;
  std::variant<GeneratedOperands, GivenOperands> operands;
};
OpenRequest readOpenRequest(const Napi::Value&);
ValidateRequest readValidateRequest(const Napi::Value&);
MeasureRequest readMeasureRequest(const Napi::Value&);
std::vector<uint8_t> readBytes(const Napi::Value&, const char* name);

// Writing.
Napi::Value toJs(Napi::Env, const LibraryInfo&);
Napi::Value toJs(Napi::Env, const DeviceInfo&);
Napi::Value toJs(Napi::Env, const ValidationReport&);
Napi::Value toJs(Napi::Env, const Measurement&);
Napi::Value toJs(Napi::Env, const Operands&);
Napi::Value toJs(Napi::Env, const std::vector<double>&);

// An Error whose `code` is 'usage', 'unavailable', 'device', 'compile' or 'cancelled'.
Napi::Error toJs(Napi::Env, ErrorKind, const std::string& message);

}  // namespace blockscope
