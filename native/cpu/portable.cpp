// Plain C++: every format, every scale, any CPU; float64 sums.
#include "kernel.h"
#include "tiling.h"

namespace blockscope {

namespace {

struct PortableMicro {
  using Sum = double;
  using Panels = NumberPanels<double>;
  static constexpr int kRows = 4, kColumns = 4, kChunk = 128;

  static void add(const Panels& panels, int64_t k, int64_t row, int64_t panel, int64_t k0,
                  int64_t depth, double* sums, int64_t stride) {
    constexpr int64_t kStride = kChunk + Panels::kPadding;
    const double* a = panels.a + (k0 / kChunk * panels.rows + row) * kStride;
    const double* b = panels.b + (panel * k + k0) * kColumns;
    double total[kRows][kColumns] = {};
    for (int64_t step = 0; step < depth; step++, b += kColumns)
      for (int i = 0; i < kRows; i++)
        for (int j = 0; j < kColumns; j++) total[i][j] += a[i * kStride + step] * b[j];
    for (int i = 0; i < kRows; i++)
      for (int j = 0; j < kColumns; j++) sums[i * stride + j] += total[i][j];
  }
};

void compute(const Problem& problem, const KernelOperands& packed, void* c, Workspace& workspace,
             const CancelFlag& cancel) {
  multiplyNumbers<PortableMicro, double>(problem, packed, decodeNumbers<double>, c,
                                         narrowToHalfPortable, workspace, cancel);
}

std::string describe(const BlockFormat&) {
  return "element times scale exact in float64, float64 sum";
}

}  // namespace

CpuKernel portableKernel() {
  return {"cpu-portable",
          "plain C++, float64 sums, any CPU and any scale",
          true,
          "",
          describe,
          compute,
          [](const BlockFormat&) -> std::string { return "fp64:portable"; }};
}

}  // namespace blockscope
