// What the two 256-bit kernels share besides their fp4 micro-kernel. Defined in avx2.cpp; call only
// where CPUID shows AVX2, FMA and F16C.
#pragma once

#include "panels.h"
#include "tiling.h"

namespace blockscope::avx2 {

// 2 * e2m1 + offset of `count` codes.
void expandE2m1(const uint8_t* packed, int64_t count, int offset, uint8_t* out);
void sumBlocks(const int8_t* numbers, int64_t blocks, int size, int32_t* sums);
void narrowToHalf(const float* sums, int64_t count, uint16_t* out);

// element * scale in float32, and in float64.
void multiplyAsFloat32(const Problem&, const KernelOperands&, void* c, Workspace&,
                       const CancelFlag&);
void multiplyAsFloat64(const Problem&, const KernelOperands&, void* c, Workspace&,
                       const CancelFlag&);

// Chooses between those and the caller's integer micro-kernels for scale blocks of 16 and 32.
// Types, not a template, name them: GCC 12 gives a function with an unnamed namespace's template as
// argument external linkage, and two become one.
template <typename Integers16, typename Integers32>
void compute(const Problem& problem, const KernelOperands& packed, void* c, Workspace& workspace,
             const CancelFlag& cancel) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const IntegerPacking packing = {ScaleProduct::kMultiplied, expandE2m1, sumBlocks};
  if (scaleSafety(problem, packed) == ScaleSafety::kNeedsFloat64)
    multiplyAsFloat64(problem, packed, c, workspace, cancel);
  else if (!isIntegerFormat(format)) multiplyAsFloat32(problem, packed, c, workspace, cancel);
  else if (format.scaleBlockSize == 16)
    multiplyIntegers<Integers16>(problem, packed, packing, c, narrowToHalf, workspace, cancel);
  else multiplyIntegers<Integers32>(problem, packed, packing, c, narrowToHalf, workspace, cancel);
}

std::string describe(const BlockFormat&);

}  // namespace blockscope::avx2
