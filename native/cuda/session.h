// One problem on one GPU.
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "../core/backend.h"
#include "../core/validate.h"
#include "deviceComparison.h"
#include "deviceOperands.h"
#include "kernels.h"
#include "operation.h"

namespace blockscope::cuda {

class CudaSession : public Session {
 public:
  CudaSession(std::shared_ptr<const DeviceContext>, std::shared_ptr<const Kernels>, const Problem&,
              std::variant<GeneratedOperands, GivenOperands>);
  ~CudaSession() override;

  ValidationReport validate(const ValidateRequest&, const CancelFlag&, const Progress&) override;
  Measurement measure(const MeasureRequest&, const CancelFlag&, const Progress&) override;
  ValidationReport judge(const std::vector<uint8_t>& output, const ValidateRequest&,
                         const CancelFlag&, const Progress&) override;
  // Those generated on the device are copied over when they are first asked for.
  const Operands& operands() override;
  const std::vector<double>& reference(const CancelFlag&, const Progress&) override;

 private:
  Operation& prepare(const std::string& kernel);
  // The product by memory of its own, which the set gives back, in so many nanoseconds.
  std::pair<std::unique_ptr<OperandSet>, double> launchOnce(Operation&, const std::string& kernel);
  KernelRun runOnce(Operation&, const std::string& kernel);
  ValidationReport signedBy(ValidationReport) const;
  CompareRows comparison(const ValidateRequest&);

  std::shared_ptr<const DeviceContext> context_;
  std::shared_ptr<const Kernels> kernels_;
  Problem problem_;
  std::unique_ptr<DeviceOperands> onDevice_;
  std::optional<Operands> operands_;
  std::vector<double> reference_;
  std::string oracle_;
  double oracleSeconds_ = 0;
  // Holds the reference on the device between validations; a measurement frees the memory.
  std::unique_ptr<DeviceComparison> comparison_;
  // The kernel used last stays ready: a measurement follows its validation.
  std::string preparedKernel_;
  std::unique_ptr<Operation> prepared_;
  bool hasLaunched_ = false;  // the prepared one
};

// The operation behind a kernel id: a manifest's row or a cuBLASLt kernel. Throws Error(kUsage) for
// an unknown id.
std::unique_ptr<Operation> makeOperation(const DeviceContext&, const Kernels&, const Problem&,
                                         const std::string& kernel);

}  // namespace blockscope::cuda
