#include "session.h"

#include <algorithm>
#include <chrono>

#include "../core/operands.h"
#include "../core/outputs.h"
#include "../core/validate.h"
#include "cublasLtOperation.h"
#include "manifestOperation.h"
#include "monitor.h"
#include "recorder.h"
#include "reference.h"
#include "sampler.h"

namespace blockscope::cuda {

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The device's operands with that scale (nullptr: none) as long as it lives, and as they were
// after it.
class HeldOnDevice {
 public:
  HeldOnDevice(DeviceOperands& operands, const ChangedScale* change)
      : operands_(operands), change_(change) {
    if (change) was_ = operands.exchangeScale(change->side, change->index, change->code);
  }
  ~HeldOnDevice() {
    if (!change_) return;
    try {
      operands_.exchangeScale(change_->side, change_->index, was_);
    } catch (const Error&) {
      // The device is lost, which whoever uses it next is told.
    }
  }
  HeldOnDevice(const HeldOnDevice&) = delete;
  HeldOnDevice& operator=(const HeldOnDevice&) = delete;

 private:
  DeviceOperands& operands_;
  const ChangedScale* change_;
  uint8_t was_ = 0;
};

}  // namespace

std::unique_ptr<Operation> makeOperation(const DeviceContext& context, const Kernels& kernels,
                                         const Problem& problem, const std::string& kernel) {
  if (const KernelRow* row = kernels.find(kernel))
    return std::make_unique<ManifestOperation>(context, kernels, *row, problem);
  if (cublasLt().find(kernel)) return makeCublasLtOperation(context, problem, kernel);
  throw Error(ErrorKind::kUsage,
              "\"" + kernel + "\" is no kernel of " + context.facts().name + ".");
}

CudaSession::CudaSession(std::shared_ptr<const DeviceContext> context,
                         std::shared_ptr<const Kernels> kernels, const Problem& problem,
                         std::variant<GeneratedOperands, GivenOperands> operands)
    : context_(std::move(context)), kernels_(std::move(kernels)), problem_(problem) {
  context_->enter();
  checkProblem(problem);
  if (const auto* generated = std::get_if<GeneratedOperands>(&operands)) {
    onDevice_ = std::make_unique<DeviceOperands>(*context_, *kernels_, problem, *generated);
    return;
  }
  auto& given = std::get<GivenOperands>(operands);
  checkOperands(problem, given);
  operands_ = std::move(given.operands);
  onDevice_ = std::make_unique<DeviceOperands>(*context_, *kernels_, problem, *operands_);
  reference_ = std::move(given.reference);
  if (!reference_.empty()) oracle_ = "file";
}

CudaSession::~CudaSession() {
  // Freed on whatever thread the session ends on.
  if (!context_->lost()) context_->enter();
}

const Operands& CudaSession::operands() {
  if (!operands_) {
    context_->enter();
    operands_ = onDevice_->download();
  }
  return *operands_;
}

const std::vector<double>& CudaSession::reference(const CancelFlag& cancel,
                                                  const Progress& progress) {
  if (!reference_.empty()) return reference_;
  cancel.throwIfRequested();
  context_->enter();
  if (progress) progress(0, "reference");
  const auto start = std::chrono::steady_clock::now();
  reference_ = deviceReference(*context_, *kernels_, problem_, *onDevice_, operands());
  oracle_ = "cuda-f64";
  oracleSeconds_ = secondsSince(start);
  return reference_;
}

Operation& CudaSession::prepare(const std::string& kernel) {
  context_->enter();
  if (prepared_ && preparedKernel_ == kernel) return *prepared_;
  prepared_.reset();
  prepared_ = makeOperation(*context_, *kernels_, problem_, kernel);
  preparedKernel_ = kernel;
  hasLaunched_ = false;
  return *prepared_;
}

std::pair<std::unique_ptr<OperandSet>, double> CudaSession::launchOnce(Operation& operation,
                                                                       const std::string& kernel) {
  const std::string what = "Kernel " + kernel;
  const Stream stream(*context_);
  auto set = operation.prepare(*onDevice_);
  operation.bind({set.get()});
  set->poison(stream);
  const Event start(*context_), stop(*context_);
  start.record(stream);
  operation.enqueue(0, stream);
  stop.record(stream);
  stream.wait(what);
  if (const std::string fault = operation.fault(); !fault.empty())
    throw Error(ErrorKind::kDevice, what + ": " + fault + ".");
  if (set->guardsBroken())
    throw Error(ErrorKind::kDevice, what + " writes outside C: memory next to C was changed.");
  hasLaunched_ = true;
  return {std::move(set), stop.nanosecondsSince(start)};
}

KernelRun CudaSession::runOnce(Operation& operation, const std::string& kernel) {
  const auto [set, ns] = launchOnce(operation, kernel);
  KernelRun done{set->c.read(), ns, operation.counted()};
  const OutputType written = operation.writes(problem_.output);
  if (written != problem_.output) convertOutput(done.output, written, problem_.output);
  return done;
}

ValidationReport CudaSession::signedBy(ValidationReport report) const {
  report.oracle = oracle_;
  report.oracleSeconds = oracleSeconds_;
  return report;
}

CompareRows CudaSession::comparison(const ValidateRequest& request) {
  context_->enter();
  if (!comparison_)
    comparison_ =
        std::make_unique<DeviceComparison>(*context_, *kernels_, problem_, *onDevice_, reference_);
  return [&](const std::vector<uint8_t>& output) { return comparison_->rows(output, request); };
}

ValidationReport CudaSession::validate(const ValidateRequest& request, const CancelFlag& cancel,
                                       const Progress& progress) {
  Operation& operation = prepare(request.kernel);
  const auto& expected = reference(cancel, progress);
  auto run = [&](const ChangedScale* change) {
    const HeldOnDevice held(*onDevice_, change);
    return runOnce(operation, request.kernel);
  };
  ValidationReport report = validateWith(problem_, operands(), expected, run, request, cancel,
                                         progress, comparison(request));
  report.algorithm = operation.algorithm();
  return signedBy(std::move(report));
}

ValidationReport CudaSession::judge(const std::vector<uint8_t>& output,
                                    const ValidateRequest& request, const CancelFlag& cancel,
                                    const Progress& progress) {
  const auto& expected = reference(cancel, progress);
  return signedBy(
      judgeOutput(problem_, operands(), expected, output, request, cancel, comparison(request)));
}

Measurement CudaSession::measure(const MeasureRequest& request, const CancelFlag& cancel,
                                 const Progress& progress) {
  comparison_.reset();
  Operation& operation = prepare(request.kernel);
  const std::string what = "Kernel " + request.kernel;
  // Until memory is next given back, what was loaded last launches sooner than anything later
  // (docs/measurement.md, "launches"): it is not timed so.
  if (!hasLaunched_) launchOnce(operation, request.kernel);
  const Stream stream(*context_);
  std::vector<std::unique_ptr<OperandSet>> sets;
  sets.push_back(operation.prepare(*onDevice_));
  CachePlan plan;
  if (request.cold)
    plan = planCold(static_cast<int64_t>(sets[0]->bytes()), context_->facts().l2Bytes,
                    static_cast<int64_t>(context_->freeBytes()));
  for (int64_t i = 1; i < plan.sets; i++)
    sets.push_back(sets[0]->copy(*context_, problem_, stream));
  std::vector<const OperandSet*> bound;
  for (const auto& set : sets) bound.push_back(set.get());
  operation.bind(bound);
  Monitor monitor(context_->facts().uuid, request.companions);
  Sampler sampler(
      *context_, *kernels_, stream, [&](size_t set) { operation.enqueue(set, stream); }, what,
      plan);
  stream.wait("Copying operands");
  sampler.chooseGrouping();

  monitor.restart();
  Measurement result = sampleGrouped(
      request, sampler.launchesPerSample(), [&] { return sampler.take(monitor); }, cancel,
      progress);
  const MonitorSummary seen = monitor.summary();
  result.operandSets = static_cast<int>(plan.sets);
  result.cacheMode = plan.mode;
  result.timingSource = "CUDA events";
  result.compileSeconds = operation.compileSeconds();
  result.algorithm = operation.algorithm();
  applySummary(seen, result);
  if (result.stopReason == "timed out") result.badges.push_back("timed out");

  if (request.sustainedNs > 0) {
    PowerMeter power([&] { return monitor.joules(); });
    const auto [ns, count] = sampler.sustain(request.sustainedNs);
    applySustained(ns, count, power.watts(), result);
  }
  if (request.recordLaunches) {
    result.launches = recordLaunches([&] {
      operation.enqueue(0, stream);
      stream.wait(what);
    });
    if (!result.launches.empty()) result.launchSource = "CUPTI";
  }
  return result;
}

}  // namespace blockscope::cuda
