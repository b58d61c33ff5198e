// Device code compiled by hipRTC and loaded, and its launches.
#pragma once

#include <array>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "compiler.h"
#include "device.h"

namespace blockscope::hip {

// The row of that id, of device code of the host's own. Throws Error(kUnavailable) without it.
const KernelRow& supportRow(const std::vector<KernelRow>&, const std::string& id);
// It, for the GPU at hand.
CompileRequest supportRequest(const KernelRow& support, const DeviceFacts&);

class Module {
 public:
  // Throws Error: kCompile, kUnavailable without hipRTC, kDevice.
  Module(const Device&, const CompileRequest&, const CompileCache& cache);
  runtime::Handle function(const std::string& name) const;
  double compileSeconds() const { return compileSeconds_; }

 private:
  const Device& device_;
  std::string what_;
  Owned module_;
  double compileSeconds_ = 0;
};

using Argument = std::variant<void*, int32_t, int64_t, float>;
using Extents = std::array<unsigned, 3>;

struct Launch {
  std::string what;  // "Kernel x (multiply)", begins the error
  runtime::Handle function = nullptr;
  Extents grid = {1, 1, 1}, block = {1, 1, 1};
  unsigned sharedBytes = 0;
  std::vector<Argument> arguments;  // in order
};
void enqueueLaunch(const Device&, const Launch&, const Stream&);

}  // namespace blockscope::hip
