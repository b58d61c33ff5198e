#include "deviceComparison.h"

#include <algorithm>

#include "launch.h"
#include "reference.h"

namespace blockscope::cuda {

namespace {

constexpr int64_t kTables = int64_t{3} * 256;

struct Row {  // compare.cu
  int64_t outside, withinCancellation, nonFinite, nonZero, finite, aboveTolerance, withinRounding,
      pairs;
  double maxAbs, maxRel, squaredError, squaredReference, referenceSquares;
  double maxToleranceShare, maxUlpsAbove, sumUlpsAbove;
  uint64_t ulps[kUlpBins];
};

struct Place {  // compare.cu
  int64_t a = -1, b = 0;
};

std::vector<Place> placesOf(const Problem& problem) {
  std::vector<Place> places(problem.rowsOfC());
  for (int64_t index = 0; index < problem.productCount(); index++) {
    const Product product = problem.product(index);
    for (int64_t row = 0; row < product.rows; row++)
      places[product.firstC + row] = {product.firstA + row, product.matrixB * problem.n};
  }
  return places;
}

RowFigures figuresOf(const Row& row, const float* ratios, int64_t tiles, const int32_t* failing,
                     int64_t described) {
  RowFigures figures;
  figures.outside = row.outside;
  figures.withinCancellation = row.withinCancellation;
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
  figures.failing.assign(failing, failing + std::min(row.outside, described));
  return figures;
}

}  // namespace

DeviceComparison::DeviceComparison(const DeviceContext& context, const Kernels& kernels,
                                   const Problem& problem, const DeviceOperands& operands,
                                   const std::vector<double>& reference)
    : context_(context),
      problem_(problem),
      operands_(operands),
      module_(kernels.support(context, "support-compare")),
      reference_(context, reference.size() * sizeof(double), "the reference product"),
      tables_(context, kTables * sizeof(double), "the comparison's tables"),
      places_(context, problem.rowsOfC() * sizeof(Place), "the rows of a comparison") {
  reference_.write(reference.data(), reference.size() * sizeof(double));
  tables_.write(valueTables(problem).data(), tables_.bytes());
  places_.write(placesOf(problem).data(), places_.bytes());
}

std::vector<RowFigures> DeviceComparison::rows(const std::vector<uint8_t>& output,
                                               const ValidateRequest& request) const {
  const int64_t count = problem_.rowsOfC();
  const int64_t tileCols = tileColumns(problem_, request);
  const int64_t tiles = (problem_.n + tileCols - 1) / tileCols;
  const int64_t described = std::min(problem_.n, describedFailures(request));
  const BlockFormat& format = findBlockFormat(problem_.format);
  DeviceBuffer c(context_, output.size(), "the C to be judged");
  c.write(output.data(), output.size());
  const DeviceBuffer rows(context_, count * sizeof(Row), "the figures of a comparison");
  const DeviceBuffer ratios(context_, count * tiles * sizeof(float), "the error map");
  const DeviceBuffer failing(context_, count * described * sizeof(int32_t), "what fails");
  const Stream stream(context_);
  const auto tilesOfRow = static_cast<int32_t>(tiles),
             columnsOfTile = static_cast<int32_t>(tileCols);
  const auto type = static_cast<int32_t>(problem_.output);
  const auto allowances = static_cast<int32_t>(request.rule == PassRule::kAllowances);
  const auto [atol, rtol] = request.tolerance;
  auto launch = [&](const char* function, int64_t sharedBytes, std::vector<LaunchArgument> rest) {
    Launch launch;
    launch.name = "the comparison";
    launch.function = module_->function(function);
    launch.grid[0] = static_cast<unsigned>(count);
    launch.block[0] = 256;
    launch.sharedBytes = static_cast<unsigned>(sharedBytes);
    launch.arguments = {c.address(), reference_.address(), rows.address(), ratios.address()};
    launch.arguments.insert(launch.arguments.end(), rest.begin(), rest.end());
    prepareLaunch(context_, launch);
    enqueueLaunch(context_, launch, stream);
  };
  launch("compareRows", tiles * static_cast<int64_t>(sizeof(float)),
         {places_.address(), problem_.n, type, columnsOfTile, tilesOfRow, atol, rtol, allowances});
  const bool scaledA = format.elementA().isScaled();
  launch("judgeFailingRows", 0,
         {failing.address(),
          places_.address(),
          operands_.codes(Matrix::kA).address(),
          operands_.codes(Matrix::kB).address(),
          scaledA ? operands_.scales(Matrix::kA).address() : driver::DevicePointer{},
          operands_.scales(Matrix::kB).address(),
          problem_.accumulate ? operands_.accumulator().address() : driver::DevicePointer{},
          tables_.address(),
          problem_.n,
          problem_.k,
          static_cast<int32_t>(format.scaleBlockSize),
          static_cast<double>(operands_.tensorScale()),
          static_cast<double>(problem_.outputScale),
          type,
          columnsOfTile,
          tilesOfRow,
          static_cast<int32_t>(described),
          atol,
          rtol,
          cancellationShare(problem_.k),
          allowances});
  stream.wait("The comparison");
  std::vector<Row> seen(count);
  std::vector<float> seenRatios(count * tiles);
  std::vector<int32_t> columns(count * described);
  rows.read(seen.data(), seen.size() * sizeof(Row));
  ratios.read(seenRatios.data(), seenRatios.size() * sizeof(float));
  failing.read(columns.data(), columns.size() * sizeof(int32_t));
  std::vector<RowFigures> figures(count);
  for (int64_t row = 0; row < count; row++)
    figures[row] =
        figuresOf(seen[row], &seenRatios[row * tiles], tiles, &columns[row * described], described);
  return figures;
}

}  // namespace blockscope::cuda
