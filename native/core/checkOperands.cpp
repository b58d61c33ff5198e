// Problems and operands that are refused, each with what to do.
#include <algorithm>
#include <cmath>
#include <string>

#include "operands.h"
#include "outputs.h"

namespace blockscope {

void checkProblem(const Problem& problem) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const int block = format.scaleBlockSize;
  constexpr int64_t kLargest = 1 << 20;  // keeps every size in bytes far inside 64 bits
  for (const int64_t extent : {problem.m, problem.n, problem.k})
    if (extent < 1 || extent > kLargest)
      throw Error(ErrorKind::kUsage, "M, N and K must each be from 1 to " +
                                         std::to_string(kLargest) + "; " + std::to_string(extent) +
                                         " is not.");
  if (!problem.batch.fits())
    throw Error(ErrorKind::kUsage, "The batch dimensions (" + textOf(problem.batch.dimsA()) +
                                       ") of A and (" + textOf(problem.batch.dimsB()) +
                                       ") of B do not broadcast: from the last on, two are equal, "
                                       "or one of them is 1.");
  if (problem.k % block != 0)
    throw Error(ErrorKind::kUsage, "K=" + std::to_string(problem.k) +
                                       " is not a multiple of the scale block size " +
                                       std::to_string(block) + " of " + problem.format + ".");
  const int bits = format.elementB().storageBits;
  const int64_t group = bits == 4 ? 2 : bits == 6 ? 4 : 1;
  if (problem.bOrder == BOrder::kKn && problem.n % group != 0)
    throw Error(ErrorKind::kUsage, "B as (K, N) packs " + std::to_string(group) + " codes of " +
                                       std::string(format.elementB().name) + " along N; N=" +
                                       std::to_string(problem.n) + " is no multiple of that.");
  const bool eightBits = outputBytes(problem.output) == 1;
  if (!(problem.outputScale > 0) || !std::isfinite(problem.outputScale) ||
      (problem.outputScale != 1 && !eightBits))
    throw Error(ErrorKind::kUsage,
                "An output scale is a finite number above 0, for an output of e4m3 or e5m2.");
}

namespace {

void checkCodes(const std::string& name, const NumberFormat& format,
                const std::vector<uint8_t>& codes, int64_t count) {
  const int64_t needed = count * format.codeBytes();
  if (static_cast<int64_t>(codes.size()) != needed)
    throw Error(ErrorKind::kUsage, name + " has " + std::to_string(codes.size()) + " bytes; " +
                                       std::to_string(needed) + " are needed.");
  const auto bad = std::find_if(codes.begin(), codes.end(),
                                [&](uint8_t code) { return code >= format.codeCount(); });
  if (bad != codes.end())
    throw Error(ErrorKind::kUsage, name + " holds " + std::to_string(*bad) + " at index " +
                                       std::to_string(bad - codes.begin()) + "; codes of " +
                                       std::string(format.name) + " are below " +
                                       std::to_string(format.codeCount()) + ".");
}

}  // namespace

void checkOperands(const Problem& problem, const GivenOperands& given) {
  const BlockFormat& format = findBlockFormat(problem.format);
  const int64_t blocks = problem.k / format.scaleBlockSize;
  const int64_t rowsA = problem.rowsOfA(), rowsB = problem.rowsOfB();
  checkCodes("aCodes", format.elementA(), given.operands.aCodes, rowsA * problem.k);
  checkCodes("bCodes", format.elementB(), given.operands.bCodes, rowsB * problem.k);
  checkCodes("aScales", format.scaleFormat(), given.operands.aScales,
             rowsA * format.scalesOfRowA(problem.k));
  checkCodes("bScales", format.scaleFormat(), given.operands.bScales, rowsB * blocks);
  auto requireElements = [&](const char* name, size_t has) {
    if (static_cast<int64_t>(has) != problem.elements())
      throw Error(ErrorKind::kUsage, std::string(name) + " has " + std::to_string(has) +
                                         " elements; " + std::to_string(problem.elements()) +
                                         " are needed.");
  };
  if (!given.reference.empty()) requireElements("The reference", given.reference.size());
  if (problem.accumulate) requireElements("The accumulator", given.operands.accumulator.size());
}

}  // namespace blockscope
