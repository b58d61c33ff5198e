#include "libraryMatmul.h"

#include "../core/layouts.h"
#include "../core/packing.h"

namespace blockscope::cuda {

namespace {

// The library's C has the type of its D, and ours is float32.
constexpr const char* kAccumulatorOfF32 = "It adds an accumulator where C is f32 alone.";
constexpr const char* kNoGroups = "It is asked for one matmul or a batch here, not for groups.";
constexpr const char* kNoKn = "Its block-scaled matmul reads B along K.";
constexpr const char* kNoEightBits = "It is asked for f16, bf16 or f32 here.";

MatmulType typeOf(NumberFormatId id) {
  if (id == NumberFormatId::kE2m1) return MatmulType::kE2m1;
  return id == NumberFormatId::kE4m3 ? MatmulType::kE4m3 : MatmulType::kE5m2;
}

MatmulType typeOf(OutputType output) {
  if (output == OutputType::kF32) return MatmulType::kF32;
  return output == OutputType::kF16 ? MatmulType::kF16 : MatmulType::kBf16;
}

bool isScaledSo(const BlockFormat& format, ScaleMode mode) {
  if (mode == ScaleMode::kVec16Ue4m3)
    return format.scale == NumberFormatId::kUe4m3 && format.scaleBlockSize == 16;
  return format.scale == NumberFormatId::kE8m0 && format.scaleBlockSize == 32;
}

bool computes(const MatmulKernel& kernel, const BlockFormat& format) {
  return kernel.isBaseline() || (isScaledSo(format, kernel.scaleMode) &&
                                 format.elementA().storageBits == kernel.elementBits &&
                                 format.elementB().storageBits == kernel.elementBits);
}

void checkAsked(const MatmulKernel& kernel, const Problem& problem) {
  auto refuse = [&](const char* why) {
    throw Error(ErrorKind::kUnavailable, kernel.id + ": " + why);
  };
  if (problem.accumulate && problem.output != OutputType::kF32) refuse(kAccumulatorOfF32);
  if (problem.isGrouped()) refuse(kNoGroups);
  if (problem.bOrder == BOrder::kKn && !kernel.isBaseline()) refuse(kNoKn);
  if (problem.output == OutputType::kE4m3 || problem.output == OutputType::kE5m2)
    refuse(kNoEightBits);
}

int convertedBits(OperandConversion conversion) {
  if (conversion == OperandConversion::kNone) return 0;
  return conversion == OperandConversion::kToBf16 ? 16 : 8;
}

KernelInfo describe(const MatmulLibrary& library, const MatmulKernel& kernel,
                    const LibraryInfo& found) {
  const bool baseline = kernel.isBaseline();
  KernelInfo info;
  info.id = kernel.id;
  info.provider = library.name;
  info.summary = kernel.summary;
  info.baseline = baseline;
  info.operandBits = convertedBits(kernel.conversion);
  info.outputs = {OutputType::kF16, OutputType::kBf16, OutputType::kF32};
  info.scaleLayout = baseline ? "linear" : library.scaleLayout;
  info.features = {{"b-kn", baseline ? FeatureLevel::kPass : FeatureLevel::kNone,
                    baseline ? "B is converted beforehand, from either order (not timed)" : kNoKn},
                   {"accumulator", FeatureLevel::kFused, "by its beta, where C is f32 alone"},
                   {"f8-output", FeatureLevel::kNone, kNoEightBits},
                   {"batch", FeatureLevel::kFused,
                    "one matmul after the other, broadcast operands where they lie"},
                   {"grouped", FeatureLevel::kNone, kNoGroups}};
  const std::string identity = library.name + " " + found.version;
  info.identity.assign(identity.begin(), identity.end());
  return info;
}

Capability capabilityOf(const MatmulLibrary& library, const MatmulKernel& kernel,
                        const BlockFormat& format) {
  const std::string id(format.id);
  if (!computes(kernel, format))
    return {id, CapabilityLevel::kUnavailable,
            "Kernel " + kernel.id + " does not compute " + id + ".", ""};
  if (kernel.conversion == OperandConversion::kToBf16)
    return {id, CapabilityLevel::kExact,
            "Exact products of the same values, no block scales; writes bf16 where f16 is asked "
            "for.",
            "bf16"};
  if (kernel.conversion == OperandConversion::kToOneScaleE4m3)
    return {id, CapabilityLevel::kApproximate,
            "Values are rounded to e4m3 with one scale for the whole tensor.", "fp8"};
  return {id, CapabilityLevel::kNative, "Block-scaled matrix instruction.",
          kernel.elementBits == 4 ? "fp4" : "fp8"};
}

}  // namespace

const MatmulKernel* MatmulLibrary::find(const std::string& kernel) const {
  for (const MatmulKernel& one : kernels)
    if (one.id == kernel) return &one;
  return nullptr;
}

MatmulPlan planMatmul(const MatmulLibrary& library, const std::string& id, const Problem& problem) {
  const MatmulKernel& kernel = *library.find(id);
  const BlockFormat& format = findBlockFormat(problem.format);
  if (!computes(kernel, format))
    throw Error(ErrorKind::kUsage, "Kernel " + id + " does not compute " + problem.format + ".");
  checkAsked(kernel, problem);
  MatmulPlan plan;
  plan.conversion = kernel.conversion;
  plan.accumulates = problem.accumulate;
  const bool isBf16 = kernel.conversion == OperandConversion::kToBf16;
  plan.output = isBf16 && problem.output == OutputType::kF16 ? OutputType::kBf16 : problem.output;
  plan.cType = typeOf(plan.output);
  const int64_t aCount = problem.m * problem.k, bCount = problem.n * problem.k;
  if (kernel.isBaseline()) {
    const int64_t bytes = convertedBits(kernel.conversion) / 8;
    plan.aType = plan.bType = isBf16 ? MatmulType::kBf16 : MatmulType::kE4m3;
    plan.aBytes = bytes * aCount;
    plan.bBytes = bytes * bCount;
    plan.scalePointers = !isBf16;
    if (plan.scalePointers) plan.aScaleBytes = plan.bScaleBytes = 16;
    return plan;
  }
  plan.scalePointers = true;
  plan.aType = typeOf(format.a);
  plan.bType = typeOf(format.b);
  plan.scaleMode = kernel.scaleMode;
  plan.aBytes = packedBytes(format.elementA(), aCount);
  plan.bBytes = packedBytes(format.elementB(), bCount);
  const ScaleLayout layout = findLayout(library.scaleLayout);
  const int64_t blocks = problem.k / format.scaleBlockSize;
  plan.aScaleBytes = paddedShape(layout, problem.m, blocks).size();
  plan.bScaleBytes = paddedShape(layout, problem.n, blocks).size();
  return plan;
}

std::vector<KernelInfo> matmulKernels(
    const MatmulLibrary& library, const LibraryInfo& found,
    const std::function<std::string(const MatmulKernel&)>& whyNot) {
  std::vector<KernelInfo> kernels;
  for (const MatmulKernel& kernel : library.kernels) {
    KernelInfo info = describe(library, kernel, found);
    const std::string why = found.found ? whyNot(kernel) : found.reason + " " + found.remedy;
    for (const BlockFormat& format : everyBlockFormat()) {
      Capability capability = capabilityOf(library, kernel, format);
      if (!found.found || (!why.empty() && capability.level != CapabilityLevel::kUnavailable))
        capability = {capability.format, CapabilityLevel::kUnavailable, why, ""};
      info.capabilities.push_back(capability);
    }
    kernels.push_back(info);
  }
  return kernels;
}

}  // namespace blockscope::cuda
