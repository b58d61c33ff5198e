// The part of hipRTC used here. Source: hiprtc.h of HIP 6.0 to 7.1 (ROCm/clr).
#pragma once

#include <cstddef>

namespace blockscope::hip::hiprtc {

using Program = void*;

#define BLOCKSCOPE_HIPRTC_FUNCTIONS(X)                                                 \
  X(version, "hiprtcVersion", int, (int*, int*))                                       \
  X(getErrorString, "hiprtcGetErrorString", const char*, (int))                        \
  X(createProgram, "hiprtcCreateProgram", int,                                         \
    (Program*, const char*, const char*, int, const char* const*, const char* const*)) \
  X(destroyProgram, "hiprtcDestroyProgram", int, (Program*))                           \
  X(compileProgram, "hiprtcCompileProgram", int, (Program, int, const char* const*))   \
  X(getProgramLogSize, "hiprtcGetProgramLogSize", int, (Program, size_t*))             \
  X(getProgramLog, "hiprtcGetProgramLog", int, (Program, char*))                       \
  X(getCodeSize, "hiprtcGetCodeSize", int, (Program, size_t*))                         \
  X(getCode, "hiprtcGetCode", int, (Program, char*))

struct Api {
#define BLOCKSCOPE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
  BLOCKSCOPE_HIPRTC_FUNCTIONS(BLOCKSCOPE_MEMBER)
#undef BLOCKSCOPE_MEMBER
};

}  // namespace blockscope::hip::hiprtc
