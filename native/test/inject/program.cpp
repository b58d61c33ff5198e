// A program that does what its words say, one after the other; the driver is started by the first
// that needs it.
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

void startNvtx() {
  static bool isDone = false;
  if (isDone) return;
  isDone = true;
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

// Names that live as long as the program, as those of a loaded module do.
const char* kept(const std::string& name) { return (new std::string(name))->c_str(); }

void launch(const char* name, uint64_t ns, uint64_t stream = 0, unsigned threads = 128) {
  void* parameters[] = {&ns};
  cuLaunchKernel(const_cast<char*>(name), 264, 2, 1, threads, 1, 1, 0,
                 reinterpret_cast<void*>(stream), parameters, nullptr);
}

void replay(uint64_t kernels, uint64_t replays) {
  void *graph = nullptr, *executable = nullptr;
  if (pushA) pushA("capture");
  cuStreamBeginCapture_v2(nullptr, 0);
  for (uint64_t i = 0; i < kernels; i++) launch("node", 2000);
  cuStreamEndCapture(nullptr, &graph);
  cuGraphInstantiateWithFlags(&executable, graph, 0);
  if (popRange) popRange();
  for (uint64_t i = 0; i < replays; i++) cuGraphLaunch(executable, nullptr);
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
      cuInit(0);
      if (what == "launch") {
        const char* name = kept(value);
        for (uint64_t i = numberAt(parts, 2, 1); i-- > 0;)
          launch(name, numberAt(parts, 3, 10) * 1000, numberAt(parts, 4, 0));
      } else if (what == "fail") {
        launch("refused", 1000, 0, 4096);
      } else if (what == "graph") {
        replay(numberAt(parts, 1, 1), numberAt(parts, 2, 1));
      } else if (what == "copy") {
        cuMemcpyHtoD_v2(0, nullptr, numberAt(parts, 1, 0));
      } else if (what == "set") {
        cuMemsetD8_v2(0, 0, numberAt(parts, 1, 0));
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
