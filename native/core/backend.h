// What every backend (CPU, CUDA, HIP) offers the addon: the devices it finds, and sessions on them.
//
// A session holds one problem (format, shape, operands) on one device. It validates and measures
// kernels on it. Nothing here knows Node or a GPU library. Calls run on worker threads; a session
// serves one call at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "batch.h"
#include "fields.h"
#include "groups.h"
#include "kernelRow.h"
#include "matmulAlgorithm.h"
#include "roof.h"
#include "words.h"

namespace blockscope {

// ------------------------------------------------------------------------------ errors and control

class Error : public std::runtime_error {
 public:
  Error(ErrorKind errorKind, const std::string& message)
      : std::runtime_error(message), kind(errorKind) {}
  const ErrorKind kind;
};

// Set from any thread; long work polls it at least every 50 ms.
class CancelFlag {
 public:
  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }
  void throwIfRequested() const {
    if (requested()) throw Error(ErrorKind::kCancelled, "Cancelled.");
  }

 private:
  std::atomic<bool> requested_{false};
};

// Called from worker threads with the part done, 0..1, and what is being done ("reference",
// "warm-up", "sampling").
using Progress = std::function<void(double fraction, std::string_view phase)>;

// ----------------------------------------------------------------------------------- what is there

// One library a backend opens at run time. `reason` and `remedy` are sentences, set when it was not
// found.
struct LibraryInfo {
  std::string name;  // "CUDA driver", "NVRTC", "cuBLASLt", "CUPTI", "NVML"
  bool found = false;
  std::string version;
  std::string path;
  std::string reason;
  std::string remedy;
  BLOCKSCOPE_FIELDS(name, found, version, path, reason, remedy)
};

struct Capability {
  std::string format;  // id as in the format registry: "nvfp4", "mxfp8_e5m2", ...
  CapabilityLevel level = CapabilityLevel::kUnavailable;
  std::string reason;  // how it is computed, or why it is not available
  // The class of instruction that multiplies, whose peak is the kernel's roof: "bf16", "fp8",
  // "fp4", and on a CPU with the instruction set, "int8:avx512-vnni". Empty: not known, there is no
  // roof.
  std::string instruction;
  BLOCKSCOPE_FIELDS(format, level, reason, instruction)
};

struct KernelInfo {
  std::string id;                      // "cpu-avx512-vnni", "wgmma-fp8", "cublaslt-bf16"
  std::string provider;                // "blockscope", "cuBLASLt", "user"
  std::string summary;                 // one line for the kernel list
  std::string scaleLayout = "linear";  // layout of packed scales this kernel reads
  bool baseline = false;  // true: not the block-scaled operation, shown for comparison only
  // Bits of an element of A and B as this kernel reads them, without block scales (a baseline's
  // operands are converted beforehand); 0: the format's own packed codes and scales.
  int operandBits = 0;
  std::vector<OutputType> outputs;  // types of C it can give
  // What it is made of: source, target and options, or a library's name and version. Its SHA-256,
  // the sourceHash of the contract, tells kernels apart.
  std::vector<uint8_t> identity;
  std::string compileOptions;
  std::vector<Capability> capabilities;  // one per format
  std::vector<Feature> features;
  BLOCKSCOPE_FIELDS(id, provider, summary, scaleLayout, baseline, operandBits, outputs, identity,
                    compileOptions, capabilities, features)
};

using PropertyValue = std::variant<bool, double, std::string>;

struct DeviceInfo {
  std::string id;            // "cpu", "cuda:0"
  std::string kind;          // "cpu", "cuda", "hip"
  std::string name;          // "NVIDIA H200", "AMD EPYC 9005"
  std::string architecture;  // "sm_90", "x86-64 AVX-512 VNNI"
  // Units are part of the key: smCount, clockMHz, memoryClockMHz, memoryBusBits, memoryBytes,
  // freeMemoryBytes, l2Bytes, driverVersion, uuid, ecc, mig, powerLimitW, cores, ...
  std::map<std::string, PropertyValue> properties;
  std::vector<KernelInfo> kernels;
  BLOCKSCOPE_FIELDS(id, kind, name, architecture, properties, kernels)
};

// ------------------------------------------------------------------------------------- the problem

// One product of an operation: rows of A (of all its matrices together) times a matrix of B, into
// rows of C.
struct Product {
  int64_t firstA = 0, rows = 0, matrixB = 0, firstC = 0;
};

// C[m, n] = outputScale * (accumulator[m, n] + tensor scales * sum over k of
//           A[m, k] SA[m, k / V] B[n, k] SB[n, k / V])
// for every matrix of the batch; A (M, K), C and accumulator (M, N), row-major. With groups, M is
// all rows of A, padding included, and each group's rows are multiplied with its matrix of B;
// padding rows are never read, and what C holds there is nothing.
struct Problem {
  std::string format;
  int64_t m = 0, n = 0, k = 0;
  MatrixBatch batch = 1;
  OutputType output = OutputType::kF16;
  // What kernels read; canonical operands are (N, K) in either order.
  BOrder bOrder = BOrder::kNk;
  bool accumulate = false;   // beta is 1
  float outputScale = 1.0f;  // other than 1 for 8-bit types of C alone
  Segments groups = {};      // none: the batch alone says what is multiplied with what

  bool isGrouped() const { return groups.count() > 0; }
  // Makes it a grouped product: M is the rows of all segments, B one matrix for each.
  void setGroups(const Groups&);

  int64_t rowsOfA() const { return batch.countA() * m; }
  int64_t rowsOfB() const { return batch.countB() * n; }
  int64_t rowsOfC() const { return isGrouped() ? m : batch.count() * m; }
  int64_t elements() const { return rowsOfC() * n; }  // of C

  // The products that it is made of: one for each matrix of C, or for each group (empty ones too).
  int64_t productCount() const { return batch.count(); }
  Product product(int64_t index) const;
  // The product that a row of C (of all its matrices together) belongs to; -1: none, it is padding.
  int64_t productOf(int64_t rowOfC) const;
};
// `before` and which product it is, "of matrix 2" or "of group 2"; empty where there is only one.
std::string productWords(const Problem&, int64_t product, const std::string& before);

// Canonical host operands: one code per byte (per two bytes, little-endian, where a code has 16
// bits), scales linear. `tensorScale*`: nvfp4's float32 per-tensor scale. Matrices of a batch
// follow one another.
struct Operands {
  std::vector<uint8_t> aCodes;   // A's batch * M * K
  std::vector<uint8_t> bCodes;   // B's batch * N * K
  std::vector<uint8_t> aScales;  // A's batch * M * K / V; empty where A has none
  std::vector<uint8_t> bScales;  // B's batch * N * K / V
  float tensorScaleA = 1.0f;
  float tensorScaleB = 1.0f;
  std::vector<float> accumulator;  // batch * M * N; empty where nothing is accumulated
  BLOCKSCOPE_FIELDS(aCodes, bCodes, aScales, bScales, tensorScaleA, tensorScaleB, accumulator)
};

enum class OperandSide { kA, kB };

struct GeneratedOperands {
  std::string distribution;  // "normal", "tutorial", ...: docs/operands.md
  uint64_t seed = 0;
};

struct GivenOperands {
  Operands operands;
  // optional batch * M * N float64 results made by others' code; empty when absent
  std::vector<double> reference;
};

// -------------------------------------------------------------------------------------- validation

// An element passes when |got - reference| <= atol + rtol * |reference|, as numpy.isclose.
struct Tolerance {
  double atol = 0;
  double rtol = 0;
};

struct ValidateRequest {
  std::string kernel;
  Tolerance tolerance;
  int maxFailures = 0;  // how many failing elements to describe
  int mapTiles = 1;     // the error map has at most this many tiles along each side
  PassRule rule = PassRule::kAllowances;
  // Norm-wise error before C is rounded that the kernel's row states for these operands, by which
  // it is judged unless the rule leaves allowances out; 0: none, it is judged by the tolerance.
  double statedError = 0;

  double judgedError() const { return rule == PassRule::kAllowances ? statedError : 0; }
};

struct FailedElement {
  int64_t batch = 0, row = 0, col = 0;  // the matrix of C, or the group, and the place in it
  double got = 0, reference = 0, absoluteError = 0;
  // The scale block along K with the largest |contribution| to this element, and its codes and
  // scales.
  int64_t block = 0;
  std::vector<uint16_t> aCodes, bCodes;  // V codes each
  std::optional<uint8_t> aScale;         // none: A has no scales
  uint8_t bScale = 0;
  BLOCKSCOPE_FIELDS(batch, row, col, got, reference, absoluteError, block, aCodes, bCodes, aScale,
                    bScale)
};

// One scale raised by one exponent must change exactly its row (A) or column (B) by exactly its
// block's share.
struct PerturbationCheck {
  CheckState state = CheckState::kNotRun;
  int64_t row = 0, block = 0;  // which scale was raised: row of A or B, block along K
  std::string reason;          // one sentence when it failed, or why it was not run
  BLOCKSCOPE_FIELDS(state, row, block, reason)
};

// What the kernel counted on the device while it made its product, by its manifest row.
struct Counted {
  std::string of;
  std::vector<std::string> labels;  // none: it counts nothing
  std::vector<uint64_t> counts;     // one for each label
  BLOCKSCOPE_FIELDS(of, labels, counts)
};

struct ValidationReport {
  ValidationStatus status = ValidationStatus::kPassed;
  std::string reason;  // one sentence when not passed
  int64_t elements = 0, elementsOutside = 0, nonFinite = 0;
  // Elements beyond the tolerance that pass by an allowance of the rule alone.
  int64_t withinRounding = 0, withinCancellation = 0;
  // Of a kernel that is judged by the error that it states: elements that pass by that alone, and
  // its norm-wise error without what rounding C to its type costs.
  int64_t withinStated = 0;
  double statedError = 0, errorBeforeRounding = 0;
  double maxToleranceShare = 0;  // largest error / tolerance: 0.5 leaves half of it
  // |got - reference| in units in the last place of the output type at the reference, less the half
  // that rounding to nearest may cost: 0 for a product that was right before it was rounded. Over
  // finite elements.
  double maxUlpsAboveRounding = 0, meanUlpsAboveRounding = 0;
  double maxAbs = 0, maxRel = 0;  // maxRel over elements whose reference is not zero
  double normwise = 0;            // ||got - ref|| / ||ref||, Frobenius
  // max |got - ref| / (|A| |B|)[m, n], over up to 1024 elements spread evenly
  double maxScaled = 0;
  double referenceRms = 0, referenceNonZero = 0;  // share of non-zero reference elements, 0..1
  // Distance in units in the last place of the output type: 0, 1, 2, 3..4, 5..8, 9..16, ..., last
  // is open.
  std::vector<uint64_t> ulpHistogram;
  // Largest error / tolerance per tile, row-major; mapRows x mapCols tiles of tileRows x tileCols
  // elements.
  std::vector<float> errorMap;
  int64_t mapRows = 0, mapCols = 0, tileRows = 0, tileCols = 0;
  std::vector<FailedElement> failures;
  PerturbationCheck perturbationA, perturbationB;
  std::string oracle;        // which code made the reference: "cpu-f64", "cuda-f64", "file"
  std::string outputDigest;  // of C's bytes: kernels with the same one agree bit for bit
  Counted counted;           // in the first run
  std::optional<MatmulAlgorithm> algorithm = {};  // of a library's kernel
  // Time of the operation's own launches, each time it was run here (as it is, then with a scale
  // raised), without operands, compilation and comparison.
  std::vector<double> launchNs;
  // Wall time of the phases. kernelSeconds: the first run with all that surrounds it.
  double oracleSeconds = 0, kernelSeconds = 0, comparisonSeconds = 0, perturbationSeconds = 0;
  BLOCKSCOPE_FIELDS(status, reason, elements, elementsOutside, nonFinite, withinRounding,
                    withinCancellation, withinStated, statedError, errorBeforeRounding,
                    maxToleranceShare, maxUlpsAboveRounding, meanUlpsAboveRounding, maxAbs, maxRel,
                    normwise, maxScaled, referenceRms, referenceNonZero, ulpHistogram, errorMap,
                    mapRows, mapCols, tileRows, tileCols, failures, perturbationA, perturbationB,
                    oracle, outputDigest, counted, algorithm, launchNs, oracleSeconds,
                    kernelSeconds, comparisonSeconds, perturbationSeconds)
};

// ------------------------------------------------------------------------------------- measurement

// spec: docs/measurement.md, method bs-3. All times in nanoseconds. The caller says every field:
// the presets are those of src-shared/measurement/presets.ts.
struct MeasureRequest {
  std::string kernel;
  bool cold = false;       // rotate operand sets so that L2 holds none of them; false: hot
  int warmupLaunches = 0;  // > 0: exactly this many; else at least 3 and warmupNs
  double warmupNs = 0;     // GPU time of warm-up
  int minSamples = 0;
  double minTimeNs = 0;
  double maxRelativeStdev = 0;
  int maxSamples = 0;
  double timeoutNs = 0;
  int fixedSamples = 0;    // > 0: exactly this many, other stop rules off
  double sustainedNs = 0;  // > 0: also run back to back for this long ("batch")
  // per-kernel records from a separate profiled pass where the backend has one
  bool recordLaunches = false;
  int companions = 0;  // processes of this program that wait with contexts of their own: no others
  BLOCKSCOPE_FIELDS(kernel, cold, warmupLaunches, warmupNs, minSamples, minTimeNs, maxRelativeStdev,
                    maxSamples, timeoutNs, fixedSamples, sustainedNs, recordLaunches, companions)
};

struct LaunchRecord {
  std::string name;  // as the driver reports it, possibly mangled
  int64_t startNs = 0, endNs = 0;
  uint32_t stream = 0;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  uint32_t registersPerThread = 0, sharedMemoryBytes = 0;
  BLOCKSCOPE_FIELDS(name, startNs, endNs, stream, grid, block, registersPerThread,
                    sharedMemoryBytes)
};

struct Measurement {
  std::vector<double> samplesNs;   // every accepted sample, per operation, in order
  std::vector<double> samplesMHz;  // SM or core clock per sample; empty when it cannot be read
  int discarded = 0;
  int launchesPerSample = 1;  // > 1: grouped
  int operandSets = 1;
  std::string cacheMode;     // "cold: 3 operand sets", "cold: cache flush", "hot"
  std::string timingSource;  // "steady clock", "CUDA events", "CUPTI"
  std::string stopReason;  // "relative stdev", "noise stable", "sample limit", "timed out", "fixed"
  double warmupNs = 0;
  double compileSeconds = 0;
  double meanWatts = 0, meanTemperatureC = 0;  // 0: unknown
  // "power-capped", "thermal", "contended", "noisy", "grouped", ...
  std::vector<std::string> badges;
  std::vector<LaunchRecord> launches;  // of one operation
  std::string launchSource;            // what timed them: "CUPTI", or empty
  // Back to back:
  double sustainedNs = 0;  // mean per operation; 0: not measured
  int64_t sustainedCount = 0;
  double sustainedWatts = 0, joulesPerLaunch = 0;
  std::optional<MatmulAlgorithm> algorithm = {};  // of a library's kernel
  BLOCKSCOPE_FIELDS(samplesNs, samplesMHz, discarded, launchesPerSample, operandSets, cacheMode,
                    timingSource, stopReason, warmupNs, compileSeconds, meanWatts, meanTemperatureC,
                    badges, launches, launchSource, sustainedNs, sustainedCount, sustainedWatts,
                    joulesPerLaunch, algorithm)
};

// ---------------------------------------------------------------------------------------- backends

class Session {
 public:
  virtual ~Session() = default;
  virtual ValidationReport validate(const ValidateRequest&, const CancelFlag&, const Progress&) = 0;
  virtual Measurement measure(const MeasureRequest&, const CancelFlag&, const Progress&) = 0;
  // Judges a product computed elsewhere (another process) against this session's reference.
  // `output` holds M * N elements of the problem's output type, row-major.
  virtual ValidationReport judge(const std::vector<uint8_t>& output, const ValidateRequest&,
                                 const CancelFlag&, const Progress&) = 0;
  // The session's operands in canonical host form, and its float64 reference (M * N); for tests and
  // other providers.
  virtual const Operands& operands() = 0;
  virtual const std::vector<double>& reference(const CancelFlag&, const Progress&) = 0;
};

struct BackendOptions {
  std::vector<KernelRow> kernelSources;
  std::string cacheDirectory;  // for compiled kernels; empty: they are kept in memory
  BLOCKSCOPE_FIELDS(kernelSources, cacheDirectory)
};

// A kernel and a problem that it will be asked to do.
struct KernelUse {
  std::string kernel;
  Problem problem;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view kind() const = 0;  // prefix of its device ids
  // Never throws: what is missing is said in the result.
  virtual std::vector<LibraryInfo> libraries() = 0;
  virtual std::vector<DeviceInfo> devices() = 0;
  virtual std::unique_ptr<Session> open(const std::string& deviceId, const Problem&,
                                        std::variant<GeneratedOperands, GivenOperands>,
                                        const CancelFlag&, const Progress&) = 0;
  // Compiles what these need, side by side, so that sessions find it made. What does not compile,
  // and what the device does not take, is said by the session that needs it.
  virtual void compileAhead(const std::string& /*deviceId*/, const std::vector<KernelUse>&,
                            const CancelFlag&, const Progress&) {}
  // What the device reaches, measured now; a few seconds in which nothing else should run on it.
  virtual std::vector<Roof> measureRoofs(const std::string& deviceId, const CancelFlag&,
                                         const Progress&) = 0;
};

std::unique_ptr<Backend> makeCpuBackend(const BackendOptions&);
std::unique_ptr<Backend> makeCudaBackend(const BackendOptions&);

}  // namespace blockscope
