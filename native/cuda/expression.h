// The integer expressions of kernel manifests (resources/kernels/cuda/README.md): grids, bytes,
// conditions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace blockscope::cuda {

using Variables = std::map<std::string, int64_t, std::less<>>;

// Value over 64-bit integers. Throws Error(kUsage) for bad syntax, an unknown name, a division by
// zero or an overflow; the sentence quotes the expression.
int64_t evaluate(std::string_view expression, const Variables&);

}  // namespace blockscope::cuda
