// An operand in canonical codes (one byte each, bf16 two) with linear scales: element times scale,
// which has at most 8 significant bits and is exact in float64.
#pragma once

struct OperandValues {
  const unsigned char *codes, *scales;      // scales: nullptr for bf16 elements, which have none
  const double *elementTable, *scaleTable;  // values of every code, 256 each
  unsigned K, V;

  __device__ double at(long long row, unsigned k) const {
    const long long index = row * K + k;
    if (!scales)
      return (double)__uint_as_float((unsigned)reinterpret_cast<const unsigned short*>(codes)[index]
                                     << 16);
    return elementTable[codes[index]] * scaleTable[scales[row * (K / V) + k / V]];
  }
};
