// A program that does what its words say, one after the other; the driver is started by the first
// that needs it: a stand-in of CUDA's, or, where LD_LIBRARY_PATH leads to it, that of HIP or a real
// one (test/gpu/capture).
//   launch:NAME[:COUNT[:MICROSECONDS[:STREAM]]]   kernels; sync; copy:BYTES; set:BYTES
//   fail                                  a launch that the driver refuses
//   graph:KERNELS:REPLAYS                 kernels "node", captured under the range "capture"
//   push:NAME  pop  domain-push:NAME  domain-pop  wide-push:NAME   NVTX
//   thread ... join                       the words between on a thread
//   fork ... join                         in a forked child, which ends with _exit; waited for
//   spawn ... join                        in a program of its own; waited for
//   sleep:MS  until:FILE  print:TEXT  signals:FILE (writes the SIGINTs that came)
//   exit:CODE  _exit:CODE  kill           ends: exit(), _exit(), SIGKILL
#include <dlfcn.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

extern "C" {
int cuInit(unsigned);
int cuCtxSynchronize();
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**);
int cuMemcpyHtoD_v2(uint64_t, const void*, size_t);
int cuMemsetD8_v2(uint64_t, unsigned char, size_t);
int cuStreamBeginCapture_v2(void*, int);
int cuStreamEndCapture(void*, void**);
int cuGraphInstantiateWithFlags(void**, void*, unsigned long long);
int cuGraphLaunch(void*, void*);
}

namespace {

// What NVTX's headers put into a module: tables that an injected library fills.
int (*pushA)(const char*) = nullptr;
int (*pushW)(const wchar_t*) = nullptr;
int (*popRange)() = nullptr;
int (*domainPushEx)(const void*, const void*) = nullptr;
int (*domainPop)(const void*) = nullptr;
const void* (*createA)(const char*) = nullptr;
void* core[16] = {};
void* core2[16] = {};

int moduleTable(int module, void*** table, unsigned* size) {
  *table = module == 1 ? core : core2;
  *size = 16;
  return module == 1 || module == 5;
}
struct Callbacks {
  size_t size;
  int (*get)(int, void***, unsigned*);
};
const void* exportTable(uint32_t id) {
  static const Callbacks callbacks{sizeof(Callbacks), moduleTable};
  return id == 1 ? &callbacks : nullptr;
}

void startDriver();

// Where there is HIP, roctx, which loads profilers itself.
void startNvtx() {
  static bool isDone = false;
  if (isDone) return;
  isDone = true;
  if (void* roctx = dlsym(RTLD_DEFAULT, "roctxRangePushA")) {
    startDriver();
    pushA = reinterpret_cast<int (*)(const char*)>(roctx);
    popRange = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "roctxRangePop"));
    return;
  }
  core[9] = &pushA;
  core[10] = &pushW;
  core[11] = &popRange;
  core2[4] = &domainPushEx;
  core2[5] = &domainPop;
  core2[12] = &createA;
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  void* library = path ? dlopen(path, RTLD_NOW) : nullptr;
  if (library == nullptr) return;
  using Start = int (*)(const void* (*)(uint32_t));
  if (const auto start = reinterpret_cast<Start>(dlsym(library, "InitializeInjectionNvtx2")))
    start(exportTable);
}

struct Event {  // nvtxEventAttributes_t
  uint16_t version = 3, size = 48;
  uint32_t unused[7] = {};
  int32_t messageType = 1;
  const char* message = nullptr;
};

const void* domain() {
  static const void* const made = createA ? createA("libx") : nullptr;
  return made;
}

volatile sig_atomic_t interrupts = 0;

std::vector<std::string> partsOf(const std::string& word) {
  std::vector<std::string> parts(1);
  for (const char character : word) {
    if (character == ':') parts.emplace_back();
    else parts.back() += character;
  }
  return parts;
}

uint64_t numberAt(const std::vector<std::string>& parts, size_t at, uint64_t otherwise) {
  return parts.size() > at ? std::strtoull(parts[at].c_str(), nullptr, 10) : otherwise;
}

// A function of a real driver; null in the stand-in, which needs no modules, contexts or memory.
template <typename Function>
Function realFunction(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

void startDriver() {
  cuInit(0);
  const auto retain = realFunction<int (*)(void**, int)>("cuDevicePrimaryCtxRetain");
  const auto setCurrent = realFunction<int (*)(void*)>("cuCtxSetCurrent");
  static void* context = nullptr;
  if (retain == nullptr || setCurrent == nullptr) return;
  if (context == nullptr && retain(&context, 0) != 0) std::exit(3);
  setCurrent(context);
}

// Runs for as many ns as its parameter says.
std::string source(const std::string& name) {
  return ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry " + name +
         "(.param .u64 ns) {\n"
         ".reg .u64 %a, %b, %c;\n.reg .pred %p;\n"
         "ld.param.u64 %c, [ns];\nmov.u64 %a, %globaltimer;\n"
         "again:\nmov.u64 %b, %globaltimer;\nsub.u64 %b, %b, %a;\n"
         "setp.lt.u64 %p, %b, %c;\n@%p bra again;\nret;\n}\n";
}

// What the driver launches: to the stand-in a kernel is its name.
void* kernel(const std::string& name) {
  static std::mutex lock;
  static std::map<std::string, void*> known;
  const std::lock_guard guard(lock);
  void*& function = known[name];
  if (function != nullptr) return function;
  const auto load = realFunction<int (*)(void**, const void*)>("cuModuleLoadData");
  const auto get = realFunction<int (*)(void**, void*, const char*)>("cuModuleGetFunction");
  if (load == nullptr || get == nullptr) return function = new std::string(name);
  void* module = nullptr;
  if (load(&module, source(name).c_str()) != 0 || get(&function, module, name.c_str()) != 0) {
    std::fprintf(stderr, "program: the driver does not load %s\n", name.c_str());
    std::exit(3);
  }
  return function;
}

void* stream(uint64_t number) {
  static std::map<uint64_t, void*> known;
  const auto create = realFunction<int (*)(void**, unsigned)>("cuStreamCreate");
  if (number == 0 || create == nullptr) return reinterpret_cast<void*>(number);
  void*& made = known[number];
  if (made == nullptr) create(&made, 1);
  return made;
}

uint64_t memory(size_t bytes) {
  const auto allocate = realFunction<int (*)(uint64_t*, size_t)>("cuMemAlloc_v2");
  uint64_t pointer = 0;
  if (allocate != nullptr) allocate(&pointer, bytes);
  return pointer;
}

void launch(void* function, uint64_t ns, void* on = nullptr, unsigned threads = 128) {
  void* parameters[] = {&ns};
  cuLaunchKernel(function, 264, 2, 1, threads, 1, 1, 0, on, parameters, nullptr);
}

void replay(uint64_t kernels, uint64_t replays) {
  void *graph = nullptr, *executable = nullptr;
  // The default stream of a real driver cannot be captured.
  void* const on = stream(99);
  void* const node = kernel("node");
  if (pushA) pushA("capture");
  cuStreamBeginCapture_v2(on, 0);
  for (uint64_t i = 0; i < kernels; i++) launch(node, 2000, on);
  cuStreamEndCapture(on, &graph);
  cuGraphInstantiateWithFlags(&executable, graph, 0);
  if (popRange) popRange();
  for (uint64_t i = 0; i < replays; i++) cuGraphLaunch(executable, on);
}

void run(const char* program, const std::vector<std::string>& words) {
  for (size_t at = 0; at < words.size(); at++) {
    const auto parts = partsOf(words[at]);
    const std::string& what = parts[0];
    const std::string value = parts.size() > 1 ? parts[1] : "";
    if (what == "thread" || what == "fork" || what == "spawn") {
      std::vector<std::string> inner;
      while (++at < words.size() && words[at] != "join") inner.push_back(words[at]);
      if (what == "thread") {
        std::thread(run, program, inner).join();
        continue;
      }
      const pid_t child = fork();
      if (child == 0 && what == "fork") {
        run(program, inner);
        _exit(0);
      }
      if (child == 0) {
        std::vector<char*> arguments{const_cast<char*>(program)};
        for (auto& word : inner) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        execv("/proc/self/exe", arguments.data());
        _exit(127);
      }
      waitpid(child, nullptr, 0);
    } else if (what == "push" || what == "wide-push" || what == "domain-push") {
      startNvtx();
      const Event event{.message = value.c_str()};
      if (what == "push" && pushA) pushA(value.c_str());
      if (what == "wide-push" && pushW)
        pushW(std::wstring(value.begin(), value.end()).append(L"\u00e9").c_str());
      if (what == "domain-push" && domainPushEx) domainPushEx(domain(), &event);
    } else if (what == "pop") {
      if (popRange) popRange();
    } else if (what == "domain-pop") {
      if (domainPop) domainPop(domain());
    } else if (what == "sleep") {
      usleep(static_cast<useconds_t>(numberAt(parts, 1, 0) * 1000));
    } else if (what == "until") {
      struct stat found;
      while (stat(value.c_str(), &found) != 0) usleep(2000);
    } else if (what == "print") {
      std::printf("%s\n", value.c_str());
      std::fflush(stdout);
    } else if (what == "signals") {
      signal(SIGINT, [](int) { interrupts = interrupts + 1; });
      std::FILE* file = std::fopen(value.c_str(), "w");
      while (interrupts == 0) usleep(2000);
      std::fprintf(file, "%d", static_cast<int>(interrupts));
      std::fclose(file);
    } else if (what == "exit") {
      std::exit(std::atoi(value.c_str()));
    } else if (what == "_exit") {
      _exit(std::atoi(value.c_str()));
    } else if (what == "kill") {
      raise(SIGKILL);
    } else {
      startDriver();
      if (what == "launch") {
        void* const function = kernel(value);
        void* const on = stream(numberAt(parts, 4, 0));
        for (uint64_t i = numberAt(parts, 2, 1); i-- > 0;)
          launch(function, numberAt(parts, 3, 10) * 1000, on);
      } else if (what == "fail") {
        launch(kernel("refused"), 1000, nullptr, 4096);
      } else if (what == "graph") {
        replay(numberAt(parts, 1, 1), numberAt(parts, 2, 1));
      } else if (what == "copy") {
        const std::vector<char> from(numberAt(parts, 1, 0));
        cuMemcpyHtoD_v2(memory(from.size()), from.data(), from.size());
      } else if (what == "set") {
        const size_t bytes = numberAt(parts, 1, 0);
        cuMemsetD8_v2(memory(bytes), 0, bytes);
      } else if (what == "sync") {
        cuCtxSynchronize();
      } else {
        std::fprintf(stderr, "program: what is '%s'?\n", words[at].c_str());
        std::exit(64);
      }
    }
  }
}

}  // namespace

int main(int count, char** words) {
  run(words[0], std::vector<std::string>(words + 1, words + count));
  return 0;
}
