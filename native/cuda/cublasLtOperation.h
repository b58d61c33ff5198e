// Kernels of cuBLASLt: the block-scaled matmul where the device has it, and two baselines on every
// device.
//
// "cublaslt-bf16" multiplies operands dequantised beforehand, "cublaslt-fp8" operands rounded to
// e4m3 with one scale for the whole tensor. Both show what the library reaches without block scales
// and are marked as baselines.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "context.h"
#include "operation.h"

namespace blockscope::cuda {

enum class OperandConversion { kNone, kToBf16, kToOneScaleE4m3 };

// What cuBLASLt is told for one kernel and problem; pure, so that it can be tested without a
// device.
struct MatmulPlan {
  int aType = 0, bType = 0, cType = 0;  // cublaslt::DataType of our A and B
  int scaleMode = 0;                    // cublaslt::ScaleMode of both
  bool scalePointers = false;
  // cuBLASLt multiplies bf16 into bf16 or f32 alone: bf16 stands in where f16 was asked for.
  OutputType output = OutputType::kF16;
  OperandConversion conversion = OperandConversion::kNone;
  int64_t aBytes = 0, bBytes = 0;            // of one matrix
  int64_t aScaleBytes = 0, bScaleBytes = 0;  // of one matrix, in nvidia_32_4_4 for block scales
};

bool isCublasLtKernel(const std::string& kernel);
// Throws Error(kUsage) when the kernel does not compute the problem.
MatmulPlan planMatmul(const std::string& kernel, const Problem&);
// The library's kernels with what each can do on a device of this compute capability, by a library
// that was found or not.
std::vector<KernelInfo> cublasLtKernels(int major, const LibraryInfo&);

std::unique_ptr<Operation> makeCublasLtOperation(const DeviceContext&, const Problem&,
                                                 const std::string& kernel);

}  // namespace blockscope::cuda
