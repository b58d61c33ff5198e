// GFLOP/s of the CPU kernels next to OpenBLAS sgemm on dequantised operands: same shape, same machine, same run, in
// turns. Time is from packed operands to float16 C; sgemm reads float32 operands made beforehand and writes float32.
//
//   bench [size] [rounds]
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "../../../native/core/compare.h"
#include "../../../native/core/formats.h"
#include "../../../native/core/operands.h"
#include "../../../native/core/oracle.h"
#include "../../../native/core/threads.h"
#include "../../../native/cpu/cpuFeatures.h"
#include "../../../native/cpu/kernel.h"

using namespace blockscope;
using Clock = std::chrono::steady_clock;

namespace {

// cblas_sgemm(order, transA, transB, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc): 101 row-major, 111 no, 112 transposed.
using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);

struct OpenBlas {
  Sgemm sgemm;
  std::string name;
};

OpenBlas loadOpenBlas() {
  void* library = nullptr;
  for (const char* name : {"libopenblas.so.0", "libopenblas.so"})
    if (!library) library = dlopen(name, RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "OpenBLAS is not installed; it is the peer of this benchmark: apt-get install libopenblas-dev\n");
    std::exit(3);
  }
  const auto config = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_config"));
  const auto core = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_corename"));
  const auto setThreads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  if (setThreads) setThreads(coreCount());
  std::string name = config ? config() : "OpenBLAS";
  if (core) name += std::string(", core ") + core();
  return {reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm")), name};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <typename Run>
double seconds(const Run& run) {
  const auto start = Clock::now();
  run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Contender {
  std::string format, kernel;
  Problem problem;
  Operands operands;
  PackedOperands packed;
  std::vector<uint8_t> c;
  const CpuKernel* code;
  std::vector<double> times;
};

}  // namespace

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 2048;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  const CancelFlag never;
  const OpenBlas blas = loadOpenBlas();
  std::printf("%s, %s, %d cores\n%s\nM = N = K = %d, %d rounds in turns, median\n\n", cpuName().c_str(),
              cpuArchitecture().c_str(), coreCount(), blas.name.c_str(), size, rounds);

  std::vector<Contender> contenders;
  for (const char* format : {"mxfp4", "nvfp4", "mxfp8", "mixed"})
    for (const CpuKernel& kernel : cpuKernels()) {
      // The portable kernel is there to be right, not fast; it would take most of the benchmark's time.
      if (!kernel.available || kernel.id == "cpu-portable") continue;
      Contender contender{format, kernel.id, {format, size, size, size, 1, OutputType::kF16}, {}, {}, {}, &kernel, {}};
      contender.operands = generateOperands(contender.problem, {"normal", 42}, never);
      contender.packed = packOperands(contender.problem, contender.operands);
      contender.c.resize(static_cast<size_t>(size) * size * 2);
      contenders.push_back(std::move(contender));
    }
  std::vector<float> a(static_cast<size_t>(size) * size), b(a.size()), c(a.size());
  const Operands& dense = contenders.front().operands;
  for (size_t i = 0; i < a.size(); i++) {
    a[i] = decodeTable(NumberFormatId::kE2m1)[dense.aCodes[i]] * decodeTable(NumberFormatId::kE8m0)[dense.aScales[i / 32]];
    b[i] = decodeTable(NumberFormatId::kE2m1)[dense.bCodes[i]] * decodeTable(NumberFormatId::kE8m0)[dense.bScales[i / 32]];
  }
  auto runBlas = [&] {
    blas.sgemm(101, 111, 112, size, size, size, 1.0f, a.data(), size, b.data(), size, 0.0f, c.data(), size);
  };
  Workspace workspace;
  auto runOne = [&](Contender& contender) {
    contender.code->compute(contender.problem, contender.packed, contender.c.data(), workspace, never);
  };

  std::vector<double> blasTimes;
  runBlas();
  for (Contender& contender : contenders) runOne(contender);
  for (int round = 0; round < rounds; round++) {
    blasTimes.push_back(seconds(runBlas));
    // The threads of OpenBLAS spin for a while when they have nothing to do, and would take a core from the next.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    for (Contender& contender : contenders) contender.times.push_back(seconds([&] { runOne(contender); }));
  }

  const double flops = 2.0 * size * size * size;
  const double peer = flops / median(blasTimes) / 1e9;
  std::printf("%-8s %-14s %10s %12s %14s\n", "format", "kernel", "GFLOP/s", "x OpenBLAS", "norm-wise err");
  std::printf("%-8s %-14s %10.0f %12.2f %14s\n", "float32", "OpenBLAS", peer, 1.0, "-");
  bool good = true;
  for (Contender& contender : contenders) {
    const double rate = flops / median(contender.times) / 1e9;
    const std::vector<double> reference =
        referenceProduct(contender.problem, contender.operands, never, nullptr);
    const ValidationReport report = compareWithReference(contender.problem, contender.operands, reference, contender.c,
                                                         {contender.kernel, {}, 4, 16}, never);
    good = good && report.status == ValidationStatus::kPassed;
    std::printf("%-8s %-14s %10.0f %12.2f %14.2e%s\n", contender.format.c_str(), contender.kernel.c_str(), rate,
                rate / peer, report.normwise, report.status == ValidationStatus::kPassed ? "" : "  WRONG");
  }
  return good ? 0 : 1;
}
