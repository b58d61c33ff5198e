#include "roofs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <system_error>
#include <thread>

#include "../core/threads.h"
#include "cpuFeatures.h"
#include "target.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define BLOCKSCOPE_X86_ROOFS 1
#endif

namespace blockscope {

namespace {

using Clock = std::chrono::steady_clock;

// Runs `rounds` rounds of an instruction into independent accumulators; returns something that
// depends on all of them, so that none is left out.
using Multiply = double (*)(int64_t rounds);
// Reads `bytes` bytes, a multiple of 512.
using Read = uint64_t (*)(const uint8_t* from, int64_t bytes);

// Enough accumulators to cover the latency of any of the instructions at two a cycle.
constexpr int kAccumulators = 12;

struct ComputePeak {
  const char* instruction;
  const char* source;
  Multiply run;
  int operationsPerRound;
};

// A register of the widest kind, to empty assembly.
#if defined(__aarch64__)
#define BLOCKSCOPE_REGISTER(sum) "+w"(sum)
#else
#define BLOCKSCOPE_REGISTER(sum) "+v"(sum)
#endif

// A loop of kAccumulators times one instruction, `next(sum)`. Written out, so that the sums stay in
// registers; the empty assembly keeps the compiler from taking anything out of the loop.
#define BLOCKSCOPE_PEAK_LOOP(Vector, zero)                                                       \
  Vector s0 = zero, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0, s8 = s0,      \
         s9 = s0, s10 = s0, s11 = s0;                                                            \
  for (int64_t round = 0; round < rounds; round++) {                                             \
    s0 = next(s0), s1 = next(s1), s2 = next(s2), s3 = next(s3), s4 = next(s4), s5 = next(s5);    \
    s6 = next(s6), s7 = next(s7), s8 = next(s8), s9 = next(s9), s10 = next(s10);                 \
    s11 = next(s11);                                                                             \
    asm volatile(""                                                                              \
                 : BLOCKSCOPE_REGISTER(s0), BLOCKSCOPE_REGISTER(s1), BLOCKSCOPE_REGISTER(s2),    \
                   BLOCKSCOPE_REGISTER(s3), BLOCKSCOPE_REGISTER(s4), BLOCKSCOPE_REGISTER(s5));   \
    asm volatile(""                                                                              \
                 : BLOCKSCOPE_REGISTER(s6), BLOCKSCOPE_REGISTER(s7), BLOCKSCOPE_REGISTER(s8),    \
                   BLOCKSCOPE_REGISTER(s9), BLOCKSCOPE_REGISTER(s10), BLOCKSCOPE_REGISTER(s11)); \
  }                                                                                              \
  const Vector sums[] = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11};                      \
  unsigned char bytes[sizeof(sums)];                                                             \
  __builtin_memcpy(bytes, sums, sizeof(sums));                                                   \
  double total = 0;                                                                              \
  for (const unsigned char byte : bytes) total += byte;                                          \
  return total;

// Eight registers a step, into as many sums.
#define BLOCKSCOPE_READ_LOOP(Vector, load, add)                                         \
  const auto* at = reinterpret_cast<const Vector*>(from);                               \
  Vector s0 = {}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;        \
  for (const Vector* end = at + bytes / sizeof(Vector); at < end; at += 8) {            \
    s0 = add(s0, load(at)), s1 = add(s1, load(at + 1)), s2 = add(s2, load(at + 2));     \
    s3 = add(s3, load(at + 3)), s4 = add(s4, load(at + 4)), s5 = add(s5, load(at + 5)); \
    s6 = add(s6, load(at + 6)), s7 = add(s7, load(at + 7));                             \
  }                                                                                     \
  const Vector sums[] = {s0, s1, s2, s3, s4, s5, s6, s7};                               \
  uint64_t words[sizeof(sums) / 8], total = 0;                                          \
  __builtin_memcpy(words, sums, sizeof(sums));                                          \
  for (const uint64_t word : words) total += word;                                      \
  return total;

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__))
// The two doubles that every CPU of the family multiplies at once, as compilers make of plain
// loops.
using TwoDoubles = double __attribute__((vector_size(16)));
double multiplyPlain(int64_t rounds) {
  const TwoDoubles half = {0.5, 0.5};
  auto next = [&](TwoDoubles sum) { return sum * half + half; };
  BLOCKSCOPE_PEAK_LOOP(TwoDoubles, TwoDoubles{})
}
#else
double multiplyPlain(int64_t rounds) {
  double sums[2 * kAccumulators];
  for (int i = 0; i < 2 * kAccumulators; i++) sums[i] = i;
  volatile double half = 0.5;
  const double factor = half;
  for (int64_t round = 0; round < rounds; round++)
    for (double& sum : sums) sum = sum * factor + factor;
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}
#endif

uint64_t readPlain(const uint8_t* from, int64_t bytes) {
  const auto* words = reinterpret_cast<const uint64_t*>(from);
  uint64_t sums[8] = {};
  for (int64_t i = 0; i < bytes / 8; i += 8)
    for (int j = 0; j < 8; j++) sums[j] += words[i + j];
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total;
}

#if defined(BLOCKSCOPE_X86_ROOFS)

BLOCKSCOPE_TARGET_BEGIN("avx2,fma")
double fmaAvx2(int64_t rounds) {
  const __m256 a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(0.25f);
  auto next = [&](__m256 sum) __attribute__((always_inline)) { return _mm256_fmadd_ps(sum, a, b); };
  BLOCKSCOPE_PEAK_LOOP(__m256, _mm256_set1_ps(1.0f))
}
// vpmaddubsw multiplies 32 pairs of bytes and adds neighbours; the sums are kept in 16 bits.
double pairsAvx2(int64_t rounds) {
  const __m256i b = _mm256_set1_epi8(3);
  __m256i a = _mm256_set1_epi8(2);
  auto next = [&](__m256i sum) __attribute__((always_inline)) {
    asm volatile("" : "+x"(a));
    return _mm256_add_epi16(sum, _mm256_maddubs_epi16(a, b));
  };
  BLOCKSCOPE_PEAK_LOOP(__m256i, _mm256_setzero_si256())
}
uint64_t readAvx2(const uint8_t* from, int64_t bytes){
    BLOCKSCOPE_READ_LOOP(__m256i, _mm256_load_si256, _mm256_add_epi64)} BLOCKSCOPE_TARGET_END

    BLOCKSCOPE_TARGET_BEGIN("avx2,avxvnni") double dotAvxVnni(int64_t rounds) {
  const __m256i a = _mm256_set1_epi8(2), b = _mm256_set1_epi8(3);
  auto next = [&](__m256i sum) __attribute__((always_inline)) {
    return _mm256_dpbusd_avx_epi32(sum, a, b);
  };
  BLOCKSCOPE_PEAK_LOOP(__m256i, _mm256_setzero_si256())
}
BLOCKSCOPE_TARGET_END

BLOCKSCOPE_TARGET_BEGIN("avx512f")
double fmaAvx512(int64_t rounds) {
  const __m512 a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(0.25f);
  auto next = [&](__m512 sum) __attribute__((always_inline)) { return _mm512_fmadd_ps(sum, a, b); };
  BLOCKSCOPE_PEAK_LOOP(__m512, _mm512_set1_ps(1.0f))
}
uint64_t readAvx512(const uint8_t* from, int64_t bytes){
    BLOCKSCOPE_READ_LOOP(__m512i, _mm512_load_si512, _mm512_add_epi64)} BLOCKSCOPE_TARGET_END

    BLOCKSCOPE_TARGET_BEGIN("avx512f,avx512vnni") double dotAvx512Vnni(int64_t rounds) {
  const __m512i a = _mm512_set1_epi8(2), b = _mm512_set1_epi8(3);
  auto next = [&](__m512i sum) __attribute__((always_inline)) {
    return _mm512_dpbusd_epi32(sum, a, b);
  };
  BLOCKSCOPE_PEAK_LOOP(__m512i, _mm512_setzero_si512())
}
BLOCKSCOPE_TARGET_END

BLOCKSCOPE_TARGET_BEGIN("avx512f,avx512bf16")
double dotAvx512Bf16(int64_t rounds) {
  const __m512bh a = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5f), _mm512_set1_ps(0.5f));
  const __m512bh b = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.25f), _mm512_set1_ps(0.25f));
  auto next = [&](__m512 sum) __attribute__((always_inline)) {
    return _mm512_dpbf16_ps(sum, a, b);
  };
  BLOCKSCOPE_PEAK_LOOP(__m512, _mm512_setzero_ps())
}
BLOCKSCOPE_TARGET_END

#endif

// The instructions that the kernels name, as far as this CPU has them. A multiply and an add count
// two.
std::vector<ComputePeak> computePeaks() {
  std::vector<ComputePeak> peaks;
#if defined(BLOCKSCOPE_X86_ROOFS)
  const CpuFeatures& has = cpuFeatures();
  auto add = [&](bool available, const char* instruction, const char* source, Multiply run,
                 int operations) {
    if (available) peaks.push_back({instruction, source, run, kAccumulators * operations});
  };
  add(has.avx512Vnni, "int8:avx512-vnni", "vpdpbusd on 512 bits", dotAvx512Vnni, 128);
  add(has.avx512Bf16, "bf16:avx512-bf16", "vdpbf16ps on 512 bits", dotAvx512Bf16, 64);
  add(has.avx512, "fp32:avx512", "vfmadd on 512 bits", fmaAvx512, 32);
  add(has.avxVnni, "int8:avx-vnni", "vpdpbusd on 256 bits", dotAvxVnni, 64);
  add(has.avx2, "int8:avx2", "vpmaddubsw and vpaddw on 256 bits", pairsAvx2, 64);
  add(has.avx2, "fp32:avx2", "vfmadd on 256 bits", fmaAvx2, 16);
#endif
  peaks.push_back({"fp64:portable", "a multiplication and an addition in plain C++", multiplyPlain,
                   2 * 2 * kAccumulators});
  return peaks;
}

Read readLoop() {
#if defined(BLOCKSCOPE_X86_ROOFS)
  if (cpuFeatures().avx512) return readAvx512;
  if (cpuFeatures().avx2) return readAvx2;
#endif
  return readPlain;
}

// Everything a burst computes ends here.
std::atomic<uint64_t> sink;

// What all cores do together, for about `seconds`: the sum of each core's best burst. Only bursts
// that ran while every core was at work count; one that another program interrupts is not the best.
// `burst` does one burst for a core and says how much that was.
double bestRate(double seconds, const CancelFlag& cancel,
                const std::function<double(int core)>& burst) {
  const int cores = coreCount();
  std::atomic<int> started{0}, expected{cores};
  std::atomic<bool> over{false};
  std::vector<double> best(cores, 0.0);
  auto work = [&](int core) {
    started.fetch_add(1);
    while (started.load() < expected.load()) std::this_thread::yield();
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (!over.load() && !cancel.requested()) {
      const auto start = Clock::now();
      const double amount = burst(core);
      const auto stop = Clock::now();
      if (over.load() && best[core] > 0) break;
      const double took = std::chrono::duration<double>(stop - start).count();
      best[core] = std::max(best[core], amount / took);
      if (stop > end) over.store(true);
    }
  };
  std::vector<std::thread> helpers;
  try {
    for (int core = 1; core < cores; core++) helpers.emplace_back(work, core);
  } catch (const std::system_error&) {
    // The system gives no more threads: those there are do it.
    expected.store(static_cast<int>(helpers.size()) + 1);
  }
  work(0);
  for (auto& helper : helpers) helper.join();
  cancel.throwIfRequested();
  return std::accumulate(best.begin(), best.end(), 0.0);
}

constexpr double kSecondsEach = 0.12;
constexpr int64_t kRoundsPerBurst = 50'000;

Roof measureCompute(const ComputePeak& peak, const CancelFlag& cancel) {
  const double rate = bestRate(kSecondsEach, cancel, [&](int) {
    sink.fetch_add(static_cast<uint64_t>(peak.run(kRoundsPerBurst)), std::memory_order_relaxed);
    return static_cast<double>(kRoundsPerBurst) * peak.operationsPerRound;
  });
  return {"compute", peak.instruction, rate, "measured",
          std::string("Measured here: ") + peak.source + ", on all cores."};
}

constexpr std::align_val_t kPage{4096};
struct Freed {
  void operator()(uint8_t* memory) const { ::operator delete(memory, kPage); }
};

// `bytes` in all; each core reads a part of its own, a burst at least a quarter of a millisecond.
Roof measureMemory(const char* level, int64_t bytes, const char* how, const CancelFlag& cancel) {
  constexpr int64_t kStep = 4096, kLeastBurst = 4 << 20;
  const int cores = coreCount();
  const int64_t part = std::max(kStep, bytes / cores / kStep * kStep);
  const int64_t passes = std::max<int64_t>(1, kLeastBurst / part);
  std::vector<std::unique_ptr<uint8_t, Freed>> parts;
  for (int core = 0; core < cores; core++) {
    parts.emplace_back(static_cast<uint8_t*>(::operator new(part, kPage)));
    std::fill_n(parts.back().get(), part, uint8_t{1});
  }
  const Read read = readLoop();
  // What is larger than a burst is walked through, a slice each.
  const int64_t slice = std::min(part, kLeastBurst), slices = part / slice;
  std::vector<int64_t> turns(cores, 0);
  const double rate = bestRate(kSecondsEach, cancel, [&](int core) {
    const uint8_t* from = parts[core].get() + turns[core]++ % slices * slice;
    for (int64_t pass = 0; pass < passes; pass++)
      sink.fetch_add(read(from, slice), std::memory_order_relaxed);
    return static_cast<double>(slice * passes);
  });
  return {"memory", level, rate, "measured", std::string("Measured here: ") + how};
}

}  // namespace

std::vector<Roof> measureCpuRoofs(const CancelFlag& cancel, const Progress& progress) {
  struct Level {
    const char* name;
    int64_t bytes;
    const char* how;
  };
  const int64_t last = lastLevelCacheBytes(), memory = systemMemoryBytes();
  const int64_t large = std::max<int64_t>(256 << 20, 4 * last);
  std::vector<Level> levels;
  // Half of a cache, so that nothing else pushes it out; the last one is shared by the cores.
  if (const int64_t l1 = dataCacheBytes(1); l1 > 0)
    levels.push_back({"l1", coreCount() * l1 / 2, "reading half of each core's L1."});
  if (const int64_t l2 = dataCacheBytes(2); l2 > 0)
    levels.push_back({"l2", coreCount() * l2 / 2, "reading half of each core's L2."});
  if (const int64_t l3 = dataCacheBytes(3); l3 > 0)
    levels.push_back({"l3", l3 / 2, "reading half of the L3."});
  levels.push_back({"dram", std::min(large, std::max<int64_t>(64 << 20, memory / 8)),
                    "reading far more than the last cache holds, as STREAM does."});

  const std::vector<ComputePeak> peaks = computePeaks();
  const double steps = static_cast<double>(peaks.size() + levels.size());
  std::vector<Roof> roofs;
  auto report = [&] {
    if (progress) progress(static_cast<double>(roofs.size()) / steps, "roofs");
  };
  for (const ComputePeak& peak : peaks) {
    report();
    roofs.push_back(measureCompute(peak, cancel));
  }
  for (const Level& level : levels) {
    report();
    roofs.push_back(measureMemory(level.name, level.bytes, level.how, cancel));
  }
  return roofs;
}

}  // namespace blockscope
