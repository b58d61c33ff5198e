#include "kernelRow.h"

#include <algorithm>

namespace blockscope {

const FormatRow* KernelRow::findFormat(const std::string& format) const {
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const FormatRow& row) { return row.format == format; });
  return found == formats.end() ? nullptr : &*found;
}

}  // namespace blockscope
