// What cuBLASLt is asked for, and what of its answer is told: a library made of counters stands in
// for the real one.
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "cudaStandIn.h"

namespace {

// It thinks in columns: its A is our B, and each brings its own scales.
std::map<int, int32_t> askedModes;
std::vector<std::array<int64_t, 4>> askedLayouts;  // type, rows, columns, leading dimension

void blockScalesAreAskedFor() {
  failing = -1;
  auto& lt = const_cast<Libraries&>(libraries()).cublasLt;
  lt.matmulDescSetAttribute = [](cublaslt::Handle, int attribute, const void* value, size_t bytes) {
    if (bytes == 4) std::memcpy(&askedModes[attribute], value, 4);
    return 0;
  };
  lt.matrixLayoutCreate = [](cublaslt::Handle* to, int type, uint64_t rows, uint64_t columns,
                             int64_t leading) {
    askedLayouts.push_back(
        {type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), leading});
    return create(to);
  };
  const DeviceContext context(hopper());
  // CUDA's library_types.h and cublasLt.h: 28 and 29 are e4m3 and e5m2, 33 e2m1, 2 float16; scale
  // mode 1 is ue4m3 per 16, 2 ue8m0 per 32; attributes 31 and 32 are the modes of A and B.
  for (const auto& [kernel, format, a, b, mode] :
       {std::tuple("cublaslt-mxfp8", "mxfp8_e4m3_e5m2", 28, 29, 2),
        {"cublaslt-nvfp4", "nvfp4", 33, 33, 1},
        {"cublaslt-mxfp4", "mxfp4", 33, 33, 2}}) {
    askedModes.clear(), askedLayouts.clear();
    makeCublasLtOperation(context, {format, 96, 160, 256}, kernel);
    CHECK(askedModes[31] == mode && askedModes[32] == mode && askedModes[3] == 1);
    const std::vector<std::array<int64_t, 4>> expected = {
        {b, 256, 160, 256}, {a, 256, 96, 256}, {2, 160, 96, 160}};
    CHECK(askedLayouts == expected);
    const MatmulPlan plan = planMatmul(cublasLt(), kernel, {format, 96, 160, 256});
    // Rows padded to 128, blocks of K to 4.
    CHECK(plan.aScaleBytes == 128 * (mode == 2 ? 8 : 16));
    CHECK(plan.bScaleBytes == 2 * plan.aScaleBytes);
  }
}

// One without mxfp4 has no algorithm for it: such a point is left out of a run with the reason.
void whatItDoesNotHaveIsUnavailable() {
  auto& lt = const_cast<Libraries&>(libraries()).cublasLt;
  const auto had = lt.getHeuristic;
  lt.getHeuristic = [](cublaslt::Handle, cublaslt::Handle, cublaslt::Handle, cublaslt::Handle,
                       cublaslt::Handle, cublaslt::Handle, cublaslt::Handle, int,
                       cublaslt::HeuristicResult*, int*) { return 15; };
  const DeviceContext context(hopper());
  try {
    makeCublasLtOperation(context, {"mxfp4", 96, 160, 256}, "cublaslt-mxfp4");
    CHECK(false);
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kUnavailable);
    CHECK_CONTAINS(error.what(), "cuBLASLt has no algorithm for cublaslt-mxfp4 with mxfp4, M=96");
  }
  lt.getHeuristic = had;
}

// It is asked for as many bytes as cublasLt.h says an attribute has: two of a cluster, else four.
// What cannot be used is passed over.
void whatItChoseIsTold() {
  auto& lt = const_cast<Libraries&>(libraries()).cublasLt;
  lt.getHeuristic = [](cublaslt::Handle, cublaslt::Handle, cublaslt::Handle, cublaslt::Handle,
                       cublaslt::Handle, cublaslt::Handle, cublaslt::Handle, int most,
                       cublaslt::HeuristicResult* proposals, int* found) {
    CHECK(most == 8);
    *found = 3;
    proposals[0].state = 15;
    proposals[1] = {{{42}}, 1 << 20, 0, 3.875f, {}};
    return 0;
  };
  lt.algorithmAttribute = [](const cublaslt::Algorithm* algorithm, int attribute, void* value,
                             size_t bytes, size_t* written) {
    constexpr uint32_t kValues[] = {66, 24, 3, 2, 1, 9, 35, 0, 3};
    if (algorithm->data[0] != 42 || bytes != (attribute == 8 ? 2 : 4)) return 7;
    std::memcpy(value, &kValues[attribute], bytes);  // little-endian
    *written = bytes;
    return 0;
  };
  const DeviceContext context(hopper());
  const auto told = *makeCublasLtOperation(context, kProblem, "cublaslt-bf16")->algorithm();
  CHECK(told.id == 66 && told.tile == "256x128" && told.stages == "64xAUTO");
  CHECK(told.cluster == "2x1x1" && told.splitK == 3 && told.reduction == "in its sums");
  CHECK(told.swizzle == 1 && told.customOption == 9 && told.name.empty());
  CHECK(told.workspaceBytes == 1 << 20 && told.waves == 3.875);
  CHECK(told.rank == 2 && told.proposed == 3);
  // A library that does not know an attribute.
  lt.algorithmAttribute = [](const cublaslt::Algorithm*, int attribute, void*, size_t,
                             size_t* written) {
    *written = 0;
    return attribute > 5 ? 7 : 0;
  };
  const auto less = *makeCublasLtOperation(context, kProblem, "cublaslt-bf16")->algorithm();
  CHECK(less.tile.empty() && less.cluster.empty() && !less.splitK && !less.swizzle);
}

}  // namespace

int main() {
  standIn();
  blockScalesAreAskedFor();
  whatItDoesNotHaveIsUnavailable();
  whatItChoseIsTold();
  return summary();
}
