// Shared memory of the emulated tcgen05 product: which of it a copy has filled and who knows, and
// the copies that TMA of sm_90 has not.
#pragma once

#include "common/tcgen05/operands.cuh"
#ifdef __CUDACC__
#include "common/tcgen05/emulatedPtx.cuh"
#endif

namespace tcgen05 {

// An mbarrier of a pair's first CTA, seen from the second.
constexpr u32 kOfFirst = 0x80000000u;

// What copies of one CTA fill, a box each, and the mbarriers that are told. Whoever waits for such
// an mbarrier makes its boxes known: the tensor core may read no others.
struct Boxes {
  static constexpr int kMost = 32;
  struct Box {
    u32 to, bytes, barrier;
    int told;     // the CTA whose mbarrier it is
    u32 counted;  // bytes that it is told of
    bool isKnown;
  };
  // Bytes that an mbarrier of this CTA is to wait for in its phase.
  struct Announced {
    u32 barrier, bytes;
  };
  volatile u32 count, begun;
  volatile Box boxes[kMost];
  volatile Announced announced[kMost];

  // An address of shared memory without the CTA that it is of: descriptors name none, threads of a
  // cluster do.
  __device__ static u32 local(u32 address) { return address & 0xffffff; }
  // Which one has the 16 bytes at `address`; -1: nobody wrote them.
  __device__ int find(u32 address) const {
    address = local(address);
    for (u32 i = 0; i < count; i++)
      if (address - boxes[i].to < boxes[i].bytes) return (int)i;
    return -1;
  }
  // The place in the table of the box that begins at `to`.
  __device__ int placeOf(u32 to) {
    const int found = find(to);
    return found >= 0 ? found : count < (u32)kMost ? (int)count : -1;
  }
  __device__ void begin(int at, u32 to, u32 bytes, u32 counted, u32 barrier, int told) {
    boxes[at].isKnown = false;
    boxes[at].to = local(to);
    boxes[at].bytes = bytes;
    boxes[at].barrier = local(barrier);
    boxes[at].told = told;
    boxes[at].counted = counted;
    __threadfence();
    if (at == (int)count) count = at + 1;
    begun = begun + 1;
    __threadfence();
  }
  // Gives the bytes of those that were not.
  __device__ u32 makeKnown(u32 barrier, int told) {
    u32 bytes = 0;
    for (u32 i = 0; i < count; i++)
      if (boxes[i].barrier == local(barrier) && boxes[i].told == told && !boxes[i].isKnown) {
        boxes[i].isKnown = true;
        bytes += boxes[i].counted;
      }
    return bytes;
  }
  // By the one thread that fills the ring.
  __device__ void announce(u32 barrier, u32 bytes) {
    int at = 0;
    while (announced[at].barrier != barrier && announced[at].barrier != 0 && at < kMost - 1) at++;
    announced[at].bytes = announced[at].bytes + bytes;
    announced[at].barrier = barrier;
    __threadfence();
  }
  // By whoever waits for it: once a phase.
  __device__ u32 takeAnnounced(u32 barrier) {
    for (int at = 0; at < kMost && announced[at].barrier != 0; at++) {
      if (announced[at].barrier != barrier) continue;
      const u32 bytes = announced[at].bytes;
      announced[at].bytes = 0;
      return bytes;
    }
    return 0;
  }
};

// Rows of codes of an operand in global memory, `bytes` each.
struct CodeRows {
  const u8* codes;
  int rows, bytes;
};

// A box of `rows` rows of 128 bytes from byte `first` of row `row`, 128-byte swizzle, in pieces of
// 16 bytes that `Bytes` of global memory each fill from their start: 8 and 12 are TMA's 16U4 and
// 16U6. Zeros beyond the matrix.
template <int Bytes>
__device__ inline void copyBox(u32 to, const CodeRows& from, int first, int row, int rows) {
  UNROLL_BY(4)
  for (int i = 0; i < rows * 8; i++) {
    const int at = row + i / 8, byte = first + i % 8 * Bytes;
    u32 words[4] = {};
    if (at < from.rows && byte < from.bytes) {
      const u32* words32 =
          reinterpret_cast<const u32*>(from.codes + (long long)at * from.bytes + byte);
      UNROLL
      for (int word = 0; word < Bytes / 4; word++) words[word] = words32[word];
    }
    storePiece(swizzled(Swizzle::k128, to, i / 8, i % 8 * 16), words);
  }
}

// Scales in nvidia_32_4_4, `groups` runs of 512 bytes for each 128 rows.
struct ScaleBlocks {
  const u8* scales;
  int blocks, groups;
};

__device__ inline void copyScaleBox(u32 to, const ScaleBlocks& from, int group, int groups,
                                    int block, int blocks) {
  const int pieces = kScaleGroupBytes / 16;
  UNROLL_BY(4)
  for (int i = 0; i < blocks * groups * pieces; i++) {
    const int ofBlock = block + i / pieces / groups, ofGroup = group + i / pieces % groups;
    uint4 words = make_uint4(0, 0, 0, 0);
    if (ofBlock < from.blocks && ofGroup < from.groups)
      words = reinterpret_cast<const uint4*>(
          from.scales)[((long long)ofBlock * from.groups + ofGroup) * pieces + i % pieces];
    storePiece(to + (u32)i * 16, {words.x, words.y, words.z, words.w});
  }
}

}  // namespace tcgen05
