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

std::vector<OutputType> KernelRow::offeredOutputs() const {
  std::vector<OutputType> offered = outputs;
  if (levelOf("f8-output") == FeatureLevel::kPass)
    for (const OutputType type : {OutputType::kE4m3, OutputType::kE5m2})
      if (!writes(type)) offered.push_back(type);
  return offered;
}

bool KernelRow::writes(OutputType output) const {
  return std::find(outputs.begin(), outputs.end(), output) != outputs.end();
}

}  // namespace blockscope
