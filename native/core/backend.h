// What every backend (CPU, CUDA, HIP) offers the addon: the devices it finds, and sessions on them.
//
// A session holds one problem (format, shape, operands) on one device. It validates and measures kernels on it.
// Nothing here knows Node or a GPU library. Calls run on worker threads; a session serves one call at a time.
#pragma once

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

namespace blockscope {

// ---------------------------------------------------------------------------------------------- errors and control

// What kind of trouble: decides the exit code and the wording in the app. `message` is one sentence for a person.
enum class ErrorKind {
  kUsage,        // wrong shape, format, kernel or file: exit code 2
  kUnavailable,  // device, driver or library missing: exit code 3
  kDevice,       // the device failed: out of memory, lost, launch failure, watchdog
  kCompile,      // a kernel did not compile; the message carries the compiler's log
  kCancelled,
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind errorKind, const std::string& message) : std::runtime_error(message), kind(errorKind) {}
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

// Called from worker threads with the part done, 0..1, and what is being done ("reference", "warm-up", "sampling").
using Progress = std::function<void(double fraction, std::string_view phase)>;

// ------------------------------------------------------------------------------------------------- what is there

// One library a backend opens at run time. `reason` and `remedy` are sentences, set when it was not found.
struct LibraryInfo {
  std::string name;  // "CUDA driver", "NVRTC", "cuBLASLt", "CUPTI", "NVML"
  bool found = false;
  std::string version;
  std::string path;
  std::string reason;
  std::string remedy;
};

// How a kernel computes a format on a device.
enum class CapabilityLevel {
  kNative,       // the hardware's own block-scaled matrix instruction
  kExact,        // software scheme, every product exact
  kApproximate,  // software scheme with a stated error
  kUnavailable,  // not possible here; `reason` says why
};

struct Capability {
  std::string format;  // id as in the format registry: "nvfp4", "mxfp8_e5m2", ...
  CapabilityLevel level = CapabilityLevel::kUnavailable;
  std::string reason;  // how it is computed, or why it is not available
};

struct KernelInfo {
  std::string id;        // "cpu-avx512-vnni", "wgmma-fp8", "cublaslt-bf16"
  std::string provider;  // "blockscope", "cuBLASLt", "user"
  std::string summary;   // one line for the kernel list
  std::string scaleLayout = "linear";  // layout of packed scales this kernel reads
  bool baseline = false;               // true: not the block-scaled operation, shown for comparison only
  std::string sourceHash;              // SHA-256 of source and options, or of the library's name and version
  std::string compileOptions;
  std::vector<Capability> capabilities;  // one per format
};

using PropertyValue = std::variant<bool, double, std::string>;

struct DeviceInfo {
  std::string id;            // "cpu", "cuda:0"
  std::string kind;          // "cpu", "cuda", "hip"
  std::string name;          // "NVIDIA H200", "AMD EPYC 9005"
  std::string architecture;  // "sm_90", "x86-64 AVX-512 VNNI"
  // Units are part of the key: smCount, clockMHz, memoryClockMHz, memoryBusBits, memoryBytes, freeMemoryBytes,
  // l2Bytes, driverVersion, uuid, ecc, mig, powerLimitW, cores, ...
  std::map<std::string, PropertyValue> properties;
  std::vector<KernelInfo> kernels;
};

// --------------------------------------------------------------------------------------------------- the problem

enum class OutputType { kF16, kBf16, kF32, kE4m3 };

// C[m, n] = sum over k of A[m, k] SA[m, k / V] B[n, k] SB[n, k / V];  A (M, K), B (N, K), C (M, N), row-major.
struct Problem {
  std::string format;
  int64_t m = 0, n = 0, k = 0;
  int64_t batch = 1;  // operands and C have this many independent matrices, one after the other
  OutputType output = OutputType::kF16;
};

// Canonical host operands: one code per byte, scales linear. `tensorScale*`: nvfp4's float32 per-tensor scale.
struct Operands {
  std::vector<uint8_t> aCodes;   // batch * M * K
  std::vector<uint8_t> bCodes;   // batch * N * K
  std::vector<uint8_t> aScales;  // batch * M * K / V
  std::vector<uint8_t> bScales;  // batch * N * K / V
  float tensorScaleA = 1.0f;
  float tensorScaleB = 1.0f;
};

struct GeneratedOperands {
  std::string distribution;  // "normal", "tutorial", ...: docs/operands.md
  uint64_t seed = 42;
};

struct GivenOperands {
  Operands operands;
  std::vector<double> reference;  // optional M * N float64 product made by others' code; empty when absent
};

// ------------------------------------------------------------------------------------------------------ validation

// An element passes when |got - reference| <= atol + rtol * |reference|, as numpy.isclose.
struct Tolerance {
  double atol = 1e-3;
  double rtol = 1e-3;
};

struct ValidateRequest {
  std::string kernel;
  Tolerance tolerance;
  int maxFailures = 16;  // how many failing elements to describe
  int mapTiles = 64;     // the error map has at most this many tiles along each side
};

struct FailedElement {
  int64_t batch = 0, row = 0, col = 0;
  double got = 0, reference = 0, absoluteError = 0;
  // The scale block along K with the largest |contribution| to this element, and its codes and scales.
  int64_t block = 0;
  std::vector<uint8_t> aCodes, bCodes;  // V codes each
  uint8_t aScale = 0, bScale = 0;
};

// One scale raised by one exponent must change exactly its row (A) or column (B) by exactly its block's share.
struct PerturbationCheck {
  bool passed = false;
  int64_t row = 0, block = 0;  // which scale was raised: row of A or B, block along K
  std::string reason;          // one sentence when it failed
};

enum class ValidationStatus { kPassed, kIncorrect, kProvesNothing };

struct ValidationReport {
  ValidationStatus status = ValidationStatus::kPassed;
  std::string reason;  // one sentence when not passed
  int64_t elements = 0, elementsOutside = 0, nonFinite = 0;
  double maxAbs = 0, maxRel = 0;  // maxRel over elements whose reference is not zero
  double normwise = 0;            // ||got - ref|| / ||ref||, Frobenius
  double maxScaled = 0;           // max |got - ref| / (|A| |B|)[m, n], over up to 1024 elements spread evenly
  double referenceRms = 0, referenceNonZero = 0;  // share of non-zero reference elements, 0..1
  // Distance in units in the last place of the output type: 0, 1, 2, 3..4, 5..8, 9..16, ..., last is open.
  std::vector<uint64_t> ulpHistogram;
  // Largest error / tolerance per tile, row-major; mapRows x mapCols tiles of tileRows x tileCols elements.
  std::vector<float> errorMap;
  int64_t mapRows = 0, mapCols = 0, tileRows = 0, tileCols = 0;
  std::vector<FailedElement> failures;
  PerturbationCheck perturbationA, perturbationB;
  std::string oracle;  // which code made the reference: "cpu-f64", "cuda-f64", "file"
  double oracleSeconds = 0, kernelSeconds = 0;
};

// ------------------------------------------------------------------------------------------------------ measurement

// spec: docs/measurement.md, method bs-1. All times in nanoseconds.
struct MeasureRequest {
  std::string kernel;
  bool cold = true;            // rotate operand sets so that L2 holds none of them; false: hot
  double warmupNs = 200e6;     // GPU time of warm-up, at least 3 launches
  int minSamples = 20;
  double minTimeNs = 0.25e9;
  double maxRelativeStdev = 0.005;
  int maxSamples = 10000;
  double timeoutNs = 5e9;
  int fixedSamples = 0;        // > 0: exactly this many, other stop rules off
  double sustainedNs = 0;      // > 0: also run back to back for this long ("batch")
  bool recordLaunches = true;  // per-kernel records from a separate profiled pass where the backend has one
};

struct LaunchRecord {
  std::string name;  // as the driver reports it, possibly mangled
  int64_t startNs = 0, endNs = 0;
  uint32_t stream = 0;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t registersPerThread = 0, sharedMemoryBytes = 0;
};

struct Measurement {
  std::vector<double> samplesNs;   // every accepted sample, per operation, in order
  std::vector<double> samplesMHz;  // SM or core clock per sample; empty when it cannot be read
  int discarded = 0;
  int launchesPerSample = 1;  // > 1: grouped
  int operandSets = 1;
  std::string cacheMode;     // "cold: 3 operand sets", "cold: L2 flush", "hot"
  std::string timingSource;  // "steady clock", "CUDA events", "CUPTI"
  std::string stopReason;    // "relative stdev", "noise stable", "sample limit", "timed out", "fixed"
  double warmupNs = 0;
  double compileSeconds = 0;
  double meanWatts = 0, meanTemperatureC = 0;  // 0: unknown
  std::vector<std::string> badges;  // "power-capped", "thermal", "contended", "noisy", "grouped", ...
  std::vector<LaunchRecord> launches;  // of one operation
  double cuptiNs = 0;                  // sum of the launches' own times for one operation; 0: no CUPTI
  // Back to back:
  double sustainedNs = 0;  // mean per operation; 0: not measured
  int64_t sustainedCount = 0;
  double sustainedWatts = 0, joulesPerLaunch = 0;
};

// --------------------------------------------------------------------------------------------------------- backends

class Session {
 public:
  virtual ~Session() = default;
  virtual ValidationReport validate(const ValidateRequest&, const CancelFlag&, const Progress&) = 0;
  virtual Measurement measure(const MeasureRequest&, const CancelFlag&, const Progress&) = 0;
  // Judges a product computed elsewhere (another process) against this session's reference.
  // `output` holds M * N elements of the problem's output type, row-major.
  virtual ValidationReport judge(const std::vector<uint8_t>& output, const ValidateRequest&, const CancelFlag&,
                                 const Progress&) = 0;
  // The session's operands in canonical host form, and its float64 reference (M * N); for tests and other providers.
  virtual const Operands& operands() = 0;
  virtual const std::vector<double>& reference(const CancelFlag&, const Progress&) = 0;
};

// A kernel that comes as source: a row of resources/kernels/*/manifest.json, already checked by the caller.
struct KernelSource {
  std::string id, provider, summary;
  std::string file;           // path of the source
  std::string manifestJson;   // the manifest row as JSON text, for what only the backend understands
};

struct BackendOptions {
  std::vector<KernelSource> kernelSources;
  std::string cacheDirectory;  // for compiled kernels; empty: no cache
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view kind() const = 0;  // prefix of its device ids
  // Never throws: what is missing is said in the result.
  virtual std::vector<LibraryInfo> libraries() = 0;
  virtual std::vector<DeviceInfo> devices() = 0;
  virtual std::unique_ptr<Session> open(const std::string& deviceId, const Problem&,
                                        std::variant<GeneratedOperands, GivenOperands>, const CancelFlag&,
                                        const Progress&) = 0;
};

std::unique_ptr<Backend> makeCpuBackend(const BackendOptions&);
std::unique_ptr<Backend> makeCudaBackend(const BackendOptions&);

}  // namespace blockscope
