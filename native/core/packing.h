// Codes in memory. fp4: two in a byte, even index along K in the low nibble. fp6: four in three
// bytes, little-endian. Codes unpacked are canonical: a byte each, or two.
#pragma once

#include <cstdint>
#include <vector>

#include "formats.h"

namespace blockscope {

// Bytes that `count` codes take; count * storageBits must be a multiple of 8.
int64_t packedBytes(const NumberFormat&, int64_t count);
void packCodes(const NumberFormat&, const uint8_t* codes, int64_t count, uint8_t* packed);
void unpackCodes(const NumberFormat&, const uint8_t* packed, int64_t count, uint8_t* codes);
// Every matrix of rows x columns bytes as columns x rows: canonical codes, or scales, of B turned.
std::vector<uint8_t> transposed(const std::vector<uint8_t>& bytes, int64_t rows, int64_t columns);

}  // namespace blockscope
