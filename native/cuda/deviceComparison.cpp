#include "deviceComparison.h"

#include <algorithm>

#include "../core/threads.h"
#include "launch.h"

namespace blockscope::cuda {

namespace {

struct Row {  // compare.cu
  int64_t suspects, nonFinite, nonZero, finite, aboveTolerance, withinRounding, pairs;
  double maxAbs, maxRel, squaredError, squaredReference, referenceSquares;
  double maxToleranceShare, maxUlpsAbove, sumUlpsAbove;
  uint64_t ulps[kUlpBins];
};

RowFigures figuresOf(const Row& row, const float* ratios, int64_t tiles) {
  RowFigures figures;
  figures.nonFinite = row.nonFinite;
  figures.nonZero = row.nonZero;
  figures.finite = row.finite;
  figures.aboveTolerance = row.aboveTolerance;
  figures.withinRounding = row.withinRounding;
  figures.pairs = row.pairs;
  figures.maxToleranceShare = row.maxToleranceShare;
  figures.maxUlpsAbove = row.maxUlpsAbove;
  figures.sumUlpsAbove = row.sumUlpsAbove;
  figures.maxAbs = row.maxAbs;
  figures.maxRel = row.maxRel;
  figures.squaredError = row.squaredError;
  figures.squaredReference = row.squaredReference;
  figures.referenceSquares = row.referenceSquares;
  std::copy_n(row.ulps, kUlpBins, figures.ulps.begin());
  figures.ratios.assign(ratios, ratios + tiles);
  return figures;
}

}  // namespace

DeviceComparison::DeviceComparison(const DeviceContext& context, const Kernels& kernels,
                                   const Problem& problem, const std::vector<double>& reference)
    : context_(context),
      problem_(problem),
      module_(kernels.support(context, "support-compare")),
      reference_(context, reference.size() * sizeof(double), "the reference product") {
  reference_.write(reference.data(), reference.size() * sizeof(double));
}

std::vector<RowFigures> DeviceComparison::rows(const Operands& operands,
                                               const std::vector<double>& reference,
                                               const std::vector<uint8_t>& output,
                                               const ValidateRequest& request,
                                               const CancelFlag& cancel) const {
  const int64_t count = problem_.rowsOfC();
  const int64_t tileCols = tileColumns(problem_, request);
  const int64_t tiles = (problem_.n + tileCols - 1) / tileCols;
  DeviceBuffer c(context_, output.size(), "the C to be judged");
  c.write(output.data(), output.size());
  const DeviceBuffer rows(context_, count * sizeof(Row), "the figures of a comparison");
  const DeviceBuffer ratios(context_, count * tiles * sizeof(float), "the error map");
  const Stream stream(context_);
  Launch launch;
  launch.name = "the comparison";
  launch.function = module_->function("compareRows");
  launch.grid[0] = static_cast<unsigned>(count);
  launch.block[0] = 256;
  launch.sharedBytes = static_cast<unsigned>(tiles * sizeof(float));
  launch.arguments = {c.address(),
                      reference_.address(),
                      rows.address(),
                      ratios.address(),
                      problem_.n,
                      static_cast<int32_t>(problem_.output),
                      static_cast<int32_t>(tileCols),
                      static_cast<int32_t>(tiles),
                      request.tolerance.atol,
                      request.tolerance.rtol,
                      static_cast<int32_t>(request.rule == PassRule::kAllowances)};
  prepareLaunch(context_, launch);
  enqueueLaunch(context_, launch, stream);
  stream.wait("The comparison");
  std::vector<Row> seen(count);
  std::vector<float> seenRatios(count * tiles);
  rows.read(seen.data(), seen.size() * sizeof(Row));
  ratios.read(seenRatios.data(), seenRatios.size() * sizeof(float));
  std::vector<RowFigures> figures(count);
  parallelFor(count, cancel, [&](int64_t row) {
    figures[row] = seen[row].suspects == 0 && problem_.productOf(row) >= 0
                       ? figuresOf(seen[row], &seenRatios[row * tiles], tiles)
                       : compareRow(problem_, operands, reference, output, request, row);
  });
  return figures;
}

}  // namespace blockscope::cuda
