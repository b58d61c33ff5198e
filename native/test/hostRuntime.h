// A stand-in of the HIP runtime and hipRTC whose memory is the host's and whose kernels are
// functions that are offered by name.
#pragma once

#include <cstdlib>
#include <cstring>

#include "../hip/device.h"
#include "hostKernel.h"

namespace host {

namespace hip = blockscope::hip;

inline void standInHip() {
  auto& all = const_cast<hip::Libraries&>(hip::libraries());
  auto& runtime = all.runtime;
  runtime.malloc = [](void** to, size_t bytes) {
    *to = std::malloc(bytes);
    return 0;
  };
  runtime.free = [](void* at) {
    std::free(at);
    return 0;
  };
  runtime.memcpy = [](void* to, const void* from, size_t bytes, int) {
    std::memcpy(to, from, bytes);
    return 0;
  };
  runtime.memset = [](void* to, int value, size_t bytes) {
    std::memset(to, value, bytes);
    return 0;
  };
  runtime.memsetAsync = [](void* to, int value, size_t bytes, hip::runtime::Handle) {
    std::memset(to, value, bytes);
    return 0;
  };
  runtime.moduleLoadData = [](hip::runtime::Handle* to, const void*) { return made(to); };
  runtime.moduleUnload = [](hip::runtime::Handle) { return 0; };
  runtime.moduleGetFunction = [](hip::runtime::Handle* to, hip::runtime::Handle, const char* name) {
    *to = find(name);
    return *to ? 0 : 500;
  };
  runtime.moduleLaunchKernel = [](hip::runtime::Handle function, unsigned grid, unsigned, unsigned,
                                  unsigned block, unsigned, unsigned, unsigned,
                                  hip::runtime::Handle, void** arguments,
                                  void**) { return launch(function, grid, block, arguments); };
  runtime.streamCreate = [](hip::runtime::Handle* to, unsigned) { return made(to); };
  runtime.streamDestroy = [](hip::runtime::Handle) { return 0; };
  runtime.streamQuery = [](hip::runtime::Handle) { return 0; };
  runtime.setDevice = [](int) { return 0; };
  runtime.memGetInfo = [](size_t* free, size_t* total) {
    *free = *total = 1 << 22;
    return 0;
  };
  runtime.eventCreate = [](hip::runtime::Handle* to) { return made(to); };
  runtime.eventDestroy = [](hip::runtime::Handle) { return 0; };
  runtime.eventQuery = [](hip::runtime::Handle) { return 0; };
  runtime.eventRecord = [](hip::runtime::Handle, hip::runtime::Handle) { return 0; };
  // Every run takes a millisecond.
  runtime.eventElapsedTime = [](float* ms, hip::runtime::Handle, hip::runtime::Handle) {
    *ms = 1;
    return 0;
  };
  auto& hiprtc = all.hiprtc;
  all.hiprtcInfo.found = true;
  hiprtc.createProgram = [](hip::hiprtc::Program* to, const char*, const char*, int,
                            const char* const*, const char* const*) { return made(to); };
  hiprtc.destroyProgram = [](hip::hiprtc::Program*) { return 0; };
  hiprtc.compileProgram = [](hip::hiprtc::Program, int, const char* const*) { return 0; };
  hiprtc.getCodeSize = [](hip::hiprtc::Program, size_t* size) {
    *size = 4;
    return 0;
  };
  hiprtc.getCode = [](hip::hiprtc::Program, char* image) {
    std::fill_n(image, 4, 'x');
    return 0;
  };
}

inline hip::DeviceFacts standInFacts() {
  hip::DeviceFacts facts;
  facts.name = "Stand-in", facts.architecture = "gfx950", facts.computeUnits = 4;
  return facts;
}

}  // namespace host
