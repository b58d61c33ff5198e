// What `tcgen05.mma ... block_scale` (sm_100a and its family) is told in numbers: PTX ISA 9.0,
// "TensorCore 5th Generation Instructions", its sections "Instruction descriptor", "Shared memory
// descriptor" and "Scale factor layout in tensor memory". Golden data: NVIDIA/cutlass,
// include/cute/arch/mma_sm100_desc.hpp (native/test/tensorDescriptors.cpp).
//
// Formats by number, as in formats.cuh: 0 e2m1, 1 e2m3, 2 e3m2, 3 e4m3, 4 e5m2, 5 ue8m0, 6 ue4m3.
#pragma once

#include "common/blockScale/form.cuh"

namespace tcgen05 {

// An instruction's types and scales are those of a warp's: 1X is kind::mxf8f6f4, 2X kind::mxf4, 4X
// kind::mxf4nvf4 with .block16.
using blockscale::Form;

// Whether there is such an instruction on sm_100a (ptxas 13.0): unlike sm_120a, ue8m0 per 16 too.
LANE_CODE constexpr bool isTensorForm(Form form) {
  return blockscale::isForm(form) ||
         (form.a == 0 && form.b == 0 && form.scale == 5 && form.vector == 4);
}

constexpr int kInstructionBytes = 32;  // of a row along K, in every kind

// ------------------------------------------------------------------------------- the instruction

// A type's number in the descriptor; e2m1's differs between the kinds.
LANE_CODE constexpr u32 typeNumber(Form form, int format) {
  if (form.depth() == 64) return 1;
  return format == 3 ? 0 : format == 4 ? 1 : format == 1 ? 3 : format == 2 ? 4 : 5;
}

// What few kernels ask for.
struct Majors {
  bool mnMajorA = false, mnMajorB = false, negateA = false, negateB = false;
};

// The instruction descriptor. m x n sums; the ids say in which byte of its 32-bit column the first
// scale of A and of B lies.
LANE_CODE constexpr u32 instructionDescriptor(Form form, int m, int n, int idA, int idB,
                                              Majors majors = {}) {
  return (u32)idB << 4 | typeNumber(form, form.a) << 7 | typeNumber(form, form.b) << 10 |
         (u32)majors.negateA << 13 | (u32)majors.negateB << 14 | (u32)majors.mnMajorA << 15 |
         (u32)majors.mnMajorB << 16 | (u32)(n / 8) << 17 | (u32)(form.scale == 5) << 23 |
         (u32)(m / 16) << 24 | (u32)idA << 29;
}

// ------------------------------------------------------------------------------- shared memory

// How 16-byte pieces of a row lie: the widths exchange them by bits of the absolute address.
enum class Swizzle { kNone = 0, k128 = 2, k64 = 4, k32 = 6 };

// Bytes of a row of a swizzled tile; without a swizzle rows of 16 bytes lie one behind the other.
LANE_CODE constexpr int rowBytes(Swizzle swizzle) {
  return swizzle == Swizzle::k128  ? 128
         : swizzle == Swizzle::k64 ? 64
         : swizzle == Swizzle::k32 ? 32
                                   : 16;
}

// The shared-memory descriptor: bytes from one group of 16 bytes along K to the next (`leading`,
// ignored where a swizzle joins them), and from eight rows to the next eight (`stride`).
LANE_CODE constexpr u64 sharedDescriptor(Swizzle swizzle, u32 address, u32 leading, u32 stride) {
  const u64 version = 1;
  return (u64)(address >> 4 & 0x3fff) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 |
         version << 46 | (u64)swizzle << 61;
}

// A K-major tile of `rows` rows from `address`; `address` may lie 32 bytes, and further, along K of
// the first row.
LANE_CODE constexpr u64 tileDescriptor(Swizzle swizzle, u32 address, int rows) {
  return sharedDescriptor(swizzle, address, swizzle == Swizzle::kNone ? (u32)rows * 16 : 16,
                          (u32)rowBytes(swizzle) * 8);
}

// 512 bytes of nvidia_32_4_4 for tcgen05.cp.32x128b: 32 rows of 16 bytes.
LANE_CODE constexpr u64 scalesDescriptor(u32 address) {
  return sharedDescriptor(Swizzle::kNone, address, 16, 128);
}

// ------------------------------------------------------------------------------- tensor memory

constexpr int kTensorLanes = 128, kTensorColumns = 512;

// A place in tensor memory: lane in the upper, 32-bit column in the lower half.
LANE_CODE constexpr u32 tensorAddress(int lane, int column) {
  return (u32)lane << 16 | (u32)column;
}

// Scales of 128 rows and four blocks along K, 512 bytes of nvidia_32_4_4, take four columns.
constexpr int kScaleGroup = 4, kScaleGroupBytes = 512;

// 32-bit columns from one group of four scales along K to the next; `rows` a multiple of 128.
LANE_CODE constexpr int scaleColumns(int rows) { return rows / 32; }

// Where scale `scale` along K of row `row` lies, from the first column of the tile's scales; the
// same in lanes + 32, + 64 and + 96.
struct ScalePlace {
  int lane, column, byte;
};
LANE_CODE constexpr ScalePlace scalePlace(int rows, int row, int scale) {
  return {row % 32, scale / kScaleGroup * scaleColumns(rows) + row / 32, scale % kScaleGroup};
}

// What the instruction at step `step` along K is given of a tile's scales: first column and id.
struct ScaleOperand {
  int column, id;
};
LANE_CODE constexpr ScaleOperand scaleOperand(Form form, int rows, int step) {
  const ScalePlace first = scalePlace(rows, 0, step * form.vector);
  return {first.column, first.byte};
}

}  // namespace tcgen05
