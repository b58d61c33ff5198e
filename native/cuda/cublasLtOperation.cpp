#include "cublasLtOperation.h"

#include <algorithm>
#include <cmath>

#include "../core/formats.h"
#include "../core/layouts.h"
#include "../core/outputs.h"
#include "../core/packing.h"
#include "sha256.h"

namespace blockscope::cuda {

namespace {

constexpr size_t kWorkspaceBytes = 64 << 20;
constexpr const char* kScaleLayout = "nvidia_32_4_4";  // cuBLAS, "1D Block Scaling Factors Layout"

int dataType(NumberFormatId id) {
  switch (id) {
    case NumberFormatId::kE4m3:
      return cublaslt::kE4m3;
    case NumberFormatId::kE5m2:
      return cublaslt::kE5m2;
    case NumberFormatId::kE2m1:
      return cublaslt::kE2m1;
    default:
      return -1;
  }
}

int outputType(OutputType output) {
  switch (output) {
    case OutputType::kF16:
      return cublaslt::kF16;
    case OutputType::kBf16:
      return cublaslt::kBf16;
    case OutputType::kF32:
      return cublaslt::kF32;
    case OutputType::kE4m3:
      break;
  }
  throw Error(ErrorKind::kUsage, "cuBLASLt kernels write f16, bf16 or f32 here.");
}

void checkLt(int status, const std::string& doing) {
  if (status != 0)
    throw Error(ErrorKind::kDevice,
                doing + " failed: " + libraries().cublasLt.getStatusString(status) + ".");
}

class CublasLtOperation : public Operation {
 public:
  CublasLtOperation(const DeviceContext& context, const Problem& problem, const std::string& kernel)
      : context_(context),
        problem_(problem),
        kernel_(kernel),
        plan_(planMatmul(kernel, problem)),
        workspace_(context, kWorkspaceBytes, "cuBLASLt's workspace") {
    const LibraryInfo& info = libraries().cublasLtInfo;
    if (!info.found) throw Error(ErrorKind::kUnavailable, info.reason + " " + info.remedy);
    checkLt(api_.create(&handle_), "Starting cuBLASLt");
    // cuBLAS thinks in columns: C^T (N, M) = B (N, K) times A^T (K, M), B transposed, as its fp8
    // and fp4 paths want it.
    checkLt(api_.matmulDescCreate(&description_, cublaslt::kComputeF32, cublaslt::kF32),
            "Describing a matmul");
    const int transpose = cublaslt::kTranspose;
    setAttribute(cublaslt::kTransA, &transpose, sizeof transpose);
    if (plan_.scalePointers) {
      const int32_t mode = plan_.scaleMode;
      if (mode != cublaslt::kScaleScalarF32) {
        setAttribute(cublaslt::kScaleModeA, &mode, sizeof mode);
        setAttribute(cublaslt::kScaleModeB, &mode, sizeof mode);
      }
      const void* anyPointer = reinterpret_cast<void*>(workspace_.address());
      setAttribute(cublaslt::kScalePointerA, &anyPointer, sizeof anyPointer);
      setAttribute(cublaslt::kScalePointerB, &anyPointer, sizeof anyPointer);
    }
    const auto m = static_cast<uint64_t>(problem.m), n = static_cast<uint64_t>(problem.n),
               k = static_cast<uint64_t>(problem.k);
    checkLt(api_.matrixLayoutCreate(&left_, plan_.bType, k, n, problem.k), "Describing B");
    checkLt(api_.matrixLayoutCreate(&right_, plan_.aType, k, m, problem.k), "Describing A");
    checkLt(api_.matrixLayoutCreate(&result_, plan_.cType, n, m, problem.n), "Describing C");
    chooseAlgorithm();
  }

  ~CublasLtOperation() override {
    if (context_.lost()) return;
    for (auto layout : {left_, right_, result_})
      if (layout) api_.matrixLayoutDestroy(layout);
    if (description_) api_.matmulDescDestroy(description_);
    if (handle_) api_.destroy(handle_);
  }

  std::unique_ptr<OperandSet> prepare(const DeviceOperands& operands) override {
    const int64_t batch = problem_.batch;
    auto set =
        std::make_unique<OperandSet>(context_, problem_, batch * plan_.aBytes, batch * plan_.bBytes,
                                     batch * plan_.aScaleBytes, batch * plan_.bScaleBytes);
    set->tensorScale = operands.tensorScale();
    prepareSide(operands, Matrix::kA, set->aCodes, set->aScales);
    prepareSide(operands, Matrix::kB, set->bCodes, set->bScales);
    return set;
  }

  void bind(const std::vector<const OperandSet*>& sets) override { sets_ = sets; }

  OutputType writes(OutputType) const override { return plan_.output; }

  void enqueue(size_t index, const Stream& stream) override {
    const OperandSet& set = *sets_[index];
    const float alpha = set.tensorScale, beta = 0;
    for (int64_t batch = 0; batch < problem_.batch; batch++) {
      auto part = [&](driver::DevicePointer address, size_t bytes) {
        return reinterpret_cast<void*>(address + bytes / problem_.batch * batch);
      };
      if (plan_.scalePointers) {
        // One scale serves the whole batch; block scales have a part of each matrix.
        const bool one = plan_.scaleMode == cublaslt::kScaleScalarF32;
        const void* scaleB = one ? reinterpret_cast<void*>(set.bScales.address())
                                 : part(set.bScales.address(), set.bScales.bytes());
        const void* scaleA = one ? reinterpret_cast<void*>(set.aScales.address())
                                 : part(set.aScales.address(), set.aScales.bytes());
        setAttribute(cublaslt::kScalePointerA, &scaleB, sizeof scaleB);
        setAttribute(cublaslt::kScalePointerB, &scaleA, sizeof scaleA);
      }
      void* c = part(set.c(), set.cBytes());
      checkLt(api_.matmul(handle_, description_, &alpha,
                          part(set.bCodes.address(), set.bCodes.bytes()), left_,
                          part(set.aCodes.address(), set.aCodes.bytes()), right_, &beta, c, result_,
                          c, result_, &algorithm_, reinterpret_cast<void*>(workspace_.address()),
                          workspace_.bytes(), stream.handle()),
              "Kernel " + kernel_);
    }
  }

 private:
  void setAttribute(int attribute, const void* value, size_t bytes) {
    checkLt(api_.matmulDescSetAttribute(description_, attribute, value, bytes),
            "Describing a matmul");
  }

  void chooseAlgorithm() {
    cublaslt::Handle preference = nullptr;
    checkLt(api_.preferenceCreate(&preference), "Asking cuBLASLt for an algorithm");
    const size_t bytes = kWorkspaceBytes;
    api_.preferenceSetAttribute(preference, cublaslt::kPreferenceMaxWorkspaceBytes, &bytes,
                                sizeof bytes);
    cublaslt::HeuristicResult best{};
    int found = 0;
    const int status = api_.getHeuristic(handle_, description_, left_, right_, result_, result_,
                                         preference, 1, &best, &found);
    api_.preferenceDestroy(preference);
    if (status != 0 || found == 0)
      throw Error(ErrorKind::kUnavailable,
                  "cuBLASLt has no algorithm for " + kernel_ + " with " + problem_.format +
                      ", M=" + std::to_string(problem_.m) + ", N=" + std::to_string(problem_.n) +
                      ", K=" + std::to_string(problem_.k) + " on " + context_.facts().name + ": " +
                      api_.getStatusString(status) + ".");
    algorithm_ = best.algorithm;
  }

  void prepareSide(const DeviceOperands& operands, Matrix matrix, DeviceBuffer& codes,
                   DeviceBuffer& scales) {
    if (plan_.conversion == OperandConversion::kToBf16) return operands.bf16Into(matrix, codes);
    if (plan_.conversion == OperandConversion::kToOneScaleE4m3)
      return operands.oneScaleInto(matrix, codes, scales);
    operands.codesInto(matrix, true, codes);
    operands.scalesInto(matrix, findLayout(kScaleLayout), scales);
  }

  const cublaslt::Api& api_ = libraries().cublasLt;
  const DeviceContext& context_;
  Problem problem_;
  std::string kernel_;
  MatmulPlan plan_;
  DeviceBuffer workspace_;
  cublaslt::Handle handle_ = nullptr, description_ = nullptr, left_ = nullptr, right_ = nullptr,
                   result_ = nullptr;
  cublaslt::Algorithm algorithm_{};
  std::vector<const OperandSet*> sets_;
};

constexpr int kFirstBlockScaledMajor = 10;  // sm_100: cuBLAS documentation, "Block Scaling"

KernelInfo describeKernel(const std::string& id, const std::string& summary, bool baseline) {
  KernelInfo info;
  info.id = id;
  info.provider = "cuBLASLt";
  info.summary = summary;
  info.baseline = baseline;
  info.scaleLayout = baseline ? "linear" : kScaleLayout;
  info.sourceHash = sha256("cuBLASLt " + libraries().cublasLtInfo.version);
  return info;
}

}  // namespace

bool isCublasLtKernel(const std::string& kernel) {
  return kernel == "cublaslt-bf16" || kernel == "cublaslt-fp8" || kernel == "cublaslt-mxfp8" ||
         kernel == "cublaslt-nvfp4";
}

MatmulPlan planMatmul(const std::string& kernel, const Problem& problem) {
  const BlockFormat& format = findBlockFormat(problem.format);
  MatmulPlan plan;
  const bool bf16Alone = kernel == "cublaslt-bf16" && problem.output == OutputType::kF16;
  plan.output = bf16Alone ? OutputType::kBf16 : problem.output;
  plan.cType = outputType(plan.output);
  const int64_t aCount = problem.m * problem.k, bCount = problem.n * problem.k;
  if (kernel == "cublaslt-bf16") {
    plan.aType = plan.bType = cublaslt::kBf16;
    plan.conversion = OperandConversion::kToBf16;
    plan.aBytes = 2 * aCount;
    plan.bBytes = 2 * bCount;
    return plan;
  }
  plan.scalePointers = true;
  if (kernel == "cublaslt-fp8") {
    plan.aType = plan.bType = cublaslt::kE4m3;
    plan.conversion = OperandConversion::kToOneScaleE4m3;
    plan.aBytes = aCount;
    plan.bBytes = bCount;
    plan.aScaleBytes = plan.bScaleBytes = 16;
    return plan;
  }
  const bool fp4 = kernel == "cublaslt-nvfp4";
  const bool fits = fp4 ? problem.format == "nvfp4"
                        : format.scale == NumberFormatId::kE8m0 && format.scaleBlockSize == 32 &&
                              format.elementA().storageBits == 8 &&
                              format.elementB().storageBits == 8;
  if (!fits)
    throw Error(ErrorKind::kUsage,
                "Kernel " + kernel + " does not compute " + problem.format + ".");
  plan.aType = dataType(format.a);
  plan.bType = dataType(format.b);
  plan.scaleMode = fp4 ? cublaslt::kScaleVec16Ue4m3 : cublaslt::kScaleVec32Ue8m0;
  plan.aBytes = packedBytes(format.elementA(), aCount);
  plan.bBytes = packedBytes(format.elementB(), bCount);
  const int64_t blocks = problem.k / format.scaleBlockSize;
  plan.aScaleBytes = paddedShape(findLayout(kScaleLayout), problem.m, blocks).size();
  plan.bScaleBytes = paddedShape(findLayout(kScaleLayout), problem.n, blocks).size();
  return plan;
}

std::vector<KernelInfo> cublasLtKernels(int major) {
  std::vector<KernelInfo> kernels = {
      describeKernel("cublaslt-bf16", "bf16 matmul on operands dequantised beforehand (not timed)",
                     true),
      describeKernel(
          "cublaslt-fp8",
          "fp8 matmul with one scale per tensor, operands rounded beforehand (not timed)", true),
      describeKernel("cublaslt-mxfp8", "cuBLASLt's block-scaled mxfp8 matmul", false),
      describeKernel("cublaslt-nvfp4", "cuBLASLt's block-scaled nvfp4 matmul", false)};
  const LibraryInfo& library = libraries().cublasLtInfo;
  for (KernelInfo& kernel : kernels) {
    for (const BlockFormat& format : blockFormats()) {
      Capability capability{
          std::string(format.id), CapabilityLevel::kExact,
          "Exact products of the same values, no block scales; writes bf16 where f16 is asked for."};
      Problem problem{std::string(format.id), 128, 128, 128};
      try {
        planMatmul(kernel.id, problem);
        if (kernel.id == "cublaslt-fp8")
          capability = {capability.format, CapabilityLevel::kApproximate,
                        "Values are rounded to e4m3 with one scale for the whole tensor."};
        if (!kernel.baseline) {
          capability = {capability.format, CapabilityLevel::kNative,
                        "Block-scaled matrix instruction."};
          if (major < kFirstBlockScaledMajor)
            capability = {capability.format, CapabilityLevel::kUnavailable,
                          "cuBLASLt has block scaling from sm_100 on."};
        }
      } catch (const Error& error) {
        capability = {capability.format, CapabilityLevel::kUnavailable, error.what()};
      }
      if (!library.found)
        capability = {capability.format, CapabilityLevel::kUnavailable,
                      library.reason + " " + library.remedy};
      kernel.capabilities.push_back(capability);
    }
  }
  return kernels;
}

std::unique_ptr<Operation> makeCublasLtOperation(const DeviceContext& context,
                                                 const Problem& problem,
                                                 const std::string& kernel) {
  return std::make_unique<CublasLtOperation>(context, problem, kernel);
}

}  // namespace blockscope::cuda
