// The values of a kernel's row in resources/kernels/cuda/manifest.json, for checks that a kernel is
// what its row says.
#pragma once

#include "../core/backend.h"
#include "../cuda/expression.h"
#include "readJson.h"

inline Json readManifest() { return readJson("../../resources/kernels/cuda/manifest.json"); }

// A value may use those before it, whose order is not kept here.
inline void evaluateValues(const Json& values, blockscope::cuda::Variables& names) {
  for (size_t pass = 0; pass < values.members.size(); pass++)
    for (const auto& [name, value] : values.members) try {
        names[name] = blockscope::cuda::evaluate(value.text, names);
      } catch (const blockscope::Error&) {
        names.erase(name);
      }
}
