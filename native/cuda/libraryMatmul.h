// Kernels of a vendor's matmul library, cuBLASLt or hipBLASLt, which have one interface but for the
// numbers of attributes: what the library is told for a problem, what it takes, and its calls.
//
// "-bf16" multiplies operands dequantised beforehand, "-fp8" operands rounded to e4m3 with one
// scale for the whole tensor. Both show what the library reaches without block scales and are
// marked as baselines. The others are its block-scaled matmul.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "../core/backend.h"
#include "../core/formats.h"
#include "../core/outputs.h"
#include "../core/owned.h"

namespace blockscope::cuda {

enum class OperandConversion { kNone, kToBf16, kToOneScaleE4m3 };

// cudaDataType_t, which hipDataType has the numbers of.
enum class MatmulType : int { kF32 = 0, kF16 = 2, kBf16 = 14, kE4m3 = 28, kE5m2 = 29, kE2m1 = 33 };

// cublasLtMatmulMatrixScale_t, which hipblasLtMatmulMatrixScale_t has the numbers of.
enum class ScaleMode : int32_t { kScalarF32 = 0, kVec16Ue4m3 = 1, kVec32Ue8m0 = 2 };

struct MatmulKernel {
  std::string id, summary;
  OperandConversion conversion = OperandConversion::kNone;
  // Of a block-scaled one.
  int elementBits = 0;
  ScaleMode scaleMode = ScaleMode::kScalarF32;

  bool isBaseline() const { return conversion != OperandConversion::kNone; }
};

struct MatmulLibrary {
  std::string name, scaleLayout;  // "cuBLASLt"; of block scales
  std::string since;              // the release that has block scales, in words
  std::vector<MatmulKernel> kernels;

  // nullptr when it is none of the library's.
  const MatmulKernel* find(const std::string& kernel) const;
};

// What the library is told for one kernel and problem; pure, so that it can be tested without a
// device.
struct MatmulPlan {
  MatmulType aType = MatmulType::kBf16, bType = MatmulType::kBf16, cType = MatmulType::kBf16;
  ScaleMode scaleMode = ScaleMode::kScalarF32;  // of both operands
  bool scalePointers = false;
  // bf16 is multiplied into bf16 or f32 alone: bf16 stands in where f16 was asked for.
  OutputType output = OutputType::kF16;
  OperandConversion conversion = OperandConversion::kNone;
  bool accumulates = false;                  // beta is 1
  int64_t aBytes = 0, bBytes = 0;            // of one matrix
  int64_t aScaleBytes = 0, bScaleBytes = 0;  // of one matrix, in the library's layout
};

// Throws Error: kUsage when the kernel does not compute the format, kUnavailable when it does not
// take what is asked beside the product.
MatmulPlan planMatmul(const MatmulLibrary&, const std::string& kernel, const Problem&);

// The library's kernels with what each can do. `whyNot`: why a kernel is not there on this device,
// empty where it is.
std::vector<KernelInfo> matmulKernels(
    const MatmulLibrary&, const LibraryInfo&,
    const std::function<std::string(const MatmulKernel&)>& whyNot);

// The calls of one matmul, described and chosen once. Lt: the library's functions and the numbers
// of its interface (api/cublasLt.h, hip/api/hipblasLt.h). Owner: the device that Owned asks.
template <class Lt, class Owner>
class MatmulCalls {
 public:
  using Held = blockscope::Owned<void*, Owner>;
  // Of a multiplication C = alpha A x B^T, plus the accumulator where there is one, or of the first
  // of a batch: addresses of the device.
  struct Operands {
    const void *a, *b, *scalesA, *scalesB, *accumulator;
    void* c;
    float alpha;
  };

  // Throws Error: kUnavailable when the library is too old or has no algorithm for it, kDevice.
  MatmulCalls(const Owner& owner, const typename Lt::Api& api, const MatmulLibrary& library,
              const MatmulPlan& plan, const Problem& problem, const std::string& kernel,
              void* workspace, size_t workspaceBytes)
      : api_(api),
        library_(library),
        plan_(plan),
        batch_(problem.batch),
        cBytes_(problem.m * problem.n * outputBytes(plan.output)),
        kernel_(kernel),
        workspace_(workspace),
        workspaceBytes_(workspaceBytes),
        handle_(owner, api.destroy),
        description_(owner, api.matmulDescDestroy),
        left_(owner, api.matrixLayoutDestroy),
        right_(owner, api.matrixLayoutDestroy),
        result_(owner, api.matrixLayoutDestroy) {
    check(handle_.make([&](auto* to) { return api_.create(to); }), "Starting " + library_.name);
    // It thinks in columns: C^T (N, M) = B (N, K) times A^T (K, M), B transposed, as its fp8 and
    // fp4 paths want it.
    check(description_.make([&](auto* to) {
      return api_.matmulDescCreate(to, Lt::kComputeF32, static_cast<int>(MatmulType::kF32));
    }),
          "Describing a matmul");
    const int transpose = Lt::kTranspose;
    set(Lt::kTransA, &transpose, sizeof transpose);
    if (plan_.scalePointers) {
      if (plan_.scaleMode != ScaleMode::kScalarF32) setScaleModes();
      setScales(workspace_, workspace_);
    }
    const auto layout = [&](auto& to, MatmulType type, int64_t rows, int64_t columns) {
      check(to.make([&](auto* made) {
        return api_.matrixLayoutCreate(made, static_cast<int>(type), static_cast<uint64_t>(rows),
                                       static_cast<uint64_t>(columns), rows);
      }),
            "Describing a matrix");
    };
    layout(left_, plan_.bType, problem.k, problem.n);
    layout(right_, plan_.aType, problem.k, problem.m);
    layout(result_, plan_.cType, problem.n, problem.m);
    chooseAlgorithm(owner, problem);
  }

  // All multiplications of a batch, one after the other.
  void enqueue(const Operands& first, void* stream) {
    const auto at = [](const void* start, int64_t bytes) {
      return static_cast<const uint8_t*>(start) + bytes;
    };
    // One scale serves the whole batch; block scales have a part of each matrix.
    const int64_t own = plan_.scaleMode != ScaleMode::kScalarF32;
    for (int64_t i = 0; i < batch_.count(); i++) {
      const int64_t ofA = batch_.a(i), ofB = batch_.b(i);
      multiply({at(first.a, ofA * plan_.aBytes), at(first.b, ofB * plan_.bBytes),
                at(first.scalesA, own * ofA * plan_.aScaleBytes),
                at(first.scalesB, own * ofB * plan_.bScaleBytes),
                at(first.accumulator, plan_.accumulates ? i * cBytes_ : 0),
                static_cast<uint8_t*>(first.c) + i * cBytes_, first.alpha},
               stream);
    }
  }

  const MatmulAlgorithm& algorithm() const { return told_; }

 private:
  static constexpr int kMostProposals = 8;

  void multiply(const Operands& of, void* stream) {
    if (plan_.scalePointers) setScales(of.scalesB, of.scalesA);
    const float beta = plan_.accumulates;
    const void* added = plan_.accumulates ? of.accumulator : of.c;
    check(api_.matmul(handle_.get(), description_.get(), &of.alpha, of.b, left_.get(), of.a,
                      right_.get(), &beta, added, result_.get(), of.c, result_.get(), &algorithm_,
                      workspace_, workspaceBytes_, stream),
          "Kernel " + kernel_);
  }

  void check(int status, const std::string& doing) const {
    if (status != 0)
      throw Error(ErrorKind::kDevice, doing + " failed: " + Lt::wordsOf(api_, status) + ".");
  }
  int trySet(int attribute, const void* value, size_t bytes) {
    return api_.matmulDescSetAttribute(description_.get(), attribute, value, bytes);
  }
  void set(int attribute, const void* value, size_t bytes) {
    check(trySet(attribute, value, bytes), "Describing a matmul");
  }
  void setScales(const void* left, const void* right) {
    set(Lt::kScalePointerA, &left, sizeof left);
    set(Lt::kScalePointerB, &right, sizeof right);
  }
  void setScaleModes() {
    const auto mode = static_cast<int32_t>(plan_.scaleMode);
    for (const int attribute : {Lt::kScaleModeA, Lt::kScaleModeB})
      if (const int status = trySet(attribute, &mode, sizeof mode); status != 0)
        throw Error(ErrorKind::kUnavailable, "This " + library_.name +
                                                 " does not know the scale mode that " + kernel_ +
                                                 " needs (" + Lt::wordsOf(api_, status) +
                                                 "): " + library_.since + " has it.");
  }

  void chooseAlgorithm(const Owner& owner, const Problem& problem) {
    Held preference(owner, api_.preferenceDestroy);
    check(preference.make([&](auto* to) { return api_.preferenceCreate(to); }),
          "Asking " + library_.name + " for an algorithm");
    api_.preferenceSetAttribute(preference.get(), Lt::kPreferenceMaxWorkspaceBytes,
                                &workspaceBytes_, sizeof workspaceBytes_);
    std::array<typename Lt::HeuristicResult, kMostProposals> proposals{};
    int found = 0;
    const int status = api_.getHeuristic(handle_.get(), description_.get(), left_.get(),
                                         right_.get(), result_.get(), result_.get(),
                                         preference.get(), kMostProposals, &proposals[0], &found);
    // Best first; one whose state is an error cannot be used.
    const auto end = proposals.begin() + std::clamp(found, 0, kMostProposals);
    const auto best =
        std::find_if(proposals.begin(), end, [](const auto& one) { return one.state == 0; });
    if (status != 0 || best == end)
      throw Error(ErrorKind::kUnavailable,
                  library_.name + " has no algorithm for " + kernel_ + " with " + problem.format +
                      ", M=" + std::to_string(problem.m) + ", N=" + std::to_string(problem.n) +
                      ", K=" + std::to_string(problem.k) + " on " + owner.facts().name + ": " +
                      Lt::wordsOf(api_, status) + ".");
    algorithm_ = best->algorithm;
    told_ = Lt::describe(api_, handle_.get(), algorithm_);
    told_.workspaceBytes = static_cast<int64_t>(best->workspaceBytes);
    told_.waves = best->wavesCount;
    told_.rank = static_cast<int>(best - proposals.begin()) + 1;
    told_.proposed = found;
  }

  const typename Lt::Api& api_;
  const MatmulLibrary& library_;
  MatmulPlan plan_;
  MatrixBatch batch_;
  int64_t cBytes_;
  std::string kernel_;
  void* workspace_;
  size_t workspaceBytes_;
  Held handle_, description_, left_, right_, result_;
  typename Lt::Algorithm algorithm_{};
  MatmulAlgorithm told_;
};

constexpr size_t kMatmulWorkspaceBytes = 64 << 20;

}  // namespace blockscope::cuda
