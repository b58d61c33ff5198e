// The part of hipBLASLt used here. Source: hipblaslt.h of hipBLASLt 1.0 to 1.2 (ROCm 7.0 to 7.2,
// ROCm/rocm-libraries), hipblas-common.h for status, operation and compute type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace blockscope::hip::hipblaslt {

using Handle = void*;

struct Algorithm {  // hipblasLtMatmulAlgo_t
  uint8_t data[16];
  size_t maxWorkspaceBytes;
};

struct HeuristicResult {  // hipblasLtMatmulHeuristicResult_t
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float wavesCount;
  int reserved[4];
};

#define BLOCKSCOPE_HIPBLASLT_FUNCTIONS(X)                                                  \
  X(create, "hipblasLtCreate", int, (Handle*))                                             \
  X(destroy, "hipblasLtDestroy", int, (Handle))                                            \
  X(matmulDescCreate, "hipblasLtMatmulDescCreate", int, (Handle*, int, int))               \
  X(matmulDescSetAttribute, "hipblasLtMatmulDescSetAttribute", int,                        \
    (Handle, int, const void*, size_t))                                                    \
  X(matmulDescDestroy, "hipblasLtMatmulDescDestroy", int, (Handle))                        \
  X(matrixLayoutCreate, "hipblasLtMatrixLayoutCreate", int,                                \
    (Handle*, int, uint64_t, uint64_t, int64_t))                                           \
  X(matrixLayoutDestroy, "hipblasLtMatrixLayoutDestroy", int, (Handle))                    \
  X(preferenceCreate, "hipblasLtMatmulPreferenceCreate", int, (Handle*))                   \
  X(preferenceSetAttribute, "hipblasLtMatmulPreferenceSetAttribute", int,                  \
    (Handle, int, const void*, size_t))                                                    \
  X(preferenceDestroy, "hipblasLtMatmulPreferenceDestroy", int, (Handle))                  \
  X(getHeuristic, "hipblasLtMatmulAlgoGetHeuristic", int,                                  \
    (Handle, Handle, Handle, Handle, Handle, Handle, Handle, int, HeuristicResult*, int*)) \
  X(matmul, "hipblasLtMatmul", int,                                                        \
    (Handle, Handle, const void*, const void*, Handle, const void*, Handle, const void*,   \
     const void*, Handle, void*, Handle, const Algorithm*, void*, size_t, Handle))

struct Api {
#define BLOCKSCOPE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
  BLOCKSCOPE_HIPBLASLT_FUNCTIONS(BLOCKSCOPE_MEMBER)
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
};

}  // namespace blockscope::hip::hipblaslt
