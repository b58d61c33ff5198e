// SHA-256 (FIPS 180-4), for the names of cached binaries and the identity of kernel sources.
#pragma once

#include <string>
#include <string_view>

namespace blockscope::cuda {

// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace blockscope::cuda
