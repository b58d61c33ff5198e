// A CPU kernel: packed operands in, C in its output type out.
#pragma once

#include <string>
#include <vector>

#include "../core/backend.h"
#include "../core/formats.h"
#include "cpuFeatures.h"
#include "workspace.h"

namespace blockscope {

// What a kernel reads: codes packed as in memory (fp4 two a byte, fp6 four in three bytes), scales
// linear.
struct PackedOperands {
  std::vector<uint8_t> a, b, aScales, bScales;
  float tensorScale = 1.0f;  // A's times B's

  int64_t bytes() const {
    return static_cast<int64_t>(a.size() + b.size() + aScales.size() + bScales.size());
  }
};

PackedOperands packOperands(const Problem&, const Operands&);

struct CpuKernel {
  std::string id;
  std::string summary;
  bool available = false;   // by CPUID
  std::string unavailable;  // the reason, when not
  // How it computes a format; a sentence.
  std::string (*describe)(const BlockFormat&) = nullptr;
  // C = A B^T for every matrix of the batch. Throws Error(kCancelled).
  void (*compute)(const Problem&, const PackedOperands&, void* c, Workspace&,
                  const CancelFlag&) = nullptr;
  // The class of instruction that does a format's products, as Capability::instruction has it.
  std::string (*instruction)(const BlockFormat&) = nullptr;

  // The same with a workspace of its own; one that is kept makes repeated calls faster.
  void run(const Problem& problem, const PackedOperands& packed, void* c,
           const CancelFlag& cancel) const {
    Workspace workspace;
    compute(problem, packed, c, workspace, cancel);
  }
};

// Best first.
const std::vector<CpuKernel>& cpuKernels();

// One per source file; each says from the features given whether it can run.
CpuKernel portableKernel();
CpuKernel avx2Kernel(const CpuFeatures&);
CpuKernel avxVnniKernel(const CpuFeatures&);
CpuKernel avx512Kernel(const CpuFeatures&);

}  // namespace blockscope
