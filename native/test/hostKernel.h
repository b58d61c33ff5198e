// A kernel of a manifest's row whose memory is the host's, a plain loop, and the functions that a
// stand-in of a GPU's driver finds by name: the passes are the device's own code, compiled for the
// CPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../core/formats.h"
#include "../core/operands.h"
#include "../core/oracle.h"
#include "../core/outputs.h"
#include "../core/packing.h"
#include "../cuda/rowProblem.h"
#include "check.h"
#include "deviceCode.h"

namespace host {

using namespace blockscope;

inline const CancelFlag kNever;

using Function = std::function<void(void** arguments)>;
inline std::map<std::string, Function> functions;
// Names of what was launched, in order.
inline std::vector<std::string> launched;

template <typename... Parameters, size_t... index>
void callWith(void (*function)(Parameters...), void** arguments, std::index_sequence<index...>) {
  function(*static_cast<std::remove_reference_t<Parameters>*>(arguments[index])...);
}
template <typename... Parameters>
void offer(const std::string& name, void (*function)(Parameters...)) {
  functions[name] = [=](void** arguments) {
    callWith(function, arguments, std::index_sequence_for<Parameters...>());
  };
}

// `function` of `grid` blocks of `block` threads, one after the other.
inline int launch(void* function, unsigned grid, unsigned block, void** arguments) {
  const auto& [name, call] = *static_cast<std::pair<const std::string, Function>*>(function);
  launched.push_back(name);
  device::gridDim.x = grid, device::blockDim.x = block;
  for (device::blockIdx.x = 0; device::blockIdx.x < grid; device::blockIdx.x++)
    for (device::threadIdx.x = 0; device::threadIdx.x < block; device::threadIdx.x++)
      call(arguments);
  return 0;
}
// A handle of the function of a name; null: there is none.
inline void* find(const char* name) {
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : &*found;
}
template <typename T>
int made(T* to) {
  static uintptr_t next = 0;
  *to = (T)(++next);
  return 0;
}

// ------------------------------------------------------------------------------- the kernel

// What its macros would tell it.
inline const BlockFormat* kernelFormat = nullptr;
inline BOrder kernelOrder = BOrder::kNk;

// One matrix of C, of `type`, from packed codes.
inline void multiply(const uint8_t* aCodes, const uint8_t* bCodes, const uint8_t* aScales,
                     const uint8_t* bScales, void* c, int m, int n, int k, float tensorScale,
                     const float* accumulator, float outputScale, int type) {
  const BlockFormat& format = *kernelFormat;
  const int64_t size = format.scaleBlockSize, blocks = k / size;
  const NumberFormat& ofA = format.elementA();
  std::vector<uint8_t> a(m * k * ofA.codeBytes()), b(n * k);
  unpackCodes(format.elementA(), aCodes, m * k, a.data());
  unpackCodes(format.elementB(), bCodes, n * k, b.data());
  const bool turned = kernelOrder == BOrder::kKn;
  for (int64_t row = 0; row < m; row++)
    for (int64_t col = 0; col < n; col++) {
      double sum = 0;
      for (int64_t d = 0; d < k; d++) {
        const uint8_t codeB = b[turned ? d * n + col : col * k + d];
        const uint8_t scaleB = bScales[turned ? d / size * n + col : col * blocks + d / size];
        const double scaleA =
            ofA.isScaled() ? decode(format.scaleFormat(), aScales[row * blocks + d / size]) : 1;
        sum += decode(ofA, codeAt(ofA, a.data(), row * k + d)) * scaleA *
               decode(format.elementB(), codeB) * decode(format.scaleFormat(), scaleB);
      }
      const int64_t at = row * n + col;
      float value = static_cast<float>(sum) * tensorScale;
      if (accumulator) value += accumulator[at];
      writeOutput(static_cast<OutputType>(type), value * outputScale, c, at);
    }
}

// All groups, as a kernel that finds them itself.
inline void multiplyGroups(const uint8_t* aCodes, const uint8_t* bCodes, const uint8_t* aScales,
                           const uint8_t* bScales, uint8_t* c, const int* starts, const int* rows,
                           int groups, int n, int k, float tensorScale, const float* accumulator,
                           float outputScale, int type) {
  const BlockFormat& format = *kernelFormat;
  const int64_t blocks = k / format.scaleBlockSize;
  for (int64_t group = 0; group < groups; group++) {
    const int64_t start = starts[group];
    multiply(aCodes + packedBytes(format.elementA(), start * k),
             bCodes + packedBytes(format.elementB(), group * n * k),
             aScales ? aScales + start * blocks : nullptr, bScales + group * n * blocks,
             c + start * n * outputBytes(static_cast<OutputType>(type)), rows[group], n, k,
             tensorScale, accumulator ? accumulator + start * n : nullptr, outputScale, type);
  }
}

inline void countMatrices(uint32_t* counters, int rows) {
  if (counters) counters[0]++, counters[1] += rows;
}

// What launches to come find wrong, one after the other; empty: nothing.
inline std::vector<std::string> complaints;
inline void complain(char* fault) {
  const std::string said = complaints.front();
  complaints.erase(complaints.begin());
  if (!said.empty()) std::copy_n(said.c_str(), said.size() + 1, fault);
}

inline void offerAll() {
  offer("count", countMatrices);
  offer("complain", complain);
  offer("multiply", multiply);
  offer("multiplyGroups", multiplyGroups);
  offer("turnPacked", device::turnPacked);
  offer("finish", device::finish);
}

// It has what is beside the product at `level`; C is written as `written`.
inline KernelRow kernelRow(FeatureLevel level, OutputType written, const std::string& target) {
  KernelRow row;
  row.id = "host", row.file = "../../resources/kernels/cuda/simt.cu";
  row.architectures = {target};
  for (const BlockFormat& format : everyBlockFormat())
    row.formats.push_back({std::string(format.id), CapabilityLevel::kExact, "", {}, ""});
  row.outputs = {OutputType::kF16, OutputType::kBf16, OutputType::kF32};
  if (level == FeatureLevel::kFused)
    for (const OutputType type : {OutputType::kE4m3, OutputType::kE5m2})
      row.outputs.push_back(type);
  for (const char* id : {"b-kn", "accumulator", "f8-output"})
    row.features.push_back({id, level, ""});
  row.features.push_back({"batch", FeatureLevel::kFused, ""});
  LaunchRow launch;
  launch.function = "multiply", launch.grid = {"1"}, launch.block = {"1"};
  launch.arguments = {"aCodes",
                      "bCodes",
                      "aScales",
                      "bScales",
                      "c",
                      "M",
                      "N",
                      "K",
                      "f32:tensorScale",
                      "accumulator",
                      "f32:outputScale",
                      std::to_string(static_cast<int>(written))};
  row.launches = {launch};
  return row;
}

// The row for a problem, and what its macros would tell the kernel.
inline KernelRow rowFor(const Problem& problem, FeatureLevel level, const std::string& target) {
  const bool fused = level == FeatureLevel::kFused;
  kernelFormat = &findBlockFormat(problem.format);
  kernelOrder = fused ? problem.bOrder : BOrder::kNk;
  const bool finishes = !fused && (problem.accumulate || outputBytes(problem.output) == 1);
  const OutputType written = finishes ? OutputType::kF32 : problem.output;
  KernelRow row = kernelRow(level, written, target);
  row.features.push_back({"grouped", level, ""});
  if (cuda::ownProblem(row, problem).isGrouped()) {
    row.launches[0].function = "multiplyGroups";
    row.launches[0].arguments = {"aCodes",
                                 "bCodes",
                                 "aScales",
                                 "bScales",
                                 "c",
                                 "groupStarts",
                                 "groupRows",
                                 "GROUPS",
                                 "N",
                                 "K",
                                 "f32:tensorScale",
                                 "accumulator",
                                 "f32:outputScale",
                                 std::to_string(static_cast<int>(written))};
  }
  return row;
}

// A kernel that counts matrices and their rows, or is given no place to.
inline KernelRow countingRow(bool counts, const std::string& target) {
  KernelRow row = kernelRow(FeatureLevel::kFused, OutputType::kF32, target);
  LaunchRow& launch = row.launches[0];
  launch.function = "count", launch.arguments = {"counters", "M"};
  if (counts) row.counters = {"matrices", {"all", "rows"}};
  return row;
}
inline const Problem kCounted{"mxfp4", 4, 4, 64, 3, OutputType::kF32};
inline void checkCounted(const Counted& counted, bool counts, uint64_t operations) {
  const std::vector<uint64_t> expected = {3 * operations, 12 * operations};
  CHECK(counted.of == (counts ? "matrices" : "") && counted.labels.size() == (counts ? 2 : 0));
  CHECK(counted.counts == (counts ? expected : std::vector<uint64_t>{}));
}

// C of operands "normal" with seed 5, through a kernel that does or does not do it all itself.
using Compute = std::vector<uint8_t> (*)(const Problem&, FeatureLevel);

inline void everyKernelTakesTheWholeOperation(Compute computed) {
  for (const char* format : {"mxfp4", "mxfp6_e2m3", "nvfp4", "e5m2xe2m1", "w4a16_nvfp4"})
    for (const BOrder order : {BOrder::kNk, BOrder::kKn})
      for (const bool accumulate : {false, true})
        for (const OutputType output : {OutputType::kF32, OutputType::kBf16, OutputType::kE5m2}) {
          Problem problem{format, 5, 12, 64, MatrixBatch({2, 1}, {3}), output, order, accumulate};
          if (output == OutputType::kE5m2) problem.outputScale = 0.3f;
          const Operands operands = generateOperands(problem, {"normal", 5}, kNever);
          const std::vector<double> reference =
              referenceProduct(problem, operands, kNever, nullptr);
          for (const FeatureLevel level : {FeatureLevel::kFused, FeatureLevel::kPass}) {
            const std::vector<uint8_t> c = computed(problem, level);
            int64_t wrong = 0;
            for (int64_t i = 0; i < problem.elements(); i++) {
              const double room = 1e-6 * (std::fabs(reference[i]) + 1);
              const double value = readOutput(output, c.data(), i);
              wrong += !(value >= roundToOutput(output, reference[i] - room) &&
                         value <= roundToOutput(output, reference[i] + room));
            }
            checkThat(wrong == 0,
                      std::string(format) + " to " + std::string(wordOf(output)) + ", B " +
                          std::string(wordOf(order)) + (accumulate ? ", accumulated, " : ", ") +
                          std::string(wordOf(level)) + ": " + std::to_string(wrong) + " wrong",
                      __FILE__, __LINE__);
          }
        }
}

// The passes are there where they are needed, and B is turned once for what shares it.
inline void passesAreLaunchedAroundTheKernel(Compute computed) {
  using Names = std::vector<std::string>;
  Problem problem{"mxfp4", 5, 12, 64, MatrixBatch({2}, {1}), OutputType::kE4m3, BOrder::kKn, true};
  computed(problem, FeatureLevel::kFused);
  CHECK(launched == (Names{"multiply", "multiply"}));
  computed(problem, FeatureLevel::kPass);
  CHECK(launched ==
        (Names{"turnPacked", "turnPacked", "multiply", "finish", "multiply", "finish"}));
  problem.bOrder = BOrder::kNk, problem.accumulate = false, problem.output = OutputType::kF16;
  computed(problem, FeatureLevel::kPass);
  CHECK(launched == (Names{"multiply", "multiply"}));
}

// A kernel that does groups does a batch, in which no matrix is shared, in one launch of them.
inline void matricesThatNoneSharesAreOneLaunch(Compute computed) {
  using Names = std::vector<std::string>;
  for (const char* format : {"mxfp4", "mxfp6_e2m3", "nvfp4", "w4a16_mxfp4"})
    for (const BOrder order : {BOrder::kNk, BOrder::kKn})
      for (const bool whole : {false, true})
        for (const FeatureLevel level : {FeatureLevel::kFused, FeatureLevel::kPass}) {
          Problem problem{format, 5, 12, 64, MatrixBatch({2, 2}, {2, 2}), OutputType::kF32, order};
          problem.accumulate = whole;
          const std::vector<uint8_t> c = computed(problem, level);
          if (level == FeatureLevel::kFused) CHECK(launched == Names{"multiplyGroups"});
          else CHECK(std::count(launched.begin(), launched.end(), "multiply") == 4);
          const Operands operands = generateOperands(problem, {"normal", 5}, kNever);
          const std::vector<double> reference =
              referenceProduct(problem, operands, kNever, nullptr);
          bool right = true;
          for (int64_t i = 0; i < problem.elements(); i++)
            right = right && std::fabs(readOutput(problem.output, c.data(), i) - reference[i]) <=
                                 1e-6 * (std::fabs(reference[i]) + 1);
          checkThat(right, std::string(format) + " in a batch, " + std::string(wordOf(level)),
                    __FILE__, __LINE__);
        }
  Problem shared{"mxfp4", 5, 12, 64, MatrixBatch({3}, {1}), OutputType::kF32};
  computed(shared, FeatureLevel::kFused);
  CHECK(launched == (Names{"multiply", "multiply", "multiply"}));
}

inline const Groups kGroups[] = {{GroupLayout::kContiguous, {5, 0, 4, 1}, 4, 0},
                                 {GroupLayout::kMasked, {0, 3, 7}, 1, 7},
                                 {GroupLayout::kOffsets, {2, 0, 6}, 1, 0}};

// By a kernel that does all groups in one launch, or is launched for each that has rows.
inline void groupsAreFoundOrLaunchedOneByOne(Compute computed) {
  for (const char* format : {"mxfp4", "mxfp6_e2m3", "nvfp4", "w4a16_mxfp4"})
    for (const Groups& groups : kGroups)
      for (const FeatureLevel level : {FeatureLevel::kFused, FeatureLevel::kPass})
        for (const bool whole : {false, true}) {
          Problem problem{format, 0, 12, 64, 1, OutputType::kF32};
          problem.setGroups(groups);
          problem.accumulate = whole;
          if (whole && level == FeatureLevel::kPass) problem.bOrder = BOrder::kKn;
          const std::vector<uint8_t> c = computed(problem, level);
          const auto filled = std::count_if(groups.rows.begin(), groups.rows.end(),
                                            [](int64_t rows) { return rows > 0; });
          CHECK(std::count(launched.begin(), launched.end(), "multiplyGroups") ==
                (level == FeatureLevel::kFused));
          CHECK(std::count(launched.begin(), launched.end(), "multiply") ==
                (level == FeatureLevel::kFused ? 0 : filled));
          CHECK(std::count(launched.begin(), launched.end(), "finish") ==
                (whole && level == FeatureLevel::kPass ? filled : 0));
          const Operands operands = generateOperands(problem, {"normal", 5}, kNever);
          const std::vector<double> reference =
              referenceProduct(problem, operands, kNever, nullptr);
          bool right = true;
          for (int64_t i = 0; i < problem.elements(); i++) {
            const double value = readOutput(problem.output, c.data(), i);
            // Padding of C stays as it was: NaN.
            if (problem.productOf(i / problem.n) < 0) right = right && std::isnan(value);
            else
              right =
                  right && std::fabs(value - reference[i]) <= 1e-6 * (std::fabs(reference[i]) + 1);
          }
          checkThat(right, std::string(format) + " in groups, " + std::string(wordOf(level)),
                    __FILE__, __LINE__);
        }
}

// `faults`: of two operations, one after the other.
using Faults = std::vector<std::string> (*)(const Problem&, const KernelRow&);

inline void whatAKernelFindsWrongIsRead(const std::string& target, Faults faults) {
  const Problem problem{"mxfp4", 5, 12, 64, MatrixBatch({2}, {2}), OutputType::kF32};
  KernelRow row = rowFor(problem, FeatureLevel::kPass, target);
  row.workspace = {{"said", "64", false, true}};
  row.launches[0].function = "complain", row.launches[0].arguments = {"said"};
  // Each matrix of the batch is a launch; a later one does not clear what an earlier one says.
  complaints = {"column 7 is not allocated", "", "", ""};
  CHECK(faults(problem, row) == (std::vector<std::string>{"column 7 is not allocated", ""}));
}

}  // namespace host
