// One kernel launch with its arguments resolved.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "context.h"

namespace blockscope::cuda {

using LaunchArgument =
    std::variant<int32_t, int64_t, float, double, driver::DevicePointer, driver::TensorMap>;

struct Launch {
  driver::Handle function = nullptr;
  std::string name;
  std::array<unsigned, 3> grid = {1, 1, 1}, block = {1, 1, 1},
                          cluster = {0, 0, 0};  // cluster of 0: none
  unsigned sharedBytes = 0;
  bool dependent = false;
  std::vector<LaunchArgument> arguments;
};

// Allows the dynamic shared memory and cluster size a launch asks for; once per function. Throws
// Error(kUsage) for arguments that are not the function's.
void prepareLaunch(const DeviceContext&, const Launch&);
void enqueueLaunch(const DeviceContext&, const Launch&, const Stream&);

}  // namespace blockscope::cuda
