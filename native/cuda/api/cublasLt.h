// The part of cuBLASLt used here. Source: cublasLt.h and cublas_api.h of cuBLAS 13.1,
// library_types.h of CUDA 13.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace blockscope::cuda::cublaslt {

using Handle = void*;

struct Algorithm {  // cublasLtMatmulAlgo_t
  uint64_t data[8];
};

struct HeuristicResult {  // cublasLtMatmulHeuristicResult_t
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float wavesCount;
  int reserved[4];
};

#define BLOCKSCOPE_CUBLASLT_FUNCTIONS(X)                                                   \
  X(getVersion, "cublasLtGetVersion", size_t, ())                                          \
  X(getStatusString, "cublasLtGetStatusString", const char*, (int))                        \
  X(create, "cublasLtCreate", int, (Handle*))                                              \
  X(destroy, "cublasLtDestroy", int, (Handle))                                             \
  X(matmulDescCreate, "cublasLtMatmulDescCreate", int, (Handle*, int, int))                \
  X(matmulDescSetAttribute, "cublasLtMatmulDescSetAttribute", int,                         \
    (Handle, int, const void*, size_t))                                                    \
  X(matmulDescDestroy, "cublasLtMatmulDescDestroy", int, (Handle))                         \
  X(matrixLayoutCreate, "cublasLtMatrixLayoutCreate", int,                                 \
    (Handle*, int, uint64_t, uint64_t, int64_t))                                           \
  X(matrixLayoutDestroy, "cublasLtMatrixLayoutDestroy", int, (Handle))                     \
  X(preferenceCreate, "cublasLtMatmulPreferenceCreate", int, (Handle*))                    \
  X(preferenceSetAttribute, "cublasLtMatmulPreferenceSetAttribute", int,                   \
    (Handle, int, const void*, size_t))                                                    \
  X(preferenceDestroy, "cublasLtMatmulPreferenceDestroy", int, (Handle))                   \
  X(getHeuristic, "cublasLtMatmulAlgoGetHeuristic", int,                                   \
    (Handle, Handle, Handle, Handle, Handle, Handle, Handle, int, HeuristicResult*, int*)) \
  X(matmul, "cublasLtMatmul", int,                                                         \
    (Handle, Handle, const void*, const void*, Handle, const void*, Handle, const void*,   \
     const void*, Handle, void*, Handle, const Algorithm*, void*, size_t, Handle))

struct Api {
#define BLOCKSCOPE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
  BLOCKSCOPE_CUBLASLT_FUNCTIONS(BLOCKSCOPE_MEMBER)
#undef BLOCKSCOPE_MEMBER
};

// What libraryMatmul.h takes.
struct Interface {
  using Api = cublaslt::Api;
  using Algorithm = cublaslt::Algorithm;
  using HeuristicResult = cublaslt::HeuristicResult;
  static constexpr int kComputeF32 = 68;  // CUBLAS_COMPUTE_32F
  static constexpr int kTranspose = 1;    // CUBLAS_OP_T
  // cublasLtMatmulDescAttributes_t
  static constexpr int kTransA = 3, kScalePointerA = 17, kScalePointerB = 18, kScaleModeA = 31,
                       kScaleModeB = 32;
  static constexpr int kPreferenceMaxWorkspaceBytes = 1;
  static std::string wordsOf(const Api& api, int status) { return api.getStatusString(status); }
};

}  // namespace blockscope::cuda::cublaslt
