// A driver and a cuBLASLt made of counters, in place of the real ones.
#pragma once

#include <cstdint>

#include "../cuda/cublasLtOperation.h"
#include "../cuda/libraries.h"
#include "check.h"

using namespace blockscope;
using namespace blockscope::cuda;

namespace {

// Things that are created and given back, and which creation fails: -1, none.
int alive = 0, created = 0, failing = -1;
bool lost = false;

template <typename T>
int create(T* to) {
  if (created++ == failing) return lost ? driver::kLaunchFailed : 1;
  *to = (T)(uintptr_t)(1000 + created);
  alive++;
  return 0;
}
int giveBack(auto) {
  alive--;
  return 0;
}

void standIn() {
  auto& all = const_cast<Libraries&>(libraries());
  auto& driver = all.driver;
  driver.getErrorName = [](int, const char** name) {
    *name = "CUDA_ERROR";
    return 0;
  };
  driver.getErrorString = [](int, const char** text) {
    *text = "as told";
    return 0;
  };
  driver.deviceGet = [](driver::Device* device, int) {
    *device = 0;
    return 0;
  };
  driver.primaryCtxRetain = [](driver::Handle* to, driver::Device) { return create(to); };
  driver.primaryCtxRelease = [](driver::Device) { return giveBack(0); };
  driver.ctxSetCurrent = [](driver::Handle) { return 0; };
  driver.memGetInfo = [](size_t* free, size_t* total) {
    *free = *total = size_t{1} << 40;
    return 0;
  };
  driver.memAlloc = [](driver::DevicePointer* to, size_t) { return create(to); };
  driver.memFree = [](driver::DevicePointer at) { return giveBack(at); };
  driver.memHostAlloc = [](void** to, size_t, unsigned) {
    static int flags[2];
    const int result = create(to);
    if (result == 0) *to = flags;
    return result;
  };
  // Mapping fails where creating does, and takes nothing.
  driver.memHostGetDevicePointer = [](driver::DevicePointer* to, void*, unsigned) {
    const int result = create(to);
    if (result == 0) alive--;
    return result;
  };
  driver.memFreeHost = [](void* at) { return giveBack(at); };
  driver.moduleLoadData = [](driver::Handle* to, const void*) { return create(to); };
  driver.moduleUnload = [](driver::Handle module) { return giveBack(module); };
  driver.moduleGetFunction = [](driver::Handle* to, driver::Handle, const char*) {
    *to = to;
    return 0;
  };
  driver.launchKernelEx = [](const driver::LaunchConfig*, driver::Handle, void**, void**) {
    return 0;
  };
  driver.streamCreate = [](driver::Handle* to, unsigned) { return create(to); };
  driver.streamDestroy = [](driver::Handle stream) { return giveBack(stream); };
  driver.streamQuery = [](driver::Handle) { return 0; };
  driver.streamSynchronize = [](driver::Handle) { return 0; };
  driver.streamBeginCapture = [](driver::Handle, int) { return 0; };
  driver.streamEndCapture = [](driver::Handle, driver::Handle* to) { return create(to); };
  driver.graphInstantiate = [](driver::Handle* to, driver::Handle, unsigned long long) {
    return create(to);
  };
  driver.graphLaunch = [](driver::Handle, driver::Handle) { return 0; };
  driver.graphDestroy = [](driver::Handle graph) { return giveBack(graph); };
  driver.graphExecDestroy = [](driver::Handle graph) { return giveBack(graph); };
  driver.eventCreate = [](driver::Handle* to, unsigned) { return create(to); };
  driver.eventDestroy = [](driver::Handle event) { return giveBack(event); };
  driver.eventQuery = [](driver::Handle) { return 0; };
  driver.eventRecord = [](driver::Handle, driver::Handle) { return 0; };
  driver.eventElapsedTime = [](float* milliseconds, driver::Handle, driver::Handle) {
    *milliseconds = 0.001f;
    return 0;
  };
  auto& nvrtc = all.nvrtc;
  all.nvrtcInfo.found = true;
  nvrtc.createProgram = [](nvrtc::Program* to, const char*, const char*, int, const char* const*,
                           const char* const*) { return create(to); };
  nvrtc.destroyProgram = [](nvrtc::Program* program) { return giveBack(program); };
  nvrtc.compileProgram = [](nvrtc::Program, int, const char* const*) {
    return created++ == failing ? 1 : 0;
  };
  nvrtc.getErrorString = [](int) { return "as told"; };
  nvrtc.getProgramLogSize = [](nvrtc::Program, size_t* size) {
    *size = 0;
    return 0;
  };
  nvrtc.getCubinSize = [](nvrtc::Program, size_t* size) {
    *size = 4;
    return 0;
  };
  nvrtc.getCubin = [](nvrtc::Program, char* image) {
    std::fill_n(image, 4, 'x');
    return 0;
  };
  auto& lt = all.cublasLt;
  all.cublasLtInfo.found = true;
  lt.getStatusString = [](int) { return "as told"; };
  lt.create = [](cublaslt::Handle* to) { return create(to); };
  lt.destroy = [](cublaslt::Handle handle) { return giveBack(handle); };
  lt.matmulDescCreate = [](cublaslt::Handle* to, int, int) { return create(to); };
  lt.matmulDescSetAttribute = [](cublaslt::Handle, int, const void*, size_t) {
    return created++ == failing ? 1 : 0;
  };
  lt.matmulDescDestroy = [](cublaslt::Handle handle) { return giveBack(handle); };
  lt.matrixLayoutCreate = [](cublaslt::Handle* to, int, uint64_t, uint64_t, int64_t) {
    return create(to);
  };
  lt.matrixLayoutDestroy = [](cublaslt::Handle handle) { return giveBack(handle); };
  lt.preferenceCreate = [](cublaslt::Handle* to) { return create(to); };
  lt.preferenceSetAttribute = [](cublaslt::Handle, int, const void*, size_t) { return 0; };
  lt.preferenceDestroy = [](cublaslt::Handle handle) { return giveBack(handle); };
  lt.getHeuristic = [](cublaslt::Handle, cublaslt::Handle, cublaslt::Handle, cublaslt::Handle,
                       cublaslt::Handle, cublaslt::Handle, cublaslt::Handle, int,
                       cublaslt::HeuristicResult*, int* found) {
    *found = 1;
    return created++ == failing ? 1 : 0;
  };
  lt.algorithmAttribute = [](const cublaslt::Algorithm*, int, void*, size_t, size_t*) { return 7; };
}

DeviceFacts hopper() {
  DeviceFacts facts;
  facts.name = "Stand-in", facts.major = 9, facts.multiprocessors = 4;
  return facts;
}

const Problem kProblem{"mxfp4", 128, 128, 128};

}  // namespace
