// A model of one CTA's tensor memory: lanes and columns, what is allocated and written, what warps
// load and store, and the work of the tensor core that is under way. PTX ISA 9.0, "TensorCore 5th
// Generation Instructions". Plain data, which a GPU keeps in its memory and a CPU anywhere.
#pragma once

#include "common/tcgen05/operands.cuh"

namespace tcgen05 {

// What is wrong, in words.
struct Sentence {
  static constexpr int kRoom = 240;
  char text[kRoom];
  int length = 0;

  template <class... Parts>
  LANE_CODE explicit Sentence(const Parts&... parts) {
    (add(parts), ...);
    text[length] = 0;
  }
  LANE_CODE OUT_OF_LINE void add(const char* words) {
    while (*words != 0 && length < kRoom - 1) text[length++] = *words++;
  }
  LANE_CODE OUT_OF_LINE void add(u32 number) {
    char digits[10];
    int count = 0;
    do digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0 && length < kRoom - 1) text[length++] = digits[--count];
  }
  LANE_CODE void add(int number) {
    if (number < 0) add("-");
    add((u32)(number < 0 ? -number : number));
  }
};

struct Columns {
  int first, count;
  LANE_CODE bool overlap(const Columns& other) const {
    return first < other.first + other.count && other.first < first + count;
  }
};

// Columns that a warp's instructions reach and no wait has ended yet: a bit each.
struct ColumnSet {
  volatile u32 words[kTensorColumns / 32];
  LANE_CODE void add(const Columns& columns) {
    for (int i = columns.first / 32; i * 32 < columns.first + columns.count; i++)
      words[i] = words[i] | bitsOf(columns, i);
  }
  LANE_CODE void clear() {
    for (int i = 0; i < kTensorColumns / 32; i++) words[i] = 0;
  }
  // The first that both have, or -1.
  LANE_CODE int firstOf(const Columns& columns) const {
    for (int i = columns.first / 32; i * 32 < columns.first + columns.count; i++)
      if (const u32 both = words[i] & bitsOf(columns, i); both != 0) {
        int at = i * 32;
        while (!(both >> at % 32 & 1)) at++;
        return at;
      }
    return -1;
  }

 private:
  // Those of word `i`.
  LANE_CODE static u32 bitsOf(const Columns& columns, int i) {
    const int first = columns.first - i * 32, end = first + columns.count;
    return (end >= 32 ? ~0u : (1u << end) - 1) & (first <= 0 ? ~0u : ~0u << first);
  }
};

struct Multiply {
  int vector;  // scales along K: 1, 2 or 4
  u32 d;
  u64 a, b;
  u32 instruction, scalesA, scalesB;
  bool adds;  // to what D holds
};

// 32x128b.warpx4: 512 bytes to four columns, in all four quarters of the lanes.
struct ScaleCopy {
  u32 to;
  u64 from;
};

// Work of the tensor core. `Commit` says who hears that it has ended, `Pieces` what of shared
// memory it reads.
template <class Commit, class Pieces>
struct Operation {
  enum Kind { kMultiply, kCopy, kCommit };
  Kind kind;
  Multiply multiply;
  ScaleCopy copy;
  Commit commit;
  Columns writes, reads[2];
  Pieces pieces;

  LANE_CODE const char* name() const {
    return kind == kMultiply ? "tcgen05.mma" : kind == kCopy ? "tcgen05.cp" : "tcgen05.commit";
  }
};

// Of one CTA of `Warps` warps. All zero in the beginning.
template <class Operation, int Warps>
struct TensorMemory {
  static constexpr int kWarps = Warps, kUnderWay = 256;

  u32 allocations[kTensorColumns];  // columns of the allocation that begins here
  u8 isAllocated[kTensorColumns], written[kTensorLanes][kTensorColumns];
  bool permitGiven;
  ColumnSet loading[kWarps], storing[kWarps];
  // Counted from the start: work issued, up to the last commit, and ended. Of a pair the first
  // CTA's counts.
  volatile u32 issued, committed, ended;
  Operation underWay[kUnderWay];
  u32 cells[kTensorLanes][kTensorColumns];
};

}  // namespace tcgen05
