// GFLOP/s of the CPU kernels next to OpenBLAS sgemm on dequantised operands: same shape, same
// machine, same run, in turns. Time is from packed operands to float16 C; sgemm reads float32
// operands made beforehand and writes float32.
//
//   bench [size] [rounds] [format ...]
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
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

const CancelFlag kNever;

// cblas_sgemm(order, transA, transB, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc): 101 row-major,
// 111 no, 112 transposed.
using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                       float, float*, int);

struct OpenBlas {
  Sgemm sgemm;
  std::string name;
};

OpenBlas loadOpenBlas() {
  void* library = nullptr;
  for (const char* name : {"libopenblas.so.0", "libopenblas.so"})
    if (!library) library = dlopen(name, RTLD_NOW);
  const auto sgemm = library ? reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm")) : nullptr;
  if (!sgemm) {
    std::fprintf(stderr,
                 "OpenBLAS is not installed; it is the peer of this benchmark: apt-get install "
                 "libopenblas-dev\n");
    std::exit(3);
  }
  const auto config = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_config"));
  const auto core = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_corename"));
  const auto setThreads =
      reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  if (setThreads) setThreads(coreCount());
  std::string name = config ? config() : "OpenBLAS";
  if (core) name += std::string(", core ") + core();
  return {sgemm, name};
}

template <typename Run>
double seconds(const Run& run) {
  const auto start = Clock::now();
  run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One format's operands, shared by all kernels.
struct Case {
  Problem problem;
  Operands operands;
  PackedOperands packed;
  std::vector<double> reference;
};

struct Contender {
  std::string format, kernel;
  std::vector<double> times;
  std::string agreement;
};

struct Rates {
  double median, best;
};

Rates rates(std::vector<double> times, double flops) {
  std::sort(times.begin(), times.end());
  return {flops / times[times.size() / 2] / 1e9, flops / times.front() / 1e9};
}

// Row-major float32 matrix of one side.
std::vector<float> dequantised(const NumberFormat& element, const BlockFormat& format,
                               const std::vector<uint8_t>& codes,
                               const std::vector<uint8_t>& scales) {
  std::vector<float> values(codes.size());
  for (size_t i = 0; i < codes.size(); i++)
    values[i] = decodeTable(element.id)[codes[i]] *
                decodeTable(format.scale)[scales[i / format.scaleBlockSize]];
  return values;
}

void printRow(const std::string& format, const std::string& kernel, const Rates& own,
              const Rates& peer, const std::string& agreement) {
  std::printf("%-16s %-12s %8.0f %8.0f %10.2f %8.2f   %s\n", format.c_str(), kernel.c_str(),
              own.median, own.best, own.median / peer.median, own.best / peer.best,
              agreement.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 2048;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  if (size < 32 || size % 32 != 0 || rounds < 1) {
    std::fprintf(stderr,
                 "The size must be a multiple of 32, and the number of rounds at least 1.\n");
    return 2;
  }
  std::vector<std::string> formats(argv + std::min(argc, 3), argv + argc);
  if (formats.empty())
    for (const BlockFormat& format : blockFormats()) formats.emplace_back(format.id);
  const OpenBlas blas = loadOpenBlas();
  std::printf("%s, %s, %d cores\n%s\nM = N = K = %d, %d rounds in turns\n\n", cpuName().c_str(),
              cpuArchitecture().c_str(), coreCount(), blas.name.c_str(), size, rounds);

  std::map<std::string, Case> cases;
  std::vector<Contender> contenders;
  try {
    for (const std::string& format : formats) {
      Case made{{format, size, size, size, 1, OutputType::kF16}, {}, {}, {}};
      findBlockFormat(format);
      made.operands = generateOperands(made.problem, {"normal", 42}, kNever);
      made.packed = packOperands(made.problem, made.operands);
      made.reference = referenceProduct(made.problem, made.operands, kNever, nullptr);
      cases[format] = std::move(made);
      for (const CpuKernel& kernel : cpuKernels())
        if (kernel.available) contenders.push_back({format, kernel.id, {}, {}});
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  const Case& first = cases.at(formats.front());
  const BlockFormat& format = findBlockFormat(formats.front());
  const std::vector<float> a =
      dequantised(format.elementA(), format, first.operands.aCodes, first.operands.aScales);
  const std::vector<float> b =
      dequantised(format.elementB(), format, first.operands.bCodes, first.operands.bScales);
  std::vector<float> blasC(a.size());
  auto runBlas = [&] {
    blas.sgemm(101, 111, 112, size, size, size, 1.0f, a.data(), size, b.data(), size, 0.0f,
               blasC.data(), size);
  };
  std::vector<uint8_t> c(static_cast<size_t>(size) * size * 2);
  Workspace workspace;
  auto runKernel = [&](const Contender& contender) {
    const Case& one = cases.at(contender.format);
    for (const CpuKernel& kernel : cpuKernels())
      if (kernel.id == contender.kernel)
        kernel.compute(one.problem, one.packed, c.data(), workspace, kNever);
  };

  bool good = true;
  runBlas();
  for (Contender& contender : contenders) {
    const Case& one = cases.at(contender.format);
    runKernel(contender);
    ValidateRequest request;
    request.kernel = contender.kernel;
    request.tolerance = {1e-3, 1e-3};
    const ValidationReport report =
        judgeOutput(one.problem, one.operands, one.reference, c, request, kNever);
    good = good && report.status == ValidationStatus::kPassed;
    char text[96];
    std::snprintf(text, sizeof(text), "%s  max abs %.1e  norm-wise %.2e",
                  report.status == ValidationStatus::kPassed ? "passed" : "WRONG ", report.maxAbs,
                  report.normwise);
    contender.agreement = text;
  }
  std::vector<double> blasTimes;
  for (int round = 0; round < rounds; round++) {
    blasTimes.push_back(seconds(runBlas));
    // The threads of OpenBLAS spin for a while when they have nothing to do, and would take a core
    // from the next.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    runKernel(contenders.front());  // not timed: cores that slept are slow at first
    for (Contender& contender : contenders) {
      // The portable kernel is there to be right; more rounds of it would take most of the
      // benchmark's time.
      if (contender.kernel == "cpu-portable" && round > 0) continue;
      contender.times.push_back(seconds([&] { runKernel(contender); }));
    }
  }

  const double flops = 2.0 * size * size * size;
  const Rates peer = rates(blasTimes, flops);
  std::printf("%-16s %-12s %17s %19s   %s\n", "", "", "GFLOP/s", "x OpenBLAS",
              "against the float64 reference");
  std::printf("%-16s %-12s %8s %8s %10s %8s\n", "format", "kernel", "median", "best", "median",
              "best");
  printRow("float32", "OpenBLAS", peer, peer, "");
  for (const Contender& contender : contenders)
    printRow(contender.format, contender.kernel, rates(contender.times, flops), peer,
             contender.agreement);
  return good ? 0 : 1;
}
