// A CPU kernel: packed operands in, C in its output type out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "../core/backend.h"
#include "../core/formats.h"
#include "cpuFeatures.h"
#include "workspace.h"

namespace blockscope {

// Operands in memory: codes packed (fp4 two a byte, fp6 four in three bytes), scales linear, B in
// the problem's order.
struct PackedOperands {
  std::vector<uint8_t> a, b, aScales, bScales;
  float tensorScale = 1.0f;  // A's times B's
  std::vector<float> accumulator;

  int64_t bytes() const {
    return static_cast<int64_t>(a.size() + b.size() + aScales.size() + bScales.size() +
                                accumulator.size() * sizeof(float));
  }
};

PackedOperands packOperands(const Problem&, const Operands&);

// What a kernel reads: the same, with B as (N, K).
struct KernelOperands {
  std::span<const uint8_t> a, b, aScales, bScales;
  float tensorScale;
  const float* accumulator;  // nullptr: none
};

// B as (N, K): where it lies, or turned into the workspace.
KernelOperands kernelOperands(const Problem&, const PackedOperands&, Workspace&, const CancelFlag&);

struct CpuKernel {
  std::string id;
  std::string summary;
  bool available = false;   // by CPUID
  std::string unavailable;  // the reason, when not
  // How it computes a format; a sentence.
  std::string (*describe)(const BlockFormat&) = nullptr;
  // C of every matrix of the batch. Throws Error(kCancelled).
  void (*multiply)(const Problem&, const KernelOperands&, void* c, Workspace&,
                   const CancelFlag&) = nullptr;
  // The class of instruction that does a format's products, as Capability::instruction has it.
  std::string (*instruction)(const BlockFormat&) = nullptr;
  // Of one that stands for another device's instruction: why it has not a format, empty where it
  // has.
  std::string (*lacking)(const BlockFormat&) = nullptr;

  // The whole operation from packed operands. A workspace that is kept makes repeated calls faster.
  void compute(const Problem& problem, const PackedOperands& packed, void* c, Workspace& workspace,
               const CancelFlag& cancel) const {
    multiply(problem, kernelOperands(problem, packed, workspace, cancel), c, workspace, cancel);
  }

  // The same with a workspace of its own.
  void run(const Problem& problem, const PackedOperands& packed, void* c,
           const CancelFlag& cancel) const {
    Workspace workspace;
    compute(problem, packed, c, workspace, cancel);
  }
};

// Best first.
const std::vector<CpuKernel>& cpuKernels();
// Those that compute as another device does, to check and not to use.
const std::vector<CpuKernel>& cpuModels();

// One per source file; each says from the features given whether it can run.
CpuKernel portableKernel();
CpuKernel blackwellKernel();
CpuKernel avx2Kernel(const CpuFeatures&);
CpuKernel avxVnniKernel(const CpuFeatures&);
CpuKernel avx512Kernel(const CpuFeatures&);

}  // namespace blockscope
