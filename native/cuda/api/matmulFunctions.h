// What cuBLASLt and hipBLASLt have alike: functions of the same names and parameters behind a
// prefix of their own, and what their heuristics answer. A user has Handle, Algorithm and
// HeuristicResult in its namespace. Source: cublasLt.h and hipblaslt.h, as in api/cublasLt.h and
// hip/api/hipblasLt.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace blockscope::cuda {

// cublasLtMatmulHeuristicResult_t, hipblasLtMatmulHeuristicResult_t.
template <class Algorithm>
struct MatmulHeuristicResult {
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float wavesCount;
  int reserved[4];
};

}  // namespace blockscope::cuda

#define BLOCKSCOPE_MATMUL_FUNCTIONS(X, prefix)                                             \
  X(create, prefix "Create", int, (Handle*))                                               \
  X(destroy, prefix "Destroy", int, (Handle))                                              \
  X(matmulDescCreate, prefix "MatmulDescCreate", int, (Handle*, int, int))                 \
  X(matmulDescSetAttribute, prefix "MatmulDescSetAttribute", int,                          \
    (Handle, int, const void*, size_t))                                                    \
  X(matmulDescDestroy, prefix "MatmulDescDestroy", int, (Handle))                          \
  X(matrixLayoutCreate, prefix "MatrixLayoutCreate", int,                                  \
    (Handle*, int, uint64_t, uint64_t, int64_t))                                           \
  X(matrixLayoutDestroy, prefix "MatrixLayoutDestroy", int, (Handle))                      \
  X(preferenceCreate, prefix "MatmulPreferenceCreate", int, (Handle*))                     \
  X(preferenceSetAttribute, prefix "MatmulPreferenceSetAttribute", int,                    \
    (Handle, int, const void*, size_t))                                                    \
  X(preferenceDestroy, prefix "MatmulPreferenceDestroy", int, (Handle))                    \
  X(getHeuristic, prefix "MatmulAlgoGetHeuristic", int,                                    \
    (Handle, Handle, Handle, Handle, Handle, Handle, Handle, int, HeuristicResult*, int*)) \
  X(matmul, prefix "Matmul", int,                                                          \
    (Handle, Handle, const void*, const void*, Handle, const void*, Handle, const void*,   \
     const void*, Handle, void*, Handle, const Algorithm*, void*, size_t, Handle))
