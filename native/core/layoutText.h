// A layout written out in one line, the form in which it goes from TypeScript to C++ (layoutText in
// src-shared/layouts/describe.ts):
//
//   name = digits of the row | digits of the column | all digits in memory order, slowest first
//   mine = rowTile:0 row:8 | columnTile:0 column:4 | rowTile columnTile row column
#pragma once

#include <string_view>

#include "layouts.h"

namespace blockscope {

// Throws Error(kUsage) naming what is wrong. The tile of an axis has at most 65536 scales.
ScaleLayout parseLayoutText(std::string_view text);

}  // namespace blockscope
