#include <array>
#include <set>
#include <utility>
#include <vector>

#include "api/cublasLt.h"

namespace blockscope::cuda::cublaslt {

namespace {

using Tile = std::pair<int, int>;

// cublasLtMatmulTile_t from 1 on: those of before CUDA 12.6, then all that were possible from then
// on, those that were there before left out.
std::vector<Tile> everyTile() {
  std::vector<Tile> all = {{8, 8},     {8, 16},    {16, 8},   {8, 32},   {16, 16},   {32, 8},
                           {8, 64},    {16, 32},   {32, 16},  {64, 8},   {32, 32},   {32, 64},
                           {64, 32},   {32, 128},  {64, 64},  {128, 32}, {64, 128},  {128, 64},
                           {64, 256},  {128, 128}, {256, 64}, {64, 512}, {128, 256}, {256, 128},
                           {512, 64},  {64, 96},   {96, 64},  {96, 128}, {128, 160}, {160, 128},
                           {192, 128}, {128, 192}, {128, 96}, {32, 256}, {256, 32}};
  std::set<Tile> known(all.begin(), all.end());
  auto addUpTo = [&](int elements, int rowStep, int columnStep) {
    for (int rows = rowStep; rows <= 768; rows += rowStep)
      for (int columns = columnStep; columns <= 768 && rows * columns <= elements;
           columns += columnStep)
        if (known.insert({rows, columns}).second) all.push_back({rows, columns});
  };
  addUpTo(64 * 768, 8, 64);
  addUpTo(64 * 1024, 64, 8);
  for (const int rows : {256, 512})
    for (const int columns : {512, 1024}) all.push_back({rows, columns});
  return all;
}

constexpr std::array kStages = {
    "",       "16x1",    "16x2",    "16x3",    "16x4",     "16x5",     "16x6",    "32x1",
    "32x2",   "32x3",    "32x4",    "32x5",    "32x6",     "64x1",     "64x2",    "64x3",
    "64x4",   "64x5",    "64x6",    "128x1",   "128x2",    "128x3",    "128x4",   "128x5",
    "128x6",  "32x10",   "8x4",     "16x10",   "8x5",      "29",       "30",      "8x3",
    "8xAUTO", "16xAUTO", "32xAUTO", "64xAUTO", "128xAUTO", "256xAUTO", "768xAUTO"};

constexpr std::array kClusters = {
    "AUTO",   "1",      "1x1x1",  "2x1x1",  "4x1x1",  "1x2x1",  "2x2x1",  "4x2x1",  "1x4x1",
    "2x4x1",  "4x4x1",  "8x1x1",  "1x8x1",  "8x2x1",  "2x8x1",  "16x1x1", "1x16x1", "3x1x1",
    "5x1x1",  "6x1x1",  "7x1x1",  "9x1x1",  "10x1x1", "11x1x1", "12x1x1", "13x1x1", "14x1x1",
    "15x1x1", "3x2x1",  "5x2x1",  "6x2x1",  "7x2x1",  "1x3x1",  "2x3x1",  "3x3x1",  "4x3x1",
    "5x3x1",  "3x4x1",  "1x5x1",  "2x5x1",  "3x5x1",  "1x6x1",  "2x6x1",  "1x7x1",  "2x7x1",
    "1x9x1",  "1x10x1", "1x11x1", "1x12x1", "1x13x1", "1x14x1", "1x15x1"};

template <size_t count>
std::string wordsAt(const std::array<const char*, count>& words, uint32_t id) {
  return id < count ? words[id] : std::to_string(id);
}

// cublasLtReductionScheme_t
std::string reductionWords(uint32_t scheme) {
  if (scheme == 1) return "in place";
  if (scheme == 2) return "in its sums";
  if (scheme == 4) return "in C's type";
  return scheme == 0 ? "none" : std::to_string(scheme);
}

}  // namespace

std::string tileWords(uint32_t id) {
  static const std::vector<Tile> all = everyTile();
  if (id == 0) return "";
  if (id > all.size()) return std::to_string(id);
  const auto [rows, columns] = all[id - 1];
  return std::to_string(rows) + "x" + std::to_string(columns);
}
std::string stagesWords(uint32_t id) { return wordsAt(kStages, id); }
std::string clusterWords(uint32_t id) { return wordsAt(kClusters, id); }

MatmulAlgorithm describe(const Api& api, const Algorithm& algorithm) {
  // None: this version of the library does not know the attribute.
  auto ask = [&]<typename T>(Attribute attribute, T value) -> std::optional<T> {
    size_t written = 0;
    const int status = api.algorithmAttribute(&algorithm, static_cast<int>(attribute), &value,
                                              sizeof value, &written);
    return status == 0 && written == sizeof value ? std::optional<T>(value) : std::nullopt;
  };
  auto words = [&]<typename T>(Attribute attribute, T none, std::string (*of)(uint32_t)) {
    const std::optional<T> id = ask(attribute, none);
    return id ? of(*id) : std::string();
  };
  MatmulAlgorithm told;
  told.id = ask(Attribute::kId, int32_t{0}).value_or(0);
  told.tile = words(Attribute::kTile, uint32_t{0}, tileWords);
  told.stages = words(Attribute::kStages, uint32_t{0}, stagesWords);
  told.cluster = words(Attribute::kCluster, uint16_t{0}, clusterWords);
  told.splitK = ask(Attribute::kSplitK, int32_t{0});
  told.swizzle = ask(Attribute::kSwizzle, uint32_t{0});
  told.customOption = ask(Attribute::kCustomOption, uint32_t{0});
  told.reduction = words(Attribute::kReduction, uint32_t{0}, reductionWords);
  return told;
}

}  // namespace blockscope::cuda::cublaslt
