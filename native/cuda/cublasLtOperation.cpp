#include "cublasLtOperation.h"

#include <algorithm>
#include <cmath>

#include "../core/formats.h"
#include "../core/layouts.h"
#include "../core/outputs.h"
#include "../core/packing.h"

namespace blockscope::cuda {

namespace {

constexpr size_t kWorkspaceBytes = 64 << 20;
constexpr const char* kNoAccumulator = "It is asked for A x B alone here, without an accumulator.";
constexpr const char* kNoGroups = "It is asked for one matmul or a batch here, not for groups.";
constexpr const char* kNoKn = "Its block-scaled matmul reads B along K.";
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
    case OutputType::kE5m2:
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
    if (problem.accumulate) throw Error(ErrorKind::kUnavailable, kernel + ": " + kNoAccumulator);
    if (problem.isGrouped()) throw Error(ErrorKind::kUnavailable, kernel + ": " + kNoGroups);
    if (problem.bOrder == BOrder::kKn && plan_.conversion == OperandConversion::kNone)
      throw Error(ErrorKind::kUnavailable, kernel + ": " + kNoKn);
    checkLt(handle_.make([&](auto* to) { return api_.create(to); }), "Starting cuBLASLt");
    // cuBLAS thinks in columns: C^T (N, M) = B (N, K) times A^T (K, M), B transposed, as its fp8
    // and fp4 paths want it.
    checkLt(description_.make([&](auto* to) {
      return api_.matmulDescCreate(to, cublaslt::kComputeF32, cublaslt::kF32);
    }),
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
    checkLt(left_.make([&](auto* to) {
      return api_.matrixLayoutCreate(to, plan_.bType, k, n, problem.k);
    }),
            "Describing B");
    checkLt(right_.make([&](auto* to) {
      return api_.matrixLayoutCreate(to, plan_.aType, k, m, problem.k);
    }),
            "Describing A");
    checkLt(result_.make([&](auto* to) {
      return api_.matrixLayoutCreate(to, plan_.cType, n, m, problem.n);
    }),
            "Describing C");
    chooseAlgorithm();
  }

  std::unique_ptr<OperandSet> prepare(const DeviceOperands& operands) override {
    const int64_t ofA = problem_.batch.countA(), ofB = problem_.batch.countB();
    auto set =
        std::make_unique<OperandSet>(context_, problem_, ofA * plan_.aBytes, ofB * plan_.bBytes,
                                     ofA * plan_.aScaleBytes, ofB * plan_.bScaleBytes);
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
    for (int64_t batch = 0; batch < problem_.batch.count(); batch++) {
      const int64_t ofA = problem_.batch.a(batch), ofB = problem_.batch.b(batch);
      auto at = [&](driver::DevicePointer address, int64_t bytes) {
        return reinterpret_cast<void*>(address + bytes);
      };
      if (plan_.scalePointers) {
        // One scale serves the whole batch; block scales have a part of each matrix.
        const bool one = plan_.scaleMode == cublaslt::kScaleScalarF32;
        const void* scaleB = one ? reinterpret_cast<void*>(set.bScales.address())
                                 : at(set.bScales.address(), ofB * plan_.bScaleBytes);
        const void* scaleA = one ? reinterpret_cast<void*>(set.aScales.address())
                                 : at(set.aScales.address(), ofA * plan_.aScaleBytes);
        setAttribute(cublaslt::kScalePointerA, &scaleB, sizeof scaleB);
        setAttribute(cublaslt::kScalePointerB, &scaleA, sizeof scaleA);
      }
      void* c = at(set.c.address(), batch * problem_.m * problem_.n * outputBytes(plan_.output));
      checkLt(api_.matmul(handle_.get(), description_.get(), &alpha,
                          at(set.bCodes.address(), ofB * plan_.bBytes), left_.get(),
                          at(set.aCodes.address(), ofA * plan_.aBytes), right_.get(), &beta, c,
                          result_.get(), c, result_.get(), &algorithm_,
                          reinterpret_cast<void*>(workspace_.address()), workspace_.bytes(),
                          stream.handle()),
              "Kernel " + kernel_);
    }
  }

 private:
  void setAttribute(int attribute, const void* value, size_t bytes) {
    checkLt(api_.matmulDescSetAttribute(description_.get(), attribute, value, bytes),
            "Describing a matmul");
  }

  void chooseAlgorithm() {
    Owned<cublaslt::Handle> preference(context_, api_.preferenceDestroy);
    checkLt(preference.make([&](auto* to) { return api_.preferenceCreate(to); }),
            "Asking cuBLASLt for an algorithm");
    const size_t bytes = kWorkspaceBytes;
    api_.preferenceSetAttribute(preference.get(), cublaslt::kPreferenceMaxWorkspaceBytes, &bytes,
                                sizeof bytes);
    cublaslt::HeuristicResult best{};
    int found = 0;
    const int status =
        api_.getHeuristic(handle_.get(), description_.get(), left_.get(), right_.get(),
                          result_.get(), result_.get(), preference.get(), 1, &best, &found);
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
    operands.codesInto(matrix, true, BOrder::kNk, codes);
    operands.scalesInto(matrix, findLayout(kScaleLayout), BOrder::kNk, scales);
  }

  const cublaslt::Api& api_ = libraries().cublasLt;
  const DeviceContext& context_;
  Problem problem_;
  std::string kernel_;
  MatmulPlan plan_;
  DeviceBuffer workspace_;
  Owned<cublaslt::Handle> handle_{context_, api_.destroy},
      description_{context_, api_.matmulDescDestroy}, left_{context_, api_.matrixLayoutDestroy},
      right_{context_, api_.matrixLayoutDestroy}, result_{context_, api_.matrixLayoutDestroy};
  cublaslt::Algorithm algorithm_{};
  std::vector<const OperandSet*> sets_;
};

constexpr int kFirstBlockScaledMajor = 10;  // sm_100: cuBLAS documentation, "Block Scaling"

// `convertedBits`: of the operands a baseline reads; 0 for the block-scaled operation itself.
KernelInfo describeKernel(const std::string& id, const std::string& summary, int convertedBits) {
  const bool baseline = convertedBits > 0;
  KernelInfo info;
  info.id = id;
  info.provider = "cuBLASLt";
  info.summary = summary;
  info.baseline = baseline;
  info.operandBits = convertedBits;
  info.outputs = {OutputType::kF16, OutputType::kBf16, OutputType::kF32};
  info.scaleLayout = baseline ? "linear" : kScaleLayout;
  info.features = {{"b-kn", baseline ? FeatureLevel::kPass : FeatureLevel::kNone,
                    baseline ? "B is converted beforehand, from either order (not timed)" : kNoKn},
                   {"accumulator", FeatureLevel::kNone, kNoAccumulator},
                   {"f8-output", FeatureLevel::kNone, "It is asked for f16, bf16 or f32 here."},
                   {"batch", FeatureLevel::kFused,
                    "one matmul after the other, broadcast operands where they lie"},
                   {"grouped", FeatureLevel::kNone, kNoGroups}};
  const std::string identity = "cuBLASLt " + libraries().cublasLtInfo.version;
  info.identity.assign(identity.begin(), identity.end());
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

std::vector<KernelInfo> cublasLtKernels(int major, const LibraryInfo& library) {
  std::vector<KernelInfo> kernels = {
      describeKernel("cublaslt-bf16", "bf16 matmul on operands dequantised beforehand (not timed)",
                     16),
      describeKernel(
          "cublaslt-fp8",
          "fp8 matmul with one scale per tensor, operands rounded beforehand (not timed)", 8),
      describeKernel("cublaslt-mxfp8", "cuBLASLt's block-scaled mxfp8 matmul", 0),
      describeKernel("cublaslt-nvfp4", "cuBLASLt's block-scaled nvfp4 matmul", 0)};
  for (KernelInfo& kernel : kernels) {
    for (const BlockFormat& format : everyBlockFormat()) {
      Capability capability{std::string(format.id), CapabilityLevel::kExact,
                            "Exact products of the same values, no block scales; writes bf16 where "
                            "f16 is asked for.",
                            "bf16"};
      Problem problem{std::string(format.id), 128, 128, 128};
      try {
        planMatmul(kernel.id, problem);
        if (kernel.id == "cublaslt-fp8")
          capability = {capability.format, CapabilityLevel::kApproximate,
                        "Values are rounded to e4m3 with one scale for the whole tensor.", "fp8"};
        if (!kernel.baseline) {
          capability = {capability.format, CapabilityLevel::kNative,
                        "Block-scaled matrix instruction.",
                        kernel.id == "cublaslt-nvfp4" ? "fp4" : "fp8"};
          if (major < kFirstBlockScaledMajor)
            capability = {capability.format, CapabilityLevel::kUnavailable,
                          "cuBLASLt has block scaling from sm_100 on.", ""};
        }
      } catch (const Error& error) {
        capability = {capability.format, CapabilityLevel::kUnavailable, error.what(), ""};
      }
      if (!library.found)
        capability = {capability.format, CapabilityLevel::kUnavailable,
                      library.reason + " " + library.remedy, ""};
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
