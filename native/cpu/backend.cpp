// The CPU as a device: its kernels, and sessions that validate and time them.
#include "../core/backend.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <new>
#include <string>

#include "../core/compare.h"
#include "../core/measure.h"
#include "../core/operands.h"
#include "../core/oracle.h"
#include "../core/outputs.h"
#include "../core/threads.h"
#include "../core/validate.h"
#include "cpuFeatures.h"
#include "kernel.h"
#include "roofs.h"

// Made by the addon's build (sourceHash.mjs); the native tests and the benchmark go without.
#if __has_include("sourceHash.h")
#include "sourceHash.h"
#else
#define BLOCKSCOPE_CPU_SOURCE_HASH ""
#endif

namespace blockscope {

const std::vector<CpuKernel>& cpuKernels() {
  static const std::vector<CpuKernel> kernels = [] {
    const CpuFeatures& has = cpuFeatures();
    return std::vector<CpuKernel>{avx512Kernel(has), avxVnniKernel(has), avx2Kernel(has),
                                  portableKernel()};
  }();
  return kernels;
}

const std::vector<CpuKernel>& cpuModels() {
  static const std::vector<CpuKernel> models = {blackwellKernel()};
  return models;
}

namespace {

using Clock = std::chrono::steady_clock;

// Why a kernel does not compute a format here; empty where it does.
std::string whyNot(const CpuKernel& kernel, const BlockFormat& format) {
  if (!kernel.available) return kernel.unavailable;
  return kernel.lacking ? kernel.lacking(format) : "";
}

const CpuKernel& findKernel(const std::string& id, const std::string& format) {
  std::string known;
  for (const auto* kernels : {&cpuKernels(), &cpuModels()})
    for (const CpuKernel& kernel : *kernels) {
      known += (known.empty() ? "" : ", ") + kernel.id;
      if (kernel.id != id) continue;
      const std::string reason = whyNot(kernel, findBlockFormat(format));
      if (!reason.empty()) throw Error(ErrorKind::kUnavailable, reason);
      return kernel;
    }
  throw Error(ErrorKind::kUsage,
              "The CPU has no kernel \"" + id + "\". Its kernels: " + known + ".");
}

// As many as the cache takes, tiny ones too: here a set is a copy of some memory and no more.
int64_t affordableSets(int64_t bytes) {
  const int64_t affordable = std::max<int64_t>(1, systemMemoryBytes() * 2 / 5 / bytes);
  return std::min(coldSets(bytes, lastLevelCacheBytes()), affordable);
}

// What launches take in turn, one set after another, so that none is in a cache. Sets are made when
// they are needed, and put out of the caches again: a host's caches may hold a million sets of a
// small product, of which few launches take few. As many are made at a time as there are, so that
// hardly a launch follows the making of some, when other cores sleep. Where no program puts memory
// out of caches, making the sets that are behind one does it: all are made at first.
class OperandSets {
 public:
  struct Set {
    PackedOperands operands;
    std::vector<uint8_t> output;
  };

  OperandSets(Set first, int64_t most) : first_(std::move(first)), most_(most) {}

  Set& next() {
    if (turn_ == made()) {
      const int64_t wanted = kPutsOutOfCaches ? std::max(kFewest, 2 * made()) : most_;
      while (made() < std::min(most_, wanted)) make();
    }
    Set& set = sets_[turn_];
    turn_ = (turn_ + 1) % most_;
    return set;
  }

  int64_t made() const { return static_cast<int64_t>(sets_.size()); }

 private:
  static constexpr int64_t kFewest = 4;

  void make() {
    const Set& set = sets_.emplace_back(first_);
    if (most_ == 1) return;
    const PackedOperands& operands = set.operands;
    for (const std::vector<uint8_t>* bytes :
         {&operands.a, &operands.b, &operands.aScales, &operands.bScales, &set.output})
      putOutOfCaches(bytes->data(), bytes->size());
    putOutOfCaches(operands.accumulator.data(), operands.accumulator.size() * sizeof(float));
  }

  const Set first_;
  const int64_t most_;
  std::deque<Set> sets_;
  int64_t turn_ = 0;
};

class CpuSession : public Session {
 public:
  CpuSession(const Problem& problem, Operands operands, std::vector<double> reference)
      : problem_(problem),
        operands_(std::move(operands)),
        reference_(std::move(reference)),
        fromFile_(!reference_.empty()) {}

  const Operands& operands() override { return operands_; }

  const std::vector<double>& reference(const CancelFlag& cancel,
                                       const Progress& progress) override {
    if (reference_.empty()) {
      const auto start = Clock::now();
      reference_ = referenceProduct(problem_, operands_, cancel, progress);
      oracleSeconds_ = std::chrono::duration<double>(Clock::now() - start).count();
    }
    return reference_;
  }

  ValidationReport validate(const ValidateRequest& request, const CancelFlag& cancel,
                            const Progress& progress) override {
    const CpuKernel& kernel = findKernel(request.kernel, problem_.format);
    const std::vector<double>& expected = reference(cancel, progress);
    Workspace workspace;
    auto run = [&](const ChangedScale* change) {
      const HeldChange held(operands_, change);
      const PackedOperands packed = packOperands(problem_, operands_);
      // Poisoned, so that an element that is never written is seen.
      KernelRun done{std::vector<uint8_t>(outputSize(), 0xff)};
      const auto start = Clock::now();
      kernel.compute(problem_, packed, done.output.data(), workspace, cancel);
      done.launchNs = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
      return done;
    };
    return signedBy(validateWith(problem_, operands_, expected, run, request, cancel, progress));
  }

  ValidationReport judge(const std::vector<uint8_t>& output, const ValidateRequest& request,
                         const CancelFlag& cancel, const Progress& progress) override {
    const std::vector<double>& expected = reference(cancel, progress);
    return signedBy(judgeOutput(problem_, operands_, expected, output, request, cancel));
  }

  Measurement measure(const MeasureRequest& request, const CancelFlag& cancel,
                      const Progress& progress) override {
    const CpuKernel& kernel = findKernel(request.kernel, problem_.format);
    OperandSets::Set first{packOperands(problem_, operands_), std::vector<uint8_t>(outputSize())};
    const int64_t setBytes = first.operands.bytes() + outputSize();
    OperandSets sets(std::move(first), request.cold ? affordableSets(setBytes) : 1);
    Workspace workspace;
    const auto origin = Clock::now();
    LaunchRecord last;
    last.name = kernel.id;
    auto take = [&]() -> Sample {
      const auto called = Clock::now();
      OperandSets::Set& set = sets.next();
      const auto start = Clock::now();
      kernel.compute(problem_, set.operands, set.output.data(), workspace, cancel);
      const auto end = Clock::now();
      last.startNs = std::chrono::duration_cast<std::chrono::nanoseconds>(start - origin).count();
      last.endNs = std::chrono::duration_cast<std::chrono::nanoseconds>(end - origin).count();
      return {static_cast<double>(last.endNs - last.startNs), currentClockMHz(), false,
              std::chrono::duration<double, std::nano>(start - called).count()};
    };
    Measurement result = sampleUntilSteady(request, take, cancel, progress);
    result.timingSource = "steady clock";
    if (request.recordLaunches) result.launches.push_back(last);
    double elapsed = 0;
    for (; elapsed < request.sustainedNs; result.sustainedCount++) {
      cancel.throwIfRequested();
      elapsed += take().ns;
    }
    if (elapsed > 0) result.sustainedNs = elapsed / static_cast<double>(result.sustainedCount);
    result.operandSets = static_cast<int>(sets.made());
    result.cacheMode =
        !request.cold ? "hot" : "cold: " + std::to_string(sets.made()) + " operand sets";
    return result;
  }

 private:
  int64_t outputSize() const { return problem_.elements() * outputBytes(problem_.output); }

  ValidationReport signedBy(ValidationReport report) const {
    report.oracle = fromFile_ ? "file" : "cpu-f64";
    report.oracleSeconds = oracleSeconds_;
    return report;
  }

  const Problem problem_;
  Operands operands_;
  std::vector<double> reference_;
  const bool fromFile_;
  double oracleSeconds_ = 0;
};

// Every CPU kernel takes all of the operation; what is no part of the micro-kernel is done by the
// loops around it.
std::vector<Feature> cpuFeatureList() {
  return {{"b-kn", FeatureLevel::kPass, "B is turned to (N, K) on all cores first; timed with it"},
          {"accumulator", FeatureLevel::kFused, "added to each tile before it is rounded"},
          {"f8-output", FeatureLevel::kFused, "each tile is scaled and rounded, saturating"},
          {"batch", FeatureLevel::kFused, "matrix after matrix, broadcast operands where they lie"},
          {"grouped", FeatureLevel::kFused,
           "group after group, each on all cores; padding is not read"}};
}

#if defined(__VERSION__)
constexpr const char* kCompiler = "compiled into the addon, compiler " __VERSION__;
#else
constexpr const char* kCompiler = "compiled into the addon";
#endif

Capability capabilityOf(const CpuKernel& kernel, const BlockFormat& format) {
  std::string id(format.id);
  const std::string reason = whyNot(kernel, format);
  if (!reason.empty()) return {std::move(id), CapabilityLevel::kUnavailable, reason, ""};
  return {std::move(id), kernel.lacking ? CapabilityLevel::kEmulated : CapabilityLevel::kExact,
          kernel.describe(format), kernel.instruction(format)};
}

KernelInfo infoOf(const CpuKernel& kernel) {
  KernelInfo info;
  info.id = kernel.id;
  info.provider = "blockscope";
  info.outputs = {OutputType::kF16, OutputType::kBf16, OutputType::kF32, OutputType::kE4m3,
                  OutputType::kE5m2};
  info.summary = kernel.summary;
  info.features = cpuFeatureList();
  const std::string_view identity = BLOCKSCOPE_CPU_SOURCE_HASH;
  info.identity.assign(identity.begin(), identity.end());
  info.compileOptions = kCompiler;
  for (const BlockFormat& format : everyBlockFormat())
    info.capabilities.push_back(capabilityOf(kernel, format));
  return info;
}

class CpuBackend : public Backend {
 public:
  std::string_view kind() const override { return "cpu"; }

  std::vector<LibraryInfo> libraries() override { return {}; }

  std::vector<DeviceInfo> devices() override {
    DeviceInfo device;
    device.id = "cpu";
    device.kind = "cpu";
    device.name = cpuName();
    device.architecture = cpuArchitecture();
    device.properties["cores"] = static_cast<double>(coreCount());
    device.properties["memoryBytes"] = static_cast<double>(systemMemoryBytes());
    const char* const cacheNames[] = {"l1Bytes", "l2Bytes", "l3Bytes"};
    for (int level = 1; level <= 3; level++)
      if (const int64_t bytes = dataCacheBytes(level); bytes > 0)
        device.properties[cacheNames[level - 1]] = static_cast<double>(bytes);
    if (const double clock = currentClockMHz(); clock > 0) device.properties["clockMHz"] = clock;
    for (const auto* kernels : {&cpuKernels(), &cpuModels()})
      for (const CpuKernel& kernel : *kernels) device.kernels.push_back(infoOf(kernel));
    return {device};
  }

  std::vector<Roof> measureRoofs(const std::string& deviceId, const CancelFlag& cancel,
                                 const Progress& progress) override {
    if (deviceId != "cpu")
      throw Error(ErrorKind::kUsage, "There is no device " + deviceId + " here.");
    return measureCpuRoofs(cancel, progress);
  }

  std::unique_ptr<Session> open(const std::string& deviceId, const Problem& problem,
                                std::variant<GeneratedOperands, GivenOperands> source,
                                const CancelFlag& cancel, const Progress& progress) override {
    if (deviceId != "cpu")
      throw Error(ErrorKind::kUsage, "There is no device " + deviceId + " here.");
    checkProblem(problem);
    if (progress) progress(0, "operands");
    try {
      if (auto* generated = std::get_if<GeneratedOperands>(&source))
        return std::make_unique<CpuSession>(problem, generateOperands(problem, *generated, cancel),
                                            std::vector<double>{});
      GivenOperands& given = std::get<GivenOperands>(source);
      checkOperands(problem, given);
      return std::make_unique<CpuSession>(problem, std::move(given.operands),
                                          std::move(given.reference));
    } catch (const std::bad_alloc&) {
      throw Error(ErrorKind::kDevice,
                  "Not enough memory for the operands of M=" + std::to_string(problem.m) +
                      " N=" + std::to_string(problem.n) + " K=" + std::to_string(problem.k) +
                      ". Choose a smaller shape.");
    }
  }
};

}  // namespace

std::unique_ptr<Backend> makeCpuBackend(const BackendOptions&) {
  return std::make_unique<CpuBackend>();
}

}  // namespace blockscope
