#include "cpuFeatures.h"

#include <algorithm>
#include <fstream>

#if defined(__linux__) || defined(__APPLE__)
#include <unistd.h>
#endif

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#define BLOCKSCOPE_CPUID 1
#endif

namespace blockscope {

namespace {

#if defined(BLOCKSCOPE_CPUID)
// Registers the operating system saves on a task switch: bits 1-2 AVX, 5-7 AVX-512.
uint64_t savedRegisters() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

CpuFeatures detect() {
  CpuFeatures found;
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return found;
  const bool fma = c & bit_FMA, f16c = c & bit_F16C;
  const uint64_t saved = savedRegisters();
  const bool ymm = (saved & 0x6) == 0x6, zmm = (saved & 0xe6) == 0xe6;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return found;
  found.avx2 = ymm && fma && f16c && (b & bit_AVX2);
  found.avx512 =
      zmm && (b & bit_AVX512F) && (b & bit_AVX512BW) && (b & bit_AVX512VL) && (b & bit_AVX512DQ);
  found.avx512Vnni = found.avx512 && (c & bit_AVX512VNNI);
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d)) {
    found.avxVnni = found.avx2 && (a & (1u << 4));
    found.avx512Bf16 = found.avx512 && (a & (1u << 5));
  }
  return found;
}
#else
CpuFeatures detect() { return {}; }
#endif

}  // namespace

const CpuFeatures& cpuFeatures() {
  static const CpuFeatures features = detect();
  return features;
}

std::string cpuName() {
#if defined(BLOCKSCOPE_CPUID)
  uint32_t words[12];
  if (static_cast<uint32_t>(__get_cpuid_max(0x80000000, nullptr)) >= 0x80000004) {
    for (uint32_t i = 0; i < 3; i++)
      __get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                  &words[4 * i + 3]);
    std::string name(reinterpret_cast<const char*>(words), sizeof(words));
    name.resize(name.find('\0') == std::string::npos ? name.size() : name.find('\0'));
    const size_t last = name.find_last_not_of(' ');
    return last == std::string::npos ? "x86-64 CPU" : name.substr(0, last + 1);
  }
  return "x86-64 CPU";
#else
  return "CPU";
#endif
}

std::string cpuArchitecture() {
#if defined(BLOCKSCOPE_CPUID)
  const CpuFeatures& has = cpuFeatures();
  std::string text = "x86-64";
  if (has.avx2) text += " AVX2";
  if (has.avxVnni) text += " AVX-VNNI";
  if (has.avx512) text += " AVX-512";
  if (has.avx512Vnni) text += " VNNI";
  if (has.avx512Bf16) text += " BF16";
  return text;
#else
  return "portable";
#endif
}

int64_t dataCacheBytes(int level) {
  // sysfs says what this machine has of a cache; sysconf, in a virtual machine, what its host has.
  for (int index = 0; index < 8; index++) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    int found = 0;
    std::string type;
    int64_t kilobytes = 0;
    std::ifstream(folder + "/level") >> found;
    std::ifstream(folder + "/type") >> type;
    if (found != level || type == "Instruction") continue;
    if (std::ifstream(folder + "/size") >> kilobytes) return kilobytes * 1024;
  }
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  if (level >= 1 && level <= 3) return std::max<int64_t>(0, sysconf(names[level - 1]));
#endif
  return 0;
}

int64_t lastLevelCacheBytes() {
  for (int level = 4; level >= 1; level--)
    if (const int64_t bytes = dataCacheBytes(level); bytes > 0) return bytes;
  return 0;
}

int64_t systemMemoryBytes() {
#if defined(_SC_PHYS_PAGES)
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
#else
  return 0;
#endif
}

void putOutOfCaches([[maybe_unused]] const void* bytes, [[maybe_unused]] size_t count) {
#if defined(__x86_64__)
  constexpr uintptr_t kLineBytes = 64;
  const auto first = reinterpret_cast<uintptr_t>(bytes);
  for (uintptr_t line = first & ~(kLineBytes - 1); line < first + count; line += kLineBytes)
    _mm_clflush(reinterpret_cast<const void*>(line));
  _mm_mfence();
#endif
}

double measuredClockMHz(std::istream& cpuInfo) {
  double clock = 0;
  for (std::string line; std::getline(cpuInfo, line);) {
    if (line.rfind("cpu MHz", 0) == 0) clock = std::stod(line.substr(line.find(':') + 1));
    if (line.rfind("flags", 0) == 0)
      return (line + ' ').find(" aperfmperf ") == std::string::npos ? 0 : clock;
  }
  return 0;
}

double currentClockMHz() {
  std::ifstream info("/proc/cpuinfo");
  return measuredClockMHz(info);
}

}  // namespace blockscope
