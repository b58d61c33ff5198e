// The layouts of src-shared/layouts/registry.ts, where their sources stand; test/unit/native
// compares the two lists.
#include <array>
#include <string>
#include <utility>

#include "backend.h"
#include "layoutText.h"

namespace blockscope {

namespace {

// One line for the name and the row, one for the column, one for the order.
constexpr std::array<std::string_view, 18> kBuiltIn = {
    "linear = r:0 | c:0 | r c",
    "nvidia_32_4_4 = rowTile:0 rowGroup:4 rowInGroup:32 | "
    "columnTile:0 columnInTile:4 | "
    "rowTile columnTile rowInGroup rowGroup columnInTile",
    "cdna4_mfma32 = rowTile:0 row:32 | "
    "columnTile:0 pair:4 half:2 | "
    "rowTile columnTile half row pair",
    "cdna4_mfma16 = rowTile:0 rowHalf:2 row:16 | "
    "columnTile:0 columnHalf:2 quarter:4 | "
    "rowTile columnTile quarter row columnHalf rowHalf",
    "flashinfer_8x4 = rowTile:0 rowInTile:8 | "
    "columnTile:0 columnInTile:4 | "
    "rowTile columnTile rowInTile columnInTile",
    "deepgemm_ue8m0 = rowTile:0 rowInTile:4 | "
    "word:0 byte:4 | "
    "word rowTile rowInTile byte",
    "triton_blackwell = rowTile:0 rowGroup:4 rowInGroup:32 | "
    "columnPair:0 columnTile:2 columnInTile:4 | "
    "rowTile columnPair columnTile rowInGroup rowGroup columnInTile",
    "triton_hopper_4warps = rowTile:0 rowHalf:2 warp:4 rowQuarter:2 rowInQuarter:8 | "
    "pair:0 columnInPair:2 | "
    "rowTile warp pair rowHalf rowInQuarter columnInPair rowQuarter",
    "triton_hopper_8warps = rowTile:0 rowHalf:2 warp:8 rowQuarter:2 rowInQuarter:8 | "
    "pair:0 columnInPair:2 | "
    "rowTile warp pair rowHalf rowInQuarter columnInPair rowQuarter",
    "aiter_gfx1250_n32k4 = rowTile:0 row:32 | "
    "columnTile:0 column:4 | "
    "rowTile columnTile row column",
    "aiter_gfx1250_n32k8 = rowTile:0 row:32 | "
    "columnTile:0 column:8 | "
    "rowTile columnTile row column",
    "aiter_gfx1250_n16k4 = rowTile:0 row:16 | "
    "columnTile:0 column:4 | "
    "rowTile columnTile row column",
    "aiter_kwidth8 = rowTile:0 rowGroup:4 rowInGroup:32 | "
    "columnTile:0 column:8 | "
    "rowTile columnTile rowInGroup rowGroup column",
    "aiter_kwidth16 = rowTile:0 rowGroup:4 rowInGroup:32 | "
    "columnTile:0 column:16 | "
    "rowTile columnTile rowInGroup rowGroup column",
    "aiter_gfx1250_gate_up = gateUp:2 rowTile:0 row:16 | "
    "columnTile:0 column:4 | "
    "rowTile columnTile row gateUp column",
    "aiter_gfx950_gate_up = gateUp:2 rowTile:0 row:16 | "
    "columnTile:0 columnHalf:2 quarter:4 | "
    "rowTile columnTile quarter row columnHalf gateUp",
    "linear_128x4 = rowTile:0 row:128 | "
    "columnTile:0 column:4 | "
    "rowTile row columnTile column",
    "nunchaku_micro = rowTile:0 quarter:4 rowGroup:4 rowInGroup:8 | "
    "columnTile:0 column:4 | "
    "rowTile columnTile rowInGroup rowGroup quarter column",
};

// Other names of the same bytes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kOtherNames = {{
    {"cublas_128x4", "nvidia_32_4_4"},
    {"cutile_swizzle_32_4_4", "nvidia_32_4_4"},
    {"flashinfer_128x4", "nvidia_32_4_4"},
    {"triton_gfx1250", "nvidia_32_4_4"},
    {"triton_gfx950", "cdna4_mfma16"},
    {"aiter_e8m0_shuffle", "cdna4_mfma16"},
    {"aiter_f4_mxfp4", "aiter_gfx1250_n32k4"},
    {"aiter_f4_nvfp4", "aiter_gfx1250_n32k8"},
}};

std::string_view nameOf(std::string_view text) { return text.substr(0, text.find(' ')); }

}  // namespace

std::vector<std::string> builtInLayouts() { return {kBuiltIn.begin(), kBuiltIn.end()}; }

ScaleLayout findLayout(std::string_view nameOrText) {
  if (nameOrText.find('=') != std::string_view::npos) return parseLayoutText(nameOrText);
  std::string_view name = nameOrText;
  for (const auto& [other, own] : kOtherNames)
    if (other == name) name = own;
  std::string known;
  for (const std::string_view text : kBuiltIn) {
    if (nameOf(text) == name) return parseLayoutText(text);
    known.append(known.empty() ? "" : ", ").append(nameOf(text));
  }
  for (const auto& [other, own] : kOtherNames) known.append(", ").append(other);
  const std::string asked(nameOrText);
  throw Error(ErrorKind::kUsage, "\"" + asked + "\" is no scale layout. Layouts: " + known + ".");
}

}  // namespace blockscope
