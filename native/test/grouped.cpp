// Grouped products on every CPU kernel of this machine: each group is the product of its own rows
// of A and its own matrix of B, and padding rows are neither read nor judged.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <csetjmp>
#include <csignal>
#include <numeric>

#include "../core/compare.h"
#include "../core/operands.h"
#include "../core/oracle.h"
#include "../core/outputs.h"
#include "../core/packing.h"
#include "../core/validate.h"
#include "../cpu/kernel.h"
#include "check.h"
#include "onCopies.h"

using namespace blockscope;

namespace {

const CancelFlag kNever;

std::vector<CpuKernel> availableKernels() {
  std::vector<CpuKernel> kernels = cpuKernels();
  std::erase_if(kernels, [](const CpuKernel& kernel) { return !kernel.available; });
  return kernels;
}

Problem grouped(const std::string& format, const Groups& groups, int64_t n, int64_t k,
                OutputType output = OutputType::kF32) {
  Problem problem{format, 0, n, k, 1, output};
  problem.setGroups(groups);
  return problem;
}

std::vector<uint8_t> productOf(const CpuKernel& kernel, const Problem& problem,
                               const Operands& operands) {
  Workspace workspace;
  std::vector<uint8_t> c(problem.elements() * outputBytes(problem.output), 0xff);
  kernel.compute(problem, packOperands(problem, operands), c.data(), workspace, kNever);
  return c;
}

ValidateRequest usualRequest() {
  ValidateRequest request;
  request.tolerance = {1e-3, 1e-3};
  return request;
}

const Groups kRagged[] = {
    {GroupLayout::kContiguous, {13, 0, 64, 1, 65}, 64, 0},
    {GroupLayout::kContiguous, {5}, 1, 0},
    {GroupLayout::kMasked, {0, 3, 40, 0, 17, 0}, 1, 40},
    {GroupLayout::kOffsets, {0, 7, 33, 0, 1, 128, 0}, 1, 0},
};

void segmentsStandWhereTheLayoutPutsThem() {
  const Segments contiguous(kRagged[0]);
  CHECK(contiguous.totalRows() == 64 + 64 + 64 + 128);
  CHECK(contiguous[2].first == 64 && contiguous[3].first == 128 && contiguous[4].first == 192);
  CHECK(contiguous.groupOf(12) == 0 && contiguous.groupOf(13) == -1);
  CHECK(contiguous.groupOf(64) == 2 && contiguous.groupOf(128) == 3 &&
        contiguous.groupOf(129) == -1);
  CHECK(contiguous.groupOf(256) == 4 && contiguous.groupOf(257) == -1);
  const Segments masked(kRagged[2]);
  CHECK(masked.totalRows() == 240 && masked.groupOf(0) == -1 && masked.groupOf(42) == 1);
  CHECK(masked.groupOf(43) == -1 && masked.groupOf(119) == 2 && masked.groupOf(120) == -1);
  const Segments offsets(kRagged[3]);
  CHECK(offsets.totalRows() == 169 && offsets.groupOf(0) == 1 && offsets.groupOf(40) == 4);
  CHECK(offsets.groupOf(168) == 5);
}

void whatAreNoGroupsIsSaid() {
  CHECK(whyNoGroups(kRagged[0]).empty());
  CHECK_CONTAINS(whyNoGroups({GroupLayout::kMasked, {3, 41}, 1, 40}), "group 1 has 41 rows");
  CHECK_CONTAINS(whyNoGroups({GroupLayout::kOffsets, {3, -1}, 1, 0}), "group 1 has -1 rows");
  CHECK_CONTAINS(whyNoGroups({GroupLayout::kOffsets, {0, 0}, 1, 0}), "none of them has a row");
  CHECK_CONTAINS(whyNoGroups({GroupLayout::kContiguous, {3}, 0, 0}), "multiples of 0");
}

// Every group alone, as a product without groups.
void groupsAreProductsOfTheirOwn() {
  for (const char* format : {"mxfp4", "mxfp8", "nvfp4", "mixed", "w4a16_nvfp4"})
    for (const Groups& groups : kRagged) {
      Problem problem = grouped(format, groups, 34, 96);
      problem.accumulate = true;
      const Operands operands = generateOperands(problem, {"normal", 2}, kNever);
      const std::vector<double> all = referenceProduct(problem, operands, kNever, nullptr);
      const BlockFormat& kind = findBlockFormat(format);
      const int64_t blocks = problem.k / kind.scaleBlockSize;
      const int64_t bytesA = problem.k * kind.elementA().codeBytes();
      const int64_t scalesA = kind.scalesOfRowA(problem.k);
      std::vector<std::vector<uint8_t>> products;
      for (const CpuKernel& kernel : availableKernels())
        products.push_back(productOf(kernel, problem, operands));
      auto part = [](const auto& from, int64_t first, int64_t count) {
        return std::decay_t<decltype(from)>(from.begin() + first, from.begin() + first + count);
      };
      for (int64_t group = 0; group < problem.groups.count(); group++) {
        const auto [first, rows] = problem.groups[group];
        if (rows == 0) continue;
        Problem one{format, rows, problem.n, problem.k, 1, OutputType::kF32};
        one.accumulate = true;
        Operands single;
        single.aCodes = part(operands.aCodes, first * bytesA, rows * bytesA);
        single.aScales = part(operands.aScales, first * scalesA, rows * scalesA);
        single.bCodes = part(operands.bCodes, group * one.n * one.k, one.n * one.k);
        single.bScales = part(operands.bScales, group * one.n * blocks, one.n * blocks);
        single.accumulator = part(operands.accumulator, first * one.n, rows * one.n);
        CHECK(referenceProduct(one, single, kNever, nullptr) ==
              part(all, first * one.n, rows * one.n));
        for (size_t i = 0; const CpuKernel& kernel : availableKernels())
          CHECK(productOf(kernel, one, single) ==
                part(products[i++], first * one.n * 4, rows * one.n * 4));
      }
    }
}

void everyKernelPasses() {
  Groups many{GroupLayout::kOffsets, std::vector<int64_t>(256), 1, 0};
  for (int64_t group = 0; group < 256; group++) many.rows[group] = group * 7 % 5;
  std::vector<Groups> all(std::begin(kRagged), std::end(kRagged));
  all.push_back(many);
  for (const Groups& groups : all)
    for (const char* format : {"mxfp4", "mxfp8", "nvfp4"})
      for (const BOrder order : {BOrder::kNk, BOrder::kKn}) {
        Problem problem = grouped(format, groups, 32, 128, OutputType::kF16);
        problem.bOrder = order;
        const Operands operands = generateOperands(problem, {"normal", 4}, kNever);
        const std::vector<double> reference = referenceProduct(problem, operands, kNever, nullptr);
        for (const CpuKernel& kernel : availableKernels()) {
          auto run = [&](const Operands& given) {
            return KernelRun{productOf(kernel, problem, given)};
          };
          const ValidationReport report =
              validateWith(problem, operands, reference, onCopies(operands, run), usualRequest(),
                           kNever, nullptr);
          checkThat(report.status == ValidationStatus::kPassed, kernel.id + ": " + report.reason,
                    __FILE__, __LINE__);
          const int64_t rows = std::accumulate(groups.rows.begin(), groups.rows.end(), int64_t{0});
          CHECK(report.elements == rows * problem.n);
        }
      }
}

// Padding rows of C hold anything: nothing there is judged, and nothing elsewhere is let pass.
void paddingIsNotJudged() {
  const Problem problem = grouped("mxfp8", kRagged[0], 40, 128);
  const Operands operands = generateOperands(problem, {"normal", 2}, kNever);
  const std::vector<double> reference = referenceProduct(problem, operands, kNever, nullptr);
  const CpuKernel kernel = portableKernel();
  std::vector<uint8_t> c = productOf(kernel, problem, operands);
  for (int64_t row = 0; row < problem.m; row++)
    for (int64_t col = 0; col < problem.n; col++) {
      if (problem.productOf(row) >= 0) continue;
      CHECK(std::isnan(readOutput(problem.output, c.data(), row * problem.n + col)));
      writeOutput(problem.output, 1e30, c.data(), row * problem.n + col);
    }
  auto judged = [&] {
    return judgeOutput(problem, operands, reference, c, usualRequest(), kNever);
  };
  CHECK(judged().status == ValidationStatus::kPassed);
  CHECK(judged().elements == 143 * problem.n);
  writeOutput(problem.output, 1e30, c.data(), (64 + 5) * problem.n + 3);
  const ValidationReport wrong = judged();
  CHECK(wrong.status == ValidationStatus::kIncorrect && wrong.elementsOutside == 1);
  CHECK_CONTAINS(wrong.reason, "row 5, column 3 of group 2");
  CHECK(wrong.failures[0].batch == 2 && wrong.failures[0].row == 5);
}

// A kernel that takes the next group's matrix of B, and one whose scales of A stand one row off
// from the third group on, as they do where padding is counted wrongly.
void wrongGroupsAreSeen() {
  const Problem problem = grouped("mxfp8", {GroupLayout::kOffsets, {40, 40, 40}, 1, 0}, 48, 128);
  const Operands operands = generateOperands(problem, {"normal", 2}, kNever);
  const std::vector<double> reference = referenceProduct(problem, operands, kNever, nullptr);
  const CpuKernel kernel = portableKernel();
  const int64_t matrix = problem.n * problem.k, blocks = problem.k / 32;
  auto validated = [&](const auto& spoil) {
    auto run = [&](const Operands& given) {
      Operands wrong = given;
      spoil(wrong);
      return KernelRun{productOf(kernel, problem, wrong)};
    };
    return validateWith(problem, operands, reference, onCopies(operands, run), usualRequest(),
                        kNever, nullptr);
  };
  CHECK(validated([](Operands&) {}).status == ValidationStatus::kPassed);
  CHECK(validated([&](Operands& wrong) {
          std::rotate(wrong.bCodes.begin(), wrong.bCodes.begin() + matrix, wrong.bCodes.end());
        }).status == ValidationStatus::kIncorrect);
  CHECK(validated([&](Operands& wrong) {
          std::copy(wrong.aScales.begin() + 79 * blocks, wrong.aScales.end() - blocks,
                    wrong.aScales.begin() + 80 * blocks);
        }).status == ValidationStatus::kIncorrect);
}

// --------------------------------------------------------------------------- padding is never read

sigjmp_buf beforeFault;

void onFault(int) { siglongjmp(beforeFault, 1); }

// Whether this ends in a fault: a read of memory that must not be read.
template <typename Work>
bool faults(const Work& work) {
  struct sigaction own = {}, previousSegv = {}, previousBus = {};
  own.sa_handler = onFault;
  sigaction(SIGSEGV, &own, &previousSegv);
  sigaction(SIGBUS, &own, &previousBus);
  volatile bool faulted = true;
  if (sigsetjmp(beforeFault, 1) == 0) {
    work();
    faulted = false;
  }
  sigaction(SIGSEGV, &previousSegv, nullptr);
  sigaction(SIGBUS, &previousBus, nullptr);
  return faulted;
}

// Bytes of rows, the padding rows of which lie on pages that cannot be read; nor can what follows.
class GuardedRows {
 public:
  GuardedRows(const Problem& problem, const std::vector<uint8_t>& bytes, int64_t rowBytes)
      : bytes_(bytes.size()), size_(bytes.size() + page()) {
    memory_ = static_cast<uint8_t*>(
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::copy(bytes.begin(), bytes.end(), memory_);
    std::vector<Segment> closed = paddingRows(problem);
    for (const Segment& rows : closed) {
      CHECK(rows.first * rowBytes % page() == 0 && rows.rows * rowBytes % page() == 0);
      CHECK(mprotect(memory_ + rows.first * rowBytes, rows.rows * rowBytes, PROT_NONE) == 0);
    }
    CHECK(bytes_ % page() == 0);
    CHECK(mprotect(memory_ + bytes_, page(), PROT_NONE) == 0);
  }
  GuardedRows(const GuardedRows&) = delete;
  ~GuardedRows() { munmap(memory_, size_); }
  std::span<const uint8_t> bytes() const { return {memory_, bytes_}; }
  static size_t page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

 private:
  uint8_t* memory_;
  size_t bytes_, size_;
};

void paddingIsNeverRead() {
  const auto page = static_cast<int64_t>(GuardedRows::page());
  for (const char* format : {"mxfp4", "mxfp8", "nvfp4", "mxfp8_e5m2", "mixed"})
    for (const char* distribution : {"normal", "adversarial"}) {
      // A row of codes is whole pages, and so are 64 rows of scales.
      const BlockFormat& block = findBlockFormat(format);
      const int64_t k = page * 8 / block.elementA().storageBits, half = 64;
      for (const Groups& groups :
           {Groups{GroupLayout::kContiguous, {half, 0, 2 * half}, 4 * half, 0},
            Groups{GroupLayout::kMasked, {0, half, 0}, 1, 2 * half}}) {
        const Problem problem = grouped(format, groups, 8, k);
        const Operands operands = generateOperands(problem, {distribution, 3}, kNever);
        const PackedOperands packed = packOperands(problem, operands);
        const GuardedRows codes(problem, packed.a, page);
        const GuardedRows scales(problem, packed.aScales, k / block.scaleBlockSize);
        const KernelOperands guarded{codes.bytes(),  packed.b,           scales.bytes(),
                                     packed.bScales, packed.tensorScale, nullptr};
        const int64_t padding = paddingRows(problem).front().first;
        volatile uint8_t seen = 0;
        // That the guards hold at all.
        CHECK(faults([&] { seen = guarded.a[padding * page]; }));
        CHECK(faults([&] { seen = guarded.aScales[padding * (k / block.scaleBlockSize)]; }));
        for (const CpuKernel& kernel : availableKernels()) {
          Workspace workspace;
          std::vector<uint8_t> c(problem.elements() * 4, 0xff);
          // A fault here ends the program, and with it the test.
          kernel.multiply(problem, guarded, c.data(), workspace, kNever);
          CHECK(c == productOf(kernel, problem, operands));
        }
      }
    }
}

}  // namespace

int main() {
  segmentsStandWhereTheLayoutPutsThem();
  whatAreNoGroupsIsSaid();
  groupsAreProductsOfTheirOwn();
  everyKernelPasses();
  paddingIsNotJudged();
  wrongGroupsAreSeen();
  paddingIsNeverRead();
  return summary();
}
