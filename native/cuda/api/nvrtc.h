// The part of NVRTC used here. Source: nvrtc.h of CUDA 12 and 13 (NVRTC documentation, chapter
// "User Interface").
#pragma once

#include <cstddef>

namespace blockscope::cuda::nvrtc {

using Program = void*;

#define BLOCKSCOPE_NVRTC_FUNCTIONS(X)                                                  \
  X(version, "nvrtcVersion", int, (int*, int*))                                        \
  X(getErrorString, "nvrtcGetErrorString", const char*, (int))                         \
  X(createProgram, "nvrtcCreateProgram", int,                                          \
    (Program*, const char*, const char*, int, const char* const*, const char* const*)) \
  X(destroyProgram, "nvrtcDestroyProgram", int, (Program*))                            \
  X(compileProgram, "nvrtcCompileProgram", int, (Program, int, const char* const*))    \
  X(getProgramLogSize, "nvrtcGetProgramLogSize", int, (Program, size_t*))              \
  X(getProgramLog, "nvrtcGetProgramLog", int, (Program, char*))                        \
  X(getCubinSize, "nvrtcGetCUBINSize", int, (Program, size_t*))                        \
  X(getCubin, "nvrtcGetCUBIN", int, (Program, char*))

struct Api {
#define BLOCKSCOPE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
  BLOCKSCOPE_NVRTC_FUNCTIONS(BLOCKSCOPE_MEMBER)
#undef BLOCKSCOPE_MEMBER
};

}  // namespace blockscope::cuda::nvrtc
