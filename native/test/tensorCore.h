// A model of one CTA's tensor memory and of `tcgen05`: lanes and columns, allocation, copies of
// scales, block-scaled products that read their operands through descriptors, loads and stores of
// warps. PTX ISA 9.0, "TensorCore 5th Generation Instructions".
//
// Of a pair of CTAs (cta_group::2) both have the same addresses: a product multiplies the 128 rows
// of A of each, under scales in its own tensor memory, by the columns of B, of which each has half.
//
// What is issued stays under way until step() is called, which a machine does when nobody else can
// go on: whoever does not wait meets it. What a GPU would only sometimes get wrong is an error.
#pragma once

#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tensorOperands.h"

namespace tensor {

// Shared memory as the tensor core sees it. Both throw std::runtime_error for what is outside.
struct SharedView {
  virtual ~SharedView() = default;
  // 16 bytes that are to be read; throws where a copy writes them or nobody ever did.
  virtual const uint8_t* read(u32 address) = 0;
  // From now, or no longer, under a read of the tensor core.
  virtual void hold(u32 address, bool held) = 0;
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

class TensorCore {
 public:
  explicit TensorCore(SharedView& shared) : shared_(shared) {}
  // Work of cta_group::2 is of both, and one queue.
  static void pair(TensorCore& first, TensorCore& second) {
    first.group_ = second.group_ = {&first, &second};
  }

  // ------------------------------------------------------------------------------- allocation

  u32 allocate(int columns) {
    if (columns < 32 || columns > 512 || (columns & (columns - 1)) != 0)
      fail("tcgen05.alloc of " + std::to_string(columns) + " columns: 32 to 512, a power of two");
    if (permitGiven_) fail("tcgen05.alloc after relinquish_alloc_permit");
    for (int first = 0; first + columns <= kColumns; first += columns) {
      bool isFree = true;
      for (int i = 0; i < columns; i++) isFree = isFree && !allocated_[first + i];
      if (!isFree) continue;
      std::fill_n(allocated_.begin() + first, columns, true);
      allocations_[first] = columns;
      return static_cast<u32>(first);
    }
    fail("tcgen05.alloc waits forever: no " + std::to_string(columns) + " columns are free");
  }
  void relinquish() { permitGiven_ = true; }
  void free(u32 address, int columns) {
    const auto found = allocations_.find(static_cast<int>(address));
    if (found == allocations_.end() || found->second != columns)
      fail("tcgen05.dealloc of " + std::to_string(columns) + " columns from " +
           std::to_string(address) + ", which are no allocation");
    checkIdle(static_cast<int>(address), columns, "is freed");
    std::fill_n(allocated_.begin() + address, columns, false);
    for (auto& lane : written_) std::fill_n(lane.begin() + address, columns, false);
    allocations_.erase(found);
  }
  // At the end of the CTA.
  void finish() {
    while (step()) {
    }
    if (!allocations_.empty())
      fail(std::to_string(allocations_.begin()->second) + " columns of " + memory() +
           " are not freed: tcgen05.dealloc is missing");
  }

  // ------------------------------------------------------------------------------- one thread

  void issue(const Multiply& one) {
    using namespace tcgen05;
    const Instruction is = decodedInstruction(one.vector, one.instruction);
    check(is, one);
    Operation operation;
    operation.writes = {column(one.d, is.n, "D"), is.n};
    operation.reads = {
        {column(one.scalesA, 4, "the scales of A"), 4},
        {column(one.scalesB, (is.n + 31) / 32, "the scales of B"), (is.n + 31) / 32}};
    for (const Range& scales : operation.reads)
      if (overlap(scales, operation.writes)) fail("D of tcgen05.mma lies over its scales");
    const SharedTile a = tileOf(one.a, "A"), b = tileOf(one.b, "B");
    for (TensorCore* core : group_)
      for (int piece = 0; piece < 2; piece++) {
        for (int row = 0; row < kLanes; row++)
          operation.pieces.push_back({&core->shared_, pieceOf(a, row, piece)});
        for (int row = 0; row < is.n / ctas(); row++)
          operation.pieces.push_back({&core->shared_, pieceOf(b, row, piece)});
      }
    operation.work = [this, one, is, a, b] { multiply(one, is, a, b); };
    operation.name = "tcgen05.mma";
    push(std::move(operation));
  }
  void issue(const ScaleCopy& one) {
    using namespace tcgen05;
    const SharedTile from = decodedTile(one.from);
    checkVersion(from, "tcgen05.cp");
    if (from.swizzle != 0) fail("tcgen05.cp of scales reads rows of 16 bytes, without a swizzle");
    if (from.stride < 128)
      fail("tcgen05.cp: a stride of " + std::to_string(from.stride) +
           " bytes, below the 128 of eight rows");
    Operation operation;
    operation.writes = {column(one.to, 4, "tcgen05.cp"), 4};
    for (TensorCore* core : group_)
      for (int row = 0; row < 32; row++)
        operation.pieces.push_back({&core->shared_, pieceOf(from, row, 0)});
    operation.work = [this, to = operation.writes.first, from] {
      for (TensorCore* core : group_) core->copy(from, to);
    };
    operation.name = "tcgen05.cp";
    push(std::move(operation));
  }
  // `arrive` at a barrier once all that was issued before has ended.
  void commit(std::function<void()> arrive) {
    Operation operation;
    operation.work = std::move(arrive);
    operation.name = "tcgen05.commit";
    queue().push_back(std::move(operation));
  }
  bool isBusy() const { return !queue().empty(); }
  // Ends the oldest that is under way. False: there is nothing.
  bool step() {
    if (queue().empty()) return false;
    const Operation operation = std::move(queue().front());
    queue().pop_front();
    for (const auto& [shared, piece] : operation.pieces) shared->hold(piece, false);
    operation.work();
    return true;
  }

  // ------------------------------------------------------------------------------- whole warps

  using Words = std::vector<std::array<uint32_t, 32>>;  // [register][lane]

  // 32x32b.xN: register i of lane l is column i of the warp's lane l. The registers have them from
  // waitForLoads() on.
  Words load(int warp, u32 address, int columns) {
    const int first = column(own(warp, address), columns, "tcgen05.ld");
    checkWritesDone(first, columns, "is read");
    Words words(columns);
    for (int i = 0; i < columns; i++)
      for (int lane = 0; lane < 32; lane++) {
        if (!written_[warp % 4 * 32 + lane][first + i]) failUnwritten("tcgen05.ld", first + i);
        words[i][lane] = cells_[warp % 4 * 32 + lane][first + i];
      }
    loading_[warp].push_back({first, columns});
    return words;
  }
  void waitForLoads(int warp) { loading_[warp].clear(); }
  void store(int warp, u32 address, const Words& words) {
    const auto columns = static_cast<int>(words.size());
    const int first = column(own(warp, address), columns, "tcgen05.st");
    checkIdle(first, columns, "is written");
    for (int i = 0; i < columns; i++)
      for (int lane = 0; lane < 32; lane++) {
        cells_[warp % 4 * 32 + lane][first + i] = words[i][lane];
        written_[warp % 4 * 32 + lane][first + i] = true;
      }
    storing_[warp].push_back({first, columns});
  }
  void waitForStores(int warp) { storing_[warp].clear(); }

 private:
  static constexpr int kLanes = tcgen05::kTensorLanes, kColumns = tcgen05::kTensorColumns;
  struct Range {
    int first = 0, count = 0;
  };
  struct Operation {
    const char* name;
    Range writes;
    std::vector<Range> reads;
    std::vector<std::pair<SharedView*, u32>> pieces;
    std::function<void()> work;
  };
  std::deque<Operation>& queue() const { return group_[0]->underWay_; }
  int ctas() const { return static_cast<int>(group_.size()); }
  // Which of the pair's.
  std::string memory() const {
    return ctas() == 1 ? "tensor memory"
                       : "tensor memory of CTA " + std::to_string(group_[0] == this ? 0 : 1);
  }

  static bool overlap(const Range& a, const Range& b) {
    return a.first < b.first + b.count && b.first < a.first + a.count;
  }
  [[noreturn]] static void fail(const std::string& what) { throw std::runtime_error(what); }
  [[noreturn]] void failUnwritten(const std::string& who, int at) const {
    fail(who + " reads column " + std::to_string(at) + " of " + memory() + ", which nobody wrote");
  }

  // Of an address without lanes; all columns must be allocated, in a pair in both.
  int column(u32 address, int count, const std::string& what) const {
    const int first = address & 0xffff;
    for (const TensorCore* core : group_)
      for (int i = first; i < first + count; i++)
        if (i >= kColumns || !core->allocated_[i])
          fail(what + ": column " + std::to_string(i) + " of " + core->memory() +
               " is not allocated");
    return first;
  }
  // The address without its lanes, which are the warp's own.
  static u32 own(int warp, u32 address) {
    const auto lane = static_cast<int>(address >> 16);
    if (lane != warp % 4 * 32)
      fail("warp " + std::to_string(warp) + " reaches lanes from " + std::to_string(warp % 4 * 32) +
           " on, not from " + std::to_string(lane));
    return address & 0xffff;
  }

  void checkWritesDone(int first, int count, const std::string& what) const {
    for (const Operation& one : queue())
      if (overlap(one.writes, {first, count}))
        fail("tensor memory column " + std::to_string(first) + " " + what + " under a " + one.name +
             " that is not waited for");
  }
  void checkIdle(int first, int count, const std::string& what) const {
    checkWritesDone(first, count, what);
    for (const Operation& one : queue())
      for (const Range& read : one.reads)
        if (overlap(read, {first, count}))
          fail("tensor memory column " + std::to_string(first) + " " + what + " under a " +
               one.name + " that still reads it");
    checkWarps(loading_, {first, count}, what + " while a warp reads it: tcgen05.wait::ld");
    checkWarps(storing_, {first, count}, what + " while a warp writes it: tcgen05.wait::st");
  }
  static void checkWarps(const std::map<int, std::vector<Range>>& of, const Range& range,
                         const std::string& what) {
    for (const auto& [warp, ranges] : of)
      for (const Range& one : ranges)
        if (overlap(one, range))
          fail("tensor memory column " + std::to_string(one.first) + " " + what + " is missing");
  }

  static tcgen05::SharedTile tileOf(u64 bits, const std::string& operand) {
    const tcgen05::SharedTile tile = tcgen05::decodedTile(bits);
    checkVersion(tile, "operand " + operand);
    const u32 group = tile.swizzle == 2 ? 1024 : tile.swizzle == 4 ? 512 : 256;
    if (tile.stride < (tile.swizzle == 0 ? 128 : group))
      fail("operand " + operand + ": a stride of " + std::to_string(tile.stride) +
           " bytes, below the " + std::to_string(tile.swizzle == 0 ? 128 : group) +
           " of eight rows");
    return tile;
  }
  static void checkVersion(const tcgen05::SharedTile& tile, const std::string& what) {
    if (tile.version != 1)
      fail(what + ": the descriptor's version is " + std::to_string(tile.version) +
           ", that of sm_100 is 1");
    if (tile.swizzle % 2 != 0 || !tile.isPlain || tile.baseOffset != 0)
      fail(what + ": the descriptor has bits that are not modelled");
  }

  void check(const tcgen05::Instruction& is, const Multiply& one) const {
    if (!is.isPlain) fail("tcgen05.mma: the instruction descriptor has bits that are not modelled");
    if (!tcgen05::isTensorForm(is.form))
      fail("tcgen05.mma: there is no instruction of these types");
    if (is.m != ctas() * kLanes || is.n < 8 || is.n > 256 || is.n % (8 * ctas()) != 0)
      fail("tcgen05.mma of " + std::to_string(is.m) + " x " + std::to_string(is.n) +
           ": cta_group::" + (ctas() == 1 ? "1 has 128 x 8 to 256" : "2 has 256 x 16 to 256"));
    for (const int id : {is.idA, is.idB})
      if (id % one.vector != 0)
        fail("tcgen05.mma: scale id " + std::to_string(id) + " where " +
             std::to_string(one.vector) + " scales of 4 bytes belong together");
    // CUTLASS leaves the ids in the addresses too.
    for (const auto& [address, id] : {std::pair(one.scalesA, is.idA), {one.scalesB, is.idB}})
      if (address >> 30 != 0 && static_cast<int>(address >> 30) != id)
        fail("tcgen05.mma: the scale id in an address is not the descriptor's");
  }

  void push(Operation operation) {
    for (const TensorCore* core : group_) {
      checkWarps(core->loading_, operation.writes,
                 "is written while a warp reads it: tcgen05.wait::ld");
      checkWarps(core->storing_, operation.writes,
                 "is written while a warp writes it: tcgen05.wait::st");
      for (const Range& read : operation.reads)
        checkWarps(core->storing_, read, "is read while a warp writes it: tcgen05.wait::st");
    }
    for (const auto& [shared, piece] : operation.pieces) {
      shared->read(piece);
      shared->hold(piece, true);
    }
    queue().push_back(std::move(operation));
  }

  struct Line {
    const tcgen05::Instruction& is;
    const uint8_t *rowA, *rowB;
    u32 scalesA, scalesB;
    u32 a(int k) const { return rowA[k]; }
    u32 b(int k) const { return rowB[k]; }
    u32 scaleA(int block) const { return scalesA >> (8 * (is.idA + block)) & 255; }
    u32 scaleB(int block) const { return scalesB >> (8 * (is.idB + block)) & 255; }
  };
  // Codes of `rows` rows, one to a byte.
  std::vector<uint8_t> codesOf(const tcgen05::SharedTile& tile, const tcgen05::Form& form,
                               int format, int rows) {
    std::vector<uint8_t> codes(rows * form.depth());
    for (int row = 0; row < rows; row++) {
      uint8_t bytes[32];
      for (int piece = 0; piece < 2; piece++)
        std::memcpy(bytes + 16 * piece, shared_.read(tcgen05::pieceOf(tile, row, piece)), 16);
      for (int k = 0; k < form.depth(); k++)
        codes[row * form.depth() + k] =
            static_cast<uint8_t>(tcgen05::codeOf(form, format, bytes, k));
    }
    return codes;
  }
  // A scale of every row: row r in lane r % 32 (of every quarter), column r / 32.
  u32 scalesOf(u32 address, int row) const {
    const int at = static_cast<int>(address & 0xffff) + row / 32;
    if (!written_[row % 32][at]) failUnwritten("tcgen05.mma", at);
    return cells_[row % 32][at];
  }
  void multiply(const Multiply& one, const tcgen05::Instruction& is, const tcgen05::SharedTile& a,
                const tcgen05::SharedTile& b) {
    std::vector<uint8_t> codesB;
    for (TensorCore* core : group_) {
      const auto half = core->codesOf(b, is.form, is.form.b, is.n / ctas());
      codesB.insert(codesB.end(), half.begin(), half.end());
    }
    for (TensorCore* core : group_) core->multiplyOwn(one, is, a, codesB);
  }
  // This CTA's 128 rows by all columns of B.
  void multiplyOwn(const Multiply& one, const tcgen05::Instruction& is,
                   const tcgen05::SharedTile& a, const std::vector<uint8_t>& codesB) {
    const int depth = is.form.depth(), first = one.d & 0xffff;
    const auto codesA = codesOf(a, is.form, is.form.a, kLanes);
    for (int row = 0; row < kLanes; row++)
      for (int j = 0; j < is.n; j++) {
        uint32_t& cell = cells_[row][first + j];
        if (one.adds && !written_[row][first + j]) failUnwritten("tcgen05.mma", first + j);
        cell = blockscale::sumOf(is.form,
                                 Line{is, &codesA[row * depth], &codesB[j * depth],
                                      scalesOf(one.scalesA, row), scalesOf(one.scalesB, j)},
                                 one.adds ? cell : 0);
        written_[row][first + j] = true;
      }
  }
  void copy(const tcgen05::SharedTile& from, int to) {
    for (int row = 0; row < 32; row++) {
      const uint8_t* bytes = shared_.read(tcgen05::pieceOf(from, row, 0));
      for (int lane = row; lane < kLanes; lane += 32)
        for (int i = 0; i < 4; i++) {
          std::memcpy(&cells_[lane][to + i], bytes + 4 * i, 4);
          written_[lane][to + i] = true;
        }
    }
  }

  SharedView& shared_;
  std::vector<TensorCore*> group_ = {this};
  std::vector<bool> allocated_ = std::vector<bool>(kColumns);
  std::map<int, int> allocations_;
  bool permitGiven_ = false;
  std::vector<std::vector<uint32_t>> cells_{kLanes, std::vector<uint32_t>(kColumns, 0x7fc0dead)};
  std::vector<std::vector<bool>> written_{kLanes, std::vector<bool>(kColumns)};
  std::deque<Operation> underWay_;
  std::map<int, std::vector<Range>> loading_, storing_;
};

}  // namespace tensor
