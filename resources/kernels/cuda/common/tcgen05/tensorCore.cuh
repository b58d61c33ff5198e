// A model of `tcgen05` over a model of tensor memory: allocation, copies of scales, block-scaled
// products that read their operands through descriptors, loads and stores of warps. PTX ISA 9.0,
// "TensorCore 5th Generation Instructions".
//
// Of a pair of CTAs (cta_group::2) both have the same addresses: a product multiplies the 128 rows
// of A of each, under scales in its own tensor memory, by the columns of B, of which each has half.
//
// What is issued stays under way until its environment ends it, as late as it can: whoever does not
// wait meets it. What a GPU would only sometimes get wrong is an error. On a CPU (native/test) it
// holds kernels of another compiler and ours; on a GPU, ours (emulatedMachine.cuh).
#pragma once

#include "common/tcgen05/tensorMemory.cuh"

namespace tcgen05 {

// Environment has the types Commit and Pieces, kWarps, how many warps a CTA may have, and
//   fail(sentence): throws, or notes the first and gives false;
//   waitForRoom(isThere): until isThere();
//   fence(): what this thread did is seen by others, and what they did by it;
//   use(pieces, cta, address): notes 16 bytes of shared memory that are to be read; false where
//     nobody wrote them, or a copy that is not waited for;
//   release(pieces): they are read;
//   piece(cta, address, words): the 16 bytes;
//   sumOf(form, line, before): blockscale::sumOf;
//   arrive(commit).
// After a failure nothing is meant any more; functions that give bool give false.
template <class Environment>
class TensorCore {
 public:
  typedef tcgen05::Operation<typename Environment::Commit, typename Environment::Pieces> Operation;
  typedef TensorMemory<Operation, Environment::kWarps> Memory;

  // Of CTA `rank` of `ctas`, whose memories these are.
  LANE_CODE TensorCore(Environment& environment, Memory* first, Memory* second, int rank)
      : environment_(&environment),
        memories_{first, second},
        ctas_(second == nullptr ? 1 : 2),
        rank_(rank) {}

  // ------------------------------------------------------------------------------- allocation

  LANE_CODE OUT_OF_LINE u32 allocate(int columns) {
    if (columns < 32 || columns > 512 || (columns & (columns - 1)) != 0)
      return fail("tcgen05.alloc of ", columns, " columns: 32 to 512, a power of two");
    if (own().permitGiven) return fail("tcgen05.alloc after relinquish_alloc_permit");
    for (int first = 0; first + columns <= kTensorColumns; first += columns) {
      bool isFree = true;
      for (int i = 0; i < columns; i++) isFree = isFree && !own().isAllocated[first + i];
      if (!isFree) continue;
      for (int i = 0; i < columns; i++) own().isAllocated[first + i] = 1;
      own().allocations[first] = (u32)columns;
      return (u32)first;
    }
    return fail("tcgen05.alloc waits forever: no ", columns, " columns are free");
  }
  LANE_CODE void relinquish() { own().permitGiven = true; }
  LANE_CODE bool free(u32 address, int columns) {
    if (address >= (u32)kTensorColumns || own().allocations[address] != (u32)columns)
      return fail("tcgen05.dealloc of ", columns, " columns from ", address,
                  ", which are no allocation");
    if (!isIdle({(int)address, columns}, "is freed")) return false;
    for (int at = (int)address; at < (int)address + columns; at++) {
      own().isAllocated[at] = 0;
      for (int lane = 0; lane < kTensorLanes; lane++) own().written[lane][at] = 0;
    }
    own().allocations[address] = 0;
    return true;
  }
  // At the end of the CTA.
  LANE_CODE bool finish() {
    for (int i = 0; i < kTensorColumns; i++)
      if (own().allocations[i] > 0)
        return fail(own().allocations[i], " columns of ", memoryName(), cta(rank_),
                    " are not freed: tcgen05.dealloc is missing");
    return true;
  }

  // ------------------------------------------------------------------------------- one thread

  LANE_CODE bool issue(const Multiply& one) {
    const Instruction is = decodedInstruction(one.vector, one.instruction);
    Operation operation = {};
    operation.kind = Operation::kMultiply;
    operation.multiply = one;
    operation.writes = {(int)(one.d & 0xffff), is.n};
    operation.reads[0] = {(int)(one.scalesA & 0xffff), 4};
    operation.reads[1] = {(int)(one.scalesB & 0xffff), (is.n + 31) / 32};
    if (!isMeant(is, one) || !areAllocated(operation.writes, "D") ||
        !areAllocated(operation.reads[0], "the scales of A") ||
        !areAllocated(operation.reads[1], "the scales of B"))
      return false;
    for (const Columns& scales : operation.reads)
      if (scales.overlap(operation.writes)) return fail("D of tcgen05.mma lies over its scales");
    const SharedTile a = decodedTile(one.a), b = decodedTile(one.b);
    if (!isOperand(a, "operand A") || !isOperand(b, "operand B")) return false;
    for (int cta = 0; cta < ctas_; cta++)
      for (int piece = 0; piece < 2; piece++) {
        for (int row = 0; row < kTensorLanes; row++)
          if (!environment_->use(operation.pieces, cta, pieceOf(a, row, piece))) return false;
        for (int row = 0; row < is.n / ctas_; row++)
          if (!environment_->use(operation.pieces, cta, pieceOf(b, row, piece))) return false;
      }
    return push(operation);
  }
  LANE_CODE bool issue(const ScaleCopy& one) {
    const SharedTile from = decodedTile(one.from);
    if (!isModelled(from, "tcgen05.cp")) return false;
    if (from.swizzle != 0)
      return fail("tcgen05.cp of scales reads rows of 16 bytes, without a swizzle");
    if (from.stride < 128)
      return fail("tcgen05.cp: a stride of ", from.stride, " bytes, below the 128 of eight rows");
    Operation operation = {};
    operation.kind = Operation::kCopy;
    operation.copy = one;
    operation.writes = {(int)(one.to & 0xffff), 4};
    if (!areAllocated(operation.writes, "tcgen05.cp")) return false;
    for (int cta = 0; cta < ctas_; cta++)
      for (int row = 0; row < 32; row++)
        if (!environment_->use(operation.pieces, cta, pieceOf(from, row, 0))) return false;
    return push(operation);
  }
  // `commit` is told once all that was issued before has ended.
  LANE_CODE bool issue(const typename Environment::Commit& commit) {
    Operation operation = {};
    operation.kind = Operation::kCommit;
    operation.commit = commit;
    if (!push(operation)) return false;
    queue().committed = queue().issued;
    return true;
  }

  // ------------------------------------------------------------------------------- the tensor core

  LANE_CODE bool isBusy() const { return queue().issued != queue().ended; }
  // The oldest that is under way.
  LANE_CODE const Operation& oldest() const { return at(queue().ended); }
  // A share of it, for each of `workers` threads; then end(), once, when all have done theirs.
  LANE_CODE bool work(const Operation& one, int worker, int workers) {
    if (one.kind == Operation::kMultiply) return multiply(one.multiply, worker, workers);
    if (one.kind == Operation::kCopy) copy(one.copy, worker, workers);
    return true;
  }
  LANE_CODE void end() {
    // A commit may be the last thing that its queue's owner hears of.
    Operation& one = at(queue().ended);
    environment_->release(one.pieces);
    const typename Environment::Commit commit = one.commit;
    const bool isCommit = one.kind == Operation::kCommit;
    environment_->fence();
    queue().ended = queue().ended + 1;
    environment_->fence();
    if (isCommit) environment_->arrive(commit);
  }
  // Whether `wanted` is true of work that is under way.
  template <class Wanted>
  LANE_CODE bool isUnderWay(Wanted wanted) const {
    const u32 issued = queue().issued;
    environment_->fence();
    for (u32 number = queue().ended; number != issued; number++)
      // What has ended meanwhile may have been written over.
      if (wanted(at(number)) && (int)(number - queue().ended) >= 0) return true;
    return false;
  }

  // ------------------------------------------------------------------------------- whole warps

  // 32x32b.xN: words[i] of lane `lane` of a warp is column i of the warp's own lane; to be read
  // from waitForLoads() on.
  LANE_CODE OUT_OF_LINE bool load(int warp, int lane, u32 address, int count, u32* words) {
    const Columns columns = {(int)(address & 0xffff), count};
    const int row = warp % 4 * 32 + lane;
    if (!isOwn(warp, address) || !areAllocated(columns, "tcgen05.ld") ||
        !isWritten(columns, "is read"))
      return false;
    for (int i = 0; i < count; i++) {
      if (!own().written[row][columns.first + i])
        return failUnwritten("tcgen05.ld", rank_, columns.first + i);
      words[i] = own().cells[row][columns.first + i];
    }
    own().loading[warp].add(columns);
    return true;
  }
  LANE_CODE void waitForLoads(int warp) { own().loading[warp].clear(); }
  // Lane after lane, the first one first.
  LANE_CODE bool store(int warp, int lane, u32 address, int count, const u32* words) {
    const Columns columns = {(int)(address & 0xffff), count};
    if (!isOwn(warp, address) || !areAllocated(columns, "tcgen05.st") ||
        (lane == 0 && !isIdle(columns, "is written")))
      return false;
    for (int i = 0; i < count; i++) {
      own().cells[warp % 4 * 32 + lane][columns.first + i] = words[i];
      own().written[warp % 4 * 32 + lane][columns.first + i] = 1;
    }
    own().storing[warp].add(columns);
    return true;
  }
  LANE_CODE void waitForStores(int warp) { own().storing[warp].clear(); }

 private:
  LANE_CODE Memory& own() const { return *memories_[rank_]; }
  LANE_CODE Memory& queue() const { return *memories_[0]; }
  LANE_CODE Operation& at(u32 number) const { return queue().underWay[number % Memory::kUnderWay]; }

  template <class... Parts>
  LANE_CODE bool fail(const Parts&... parts) const {
    return environment_->fail(Sentence(parts...));
  }
  LANE_CODE const char* memoryName() const {
    return ctas_ == 1 ? "tensor memory" : "tensor memory of CTA ";
  }
  // Which of the pair's, behind its name.
  LANE_CODE const char* cta(int rank) const { return ctas_ == 1 ? "" : rank == 0 ? "0" : "1"; }
  LANE_CODE OUT_OF_LINE bool failUnwritten(const char* who, int rank, int at) const {
    return fail(who, " reads column ", at, " of ", memoryName(), cta(rank), ", which nobody wrote");
  }

  // In a pair in both.
  LANE_CODE OUT_OF_LINE bool areAllocated(const Columns& columns, const char* what) const {
    for (int rank = 0; rank < ctas_; rank++)
      for (int at = columns.first; at < columns.first + columns.count; at++)
        if (at >= kTensorColumns || !memories_[rank]->isAllocated[at])
          return fail(what, ": column ", at, " of ", memoryName(), cta(rank), " is not allocated");
    return true;
  }
  // Whether the address has the lanes that are the warp's own.
  LANE_CODE bool isOwn(int warp, u32 address) const {
    const int lane = (int)(address >> 16);
    return lane == warp % 4 * 32 ||
           fail("warp ", warp, " reaches lanes from ", warp % 4 * 32, " on, not from ", lane);
  }

  LANE_CODE OUT_OF_LINE bool isWritten(const Columns& columns, const char* what) const {
    const char* by = "";
    const bool is = isUnderWay([&](const Operation& one) {
      by = one.name();
      return one.writes.overlap(columns);
    });
    return !is || fail("tensor memory column ", columns.first, " ", what, " under a ", by,
                       " that is not waited for");
  }
  LANE_CODE OUT_OF_LINE bool isIdle(const Columns& columns, const char* what) const {
    if (!isWritten(columns, what)) return false;
    const char* by = "";
    const bool is = isUnderWay([&](const Operation& one) {
      by = one.name();
      return one.reads[0].overlap(columns) || one.reads[1].overlap(columns);
    });
    if (is)
      return fail("tensor memory column ", columns.first, " ", what, " under a ", by,
                  " that still reads it");
    return areWaitedFor(own().loading, columns, what, " while a warp reads it: tcgen05.wait::ld") &&
           areWaitedFor(own().storing, columns, what, " while a warp writes it: tcgen05.wait::st");
  }
  LANE_CODE OUT_OF_LINE bool areWaitedFor(const ColumnSet (&warps)[Memory::kWarps],
                                          const Columns& columns, const char* what,
                                          const char* missing) const {
    for (int warp = 0; warp < Memory::kWarps; warp++)
      if (const int at = warps[warp].firstOf(columns); at >= 0)
        return fail("tensor memory column ", at, " ", what, missing, " is missing");
    return true;
  }

  LANE_CODE OUT_OF_LINE bool isOperand(const SharedTile& tile, const char* what) const {
    const u32 least = tile.swizzle == 0   ? 128
                      : tile.swizzle == 2 ? 1024
                      : tile.swizzle == 4 ? 512
                                          : 256;
    return isModelled(tile, what) &&
           (tile.stride >= least || fail(what, ": a stride of ", tile.stride, " bytes, below the ",
                                         least, " of eight rows"));
  }
  LANE_CODE OUT_OF_LINE bool isModelled(const SharedTile& tile, const char* what) const {
    if (tile.version != 1)
      return fail(what, ": the descriptor's version is ", tile.version, ", that of sm_100 is 1");
    return (tile.swizzle % 2 == 0 && tile.isPlain && tile.baseOffset == 0) ||
           fail(what, ": the descriptor has bits that are not modelled");
  }
  LANE_CODE bool isMeant(const Instruction& is, const Multiply& one) const {
    if (!is.isPlain)
      return fail("tcgen05.mma: the instruction descriptor has bits that are not modelled");
    if (!isTensorForm(is.form)) return fail("tcgen05.mma: there is no instruction of these types");
    if (is.m != ctas_ * kTensorLanes || is.n < 8 || is.n > 256 || is.n % (8 * ctas_) != 0)
      return fail(
          "tcgen05.mma of ", is.m, " x ", is.n,
          ctas_ == 1 ? ": cta_group::1 has 128 x 8 to 256" : ": cta_group::2 has 256 x 16 to 256");
    return isScaleId(is.idA, one.scalesA, one.vector) && isScaleId(is.idB, one.scalesB, one.vector);
  }
  LANE_CODE bool isScaleId(int id, u32 address, int vector) const {
    if (id % vector != 0)
      return fail("tcgen05.mma: scale id ", id, " where ", vector,
                  " scales of 4 bytes belong together");
    // CUTLASS leaves the ids in the addresses too.
    return address >> 30 == 0 || (int)(address >> 30) == id ||
           fail("tcgen05.mma: the scale id in an address is not the descriptor's");
  }

  LANE_CODE OUT_OF_LINE bool push(const Operation& operation) {
    for (int rank = 0; rank < ctas_; rank++) {
      const Memory& memory = *memories_[rank];
      if (!areWaitedFor(memory.loading, operation.writes, "is written",
                        " while a warp reads it: tcgen05.wait::ld") ||
          !areWaitedFor(memory.storing, operation.writes, "is written",
                        " while a warp writes it: tcgen05.wait::st"))
        return false;
      for (const Columns& read : operation.reads)
        if (!areWaitedFor(memory.storing, read, "is read",
                          " while a warp writes it: tcgen05.wait::st"))
          return false;
    }
    const u32 number = queue().issued;
    if (!environment_->waitForRoom([&] { return number - queue().ended < (u32)Memory::kUnderWay; }))
      return false;
    at(number) = operation;
    environment_->fence();
    queue().issued = number + 1;
    environment_->fence();
    return true;
  }

  // What one sum is made of: 32 bytes of a row of each operand, a word of scales of each.
  struct Line {
    Form form;
    int idA, idB;
    u32 rowA[8], rowB[8], scalesA, scalesB;
    LANE_CODE u32 a(int k) const { return codeOf(form, form.a, rowA, k); }
    LANE_CODE u32 b(int k) const { return codeOf(form, form.b, rowB, k); }
    LANE_CODE u32 scaleA(int block) const { return scalesA >> (8 * (idA + block)) & 255; }
    LANE_CODE u32 scaleB(int block) const { return scalesB >> (8 * (idB + block)) & 255; }
  };
  LANE_CODE void readRow(const SharedTile& tile, int cta, int row, u32 (&words)[8]) const {
    UNROLL
    for (int piece = 0; piece < 2; piece++) {
      u32 four[4];
      environment_->piece(cta, pieceOf(tile, row, piece), four);
      UNROLL
      for (int i = 0; i < 4; i++) words[piece * 4 + i] = four[i];
    }
  }
  // A scale of every row: row r in lane r % 32 (of every quarter), column r / 32.
  LANE_CODE bool scalesOf(int cta, u32 address, int row, u32& word) const {
    const int at = (int)(address & 0xffff) + row / 32;
    if (!memories_[cta]->written[row % 32][at]) return failUnwritten("tcgen05.mma", cta, at);
    word = memories_[cta]->cells[row % 32][at];
    return true;
  }
  LANE_CODE OUT_OF_LINE bool multiply(const Multiply& one, int worker, int workers) {
    const Instruction is = decodedInstruction(one.vector, one.instruction);
    const SharedTile a = decodedTile(one.a), b = decodedTile(one.b);
    const int first = (int)(one.d & 0xffff), ofHalf = is.n / ctas_;
    DO_NOT_UNROLL
    for (int sum = worker; sum < ctas_ * kTensorLanes * is.n; sum += workers) {
      const int j = sum % is.n, row = sum / is.n % kTensorLanes, cta = sum / is.n / kTensorLanes;
      Memory& memory = *memories_[cta];
      Line line = {is.form, is.idA, is.idB, {}, {}, 0, 0};
      readRow(a, cta, row, line.rowA), readRow(b, j / ofHalf, j % ofHalf, line.rowB);
      if (!scalesOf(cta, one.scalesA, row, line.scalesA) ||
          !scalesOf(cta, one.scalesB, j, line.scalesB))
        return false;
      u32& cell = memory.cells[row][first + j];
      if (one.adds && !memory.written[row][first + j])
        return failUnwritten("tcgen05.mma", cta, first + j);
      cell = environment_->sumOf(is.form, line, one.adds ? cell : 0);
      memory.written[row][first + j] = 1;
    }
    return true;
  }
  LANE_CODE void copy(const ScaleCopy& one, int worker, int workers) {
    const SharedTile from = decodedTile(one.from);
    const int to = (int)(one.to & 0xffff);
    for (int at = worker; at < ctas_ * 32; at += workers) {
      const int cta = at / 32, row = at % 32;
      u32 words[4];
      environment_->piece(cta, pieceOf(from, row, 0), words);
      for (int lane = row; lane < kTensorLanes; lane += 32)
        for (int i = 0; i < 4; i++) {
          memories_[cta]->cells[lane][to + i] = words[i];
          memories_[cta]->written[lane][to + i] = 1;
        }
    }
  }

  Environment* environment_;
  Memory* memories_[2];
  int ctas_, rank_;
};

}  // namespace tcgen05
