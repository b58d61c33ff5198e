#include "ranges.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cwchar>
#include <string>
#include <vector>

#include "clock.h"
#include "session.h"
#include "utf8.h"

namespace blockscope::inject {

namespace {

// Source: nvtxTypes.h and nvToolsExt.h of NVTX 3.
struct CallbacksTable {  // NvtxExportTableCallbacks, export table 1
  size_t size;
  int (*getModuleFunctionTable)(int module, void*** table, unsigned* size);
};
constexpr uint32_t kCallbacksTable = 1;
constexpr int kModuleCore = 1, kModuleCore2 = 5;  // NVTX_CB_MODULE_CORE, _CORE2
// NvtxCallbackIdCore
constexpr unsigned kPushEx = 8, kPushA = 9, kPushW = 10, kPop = 11;
// NvtxCallbackIdCore2
constexpr unsigned kDomainPushEx = 4, kDomainPop = 5, kRegisterA = 10, kRegisterW = 11;
constexpr unsigned kCreateA = 12, kCreateW = 13;

struct EventAttributes {  // nvtxEventAttributes_t
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved;
  uint64_t payload;
  int32_t messageType;
  const void* message;
};
static_assert(offsetof(EventAttributes, message) == 40);
constexpr int kMessageAscii = 1, kMessageWide = 2, kMessageRegistered = 3;

struct OpenRange {
  uint32_t path;
  uint64_t startNs;
  const void* domain;
  bool isWindow;
};

// Of a thread; not freed with it, since a thread may end while the capture is written.
thread_local std::vector<OpenRange>* openRanges = nullptr;

std::string narrow(const wchar_t* wide) {
  std::string text;
  for (; wide != nullptr && *wide != 0; wide++) appendUtf8(text, static_cast<uint32_t>(*wide));
  return text;
}

// Ranges of the domain that this thread has open: what NVTX's push and pop return counts these.
int levelsOf(const void* domain) {
  return static_cast<int>(
      std::count_if(openRanges->begin(), openRanges->end(),
                    [&](const OpenRange& range) { return range.domain == domain; }));
}

int push(const void* domain, const char* text) {
  if (openRanges == nullptr) openRanges = new std::vector<OpenRange>;
  const std::string_view name(text == nullptr ? "" : text);
  Session& mine = session();
  uint32_t path;
  {
    const std::lock_guard guard(mine.lock);
    path = mine.names.path(openPath(), name);
  }
  const bool isWindow = !mine.options.range.empty() && name == mine.options.range;
  if (isWindow) mine.openRanges.fetch_add(1);
  openRanges->push_back({path, realTimeNs(), domain, isWindow});
  return levelsOf(domain) - 1;
}

// The last range of its own domain: libraries may push between push and pop of the program.
int pop(const void* domain) {
  if (openRanges == nullptr) return -1;
  for (size_t at = openRanges->size(); at-- > 0;) {
    const OpenRange range = (*openRanges)[at];
    if (range.domain != domain) continue;
    openRanges->erase(openRanges->begin() + static_cast<ptrdiff_t>(at));
    Session& mine = session();
    const bool isCaptured = mine.isCaptured() && mine.takesLaunches();
    if (range.isWindow) mine.openRanges.fetch_sub(1);
    if (isCaptured) {
      const std::lock_guard guard(mine.lock);
      const auto tid = static_cast<uint32_t>(syscall(SYS_gettid));
      mine.shard.add(RangeRecord{range.startNs, realTimeNs(), range.path, mine.names.thread(tid)});
    }
    return levelsOf(domain);
  }
  return -1;
}

int pushEvent(const void* domain, const EventAttributes* event) {
  if (event == nullptr || event->message == nullptr) return push(domain, "");
  switch (event->messageType) {
    case kMessageAscii:
      return push(domain, static_cast<const char*>(event->message));
    case kMessageWide:
      return push(domain, narrow(static_cast<const wchar_t*>(event->message)).c_str());
    case kMessageRegistered:
      return push(domain, static_cast<const std::string*>(event->message)->c_str());
    default:
      return push(domain, "");
  }
}

// NVTX's "default domain" is no handle.
int pushEx(const EventAttributes* event) { return pushEvent(nullptr, event); }
int pushA(const char* text) { return push(nullptr, text); }
int pushW(const wchar_t* text) { return push(nullptr, narrow(text).c_str()); }
int popDefault() { return pop(nullptr); }
int domainPushEx(const void* domain, const EventAttributes* event) {
  return pushEvent(domain, event);
}
int domainPop(const void* domain) { return pop(domain); }
// Handles live as long as the process, as NVTX has it.
const void* registerA(const void*, const char* text) { return new std::string(text ? text : ""); }
const void* registerW(const void*, const wchar_t* text) { return new std::string(narrow(text)); }
const void* createA(const char* name) { return new std::string(name ? name : ""); }
const void* createW(const wchar_t* name) { return new std::string(narrow(name)); }

template <typename Function>
void put(void** table, unsigned size, unsigned id, Function function) {
  if (id < size && table[id] != nullptr)
    *static_cast<void**>(table[id]) = reinterpret_cast<void*>(function);
}

}  // namespace

uint32_t openPath() {
  return openRanges == nullptr || openRanges->empty() ? 0 : openRanges->back().path;
}

void pushRange(const char* text) { push(nullptr, text); }
void popRange() { pop(nullptr); }

int hookNvtx(const void* (*getExportTable)(uint32_t)) {
  if (getExportTable == nullptr || session().options.folder.empty()) return 0;
  const auto* callbacks = static_cast<const CallbacksTable*>(getExportTable(kCallbacksTable));
  if (callbacks == nullptr || callbacks->size < sizeof *callbacks) return 0;
  void** table = nullptr;
  unsigned size = 0;
  if (callbacks->getModuleFunctionTable(kModuleCore, &table, &size) == 0) return 0;
  put(table, size, kPushEx, pushEx);
  put(table, size, kPushA, pushA);
  put(table, size, kPushW, pushW);
  put(table, size, kPop, popDefault);
  if (callbacks->getModuleFunctionTable(kModuleCore2, &table, &size) != 0) {
    put(table, size, kDomainPushEx, domainPushEx);
    put(table, size, kDomainPop, domainPop);
    put(table, size, kRegisterA, registerA);
    put(table, size, kRegisterW, registerW);
    put(table, size, kCreateA, createA);
    put(table, size, kCreateW, createW);
  }
  return 1;
}

}  // namespace blockscope::inject
