#include "session.h"

#include <algorithm>
#include <chrono>

#include "../core/compare.h"
#include "../core/operands.h"
#include "../core/oracle.h"
#include "../core/outputs.h"
#include "../core/validate.h"
#include "hipblasLtOperation.h"
#include "manifestOperation.h"
#include "monitor.h"
#include "sampler.h"

namespace blockscope::hip {

namespace {

class HipSession : public Session {
 public:
  HipSession(std::shared_ptr<const Device> device, std::vector<KernelRow> rows,
             std::shared_ptr<const CompileCache> cache, const Problem& problem, Operands operands,
             std::vector<double> reference)
      : device_(std::move(device)),
        rows_(std::move(rows)),
        cache_(std::move(cache)),
        problem_(problem),
        operands_(std::move(operands)),
        reference_(std::move(reference)),
        oracle_(reference_.empty() ? "cpu-f64" : "file") {}

  ~HipSession() override {
    // What it holds is freed on whatever thread it ends on.
    if (!device_->lost()) device_->api().setDevice(device_->facts().index);
  }

  const Operands& operands() override { return operands_; }

  const std::vector<double>& reference(const CancelFlag& cancel,
                                       const Progress& progress) override {
    if (reference_.empty()) {
      const auto start = std::chrono::steady_clock::now();
      reference_ = referenceProduct(problem_, operands_, cancel, progress);
      oracleSeconds_ =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    return reference_;
  }

  ValidationReport validate(const ValidateRequest& request, const CancelFlag& cancel,
                            const Progress& progress) override {
    Operation& operation = prepare(request.kernel);
    const std::vector<double>& expected = reference(cancel, progress);
    const std::string what = "Kernel " + request.kernel;
    auto run = [&](const ChangedScale* change) {
      const HeldChange held(operands_, change);
      const OperandSet set = operation.prepare(operands_);
      set.poison(*device_);
      operation.clearCounters();
      const Stream stream(*device_);
      const Event start(*device_), stop(*device_);
      start.record(stream);
      operation.enqueue(set, stream);
      stop.record(stream);
      stream.wait(what);
      if (const std::string fault = operation.fault(); !fault.empty())
        throw Error(ErrorKind::kDevice, what + ": " + fault + ".");
      KernelRun done{set.readC(*device_, what), stop.nanosecondsSince(start), operation.counted()};
      const OutputType written = operation.writes(problem_.output);
      if (written != problem_.output) convertOutput(done.output, written, problem_.output);
      return done;
    };
    ValidationReport report =
        validateWith(problem_, operands_, expected, run, request, cancel, progress);
    report.algorithm = operation.algorithm();
    return signedBy(std::move(report));
  }

  ValidationReport judge(const std::vector<uint8_t>& output, const ValidateRequest& request,
                         const CancelFlag& cancel, const Progress& progress) override {
    const std::vector<double>& expected = reference(cancel, progress);
    return signedBy(judgeOutput(problem_, operands_, expected, output, request, cancel));
  }

  Measurement measure(const MeasureRequest& request, const CancelFlag& cancel,
                      const Progress& progress) override {
    Operation& operation = prepare(request.kernel);
    const std::string what = "Kernel " + request.kernel;
    std::vector<OperandSet> sets;
    sets.push_back(operation.prepare(operands_));
    CachePlan plan;
    if (request.cold)
      plan = planCold(static_cast<int64_t>(sets[0].bytes()), lastCacheBytes(device_->facts()),
                      static_cast<int64_t>(device_->freeBytes()));
    for (int64_t i = 1; i < plan.sets; i++) sets.push_back(operation.prepare(operands_));
    const Stream stream(*device_);
    Sampler sampler(
        *device_, stream, [&](size_t set) { operation.enqueue(sets[set], stream); }, what, plan);
    sampler.chooseGrouping();
    Monitor monitor(device_->facts());
    monitor.restart();
    Measurement result = sampleGrouped(
        request, sampler.launchesPerSample(), [&] { return sampler.take(monitor); }, cancel,
        progress);
    result.operandSets = static_cast<int>(plan.sets);
    result.cacheMode = plan.mode;
    result.timingSource = "HIP events";
    result.compileSeconds = operation.compileSeconds();
    result.algorithm = operation.algorithm();
    applySummary(monitor.summary(), result);
    if (result.stopReason == "timed out") result.badges.push_back("timed out");
    if (request.sustainedNs > 0) {
      PowerMeter power([&] { return monitor.joules(); });
      const auto [ns, count] = sampler.sustain(request.sustainedNs, cancel);
      applySustained(ns, count, power.watts(), result);
    }
    return result;
  }

 private:
  const KernelRow& rowOf(const std::string& kernel) const {
    for (const KernelRow& row : rows_)
      if (row.id == kernel && row.role == KernelRole::kKernel) return row;
    throw Error(ErrorKind::kUsage,
                "\"" + kernel + "\" is no kernel of " + device_->facts().name + ".");
  }
  Operation& prepare(const std::string& kernel) {
    device_->enter();
    if (!prepared_ || preparedKernel_ != kernel) {
      prepared_.reset();
      if (hipblasLt().find(kernel)) prepared_ = makeHipblasLtOperation(*device_, problem_, kernel);
      else
        prepared_ = std::make_unique<ManifestOperation>(
            *device_, rowOf(kernel), supportRow(rows_, "support-passes-hip"), problem_, *cache_);
      preparedKernel_ = kernel;
    }
    return *prepared_;
  }

  ValidationReport signedBy(ValidationReport report) const {
    report.oracle = oracle_;
    report.oracleSeconds = oracleSeconds_;
    return report;
  }

  const std::shared_ptr<const Device> device_;
  const std::vector<KernelRow> rows_;
  const std::shared_ptr<const CompileCache> cache_;
  const Problem problem_;
  Operands operands_;
  std::vector<double> reference_;
  const std::string oracle_;
  double oracleSeconds_ = 0;
  std::unique_ptr<Operation> prepared_;
  std::string preparedKernel_;
};

}  // namespace

std::unique_ptr<Session> makeSession(std::shared_ptr<const Device> device,
                                     std::vector<KernelRow> rows,
                                     std::shared_ptr<const CompileCache> cache,
                                     const Problem& problem,
                                     std::variant<GeneratedOperands, GivenOperands> source,
                                     const CancelFlag& cancel) {
  checkProblem(problem);
  GivenOperands given;
  if (const auto* generated = std::get_if<GeneratedOperands>(&source)) {
    given.operands = generateOperands(problem, *generated, cancel);
  } else {
    given = std::move(std::get<GivenOperands>(source));
    checkOperands(problem, given);
  }
  return std::make_unique<HipSession>(std::move(device), std::move(rows), std::move(cache), problem,
                                      std::move(given.operands), std::move(given.reference));
}

}  // namespace blockscope::hip
