// The part of hipBLASLt used here. Source: hipblaslt.h of hipBLASLt 1.0 to 1.2 (ROCm 7.0 to 7.2,
// ROCm/rocm-libraries), hipblas-common.h for status, operation and compute type.
#pragma once

#include <cstring>
#include <string>

#include "../../core/matmulAlgorithm.h"
#include "../../cuda/api/matmulFunctions.h"

namespace blockscope::hip::hipblaslt {

using Handle = void*;

struct Algorithm {  // hipblasLtMatmulAlgo_t
  uint8_t data[16];
  size_t maxWorkspaceBytes;
};

using HeuristicResult = cuda::MatmulHeuristicResult<Algorithm>;

#define BLOCKSCOPE_HIPBLASLT_FUNCTIONS(X) BLOCKSCOPE_MATMUL_FUNCTIONS(X, "hipblasLt")

// hipblaslt_ext::getSolutionNameFromAlgo of hipblaslt-ext.hpp, which gives a std::string of
// libstdc++: where this is built with another one, the name is not asked for.
#define BLOCKSCOPE_HIPBLASLT_CPP_FUNCTIONS(X)                                                      \
  X(solutionName,                                                                                  \
    "_ZN13hipblaslt_ext23getSolutionNameFromAlgoB5cxx11EPvR22_hipblasLtMatmulAlgo_t", std::string, \
    (Handle, Algorithm&))

struct Api {
#define BLOCKSCOPE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
  BLOCKSCOPE_HIPBLASLT_FUNCTIONS(BLOCKSCOPE_MEMBER)
  BLOCKSCOPE_HIPBLASLT_CPP_FUNCTIONS(BLOCKSCOPE_MEMBER)
#undef BLOCKSCOPE_MEMBER
};

// What cuda/libraryMatmul.h takes.
struct Interface {
  using Api = hipblaslt::Api;
  using Algorithm = hipblaslt::Algorithm;
  using HeuristicResult = hipblaslt::HeuristicResult;
  static constexpr int kComputeF32 = 2;   // HIPBLAS_COMPUTE_32F
  static constexpr int kTranspose = 112;  // HIPBLAS_OP_T
  // hipblasLtMatmulDescAttributes_t
  static constexpr int kTransA = 0, kScalePointerA = 5, kScalePointerB = 6, kScaleModeA = 31,
                       kScaleModeB = 32;
  static constexpr int kPreferenceMaxWorkspaceBytes = 1;
  // hipblasStatus_t; the library has no words for them.
  static std::string wordsOf(const Api&, int status) {
    constexpr const char* kNames[] = {"SUCCESS",          "NOT_INITIALIZED", "ALLOC_FAILED",
                                      "INVALID_VALUE",    "MAPPING_ERROR",   "EXECUTION_FAILED",
                                      "INTERNAL_ERROR",   "NOT_SUPPORTED",   "ARCH_MISMATCH",
                                      "HANDLE_IS_NULLPTR"};
    constexpr int kCount = sizeof kNames / sizeof *kNames;
    if (status < 0 || status >= kCount) return "status " + std::to_string(status);
    return std::string("HIPBLAS_STATUS_") + kNames[status];
  }
  // The solution's index is what an algorithm begins with (hipblaslt_ext::getIndexFromAlgo); tile,
  // stages and the rest are parts of its name.
  static MatmulAlgorithm describe(const Api& api, Handle handle, Algorithm algorithm) {
    int32_t index = 0;
    std::memcpy(&index, algorithm.data, sizeof index);
    MatmulAlgorithm told;
    told.id = index;
    if (api.solutionName) told.name = api.solutionName(handle, algorithm);
    return told;
  }
};

}  // namespace blockscope::hip::hipblaslt
