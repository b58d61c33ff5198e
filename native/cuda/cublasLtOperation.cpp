#include "cublasLtOperation.h"

#include "../core/layouts.h"
#include "../core/outputs.h"

namespace blockscope::cuda {

namespace {

using Calls = MatmulCalls<cublaslt::Interface, DeviceContext>;

class CublasLtOperation : public Operation {
 public:
  CublasLtOperation(const DeviceContext& context, const Problem& problem, const std::string& kernel)
      : context_(context),
        problem_(problem),
        plan_(planMatmul(cublasLt(), kernel, problem)),
        workspace_(context, kMatmulWorkspaceBytes, "cuBLASLt's workspace"),
        calls_(context, found(), cublasLt(), plan_, problem, kernel,
               reinterpret_cast<void*>(workspace_.address()), workspace_.bytes()) {}

  std::unique_ptr<OperandSet> prepare(const DeviceOperands& operands) override {
    const int64_t ofA = problem_.batch.countA(), ofB = problem_.batch.countB();
    auto set =
        std::make_unique<OperandSet>(context_, problem_, ofA * plan_.aBytes, ofB * plan_.bBytes,
                                     ofA * plan_.aScaleBytes, ofB * plan_.bScaleBytes);
    set->tensorScale = operands.tensorScale();
    prepareSide(operands, Matrix::kA, set->aCodes, set->aScales);
    prepareSide(operands, Matrix::kB, set->bCodes, set->bScales);
    operands.accumulatorInto(set->accumulator);
    return set;
  }

  void bind(const std::vector<const OperandSet*>& sets) override { sets_ = sets; }

  OutputType writes(OutputType) const override { return plan_.output; }

  std::optional<MatmulAlgorithm> algorithm() const override { return calls_.algorithm(); }

  void enqueue(size_t index, const Stream& stream) override {
    const OperandSet& set = *sets_[index];
    const auto at = [](const auto& buffer) { return reinterpret_cast<void*>(buffer.address()); };
    calls_.enqueue({at(set.aCodes), at(set.bCodes), at(set.aScales), at(set.bScales),
                    at(set.accumulator), at(set.c), set.tensorScale},
                   stream.handle());
  }

 private:
  static const cublaslt::Api& found() {
    const LibraryInfo& info = libraries().cublasLtInfo;
    if (!info.found) throw Error(ErrorKind::kUnavailable, info.reason + " " + info.remedy);
    return libraries().cublasLt;
  }

  void prepareSide(const DeviceOperands& operands, Matrix matrix, DeviceBuffer& codes,
                   DeviceBuffer& scales) {
    if (plan_.conversion == OperandConversion::kToBf16) return operands.bf16Into(matrix, codes);
    if (plan_.conversion == OperandConversion::kToOneScaleE4m3)
      return operands.oneScaleInto(matrix, codes, scales);
    operands.codesInto(matrix, true, BOrder::kNk, codes);
    operands.scalesInto(matrix, findLayout(cublasLt().scaleLayout), BOrder::kNk, scales);
  }

  const DeviceContext& context_;
  Problem problem_;
  MatmulPlan plan_;
  DeviceBuffer workspace_;
  Calls calls_;
  std::vector<const OperandSet*> sets_;
};

}  // namespace

const MatmulLibrary& cublasLt() {
  static const MatmulLibrary library{
      "cuBLASLt",
      "nvidia_32_4_4",  // cuBLAS, "1D Block Scaling Factors Layout"
      "CUDA 12.8",
      {{"cublaslt-bf16", "bf16 matmul on operands dequantised beforehand (not timed)",
        OperandConversion::kToBf16},
       {"cublaslt-fp8",
        "fp8 matmul with one scale per tensor, operands rounded beforehand (not timed)",
        OperandConversion::kToOneScaleE4m3},
       {"cublaslt-mxfp8", "cuBLASLt's block-scaled mxfp8 matmul", OperandConversion::kNone, 8,
        ScaleMode::kVec32Ue8m0},
       {"cublaslt-nvfp4", "cuBLASLt's block-scaled nvfp4 matmul", OperandConversion::kNone, 4,
        ScaleMode::kVec16Ue4m3},
       // No version says so of itself: one without it has no algorithm for the product.
       {"cublaslt-mxfp4", "cuBLASLt's block-scaled mxfp4 matmul, where its version has one",
        OperandConversion::kNone, 4, ScaleMode::kVec32Ue8m0}}};
  return library;
}

std::vector<KernelInfo> cublasLtKernels(int major, const LibraryInfo& library) {
  constexpr int kFirstBlockScaledMajor = 10;  // sm_100: cuBLAS documentation, "Block Scaling"
  return matmulKernels(cublasLt(), library, [&](const MatmulKernel& kernel) -> std::string {
    if (kernel.isBaseline() || major >= kFirstBlockScaledMajor) return "";
    return "cuBLASLt has block scaling from sm_100 on.";
  });
}

std::unique_ptr<Operation> makeCublasLtOperation(const DeviceContext& context,
                                                 const Problem& problem,
                                                 const std::string& kernel) {
  return std::make_unique<CublasLtOperation>(context, problem, kernel);
}

}  // namespace blockscope::cuda
