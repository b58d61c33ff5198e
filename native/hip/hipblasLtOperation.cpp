#include "hipblasLtOperation.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../core/formats.h"
#include "../core/outputs.h"
#include "../core/packing.h"
#include "../core/threads.h"

namespace blockscope::hip {

namespace {

using cuda::MatmulKernel;
using cuda::MatmulPlan;
using cuda::OperandConversion;
using Calls = cuda::MatmulCalls<hipblaslt::Interface, Device>;

// One operand: canonical codes and scales of all its matrices.
struct Side {
  const NumberFormat& element;
  const std::vector<uint8_t>&codes, &scales;
};

struct Form {
  std::vector<uint8_t> codes, scales;
};

// Calls work(index, element times scale) for every element, on all cores.
void forEachValue(const Side& side, const BlockFormat& format,
                  const std::function<void(int64_t, float)>& work) {
  constexpr int64_t kAtOnce = 1 << 16;
  const auto count = static_cast<int64_t>(side.codes.size()) / side.element.codeBytes();
  parallelFor((count + kAtOnce - 1) / kAtOnce, CancelFlag(), [&](int64_t part) {
    for (int64_t i = part * kAtOnce; i < std::min(count, (part + 1) * kAtOnce); i++) {
      if (!side.element.isScaled()) {
        work(i, static_cast<float>(decode(side.element, codeAt(side.element, &side.codes[0], i))));
        continue;
      }
      const float scale = decodeTable(format.scale)[side.scales[i / format.scaleBlockSize]];
      work(i, decodeTable(side.element.id)[side.codes[i]] * scale);
    }
  });
}

// e4m3 codes of values over one scale, which puts the largest magnitude on 448; 1 when all is zero.
Form withOneScale(const Side& side, const BlockFormat& format) {
  const auto count = static_cast<int64_t>(side.codes.size()) / side.element.codeBytes();
  std::vector<float> values(count);
  forEachValue(side, format, [&](int64_t i, float value) { values[i] = value; });
  float largest = 0;
  for (const float value : values)
    if (std::fabs(value) > largest) largest = std::fabs(value);
  const float step = largest == 0 ? 1.0f : largest / 448.0f;
  Form form{std::vector<uint8_t>(count), std::vector<uint8_t>(16)};
  const NumberFormat& e4m3 = numberFormat(NumberFormatId::kE4m3);
  forEachValue(side, format, [&](int64_t i, float value) {
    form.codes[i] = std::isnan(value) ? 127 : static_cast<uint8_t>(encode(e4m3, value / step));
  });
  std::memcpy(&form.scales[0], &step, sizeof step);
  return form;
}

Form asBf16(const Side& side, const BlockFormat& format) {
  Form form;
  form.codes.resize(side.codes.size() / side.element.codeBytes() * 2);
  forEachValue(side, format, [&](int64_t i, float value) {
    const uint16_t bits = floatToBf16(value);
    std::memcpy(&form.codes[2 * i], &bits, sizeof bits);
  });
  return form;
}

Form formOf(const Side& side, const BlockFormat& format, OperandConversion conversion) {
  if (conversion == OperandConversion::kToBf16) return asBf16(side, format);
  if (conversion == OperandConversion::kToOneScaleE4m3) return withOneScale(side, format);
  const auto count = static_cast<int64_t>(side.codes.size());
  Form form{std::vector<uint8_t>(packedBytes(side.element, count)), side.scales};
  packCodes(side.element, side.codes.data(), count, form.codes.data());
  return form;
}

// What its block-scaled kernels take: as PyTorch asks before it calls them (ATen, ScaledBlas.cpp).
void checkShape(const std::string& kernel, const MatmulPlan& plan, const Problem& problem) {
  if (plan.scaleMode == cuda::ScaleMode::kScalarF32) return;
  if (problem.m % 16 != 0 || problem.n % 16 != 0 || problem.k % 128 != 0)
    throw Error(ErrorKind::kUnavailable,
                kernel + " does not take this shape: M and N must be multiples of 16, K of 128.");
}

MatmulPlan planned(const std::string& kernel, const Problem& problem) {
  const MatmulPlan plan = cuda::planMatmul(hipblasLt(), kernel, problem);
  checkShape(kernel, plan, problem);
  return plan;
}

class HipblasLtOperation : public Operation {
 public:
  HipblasLtOperation(const Device& device, const Problem& problem, const std::string& kernel)
      : device_(device),
        problem_(problem),
        plan_(planned(kernel, problem)),
        workspace_(device, cuda::kMatmulWorkspaceBytes, "hipBLASLt's workspace"),
        calls_(device, found(), hipblasLt(), plan_, problem, kernel, workspace_.address(),
               workspace_.bytes()) {}

  OperandSet prepare(const Operands& operands) const override {
    const BlockFormat& format = findBlockFormat(problem_.format);
    const Form a = formOf({format.elementA(), operands.aCodes, operands.aScales}, format,
                          plan_.conversion),
               b = formOf({format.elementB(), operands.bCodes, operands.bScales}, format,
                          plan_.conversion);
    return OperandSet(device_, problem_, operands, {a.codes, b.codes, a.scales, b.scales});
  }

  OutputType writes(OutputType) const override { return plan_.output; }

  std::optional<MatmulAlgorithm> algorithm() const override { return calls_.algorithm(); }

  void enqueue(const OperandSet& set, const Stream& stream) override {
    calls_.enqueue(
        {set.aCodes.address(), set.bCodes.address(), set.aScales.address(), set.bScales.address(),
         set.accumulator.address(), set.c.address(), set.tensorScale},
        stream.handle());
  }

 private:
  static const hipblaslt::Api& found() {
    const LibraryInfo& info = libraries().hipblasLtInfo;
    if (!info.found) throw Error(ErrorKind::kUnavailable, info.reason + " " + info.remedy);
    return libraries().hipblasLt;
  }

  const Device& device_;
  Problem problem_;
  MatmulPlan plan_;
  Buffer workspace_;
  Calls calls_;
};

// hipBLASLt, "Data type support": e4m3 as OCP has it on gfx950 and gfx12, before in AMD's own form.
bool hasE4m3(const std::string& architecture) {
  return architecture == "gfx950" || architecture.rfind("gfx12", 0) == 0;
}

}  // namespace

const cuda::MatmulLibrary& hipblasLt() {
  using cuda::ScaleMode;
  static const cuda::MatmulLibrary library{
      "hipBLASLt",
      "linear",
      "ROCm 7.0",
      {{"hipblaslt-bf16", "bf16 matmul on operands dequantised beforehand (not timed)",
        OperandConversion::kToBf16},
       {"hipblaslt-fp8",
        "fp8 matmul with one scale per tensor, operands rounded beforehand (not timed)",
        OperandConversion::kToOneScaleE4m3},
       {"hipblaslt-mxfp8", "hipBLASLt's block-scaled mxfp8 matmul", OperandConversion::kNone, 8,
        ScaleMode::kVec32Ue8m0},
       {"hipblaslt-mxfp4", "hipBLASLt's block-scaled mxfp4 matmul", OperandConversion::kNone, 4,
        ScaleMode::kVec32Ue8m0}}};
  return library;
}

std::vector<KernelInfo> hipblasLtKernels(const std::string& architecture,
                                         const LibraryInfo& library) {
  return matmulKernels(hipblasLt(), library, [&](const MatmulKernel& kernel) -> std::string {
    if (kernel.conversion == OperandConversion::kToBf16) return "";
    if (kernel.conversion == OperandConversion::kToOneScaleE4m3)
      return hasE4m3(architecture)
                 ? ""
                 : "hipBLASLt multiplies OCP's e4m3 on gfx950 and gfx12; this device is " +
                       architecture + ".";
    if (architecture != "gfx950")
      return "hipBLASLt has block scaling on gfx950; this device is " + architecture + ".";
    if (library.version.rfind("0.", 0) == 0)
      return "hipBLASLt " + library.version + " has no block scaling: ROCm 7.0 has it.";
    return "";
  });
}

std::unique_ptr<Operation> makeHipblasLtOperation(const Device& device, const Problem& problem,
                                                  const std::string& kernel) {
  return std::make_unique<HipblasLtOperation>(device, problem, kernel);
}

}  // namespace blockscope::hip
