// A driver with one device, which loads what CUDA_INJECTION64_PATH names at cuInit, as the real one
// does, and tells CUPTI, where somebody loaded one, what it is asked.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../../inject/cuptiAbi.h"
#include "stubCupti.h"

namespace abi = blockscope::inject::cupti;

namespace {

constexpr int kInvalidValue = 1;
constexpr uint64_t kCopyNs = 3000;

// Not before somebody opened it: a driver does not open CUPTI itself.
const StubCupti* cuptiOfProcess() {
  static const StubCupti* found = nullptr;
  if (found != nullptr) return found;
  void* library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) library = dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const auto ask = reinterpret_cast<const StubCupti* (*)()>(dlsym(library, "stubCupti"));
  return found = ask ? ask() : nullptr;
}

struct Graph : StubGraph {
  std::vector<StubNode*> nodes;
  std::vector<StubWork> work;
};
Graph* captured = nullptr;
uint32_t graphs = 0;
uint64_t nodes = 0;

struct Launch {
  StubWork work;
  bool fails;
};

int body(uint32_t correlation, void* user) {
  const auto& launch = *static_cast<const Launch*>(user);
  if (launch.fails) return kInvalidValue;
  const StubCupti* cupti = cuptiOfProcess();
  if (captured != nullptr) {
    captured->nodes.push_back(new StubNode{++nodes, abi::kNodeKernel});
    captured->work.push_back(launch.work);
    if (cupti) cupti->node(false, *captured, *captured->nodes.back(), nullptr);
  } else if (cupti) {
    cupti->run(correlation, launch.work);
  }
  return 0;
}

int call(const char* function, const StubWork& work, bool fails = false,
         const void* params = nullptr) {
  Launch launch{work, fails};
  const StubCupti* cupti = cuptiOfProcess();
  return cupti   ? cupti->call(function, work.name, params, body, &launch)
         : fails ? kInvalidValue
                 : 0;
}

struct LaunchParams {  // cuLaunchKernel_params
  void* function;
  unsigned extents[7];
  void* stream;
};

struct GraphLaunchParams {  // cuGraphLaunch_params
  Graph* executable;
  void* stream;
};

int graphBody(uint32_t correlation, void* user) {
  Graph& executable = *static_cast<GraphLaunchParams*>(user)->executable;
  const StubCupti* cupti = cuptiOfProcess();
  if (cupti == nullptr) return 0;
  StubWork whole{};
  whole.kind = abi::kActivityGraphTrace;
  whole.graph = executable.id;
  whole.durationNs = 1000;
  cupti->run(correlation, whole);
  for (size_t i = 0; i < executable.work.size(); i++) {
    StubWork work = executable.work[i];
    work.graph = executable.id;
    work.node = executable.nodes[i]->id;
    cupti->run(correlation, work);
  }
  return 0;
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  static bool isDone = false;
  if (isDone) return 0;
  isDone = true;
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  void* library = path ? dlopen(path, RTLD_NOW) : nullptr;
  if (library == nullptr) return 0;
  if (const auto start = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")))
    start();
  return 0;
}
int cuDriverGetVersion(int* version) {
  const char* asked = std::getenv("STUB_CUDA_VERSION");
  *version = asked ? std::atoi(asked) : 13000;
  return 0;
}
int cuDeviceGet(int* device, int number) {
  *device = number;
  return 0;
}
int cuDeviceGetName(char* name, int length, int) {
  std::snprintf(name, static_cast<size_t>(length), "Stub GPU");
  return 0;
}
int cuDeviceGetUuid_v2(unsigned char* uuid, int) {
  std::memset(uuid, 0x5a, 16);
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 132 : 1000;
  return 0;
}
int cuCtxGetDevice(int* device) {
  *device = 0;
  return 0;
}
int cuStreamIsCapturing(void*, int* status) {
  *status = captured != nullptr;
  return 0;
}
int cuCtxPushCurrent_v2(void*) { return 0; }
int cuCtxPopCurrent_v2(void**) { return 0; }
int cuCtxSynchronize() {
  if (const StubCupti* cupti = cuptiOfProcess()) cupti->synchronise();
  return 0;
}
// The function is its name, a std::string; `parameters` points to how long the kernel takes, ns.
int cuLaunchKernel(void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                   unsigned blockY, unsigned blockZ, unsigned, void* stream, void** parameters,
                   void**) {
  StubWork work{};
  work.kind = abi::kActivityConcurrentKernel;
  work.name = static_cast<const std::string*>(function)->c_str();
  const unsigned grid[] = {gridX, gridY, gridZ}, block[] = {blockX, blockY, blockZ};
  std::memcpy(work.grid, grid, sizeof grid);
  std::memcpy(work.block, block, sizeof block);
  work.stream = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(stream));
  work.durationNs = *static_cast<const uint64_t*>(parameters[0]);
  const LaunchParams params{function, {gridX, gridY, gridZ, blockX, blockY, blockZ, 0}, stream};
  return call("cuLaunchKernel", work, blockX > 1024, &params);
}
int cuMemcpyHtoD_v2(uint64_t, const void*, size_t bytes) {
  StubWork work{};
  work.kind = abi::kActivityCopy;
  work.bytes = bytes;
  work.durationNs = kCopyNs;
  return call("cuMemcpyHtoD_v2", work);
}
int cuMemsetD8_v2(uint64_t, unsigned char, size_t bytes) {
  StubWork work{};
  work.kind = abi::kActivitySet;
  work.bytes = bytes;
  work.durationNs = kCopyNs;
  return call("cuMemsetD8_v2", work);
}
int cuStreamBeginCapture_v2(void*, int) {
  captured = new Graph;
  captured->id = ++graphs;
  return 0;
}
int cuStreamEndCapture(void*, void** graph) {
  *graph = captured;
  captured = nullptr;
  return 0;
}
int cuGraphInstantiateWithFlags(void** executable, void* from, unsigned long long) {
  const auto& graph = *static_cast<Graph*>(from);
  auto* made = new Graph;
  made->id = ++graphs;
  made->work = graph.work;
  const StubCupti* cupti = cuptiOfProcess();
  for (StubNode* original : graph.nodes) {
    auto* clone = new StubNode{++nodes, original->type};
    made->nodes.push_back(clone);
    if (cupti == nullptr) continue;
    cupti->node(true, *made, *clone, original);
    cupti->node(false, *made, *clone, nullptr);
  }
  *executable = made;
  return 0;
}
int cuGraphLaunch(void* executable, void* stream) {
  GraphLaunchParams params{static_cast<Graph*>(executable), stream};
  const StubCupti* cupti = cuptiOfProcess();
  return cupti ? cupti->call("cuGraphLaunch", nullptr, &params, graphBody, &params) : 0;
}
}
