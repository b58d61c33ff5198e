// The part of cuBLASLt used here. Source: cublasLt.h and cublas_api.h of cuBLAS 13.1,
// library_types.h of CUDA 13.0.
#pragma once

#include <string>

#include "../../core/matmulAlgorithm.h"
#include "matmulFunctions.h"

namespace blockscope::cuda::cublaslt {

using Handle = void*;

struct Algorithm {  // cublasLtMatmulAlgo_t
  uint64_t data[8];
};

using HeuristicResult = MatmulHeuristicResult<Algorithm>;

#define BLOCKSCOPE_CUBLASLT_FUNCTIONS(X)                             \
  X(getVersion, "cublasLtGetVersion", size_t, ())                    \
  X(getStatusString, "cublasLtGetStatusString", const char*, (int))  \
  X(algorithmAttribute, "cublasLtMatmulAlgoConfigGetAttribute", int, \
    (const Algorithm*, int, void*, size_t, size_t*))                 \
  BLOCKSCOPE_MATMUL_FUNCTIONS(X, "cublasLt")

struct Api {
#define BLOCKSCOPE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
  BLOCKSCOPE_CUBLASLT_FUNCTIONS(BLOCKSCOPE_MEMBER)
#undef BLOCKSCOPE_MEMBER
};

// cublasLtMatmulAlgoConfigAttributes_t
enum class Attribute : int {
  kId = 0,
  kTile = 1,
  kSplitK = 2,
  kReduction = 3,
  kSwizzle = 4,
  kCustomOption = 5,
  kStages = 6,
  kCluster = 8,
};

// "128x256", "64xAUTO", "2x1x1" of cublasLtMatmulTile_t, cublasLtMatmulStages_t and
// cublasLtClusterShape_t; a number that is none of these as it is, undefined ones as nothing.
std::string tileWords(uint32_t id);
std::string stagesWords(uint32_t id);
std::string clusterWords(uint32_t id);

// What the library tells of an algorithm.
MatmulAlgorithm describe(const Api&, const Algorithm&);

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
  static MatmulAlgorithm describe(const Api& api, Handle, const Algorithm& algorithm) {
    return cublaslt::describe(api, algorithm);
  }
};

}  // namespace blockscope::cuda::cublaslt
