// What the CPU at hand can do, and what it calls itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>

namespace blockscope {

struct CpuFeatures {
  bool avx2 = false;     // with FMA and F16C
  bool avxVnni = false;  // VEX-encoded vpdpbusd
  bool avx512 = false;   // F, BW, VL, DQ
  bool avx512Vnni = false;
  bool avx512Bf16 = false;
};

// Read once by CPUID; an instruction set counts only if the operating system saves its registers.
const CpuFeatures& cpuFeatures();

std::string cpuName();
// Of the instruction sets above, the ones present: "x86-64 AVX2 AVX-512 VNNI BF16".
std::string cpuArchitecture();
// Bytes of the data (or common) cache of a level, 1 to 4, and of the last one; 0 when there is none
// or it cannot be read.
int64_t dataCacheBytes(int level);
int64_t lastLevelCacheBytes();
int64_t systemMemoryBytes();
// Writes back what of these bytes is in any cache and takes it out there (CLFLUSH, in Intel's and
// AMD's manuals of instructions); does nothing on a machine that lets no program do it.
void putOutOfCaches(const void* bytes, size_t count);
#if defined(__x86_64__)
constexpr bool kPutsOutOfCaches = true;
#else
constexpr bool kPutsOutOfCaches = false;
#endif
// Measured clock of the first core; 0 when the system does not measure it.
double currentClockMHz();
// The same from the text of /proc/cpuinfo. Linux measures there only with the counters APERF and
// MPERF (flag aperfmperf; arch/x86/kernel/cpu/aperfmperf.c); without, as in most virtual machines,
// it repeats a constant.
double measuredClockMHz(std::istream& cpuInfo);

}  // namespace blockscope
