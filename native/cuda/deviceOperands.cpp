#include "deviceOperands.h"

#include <algorithm>
#include <array>

#include "../core/formats.h"
#include "../core/operands.h"

namespace blockscope::cuda {

namespace {

constexpr const char* kSupport = "support-operands";
constexpr int kThreads = 256;

// By their numbers in operands.cu.
constexpr std::array<std::string_view, 7> kDistributions = {
    "normal", "positive", "wide-scales", "tutorial", "uniform-codes", "adversarial", "zeros"};

int distributionNumber(const std::string& name) {
  checkDistribution(name);
  const auto found = std::find(kDistributions.begin(), kDistributions.end(), name);
  if (found == kDistributions.end())
    throw Error(ErrorKind::kDevice, "The GPU's generator does not know \"" + name + "\".");
  return static_cast<int>(found - kDistributions.begin());
}

DeviceBuffer uploaded(const DeviceContext& context, const void* from, size_t bytes,
                      const std::string& what) {
  DeviceBuffer buffer(context, bytes, what);
  buffer.write(from, bytes);
  return buffer;
}

std::vector<uint8_t> downloaded(const DeviceBuffer& buffer) {
  std::vector<uint8_t> bytes(buffer.bytes());
  if (!bytes.empty()) buffer.read(bytes.data(), bytes.size());
  return bytes;
}

}  // namespace

DeviceOperands::DeviceOperands(const DeviceContext& context, std::shared_ptr<const Module> module,
                               const Problem& problem)
    : context_(context),
      problem_(problem),
      module_(std::move(module)),
      stream_(std::make_unique<Stream>(context)) {
  const BlockFormat& format = findBlockFormat(problem.format);
  scaleFormat_ = static_cast<int>(format.scale);
  scaleBlockSize_ = format.scaleBlockSize;
  a_.elementFormat = static_cast<int>(format.a);
  b_.elementFormat = static_cast<int>(format.b);
  a_.matrices = problem.batch.countA();
  b_.matrices = problem.batch.countB();
  a_.rows = problem.rowsOfA();
  b_.rows = problem.rowsOfB();
}

DeviceOperands::DeviceOperands(const DeviceContext& context, const Kernels& kernels,
                               const Problem& problem, const GeneratedOperands& wanted)
    : DeviceOperands(context, kernels.support(context, kSupport), problem) {
  const int distribution = distributionNumber(wanted.distribution);
  generate(a_, distribution, wanted.seed, static_cast<int>(OperandStream::kCodesA),
           static_cast<int>(OperandStream::kScalesA));
  generate(b_, distribution, wanted.seed, static_cast<int>(OperandStream::kCodesB),
           static_cast<int>(OperandStream::kScalesB));
  poisonPadding();
  if (problem.accumulate) generateAccumulator(wanted);
}

DeviceOperands::DeviceOperands(const DeviceContext& context, const Kernels& kernels,
                               const Problem& problem, const Operands& host)
    : DeviceOperands(context, kernels.support(context, kSupport), problem) {
  upload(host);
}

void DeviceOperands::upload(const Operands& host) {
  auto copied = [&](const std::vector<uint8_t>& bytes, const char* what) {
    return bytes.empty() ? DeviceBuffer() : uploaded(context_, bytes.data(), bytes.size(), what);
  };
  a_.codes = copied(host.aCodes, "operand A");
  b_.codes = copied(host.bCodes, "operand B");
  a_.scales = copied(host.aScales, "the scales of A");
  b_.scales = copied(host.bScales, "the scales of B");
  if (problem_.accumulate)
    accumulator_ = uploaded(context_, host.accumulator.data(),
                            host.accumulator.size() * sizeof(float), "the accumulator");
  tensorScaleA_ = host.tensorScaleA;
  tensorScaleB_ = host.tensorScaleB;
}

uint8_t DeviceOperands::exchangeScale(OperandSide side, int64_t index, uint8_t code) {
  DeviceBuffer& scales = side == OperandSide::kA ? a_.scales : b_.scales;
  uint8_t was = 0;
  scales.read(&was, sizeof was, static_cast<size_t>(index));
  scales.write(&code, sizeof code, static_cast<size_t>(index));
  return was;
}

Operands DeviceOperands::download() const {
  Operands host;
  host.aCodes = downloaded(a_.codes);
  host.bCodes = downloaded(b_.codes);
  host.aScales = downloaded(a_.scales);
  host.bScales = downloaded(b_.scales);
  host.accumulator.resize(accumulator_.bytes() / sizeof(float));
  if (problem_.accumulate) accumulator_.read(host.accumulator.data(), accumulator_.bytes());
  host.tensorScaleA = tensorScaleA_;
  host.tensorScaleB = tensorScaleB_;
  return host;
}

void DeviceOperands::run(const char* function, int64_t count,
                         std::vector<LaunchArgument> arguments) const {
  Launch launch;
  launch.name = std::string("preparing operands (") + function + ")";
  launch.function = module_->function(function);
  launch.grid[0] = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  launch.block[0] = kThreads;
  launch.arguments = std::move(arguments);
  enqueueLaunch(context_, launch, *stream_);
  stream_->wait("Preparing operands");
}

void DeviceOperands::generate(Side& side, int distribution, uint64_t seed, int codeStream,
                              int scaleStream) {
  const int64_t blocks = side.rows * (problem_.k / scaleBlockSize_);
  const std::string name = codeStream == static_cast<int>(OperandStream::kCodesA) ? "A" : "B";
  const NumberFormat& element = side.element();
  side.codes =
      DeviceBuffer(context_, static_cast<size_t>(side.rows * problem_.k * element.codeBytes()),
                   "operand " + name);
  side.scales = DeviceBuffer(context_, element.isScaled() ? static_cast<size_t>(blocks) : 0,
                             "the scales of " + name);
  run("generate", blocks,
      {side.codes.address(), side.scales.address(), blocks, distribution, side.elementFormat,
       scaleFormat_, static_cast<int>(scaleBlockSize_), static_cast<int64_t>(seed), codeStream,
       scaleStream});
}

void DeviceOperands::poisonPadding() const {
  const BlockFormat& format = findBlockFormat(problem_.format);
  const PaddingCodes poison = paddingCodes(format);
  const int64_t scalesOfRow = format.scalesOfRowA(problem_.k);
  auto fill = [&](const DeviceBuffer& buffer, const Segment& rows, int64_t bytesOfRow,
                  uint8_t value) {
    context_.check(context_.api().memsetD8Async(buffer.address() + rows.first * bytesOfRow, value,
                                                rows.rows * bytesOfRow, stream_->handle()),
                   "Preparing operands");
  };
  for (const Segment& rows : paddingRows(problem_)) {
    fill(a_.codes, rows, problem_.k * format.elementA().codeBytes(), poison.element);
    if (scalesOfRow > 0) fill(a_.scales, rows, scalesOfRow, poison.scale);
  }
  stream_->wait("Preparing operands");
}

void DeviceOperands::generateAccumulator(const GeneratedOperands& wanted) {
  const int64_t count = problem_.elements();
  accumulator_ = DeviceBuffer(context_, count * sizeof(float), "the accumulator");
  run("generateAccumulator", count,
      {accumulator_.address(), count, accumulatorExponent(problem_, wanted.distribution),
       distributionNumber(wanted.distribution), static_cast<int64_t>(wanted.seed),
       static_cast<int>(OperandStream::kAccumulator)});
}

void DeviceOperands::copy(const DeviceBuffer& from, DeviceBuffer& to) const {
  context_.check(
      context_.api().memcpyDtoDAsync(to.address(), from.address(), from.bytes(), stream_->handle()),
      "Copying operands");
  stream_->wait("Copying operands");
}

void DeviceOperands::turn(const DeviceBuffer& from, int64_t matrices, int64_t rows, int64_t columns,
                          int bits, DeviceBuffer& to) const {
  // Codes that fill whole bytes; checkProblem has seen to it that rows are made of them.
  const int64_t perGroup = bits == 4 ? 2 : bits == 6 ? 4 : 1;
  run("turnCodes", matrices * rows * columns / perGroup,
      {from.address(), to.address(), matrices, rows, columns, bits});
}

void DeviceOperands::accumulatorInto(DeviceBuffer& to) const {
  if (problem_.accumulate) copy(accumulator_, to);
}

void DeviceOperands::codesInto(Matrix matrix, bool packed, BOrder order, DeviceBuffer& to) const {
  const Side& from = side(matrix);
  const int bits = from.element().storageBits;
  if (order == BOrder::kKn)
    return turn(from.codes, from.matrices, from.rows / from.matrices, problem_.k, packed ? bits : 8,
                to);
  if (!packed || bits >= 8) return copy(from.codes, to);
  constexpr int64_t kGroup = 4;  // codes; K is a multiple of 16
  const int64_t groups = static_cast<int64_t>(from.codes.bytes()) / kGroup;
  run("packCodes", groups, {from.codes.address(), to.address(), groups, bits});
}

void DeviceOperands::scalesInto(Matrix matrix, const ScaleLayout& layout, BOrder order,
                                DeviceBuffer& to) const {
  const Side& from = side(matrix);
  if (!from.element().isScaled()) return;
  const int64_t columns = problem_.k / scaleBlockSize_;
  if (order == BOrder::kKn && layout.name == "linear")
    return turn(from.scales, from.matrices, from.rows / from.matrices, columns, 8, to);
  context_.check(context_.api().memsetD8Async(to.address(), 0, to.bytes(), stream_->handle()),
                 "Preparing operands");
  std::vector<Segment> segments = scaleSegments(problem_, layout);
  if (matrix == Matrix::kB) {
    segments.clear();
    for (int64_t i = 0; i < from.matrices; i++) segments.push_back({i * problem_.n, problem_.n});
  }
  driver::DevicePointer next = to.address();
  for (size_t i = 0, last = 0; i < segments.size(); i = last) {
    // Neighbours of one size share the layout's parts.
    while (last < segments.size() && segments[last].rows == segments[i].rows) last++;
    next = packSegments(from, {segments.begin() + i, segments.begin() + last}, layout, next);
  }
}

driver::DevicePointer DeviceOperands::packSegments(const Side& from,
                                                   const std::vector<Segment>& segments,
                                                   const ScaleLayout& layout,
                                                   driver::DevicePointer to) const {
  const int64_t rows = segments.front().rows, columns = problem_.k / scaleBlockSize_;
  const PlacedLayout placed(layout, rows, columns);
  std::vector<int64_t> rowParts(rows), columnParts(columns);
  for (int64_t row = 0; row < rows; row++) rowParts[row] = placed.rowPart(row);
  for (int64_t column = 0; column < columns; column++)
    columnParts[column] = placed.columnPart(column);
  const DeviceBuffer rowPart =
      uploaded(context_, rowParts.data(), rows * sizeof(int64_t), "a scale layout");
  const DeviceBuffer columnPart =
      uploaded(context_, columnParts.data(), columns * sizeof(int64_t), "a scale layout");
  for (const Segment& segment : segments) {
    run("packScales", rows * columns,
        {from.scales.address() + segment.first * columns, to, rowPart.address(),
         columnPart.address(), rows, columns});
    to += placed.padded().size();
  }
  return to;
}

void DeviceOperands::bf16Into(Matrix matrix, DeviceBuffer& to) const {
  const Side& from = side(matrix);
  const int64_t count = from.rows * problem_.k;
  run("widen", count,
      {from.codes.address(), from.scales.address(), to.address(), count, from.elementFormat,
       scaleFormat_, static_cast<int>(scaleBlockSize_)});
}

void DeviceOperands::oneScaleInto(Matrix matrix, DeviceBuffer& codes, DeviceBuffer& scale) const {
  const Side& from = side(matrix);
  const int64_t count = from.rows * problem_.k;
  const uint32_t none = 0;
  const DeviceBuffer largest = uploaded(context_, &none, sizeof none, "the largest magnitude");
  constexpr int64_t kThreadsInAll = 1 << 18;
  run("largestMagnitude", std::min(count, kThreadsInAll),
      {from.codes.address(), from.scales.address(), largest.address(), count, from.elementFormat,
       scaleFormat_, static_cast<int>(scaleBlockSize_)});
  run("oneScale", count,
      {from.codes.address(), from.scales.address(), codes.address(), scale.address(),
       largest.address(), count, from.elementFormat, scaleFormat_,
       static_cast<int>(scaleBlockSize_)});
}

}  // namespace blockscope::cuda
