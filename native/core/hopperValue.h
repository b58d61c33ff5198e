// Packed fp4 weights as triton_kernels' HopperMXValueLayout keeps them, blocks along the last axis.
// Twin of src-shared/layouts/hopperValue.ts, where the source and the bit places stand.
#pragma once

#include <cstdint>
#include <vector>

namespace blockscope {

// Packed fp4 (rows, columns = K / 2), two codes a byte, to the layout for MMA version 2 or 3,
// padded to 256 x 64 bytes, and back. Throw Error(kUsage) for another version or another number of
// bytes.
std::vector<uint8_t> packHopperValues(int mmaVersion, int64_t rows, int64_t columns,
                                      const std::vector<uint8_t>& packed);
std::vector<uint8_t> unpackHopperValues(int mmaVersion, int64_t rows, int64_t columns,
                                        const std::vector<uint8_t>& swizzled);

}  // namespace blockscope
