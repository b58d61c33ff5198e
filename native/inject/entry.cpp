// What other programs see of this library: the entry points of the driver, NVTX and
// rocprofiler-sdk, and the ways to end a process that run no exit handler.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "cuptiSource.h"
#include "ranges.h"
#include "rocprofilerSource.h"
#include "session.h"

#define BLOCKSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

namespace inject = blockscope::inject;

// CUDA_INJECTION64_PATH: called within cuInit. 0 would only be told to nobody.
BLOCKSCOPE_EXPORT int InitializeInjection() {
  try {
    return inject::startCapture(inject::cuptiSource()) ? 1 : 0;
  } catch (...) {
    return 0;
  }
}

// NVTX_INJECTION64_PATH: called by each module that embeds NVTX, at its first range.
BLOCKSCOPE_EXPORT int InitializeInjectionNvtx2(const void* (*getExportTable)(uint32_t)) {
  try {
    return inject::hookNvtx(getExportTable);
  } catch (...) {
    return 0;
  }
}

namespace {

[[noreturn]] void endProcess(int status) {
  inject::finishCapture();
  for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

// ROCP_TOOL_LIBRARIES: called by rocprofiler-sdk when HIP or HSA starts. Null: nothing is asked of
// it.
BLOCKSCOPE_EXPORT inject::rocprofiler::ConfigureResult* rocprofiler_configure(uint32_t, const char*,
                                                                              uint32_t, void*) {
  if (inject::session().options.folder.empty()) return nullptr;
  inject::rocprofilerSource().calledFrom(__builtin_return_address(0));
  static inject::rocprofiler::ConfigureResult asked{
      sizeof asked,
      [](void*, void*) {
        try {
          inject::startCapture(inject::rocprofilerSource());
        } catch (...) {
          // Out of memory: the program runs on unwatched.
        }
        return 0;
      },
      [](void*) { inject::finishCapture(); }, nullptr};
  return &asked;
}

// LD_PRELOAD: os._exit and the children of Python's multiprocessing end here.
BLOCKSCOPE_EXPORT [[noreturn]] void _exit(int status) { endProcess(status); }
BLOCKSCOPE_EXPORT [[noreturn]] void _Exit(int status) { endProcess(status); }
