#include "kernelRow.h"

#include <algorithm>

namespace blockscope {

const FormatRow* KernelRow::findFormat(const std::string& format) const {
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const FormatRow& row) { return row.format == format; });
  return found == formats.end() ? nullptr : &*found;
}

FeatureLevel KernelRow::levelOf(const std::string& id) const {
  const auto found = std::find_if(features.begin(), features.end(),
                                  [&](const Feature& feature) { return feature.id == id; });
  return found == features.end() ? FeatureLevel::kNone : found->level;
}

bool KernelRow::writes(OutputType output) const {
  return std::find(outputs.begin(), outputs.end(), output) != outputs.end();
}

}  // namespace blockscope
